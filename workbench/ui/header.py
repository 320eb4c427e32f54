"""The top of every page: its title and one sentence of purpose."""

from __future__ import annotations

import streamlit as st

from workbench.messages import say


def draw(page: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.title(say(f"page.{page}.title"), anchor=False, width="content")
        st.caption(say(f"page.{page}.purpose"))
