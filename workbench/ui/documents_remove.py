"""Taking a document away: removed, or purged with every trace of its words."""

from __future__ import annotations

import streamlit as st

from core.types import Principal
from workbench import resources
from workbench.messages import say
from workbench.services import documents_jobs
from workbench.services.documents_list import ListedDocument, Listing
from workbench.ui import documents_address, documents_errors, session_keys
from workbench.view.markup import plain


def draw(listed: Listing, row: ListedDocument, principal: Principal) -> None:
    collection, document = listed.collection.name, row.document
    with st.container(horizontal=True, gap="large"):
        with st.container(border=True, width="stretch"):
            st.markdown(f"**{say('documents.remove.title')}**")
            st.markdown(say("documents.remove.body"))
            with st.popover(say("documents.remove.open"), icon=":material/delete:"):
                st.markdown(say("documents.remove.sure", path=plain(document.path)))
                st.button(
                    say("documents.remove.button"),
                    key=session_keys.part("remove"),
                    type="primary",
                    on_click=_remove,
                    args=(collection, document.document_id, principal),
                )
        with st.container(border=True, width="stretch"):
            st.markdown(f"**{say('documents.purge.title')}**")
            st.markdown(say("documents.purge.body"))
            with st.popover(say("documents.purge.open"), icon=":material/delete_forever:"):
                _purge(collection, row, principal)


def _purge(collection: str, row: ListedDocument, principal: Principal) -> None:
    st.markdown(say("documents.purge.sure"))
    st.code(row.document.path, language=None, wrap_lines=True)
    typed = st.text_input(say("documents.purge.type"), key=session_keys.part("purge.path", row.document.document_id))
    st.button(
        say("documents.purge.button"),
        key=session_keys.part("purge"),
        type="primary",
        disabled=(typed or "").strip() != row.document.path,
        on_click=_start_purge,
        args=(collection, row.document.document_id, row.document.path, principal),
    )


def _remove(collection: str, document_id: str, principal: Principal) -> None:
    removed = documents_errors.attempt(
        lambda: resources.workbench().remove_documents(collection, [document_id], principal)
    )
    if removed:
        documents_address.back_to_list()
        session_keys.say_next("success", say("documents.remove.done", path=plain(removed[0])))


def _start_purge(collection: str, document_id: str, path: str, principal: Principal) -> None:
    """A callback. A browser may send a click on a disabled button: what was typed is looked at again."""
    typed = st.session_state.get(session_keys.part("purge.path", document_id), "")
    if typed.strip() != path:
        session_keys.say_next("error", say("documents.purge.mistyped"))
        return
    job = documents_errors.attempt(
        lambda: documents_jobs.submit_purge(resources.workbench(), collection, principal, document_id)
    )
    if job is not None:
        documents_address.back_to_list()
        documents_address.update(view="jobs")
        session_keys.say_next("success", say("documents.purge.started"))
