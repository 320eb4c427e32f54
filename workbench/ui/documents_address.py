"""The Documents page's state in its address, as `workbench.ui.address` has it for Search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from workbench.services.documents_state import DocumentsState, from_params, to_params
from workbench.services.search_state import Problem
from workbench.ui import session_keys


def read() -> tuple[DocumentsState, tuple[Problem, ...]]:
    return from_params({name: st.query_params.get_all(name) for name in st.query_params})


def write(state: DocumentsState) -> None:
    st.query_params.from_dict(to_params(state))


def update(**changes: Any) -> None:
    write(replace(read()[0], **changes))


def from_widget(key: str, field: str, convert: Callable[[Any], Any] = lambda value: value or "") -> None:
    """A callback: the widget's new value becomes the field of the state."""
    update(**{field: convert(st.session_state[key])})


def open_document(document_id: str, part: str = "text") -> None:
    session_keys.stop_editing()
    update(view="documents", document=document_id, part=part, chunk=0)


def back_to_list() -> None:
    session_keys.stop_editing()
    update(document="", part="text", chunk=0)


def other_collection(key: str) -> None:
    """A callback: another collection, of which nothing is opened yet."""
    session_keys.stop_editing()
    write(replace(DocumentsState(), collection=st.session_state[key] or "", actor=read()[0].actor))


def other_person(key: str) -> None:
    """A callback: the same view for somebody else."""
    session_keys.stop_editing()
    update(actor=st.session_state[key] or "")


def query_string(state: DocumentsState) -> str:
    return urlencode(to_params(state), doseq=True)
