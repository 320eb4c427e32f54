"""The context bar of the pages that manage documents: the collection, who asks, the link, each where Search has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from core.errors import PermissionUnavailable
from core.home import Workbench
from core.types import Principal
from workbench.messages import say
from workbench.services.documents_state import DocumentsState
from workbench.ui import address, documents_address, session_keys
from workbench.ui.context_bar import describe


def draw(workbench: Workbench, state: DocumentsState, known: Sequence[str], chosen: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        _collection(known, chosen)
        person(workbench, state.actor, session_keys.DOCUMENTS_ACTOR, documents_address.other_person)
        link(documents_address.query_string(state))


def person(workbench: Workbench, actor: str, key: str, on_change: Callable[[str], None]) -> None:
    """Everybody of principals.toml to choose from; nobody is chosen where the one who is named is not among them."""
    people: dict[str, Principal] = {}
    default = None
    try:
        people = {principal.actor: principal for principal in workbench.principals()}
        default = workbench.principal(None).actor
    except PermissionUnavailable:
        pass  # what asks for the identity says so
    wanted = actor or default
    address.show(key, wanted if wanted in people else None)
    st.selectbox(
        say("context.person"),
        list(people),
        index=0 if wanted in people else None,
        key=key,
        format_func=worded({name: describe(principal) for name, principal in people.items()}),
        placeholder=say("context.person_none"),
        on_change=on_change,
        args=(key,),
        width=270,
    )


def link(query: str) -> None:
    with st.popover(say("context.link"), icon=":material/link:"):
        st.caption(say("documents.link_help"))
        base = (st.context.url or "").partition("?")[0].partition("#")[0]
        st.code(f"{base}?{query}" if query else base, language=None, wrap_lines=True)


def _collection(known: Sequence[str], chosen: str) -> None:
    key = session_keys.DOCUMENTS_COLLECTION
    address.show(key, chosen or None)
    st.selectbox(
        say("documents.collection"),
        list(known),
        index=0 if chosen else None,
        key=key,
        placeholder=say("context.collections_none"),
        on_change=documents_address.other_collection,
        args=(key,),
        width=220,
    )


def worded(labels: Mapping[str, str]) -> Callable[[str], str]:
    """A `format_func`. Not a closure: session state must be serialisable, and tests keep this in it."""
    return partial(_label, dict(labels))


def _label(labels: Mapping[str, str], name: str) -> str:
    return labels.get(name, name)
