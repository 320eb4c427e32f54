"""What a search brought: answer, cards, and beside them why they stand in this order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.home import Workbench
from core.types import Principal
from workbench.messages import say
from workbench.services import exports
from workbench.services.search_view import SearchView
from workbench.ui import document_panel, errors, explain_panel, result_card, session_keys
from workbench.view import markup

PANEL_PX = 430


@st.fragment
def draw(workbench: Workbench, principal: Principal, view: SearchView, moved: Sequence[int | None]) -> None:
    """A fragment: opening a document or tracing a passage shows more of this search instead of searching again."""
    errors.flags(view.result.degradation_flags)
    errors.notices(view.result)
    if view.result.refusal is not None:
        errors.refusal(view.result.refusal.code)
        return
    compared = any(moved) or None in moved
    # Side by side where there is room for both, else one below the other.
    row = st.container(horizontal=True, gap="medium")
    with row.container(width="stretch"):
        if view.answer:
            _answer(view)
        _toolbar(view)
        lines = view.lines[: len(view.cards)]
        for card, line, step in zip(view.cards, lines, moved, strict=True):
            result_card.draw(card, line, step, compared)
    with row.container(width=PANEL_PX):
        explain_panel.draw(view, min(session_keys.selected(), len(view.cards)))
    target = session_keys.opened()
    if target is not None:
        document_panel.show(workbench, principal, target, view.result.query)


def _answer(view: SearchView) -> None:
    answer = view.result.answer
    if answer is None:
        return
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{say('answer.title')}**", width="content")
            st.caption(say("answer.quoted"), width="stretch")
            with st.popover(say("answer.copy"), icon=":material/content_copy:", type="tertiary"):
                st.code(answer.text, language=None, wrap_lines=True)
        st.html(markup.answer(view.answer))
        if answer.rejected_claims:
            st.caption(say("answer.rejected", count=answer.rejected_claims))


def _toolbar(view: SearchView) -> None:
    count = len(view.cards)
    with st.container(horizontal=True, vertical_alignment="center"):
        text = say("search.found_one") if count == 1 else say("search.found", shown=count)
        st.caption(text, width="stretch")
        with st.popover(say("search.export"), icon=":material/download:", type="tertiary"):
            for key, label, written, name, mime in (
                (session_keys.EXPORT_CSV, say("search.export_csv"), exports.to_csv, "csv", "text/csv"),
                (session_keys.EXPORT_JSON, say("search.export_json"), exports.to_json_file, "json", "application/json"),
                (
                    session_keys.EXPORT_MARKDOWN,
                    say("search.export_markdown"),
                    exports.to_markdown,
                    "md",
                    "text/markdown",
                ),
            ):
                st.download_button(
                    label,
                    partial(written, view),
                    f"search-{view.result.trace_id}.{name}",
                    mime,
                    key=key,
                    on_click="ignore",
                    width="stretch",
                )
