"""What all sessions of the app share."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from core.home import Workbench

HOME = ".workbench"


def home_folder() -> Path:
    """WORKBENCH_HOME, else `.workbench` in the working directory; absolute."""
    return Path(os.environ.get("WORKBENCH_HOME") or HOME).expanduser().resolve()


def workbench() -> Workbench:
    """The home's one Workbench. Raises SettingsError, InputError."""
    return _opened(str(home_folder()))


@st.cache_resource(max_entries=4, show_spinner=False)
def _opened(home: str) -> Workbench:
    return Workbench.open(home)
