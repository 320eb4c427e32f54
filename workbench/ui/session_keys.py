"""Everything the app keeps between reruns, behind typed functions: names of widgets, and a few plain values.

What a link should reproduce is not here but in the address: see `workbench.ui.address`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import streamlit as st

from workbench.services.search_view import Place

QUERY = "search.query"
COLLECTIONS = "search.collections"
ACTOR = "search.actor"
PRESET = "search.preset"
DOCUMENT = "search.document"
PAGES = "search.pages"
SHEET = "search.sheet"
LOCATION = "search.location"
DRAWER = "search.drawer"
RESET = "search.reset"
EXPORT_CSV, EXPORT_JSON, EXPORT_MARKDOWN = "search.export.csv", "search.export.json", "search.export.markdown"
ONLY_HERE = "search.only_here"
CLEAR_LOCATION = "search.clear_location"

_OPENED = "search.opened"
_SELECTED = "search.selected"
_ORDERS = "search.orders"
_DRAWER_OPEN = "search.drawer_open"


def setting(key: str) -> str:
    return f"search.setting.{key}"


def action(name: str, number: int) -> str:
    """A button of a card, or an example question."""
    return f"search.{name}.{number}"


class Opened(NamedTuple):
    """The document in the side panel, and the passage it is opened at."""

    collection: str
    document_id: str
    start: int
    end: int


def opened() -> Opened | None:
    found = st.session_state.get(_OPENED)
    return Opened(*found) if found else None


def open_document(target: Opened) -> None:
    st.session_state[_OPENED] = tuple(target)


def close_document() -> None:
    st.session_state.pop(_OPENED, None)


def selected() -> int:
    """Number of the passage whose ranks stand out, from 1."""
    return int(st.session_state.get(_SELECTED, 1))


def select(number: int) -> None:
    st.session_state[_SELECTED] = number


def new_search() -> None:
    """Forget what belonged to the results shown so far."""
    close_document()
    st.session_state.pop(_SELECTED, None)


Order = tuple[Place, ...]


def previous_order(request: str, settings: str, order: Order) -> Order:
    """The order of the same request under the settings before these; `order` itself where there were none."""
    known, current, before, shown = st.session_state.get(_ORDERS, ("", "", (), ()))
    if known != request:
        before = order
    elif current != settings:
        before = shown
    st.session_state[_ORDERS] = (request, settings, before, order)
    return tuple(before)


def drawer_is_open() -> bool:
    return bool(st.session_state.get(_DRAWER_OPEN, False))


def toggle_drawer() -> None:
    st.session_state[_DRAWER_OPEN] = not drawer_is_open()


_LAST_PAGE = "app.page"
_LAST_PARAMS = "app.params"


def page_changed(page: str, params: dict[str, list[str]]) -> dict[str, list[str]]:
    """Remember who asks and where on this page; gives what was remembered where the page is another than before."""
    known = dict(st.session_state.get(_LAST_PARAMS, {}))
    changed = st.session_state.get(_LAST_PAGE, page) != page
    carried = {name: values for name, values in known.items() if name not in params} if changed else {}
    st.session_state[_LAST_PAGE] = page
    st.session_state[_LAST_PARAMS] = {**carried, **params}
    return carried


DOCUMENTS_COLLECTION, DOCUMENTS_ACTOR, DOCUMENTS_VIEW = "documents.collection", "documents.actor", "documents.view"
DOCUMENTS_FIND, DOCUMENTS_SHOW, DOCUMENTS_PART = "documents.find", "documents.show", "documents.part"
DOCUMENTS_OPEN, DOCUMENTS_BACK = "documents.open", "documents.back"
HOME_ACTOR = "home.actor"

_SAID = "documents.said"
_EDITING = "documents.editing"
_UPLOADS = "documents.uploads"
_LOGS = "documents.logs"


def part(name: str, *of: str | int) -> str:
    """A widget of the Documents page that belongs to one document, job or state."""
    return ".".join(("documents", name, *map(str, of)))


class Said(NamedTuple):
    """What came of the last action, shown once."""

    kind: str
    """success, error or info"""
    text: str
    """Markdown; what comes from elsewhere is escaped in it."""


def say_next(kind: str, text: str) -> None:
    st.session_state[_SAID] = (kind, text)


def said() -> bool:
    return _SAID in st.session_state


def take_said() -> Said | None:
    found = st.session_state.pop(_SAID, None)
    return Said(*found) if found else None


class Editing(NamedTuple):
    """The document whose metadata stand in the form, and what they were when the form was filled."""

    document_id: str
    state: str
    form: dict[str, Any]


def editing(document_id: str) -> Editing | None:
    found = st.session_state.get(_EDITING)
    return Editing(*found) if found and found[0] == document_id else None


def start_editing(target: Editing) -> None:
    st.session_state[_EDITING] = tuple(target)


def stop_editing() -> None:
    st.session_state.pop(_EDITING, None)


def upload_round() -> int:
    """Counts the uploads of this session: a new number empties the field."""
    return int(st.session_state.get(_UPLOADS, 0))


def next_upload_round() -> None:
    st.session_state[_UPLOADS] = upload_round() + 1


def log_is_open(job_id: str) -> bool:
    return st.session_state.get(_LOGS) == job_id


def toggle_log(job_id: str) -> None:
    st.session_state[_LOGS] = "" if log_is_open(job_id) else job_id
