"""Documents: what a collection holds, what became of every file, and who may see it."""

from __future__ import annotations

import streamlit as st

from core.errors import PermissionUnavailable
from workbench import resources
from workbench.messages import say
from workbench.services import documents_jobs as jobs_service
from workbench.services import documents_list as lists
from workbench.ui import (
    documents_add,
    documents_address,
    documents_bar,
    documents_cache,
    documents_detail,
    documents_errors,
    documents_jobs,
    documents_list,
    documents_page,
    empty,
    errors,
    header,
)
from workbench.ui.identity import identity

header.draw("documents")
state, problems = documents_address.read()
with documents_errors.shown():
    workbench = resources.workbench()
    try:
        principal = identity(workbench, state.actor)
    except PermissionUnavailable:
        documents_bar.draw(workbench, state, (), "")
        raise
    with st.spinner(say("documents.loading")):
        known = lists.collections_for(workbench, principal)
    chosen = lists.choose(known, state.collection)
    documents_bar.draw(workbench, state, known, chosen)
    errors.problems(problems, () if chosen or not state.collection else (state.collection,))
    documents_errors.last_action()
    if not known:
        empty.no_collection()
        st.stop()
    if not chosen:
        empty.none_chosen()
        st.stop()
    listed = documents_cache.listing(chosen, principal)
    jobs = jobs_service.of_collection(documents_cache.jobs(), chosen, principal) if listed.owner else ()
    listed = lists.with_warnings(listed, jobs_service.warnings_by_path(jobs))
    row = lists.opened(listed, state.document) if state.document else None
    if row is not None:
        documents_detail.draw(state, listed, row, principal)
        st.stop()
    documents_page.facts(listed, principal)
    view = documents_page.views(state, listed, jobs)
    documents_page.not_there(state, listed)
    if view == "add":
        documents_add.draw(listed, principal)
    elif view == "jobs":
        documents_jobs.draw(listed, jobs, principal)
    else:
        documents_list.draw(state, listed)
