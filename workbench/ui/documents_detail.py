"""One document: its canonical text beside its chunks, and what is said about it."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from core.types import Principal
from workbench.messages import say
from workbench.services.document_view import OpenedDocument
from workbench.services.documents_detail import Inspected, ShownChunk
from workbench.services.documents_edit import written
from workbench.services.documents_list import ListedDocument, Listing
from workbench.services.documents_state import PARTS, DocumentsState
from workbench.ui import (
    address,
    documents_address,
    documents_cache,
    documents_edit,
    documents_errors,
    documents_remove,
    session_keys,
)
from workbench.ui.documents_bar import worded
from workbench.ui.documents_list import classification, state_in_words
from workbench.view import markup
from workbench.view.markup import plain

CHUNKS_PX = 430
TEXT_PX = 600
LIST_PX = 290
COLOURS = {"public": "gray", "internal": "blue", "confidential": "orange", "restricted": "red"}


def draw(state: DocumentsState, listed: Listing, row: ListedDocument, principal: Principal) -> None:
    _heading(listed, row)
    part = _parts(state, listed.owner)
    if part == "metadata" and listed.owner:
        documents_edit.draw(listed, row, principal)
    elif part == "metadata":
        _facts(row)
    elif part == "remove" and listed.owner:
        documents_remove.draw(listed, row, principal)
    elif row.hidden:
        _hidden(row)
    else:
        _text(listed.collection.name, row.document.document_id, principal)


def _heading(listed: Listing, row: ListedDocument) -> None:
    document = row.document
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            say("documents.detail.back"),
            key=session_keys.DOCUMENTS_BACK,
            icon=":material/arrow_back:",
            on_click=documents_address.back_to_list,
        )
        with st.container(gap=None, width="stretch"):
            st.html(markup.title(document.title, document.path))
        colour = COLOURS.get(row.classification, "red")
        icon = None if row.classification else ":material/visibility_off:"
        st.badge(classification(row), color=colour, icon=icon)  # type: ignore[arg-type]
        st.badge(say(f"status.{document.status}"), color="gray" if document.status == "active" else "orange")
        if not row.in_force and not row.hidden and row.state not in ("deprecated", "revoked"):
            st.badge(plain(state_in_words(row)), color="orange", icon=":material/history:")
    facts = [say("documents.detail.facts", revision=plain(document.revision), chunks=row.chunks)]
    if row.waiting:
        facts.append(say("documents.detail.waiting", count=row.waiting))
    if document.quality is not None:
        facts.append(say("documents.detail.quality", quality=f"{document.quality:g}"))
    facts.append(plain(document.parser))
    st.caption(" · ".join(facts))
    for warning in row.warnings:
        st.warning(plain(warning), icon=":material/warning:")


def _parts(state: DocumentsState, owner: bool) -> str:
    options = [part for part in PARTS if owner or part != "remove"]
    chosen = state.part if state.part in options else options[0]
    key = session_keys.DOCUMENTS_PART
    address.show(key, chosen)
    st.segmented_control(
        say("documents.detail.part"),
        options,
        key=key,
        format_func=worded({part: say(f"documents.part.{part}") for part in options}),
        label_visibility="collapsed",
        required=True,
        on_change=documents_address.from_widget,
        args=(key, "part"),
    )
    return chosen


def _hidden(row: ListedDocument) -> None:
    st.warning(say("documents.detail.hidden"), icon=":material/visibility_off:")
    st.button(
        say("documents.detail.hidden_mend"),
        key=session_keys.part("mend"),
        icon=":material/edit:",
        type="primary",
        on_click=documents_address.update,
        kwargs={"part": "metadata"},
    )


@st.fragment
def _text(collection: str, document_id: str, principal: Principal) -> None:
    """A fragment: choosing a chunk moves the text and nothing else."""
    with documents_errors.shown():
        with st.spinner(say("documents.loading")):
            opened = documents_cache.inspected(collection, document_id, principal)
        number = documents_address.read()[0].chunk
        row = st.container(horizontal=True, gap="medium")
        with row.container(width="stretch", gap="xsmall"):
            st.markdown(f"**{say('documents.detail.text')}**")
            with st.container(height=TEXT_PX, border=True, key=session_keys.part("text", document_id, number)):
                _lines(opened.around(number))
        with row.container(width=CHUNKS_PX, gap="xsmall"):
            _chunks(opened, number)


def _lines(opened: OpenedDocument) -> None:
    if opened.before:
        with st.expander(say("document.before", first=opened.before[0].number, last=opened.before[-1].number)):
            if opened.hidden_before:
                st.caption(say("document.hidden", count=opened.hidden_before))
            st.html(markup.document_lines(opened.before))
    st.html(markup.document_lines((*opened.around, *opened.after)))
    if opened.hidden_after:
        st.caption(say("document.hidden", count=opened.hidden_after))


def _chunks(opened: Inspected, number: int) -> None:
    count = len(opened.chunks)
    st.markdown(
        f"**{say('documents.detail.chunks', count=count) if count != 1 else say('documents.detail.chunk_one')}**"
    )
    if not opened.chunks:
        st.info(say("documents.detail.no_chunks"), icon=":material/text_fields:")
        return
    key = session_keys.part("chunks", opened.view.row.document.document_id)
    chosen = opened.chunk(number)
    st.dataframe(
        _chunk_frame(opened),
        hide_index=True,
        height=min(LIST_PX, 38 + 35 * count),
        key=key,
        on_select=partial(_choose, key),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [number - 1]}} if chosen else None,
        column_config={
            "number": st.column_config.NumberColumn("#", width=45),
            "where": st.column_config.TextColumn(say("documents.column.where"), width=205),
            "characters": st.column_config.NumberColumn(
                say("documents.column.characters"), width=65, alignment="right"
            ),
            "indexed": st.column_config.TextColumn(say("documents.column.indexed"), width=70),
        },
        alt=say("documents.detail.chunks_alt", count=count),
    )
    if chosen is None:
        st.caption(say("documents.detail.choose"))
    else:
        _chunk(chosen)


def _choose(key: str) -> None:
    """A callback: the chunk that was clicked stands out."""
    rows = st.session_state[key]["selection"]["rows"]
    documents_address.update(chunk=rows[0] + 1 if rows else 0)


def _chunk_frame(opened: Inspected) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "number": [chunk.number for chunk in opened.chunks],
            "where": [chunk.location or chunk.section for chunk in opened.chunks],
            "characters": [chunk.end - chunk.start for chunk in opened.chunks],
            "indexed": [say("documents.detail.differs") if chunk.indexed else "" for chunk in opened.chunks],
        }
    )


def _chunk(chunk: ShownChunk) -> None:
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"**{say('documents.detail.chunk', number=chunk.number)}** · {plain(chunk.location)}")
        st.caption(say("documents.detail.span", start=chunk.start, end=chunk.end))
        st.code(chunk.chunk_id, language=None)
        if chunk.indexed:
            st.caption(say("documents.detail.indexed"))
            with st.container(height=160, border=False):
                st.html(markup.line(chunk.indexed))
        else:
            st.caption(say("documents.detail.indexed_same"))


def _facts(row: ListedDocument) -> None:
    """For readers: what a citation may need, and no label that would name others."""
    document = row.document
    facts = {
        "title": document.title,
        "path": document.path,
        "classification": classification(row),
        "status": say(f"status.{document.status}"),
        "in_force": state_in_words(row),
        "revision": document.revision,
        "revised_at": written(document.revised_at),
        "valid_until": written(document.valid_until),
        "quality": "" if document.quality is None else f"{document.quality:g}",
        "language": document.language or "",
        "source_uri": document.source_uri or "",
    }
    rows = {f"**{say(f'documents.field.{name}')}**": plain(value) for name, value in facts.items() if value}
    st.table(rows, border="horizontal", hide_header=True)
