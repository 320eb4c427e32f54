"""The parts of the Documents page that stand above its views: the collection in one line, and the views there are."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.jobs.store import Job
from core.types import Principal
from workbench.messages import say
from workbench.services.documents_list import Listing, labels_in_words
from workbench.services.documents_state import VIEWS, DocumentsState
from workbench.ui import address, documents_address, documents_defaults, documents_jobs, session_keys
from workbench.ui.documents_bar import worded
from workbench.view.markup import plain


def facts(listed: Listing, principal: Principal) -> None:
    """Documents, chunks and embedder; for owners also what is hidden and what labels new documents get."""
    held = listed.collection
    parts = [
        say("documents.facts.documents", count=sum(not row.hidden for row in listed.documents)),
        say("documents.facts.in_force", count=listed.in_force),
        say("documents.facts.chunks", count=listed.chunks),
        say("documents.facts.embedder", embedder=plain(held.embedder)),
    ]
    if listed.owner:
        hidden = sum(row.hidden for row in listed.documents)
        parts.append(say("documents.facts.hidden", count=hidden))
        if listed.unseen:
            parts.append(say("documents.facts.unseen", count=listed.unseen))
        labels = held.default_labels
        words = plain(labels_in_words(labels)) if labels is not None else ""
        parts.append(say("documents.facts.defaults", labels=words or say("documents.facts.no_defaults")))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(" · ".join(parts), width="stretch")
        if listed.owner:
            documents_defaults.popover(listed, principal, "facts")


def views(state: DocumentsState, listed: Listing, jobs: Sequence[Job]) -> str:
    """The view that is shown. Readers have the documents alone."""
    if not listed.owner:
        return VIEWS[0]
    address.show(session_keys.DOCUMENTS_VIEW, state.view)
    words = {"documents": say("documents.view.documents"), "add": say("documents.view.add")}
    st.segmented_control(
        say("documents.view.label"),
        VIEWS,
        key=session_keys.DOCUMENTS_VIEW,
        format_func=worded({**words, "jobs": documents_jobs.title(jobs)}),
        label_visibility="collapsed",
        required=True,
        on_change=documents_address.from_widget,
        args=(session_keys.DOCUMENTS_VIEW, "view"),
    )
    return state.view


def not_there(state: DocumentsState, listed: Listing) -> None:
    """What the address asks for and is not there, for this person: a document, a view of owners."""
    if state.document:
        st.warning(say("documents.gone"), icon=":material/search_off:")
    if not listed.owner and state.view != VIEWS[0]:
        st.info(say("documents.reader"), icon=":material/lock:")
