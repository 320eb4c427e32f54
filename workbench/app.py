"""The app's entry point: settings of the browser page, and the pages there are.

It stands outside `pages/`, so that no page can be opened without it.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from workbench.messages import say
from workbench.ui import address

PAGES = Path(__file__).resolve().parents[1] / "pages"

# A file: the browser would fetch a material icon from elsewhere.
ICON = Path(__file__).resolve().parent / "data" / "icon.png"

st.set_page_config(page_title=say("app.title"), page_icon=ICON, layout="wide", initial_sidebar_state="expanded")
page = st.navigation(
    [
        st.Page(PAGES / "home.py", title=say("page.home.title"), icon=":material/home:"),
        st.Page(PAGES / "search.py", title=say("page.search.title"), icon=":material/search:", default=True),
        st.Page(PAGES / "documents.py", title=say("page.documents.title"), icon=":material/folder_open:"),
    ],
    position="top",
)
address.carry_over(page.url_path)
page.run()
