"""The one box, and questions to begin with."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from workbench.messages import say
from workbench.services.search_state import SearchState
from workbench.ui import address, session_keys
from workbench.view.markup import plain


def draw(state: SearchState, examples: Sequence[str]) -> None:
    address.show(session_keys.QUERY, state.query)
    st.text_input(
        say("search.box"),
        key=session_keys.QUERY,
        placeholder=say("search.placeholder"),
        icon=":material/search:",
        label_visibility="collapsed",
        on_change=address.from_widget,
        args=(session_keys.QUERY, "query"),
    )
    if examples and not state.query.strip():
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.caption(say("search.examples"), width="content")
            for number, question in enumerate(examples):
                st.button(
                    plain(question),
                    key=session_keys.action("example", number),
                    on_click=address.update,
                    kwargs={"query": question},
                )
