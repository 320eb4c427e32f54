"""The list of documents: what the collection is, which of its documents are shown, and the table of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import streamlit as st

from workbench.messages import say
from workbench.services.documents_edit import written
from workbench.services.documents_list import ListedDocument, Listing, labels_in_words, shown
from workbench.services.documents_state import FILTERS, DocumentsState
from workbench.ui import address, documents_address, session_keys
from workbench.ui.documents_bar import worded

TABLE_PX = 560
ROWS_UNSCROLLED = 14
OPEN = "open"
DATED = ("expired", "later")


def draw(state: DocumentsState, listed: Listing) -> None:
    if not listed.documents:
        _nothing(listed)
        return
    now = datetime.now(UTC)
    _filters(state, listed, now)
    rows = shown(listed, state.find, state.show, now)
    if not rows:
        st.info(say("documents.list.none_found"), icon=":material/search_off:")
        return
    _hint(state)
    _table(rows, listed.owner)


def classification(row: ListedDocument) -> str:
    return say(f"classification.{row.classification}") if row.classification else say("documents.hidden")


def state_in_words(row: ListedDocument) -> str:
    """`yes`, or why it is not in force."""
    if row.state not in DATED:
        return say(f"documents.state.{row.state}")
    moment = row.document.valid_until if row.state == "expired" else row.document.revised_at
    return say(f"documents.dated.{row.state}", moment=written(moment)[:10])


def _nothing(listed: Listing) -> None:
    with st.container(border=True):
        if listed.owner:
            st.markdown(f"**{say('documents.empty.title')}**")
            st.markdown(say("documents.empty.owner"))
            st.button(
                say("documents.empty.add"),
                key=session_keys.part("empty.add"),
                icon=":material/upload_file:",
                type="primary",
                on_click=documents_address.update,
                kwargs={"view": "add"},
            )
        else:
            st.markdown(f"**{say('documents.empty.title_reader')}**")
            st.markdown(say("documents.empty.reader"))


def _filters(state: DocumentsState, listed: Listing, now: datetime) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        address.show(session_keys.DOCUMENTS_FIND, state.find)
        st.text_input(
            say("documents.list.find"),
            key=session_keys.DOCUMENTS_FIND,
            placeholder=say("documents.list.find_hint"),
            icon=":material/search:",
            label_visibility="collapsed",
            on_change=documents_address.from_widget,
            args=(session_keys.DOCUMENTS_FIND, "find"),
            width=340,
        )
        counts = {name: listed.count(name, now) for name in FILTERS}
        options = [name for name in FILTERS if counts[name] or name in ("all", state.show)]
        if len(options) == 1:
            return
        address.show(session_keys.DOCUMENTS_SHOW, state.show)
        st.segmented_control(
            say("documents.list.show"),
            options,
            key=session_keys.DOCUMENTS_SHOW,
            format_func=worded({name: say(f"documents.show.{name}", count=counts[name]) for name in options}),
            label_visibility="collapsed",
            required=True,
            on_change=documents_address.from_widget,
            args=(session_keys.DOCUMENTS_SHOW, "show"),
        )


def _hint(state: DocumentsState) -> None:
    """What mends the documents that are listed, where they were listed for a fault."""
    if state.show in ("hidden", "conflicting", "expiring", "expired", "waiting"):
        st.info(say(f"documents.mend.{state.show}"), icon=":material/build:")


def _table(rows: Sequence[ListedDocument], owner: bool) -> None:
    ids = [row.document.document_id for row in rows]
    st.dataframe(
        _frame(rows, owner),
        hide_index=True,
        height=TABLE_PX if len(rows) > ROWS_UNSCROLLED else "auto",
        column_config=_columns(ids),
        placeholder="",
        key=session_keys.part("table"),
        alt=say("documents.list.alt", count=len(rows)),
    )


def _open_row(ids: Sequence[str]) -> None:
    click = st.session_state[session_keys.DOCUMENTS_OPEN]
    if click is not None and 0 <= click["row"] < len(ids):
        documents_address.open_document(ids[click["row"]])


def _frame(rows: Sequence[ListedDocument], owner: bool) -> pd.DataFrame:
    columns: dict[str, Any] = {
        OPEN: [":material/article:"] * len(rows),
        "title": [row.document.title for row in rows],
        "path": [row.document.path for row in rows],
        "format": [row.format for row in rows],
        "classification": [classification(row) for row in rows],
        "in_force": [state_in_words(row) for row in rows],
        "revision": [row.document.revision for row in rows],
        "chunks": [row.chunks for row in rows],
        "quality": [row.document.quality for row in rows],
        "valid_until": [written(row.document.valid_until)[:10] for row in rows],
    }
    if owner:
        columns["labels"] = [labels_in_words(row.document.labels) or say("documents.labels_default") for row in rows]
        columns["warnings"] = [len(row.warnings) or None for row in rows]
    if any(row.waiting for row in rows):
        columns["waiting"] = [row.waiting or None for row in rows]
    frame = pd.DataFrame(columns)
    if not any(columns["valid_until"]):
        frame = frame.drop(columns="valid_until")
    for name in ("chunks", "waiting", "warnings"):
        if name in frame:
            frame[name] = frame[name].astype("Int64")
    return frame


def _columns(ids: Sequence[str]) -> dict[str, Any]:
    def text(name: str, width: Any = None) -> Any:
        return st.column_config.TextColumn(say(f"documents.column.{name}"), width=width)

    def number(name: str, written_as: str = "%d") -> Any:
        label = say(f"documents.column.{name}")
        return st.column_config.NumberColumn(label, format=written_as, alignment="right", width=75)

    return {
        OPEN: st.column_config.ButtonColumn(
            say("documents.column.open"),
            type="tertiary",
            key=session_keys.DOCUMENTS_OPEN,
            on_click=_open_row,
            args=(ids,),
            pinned=True,
            width=55,
        ),
        "title": text("title", 260),
        "path": text("path", 260),
        "format": text("format", 65),
        "classification": text("classification", 120),
        "in_force": text("in_force", 150),
        "revision": text("revision", 110),
        "valid_until": text("valid_until", 100),
        "labels": text("labels", 200),
        "chunks": number("chunks"),
        "waiting": number("waiting"),
        "warnings": number("warnings"),
        "quality": number("quality", "%.0f"),
    }
