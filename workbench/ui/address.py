"""The page's state in its address: read on every run, written by the widgets' callbacks, kept nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from workbench.services.search_state import Problem, SearchState, from_params, to_params
from workbench.ui import session_keys


def read() -> tuple[SearchState, tuple[Problem, ...]]:
    return from_params({name: st.query_params.get_all(name) for name in st.query_params})


def write(state: SearchState) -> None:
    st.query_params.from_dict(to_params(state))
    session_keys.new_search()


def update(**changes: Any) -> None:
    write(replace(read()[0], **changes))


def from_widget(key: str, field: str, convert: Callable[[Any], Any] = lambda value: value or "") -> None:
    """A callback: the widget's new value becomes the field of the state."""
    update(**{field: convert(st.session_state[key])})


def set_setting(key: str, name: str, unchanged: Any, convert: Callable[[Any], Any]) -> None:
    """A callback: the widget's new value becomes a changed setting, or none where it is the preset's.

    An empty choice is none: the widget goes back to what it was.
    """
    state = read()[0]
    value = convert(st.session_state[key])
    if value in ((), None):
        return
    write(state.unchanged(name) if value == unchanged else state.changed(name, value))


def query_string(state: SearchState) -> str:
    return urlencode(to_params(state), doseq=True)


def show(key: str, value: Any) -> None:
    """Give a widget the state's value, before it is drawn."""
    if st.session_state.get(key) != value or key not in st.session_state:
        st.session_state[key] = value


def carry_over(page: str) -> None:
    """Who asks and where stay as they were when another page is opened whose address does not say."""
    kept = {name: found for name in ("as", "c") if (found := st.query_params.get_all(name))}
    for name, values in session_keys.page_changed(page, kept).items():
        st.query_params[name] = values
