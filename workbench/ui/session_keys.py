"""Everything the app keeps between reruns, behind typed functions: names of widgets, and a few plain values.

What a link should reproduce is not here but in the address: see `workbench.ui.address`.
"""

from __future__ import annotations

from typing import NamedTuple

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
