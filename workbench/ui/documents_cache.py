"""What the pages read of collections and jobs, kept as long as it is what a new reading would give.

Every key holds the principal and everything else that decides what is read.
"""

from __future__ import annotations

import streamlit as st

from core.jobs.store import Job
from core.types import Principal
from workbench import resources
from workbench.services import documents_detail, documents_jobs, documents_list
from workbench.services.documents_detail import Inspected
from workbench.services.documents_list import Listing


def listing(collection: str, principal: Principal) -> Listing:
    """Raises UnknownCollection, PermissionUnavailable, StoreFailure."""
    workbench = resources.workbench()
    return _listing(str(workbench.home), collection, principal, documents_list.stamp(workbench, collection))


def inspected(collection: str, document_id: str, principal: Principal) -> Inspected:
    """Kept for this session alone: whoever opens a document is written down. Raises UnknownDocument, StoreFailure."""
    workbench = resources.workbench()
    stamp = documents_list.stamp(workbench, collection)
    return _inspected(str(workbench.home), collection, document_id, principal, stamp)


def jobs() -> tuple[Job, ...]:
    """Of all collections, newest first. Raises StoreFailure."""
    workbench = resources.workbench()
    return _jobs(str(workbench.home), documents_jobs.stamp(workbench))


@st.cache_resource(max_entries=32, show_spinner=False)
def _listing(home: str, collection: str, principal: Principal, stamp: documents_list.Stamp) -> Listing:
    return documents_list.listing(resources.workbench(), collection, principal)


@st.cache_resource(max_entries=8, show_spinner=False, scope="session")
def _inspected(
    home: str, collection: str, document_id: str, principal: Principal, stamp: documents_list.Stamp
) -> Inspected:
    return documents_detail.inspect(resources.workbench(), collection, document_id, principal)


@st.cache_resource(max_entries=4, show_spinner=False)
def _jobs(home: str, stamp: documents_jobs.Stamp) -> tuple[Job, ...]:
    return documents_jobs.listed(resources.workbench())
