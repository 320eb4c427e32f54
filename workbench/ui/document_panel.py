"""A document in a drawer at the side, opened at a passage."""

from __future__ import annotations

import streamlit as st

from core.home import Workbench
from core.types import Principal
from workbench.messages import say
from workbench.services.document_view import OpenedDocument, open_document
from workbench.ui import address, errors, session_keys
from workbench.view import markup
from workbench.view.markup import plain

HEADINGS_SHOWN = 40


def show(workbench: Workbench, principal: Principal, target: session_keys.Opened, query: str) -> None:
    @st.dialog(
        say("document.title"),
        width="large",
        position="right",
        icon=":material/article:",
        on_dismiss=session_keys.close_document,
    )
    def panel() -> None:
        if session_keys.opened() is None:  # a button below has started another search
            st.rerun()
        with errors.shown():
            span = (target.start, target.end)
            opened = open_document(workbench, target.collection, target.document_id, span, query, principal)
            _draw(opened)

    panel()


def _draw(opened: OpenedDocument) -> None:
    row, document = opened.row, opened.row.document
    st.html(markup.title(document.title, document.path))
    facts = say(
        "document.facts",
        classification=say(f"classification.{row.classification}"),
        status=say(f"status.{document.status}"),
        revision=plain(document.revision),
        chunks=row.chunks,
    )
    st.caption(facts)
    if not row.in_force:
        st.warning(say("document.not_in_force"), icon=":material/history:")
    with st.container(horizontal=True):
        if opened.headings:
            with st.popover(say("document.outline"), icon=":material/toc:"):
                st.html(markup.outline(opened.headings[:HEADINGS_SHOWN]))
        st.button(
            say("document.only_here"),
            key=session_keys.ONLY_HERE,
            icon=":material/filter_alt:",
            on_click=address.update,
            kwargs={"document": document.path, "pages": "", "sheet": ""},
        )
    if opened.before:
        with st.expander(say("document.before", first=opened.before[0].number, last=opened.before[-1].number)):
            if opened.hidden_before:
                st.caption(say("document.hidden", count=opened.hidden_before))
            st.html(markup.document_lines(opened.before))
    st.html(markup.document_lines((*opened.around, *opened.after)))
    if opened.hidden_after:
        st.caption(say("document.hidden", count=opened.hidden_after))
