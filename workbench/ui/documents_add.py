"""Bringing documents in: files from the browser, or a folder of the machine that the app runs on."""

from __future__ import annotations

import streamlit as st

from core.ingest.sidecars import is_sidecar
from core.types import Principal
from workbench import resources
from workbench.messages import say
from workbench.services import documents_jobs
from workbench.services.documents_edit import hides_new
from workbench.services.documents_list import Listing, labels_in_words
from workbench.ui import documents_address, documents_defaults, documents_errors, session_keys
from workbench.view.markup import plain


def draw(listed: Listing, principal: Principal) -> None:
    name = listed.collection.name
    _labels(listed, principal)
    with st.container(horizontal=True, gap="large"):
        with st.container(border=True, width="stretch"):
            _uploads(name, principal)
        with st.container(border=True, width="stretch"):
            _folder(name, principal)


def _labels(listed: Listing, principal: Principal) -> None:
    """What labels new documents will get, before they come."""
    defaults = listed.collection.default_labels
    if defaults is None or hides_new(defaults):
        st.warning(say("documents.add.hidden"), icon=":material/visibility_off:")
    else:
        words = plain(labels_in_words(defaults))
        st.info(say("documents.add.labels", labels=words), icon=":material/label:")
    documents_defaults.popover(listed, principal, "add")


def _uploads(collection: str, principal: Principal) -> None:
    st.markdown(f"**{say('documents.add.upload')}**")
    st.caption(say("documents.add.upload_help"))
    whole = st.toggle(say("documents.add.folder_upload"), key=session_keys.part("add.whole"))
    key = session_keys.part("add.files", "folder" if whole else "files", session_keys.upload_round())
    files = st.file_uploader(
        say("documents.add.files"),
        accept_multiple_files="directory" if whole else True,
        key=key,
        label_visibility="collapsed",
    )
    sidecars = sum(is_sidecar(file.name) for file in files)
    if files:
        st.caption(say("documents.add.chosen", count=len(files) - sidecars, sidecars=sidecars))
    st.button(
        say("documents.add.start"),
        key=session_keys.part("add.start"),
        icon=":material/upload:",
        type="primary",
        disabled=not files,
        on_click=_start_uploads,
        args=(collection, principal, key),
    )


def _folder(collection: str, principal: Principal) -> None:
    st.markdown(f"**{say('documents.add.folder')}**")
    st.caption(say("documents.add.folder_help"))
    key = session_keys.part("add.path")
    with st.form(session_keys.part("add.folder"), border=False):
        st.text_input(say("documents.add.path"), key=key, placeholder=say("documents.add.path_hint"))
        st.form_submit_button(
            say("documents.add.folder_start"),
            icon=":material/drive_folder_upload:",
            key=session_keys.part("add.folder.start"),
            on_click=_start_folder,
            args=(collection, principal, key),
        )


def _start_uploads(collection: str, principal: Principal, key: str) -> None:
    files = st.session_state.get(key) or []
    names = [file.name for file in files]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        session_keys.say_next("error", say("documents.add.doubled", name=plain(doubled[0])))
        return
    uploads = {file.name: file for file in files}
    job = documents_errors.attempt(
        lambda: documents_jobs.submit_uploads(resources.workbench(), collection, principal, uploads)
    )
    if job is not None:
        session_keys.next_upload_round()
        documents_address.update(view="jobs")


def _start_folder(collection: str, principal: Principal, key: str) -> None:
    path = st.session_state.get(key) or ""
    job = documents_errors.attempt(
        lambda: documents_jobs.submit_folder(resources.workbench(), collection, principal, path)
    )
    if job is not None:
        documents_address.update(view="jobs")
