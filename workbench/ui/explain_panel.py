"""Why the passages stand in this order: ranks through the stages, and where the time went."""

from __future__ import annotations

import streamlit as st

from workbench.messages import say
from workbench.services.search_view import RANK_STAGES, SearchView
from workbench.ui.result_card import path
from workbench.view import charts

_PLAIN = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}


def draw(view: SearchView, selected: int) -> None:
    st.markdown(f"**{say('explain.title')}**")
    st.caption(say("explain.selected", number=selected))
    words = {name: say(f"stage.{name}") for name in (*RANK_STAGES, "absent", "lost")}
    line = view.lines[selected - 1]
    st.plotly_chart(
        charts.waterfall(view.lines, selected, words),
        config=_PLAIN,
        alt=say("explain.alternative", number=selected, ranks=path(line)),
        key="search.waterfall",
    )
    _latency(view)


def _latency(view: SearchView) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{say('explain.latency')}**", width="content")
        st.caption(say("explain.total", ms=f"{view.result.latency_ms.get('total', 0.0):.1f}"))
    words = {stage: say(f"latency.{stage}") for stage, _ in view.latency}
    stages = ", ".join(f"{words[stage]} {ms:.1f}" for stage, ms in view.latency)
    st.plotly_chart(
        charts.latency(view.latency, words),
        config=_PLAIN,
        alt=say("explain.latency_alternative", stages=stages),
        key="search.latency",
    )
