"""Pages that have nothing to show yet: what will stand there, and the first step."""

from __future__ import annotations

import streamlit as st

from workbench.messages import say


def nothing_asked() -> None:
    with st.container(border=True):
        st.markdown(f"**{say('empty.title')}**")
        st.markdown(say("empty.body"))


def no_collection() -> None:
    with st.container(border=True):
        st.markdown(f"**{say('empty.no_collection_title')}**")
        st.markdown(say("empty.no_collection_body"))
        st.code("workbench demo\nworkbench ingest FOLDER --collection NAME", language=None)


def none_chosen() -> None:
    with st.container(border=True):
        st.markdown(f"**{say('empty.no_collection_chosen_title')}**")
        st.markdown(say("empty.no_collection_chosen_body"))
