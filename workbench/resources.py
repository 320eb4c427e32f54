"""What all sessions of the app share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import streamlit as st

from core.errors import CoreError
from core.home import Workbench

HOME = ".workbench"


def home_folder() -> Path:
    """WORKBENCH_HOME, else `.workbench` in the working directory; absolute."""
    return Path(os.environ.get("WORKBENCH_HOME") or HOME).expanduser().resolve()


def workbench() -> Workbench:
    """The home's one Workbench. Raises SettingsError, InputError."""
    return _opened(str(home_folder()))


def warm_up(collections: Sequence[str]) -> None:
    """Load what the first search would wait for. What fails here is left for that search to report."""
    for name in collections:
        with suppress(CoreError):
            _warmed(str(home_folder()), name)


@st.cache_resource(max_entries=64, show_spinner=False)
def _warmed(home: str, collection: str) -> None:
    _opened(home).library.snapshot([collection])


@st.cache_resource(max_entries=4, show_spinner=False)
def _opened(home: str) -> Workbench:
    return Workbench.open(home)
