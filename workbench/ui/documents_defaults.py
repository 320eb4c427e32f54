"""Default labels of a collection, with who would see what before they are saved."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.access import LEVELS
from core.errors import CoreError, InputError
from core.store.registry import Collection
from core.types import Labels, Principal
from workbench import resources
from workbench.messages import say
from workbench.services import documents_edit as edits
from workbench.services.documents_list import Listing
from workbench.ui import documents_errors, session_keys
from workbench.ui.documents_audience import audience
from workbench.ui.documents_bar import worded
from workbench.view.markup import plain


def popover(listed: Listing, principal: Principal, place: str) -> None:
    """`place`: where on the page, so that two of them have widgets of their own."""
    with st.popover(say("documents.defaults.open"), icon=":material/label:", width="content"), documents_errors.shown():
        _form(listed, principal, place)


@st.fragment
def _form(listed: Listing, principal: Principal, place: str) -> None:
    if session_keys.said():
        st.rerun()
    held = listed.collection
    form = edits.form_of_defaults(held.default_labels)
    keys = {name: session_keys.part("defaults", place, held.key, held.revision, name) for name in form}
    for name, key in keys.items():
        if key not in st.session_state:
            st.session_state[key] = form[name]
    names = edits.names_for_lists(resources.workbench(), [item.document for item in listed.documents])
    st.caption(say("documents.defaults.help"))
    st.selectbox(
        say("documents.field.classification"),
        ("", *LEVELS),
        key=keys["classification"],
        format_func=worded({"": say("documents.defaults.unstated"), **{x: say(f"classification.{x}") for x in LEVELS}}),
    )
    for name in edits.LISTS:
        st.multiselect(
            say(f"documents.field.{name}"),
            tuple(dict.fromkeys((*names, *st.session_state[keys[name]]))),
            key=keys[name],
            placeholder=say("documents.defaults.unstated"),
            accept_new_options=True,
        )
    _consequences(held, form, {name: st.session_state[key] for name, key in keys.items()}, principal, place)


def _consequences(
    held: Collection, before: dict[str, Any], after: dict[str, Any], principal: Principal, place: str
) -> None:
    changed = bool(edits.changes_between(before, after))
    problem = False
    labels: Labels | None = None
    if changed:
        try:
            labels = edits.defaults_of(after)
            audience(resources.workbench().audience_of_defaults(held.name, labels, principal))
            if edits.hides_new(labels):
                st.warning(say("documents.defaults.hides"), icon=":material/visibility_off:")
        except CoreError as error:
            problem = True
            st.error(documents_errors.in_words(error), icon=":material/error:")
    st.button(
        say("documents.preview.save"),
        key=session_keys.part("defaults.save", place),
        type="primary",
        icon=":material/save:",
        disabled=problem or not changed,
        on_click=_save,
        args=(held, labels, principal),
    )


def _save(held: Collection, labels: Labels | None, principal: Principal) -> None:
    """A callback: `held` is the collection as it was looked at."""

    def save() -> Collection:
        if resources.workbench().library.collection(held.name).revision != held.revision:
            raise InputError(f"collection {held.name!r} was changed meanwhile", "look at it and try again")
        return resources.workbench().set_defaults(held.name, principal, labels)

    if documents_errors.attempt(save) is not None:
        session_keys.say_next("success", say("documents.defaults.saved", collection=plain(held.name)))
