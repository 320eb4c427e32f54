"""The app's entry point: settings of the browser page, and the pages there are.

It stands outside `pages/`, so that no page can be opened without it.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from workbench.messages import say

PAGES = Path(__file__).resolve().parents[1] / "pages"

# A file: the browser would fetch a material icon from elsewhere.
ICON = Path(__file__).resolve().parent / "data" / "icon.png"

st.set_page_config(page_title=say("app.title"), page_icon=ICON, layout="wide", initial_sidebar_state="expanded")
st.navigation(
    [
        st.Page(PAGES / "search.py", title=say("page.search.title"), icon=":material/search:", default=True),
    ],
    position="top",
).run()
