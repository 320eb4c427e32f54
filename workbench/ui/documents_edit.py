"""Metadata of one document in a form. Whoever would gain or lose sight of it is shown before anything is saved."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

import streamlit as st

from core.access import LEVELS
from core.errors import CoreError
from core.ingest.edit import state_of
from core.types import Document, Principal, Status
from workbench import resources
from workbench.messages import say
from workbench.services import documents_edit as edits
from workbench.services.documents_edit import Draft
from workbench.services.documents_list import ListedDocument, Listing, labels_in_words
from workbench.ui import documents_errors, session_keys
from workbench.ui.documents_audience import audience
from workbench.ui.documents_bar import worded
from workbench.ui.session_keys import Editing
from workbench.view.markup import plain

PREVIEW_PX = 430
ROWS = (
    ("title", "owner"),
    ("status", "quality", "language"),
    ("revised_at", "valid_until"),
    ("knowledge_id", "revision"),
    ("source_uri", "relations"),
)


def draw(listed: Listing, row: ListedDocument, principal: Principal) -> None:
    with documents_errors.shown():
        names = edits.names_for_lists(resources.workbench(), [item.document for item in listed.documents])
        _form(listed, row.document.document_id, principal, names)


@st.fragment
def _form(listed: Listing, document_id: str, principal: Principal, names: tuple[str, ...]) -> None:
    """A fragment: every change shows at once who would see what."""
    if session_keys.said():  # a button below has changed more than this form
        st.rerun()
    with documents_errors.shown():
        collection = listed.collection.name
        document, state = edits.managed(resources.workbench(), collection, document_id, principal)
        base = session_keys.editing(document_id)
        if base is None or (base.state != state and not _changed(base)):
            base = Editing(document_id, state, edits.form_of(document))
            session_keys.start_editing(base)
        place = st.container(horizontal=True, gap="large")
        with place.container(width="stretch", gap="small"):
            _fields(base, listed, names)
            released = _release(base, document)
        with place.container(width=PREVIEW_PX, gap="small"):
            _consequences(collection, document, base, released, principal)


def _key(base: Editing, name: str) -> str:
    return session_keys.part("edit", base.document_id, base.state, name)


def _values(base: Editing) -> dict[str, Any]:
    """The form as it stands in the browser; a field that is not drawn yet is as it was."""
    return {name: st.session_state.get(_key(base, name), value) for name, value in base.form.items()}


def _changed(base: Editing) -> bool:
    return bool(edits.changes_between(base.form, _values(base)))


def _fields(base: Editing, listed: Listing, names: tuple[str, ...]) -> None:
    defaults = labels_in_words(listed.collection.default_labels) if listed.collection.default_labels else ""
    unstated = say("documents.form.default", labels=defaults) if defaults else say("documents.form.no_default")
    st.markdown(f"**{say('documents.form.labels')}**")
    with st.container(horizontal=True, gap="small"):
        levels = {level: say(f"classification.{level}") for level in LEVELS}
        _choice(base, "classification", ("", *LEVELS), {"": unstated, **levels})
        _text(base, "inherits_from")
    _names(base, "acl_allow", names, unstated)
    _names(base, "acl_deny", names, say("documents.form.nobody"))
    st.markdown(f"**{say('documents.form.metadata')}**")
    for line in ROWS:
        with st.container(horizontal=True, gap="small"):
            for name in line:
                if name == "status":
                    known: tuple[str, ...] = get_args(Status)
                    _choice(base, name, known, {status: say(f"status.{status}") for status in known})
                else:
                    _text(base, name)


def _start(base: Editing, name: str) -> str:
    """The widget's key; the widget begins with the document's value."""
    key = _key(base, name)
    if key not in st.session_state:
        st.session_state[key] = base.form[name]
    return key


def _text(base: Editing, name: str) -> None:
    st.text_input(
        say(f"documents.field.{name}"),
        key=_start(base, name),
        help=say(f"documents.help.{name}"),
        width="stretch",
    )


def _choice(base: Editing, name: str, options: tuple[str, ...], words: dict[str, str]) -> None:
    st.selectbox(
        say(f"documents.field.{name}"),
        options,
        key=_start(base, name),
        format_func=worded(words),
        help=say(f"documents.help.{name}"),
        width="stretch",
    )


def _names(base: Editing, name: str, known: tuple[str, ...], hint: str) -> None:
    key = _start(base, name)
    st.multiselect(
        say(f"documents.field.{name}"),
        tuple(dict.fromkeys((*known, *st.session_state[key]))),
        key=key,
        help=say(f"documents.help.{name}"),
        placeholder=hint,
        accept_new_options=True,
    )


def _release(base: Editing, document: Document) -> tuple[str, ...]:
    """Which of the keys that were edited by hand go back to the file."""
    if not document.edited:
        return ()
    chosen = st.multiselect(
        say("documents.form.release"),
        document.edited,
        key=_key(base, "release"),
        format_func=worded({name: say(f"documents.field.{name}") for name in document.edited}),
        help=say("documents.form.release_help"),
        placeholder=say("documents.form.release_none"),
    )
    return tuple(chosen)


def _consequences(
    collection: str, document: Document, base: Editing, released: tuple[str, ...], principal: Principal
) -> None:
    """What saving would do, and the button that does it."""
    st.markdown(f"**{say('documents.preview.title')}**")
    changes = edits.changes_between(base.form, _values(base))
    wanted = Draft({}, (), None)
    problem: CoreError | None = None
    try:
        wanted = edits.draft(resources.workbench(), collection, document, changes, released, principal)
    except CoreError as error:
        problem = error
    stale = base.state != state_of(document)
    if stale:
        st.warning(say("documents.preview.conflict", path=plain(document.path)), icon=":material/sync_problem:")
    if problem is not None:
        st.error(documents_errors.in_words(problem), icon=":material/error:")
    elif wanted.empty:
        st.caption(say("documents.preview.nothing"))
    else:
        _what(base, wanted)
    with st.container(horizontal=True, gap="small"):
        st.button(
            say("documents.preview.save"),
            key=session_keys.part("save"),
            icon=":material/save:",
            type="primary",
            disabled=stale or problem is not None or wanted.empty,
            on_click=_save,
            args=(collection, document.path, base, wanted, principal),
        )
        st.button(
            say("documents.preview.reload") if stale else say("documents.preview.discard"),
            key=session_keys.part("discard"),
            disabled=not stale and problem is None and wanted.empty,
            on_click=_discard,
            args=(base,),
        )


def _what(base: Editing, wanted: Draft) -> None:
    lines = []
    for name, value in wanted.changes.items():
        old, new = _shown(base.form[name]), _shown(value)
        field = say(f"documents.field.{name}")
        lines.append(f"- {say('documents.preview.change', field=field, old=old, new=new)}")
    for name in wanted.released:
        lines.append(f"- {say('documents.preview.released', field=say(f'documents.field.{name}'))}")
    st.markdown("\n".join(lines))
    if any(name in edits.FORCE for name in wanted.changes):
        st.caption(say("documents.preview.force"))
    if wanted.audience is None:
        st.caption(say("documents.preview.same_audience"))
    else:
        audience(wanted.audience)


def _shown(value: Any) -> str:
    text = ", ".join(value) if isinstance(value, list) else str(value or "")
    return plain(text) or say("documents.preview.unstated")


def _save(collection: str, path: str, base: Editing, wanted: Draft, principal: Principal) -> None:
    """A callback: saves what was previewed, unless the form says something else by now."""
    now = Draft(edits.changes_between(base.form, _values(base)), tuple(_released(base)), None)
    if now.fingerprint != wanted.fingerprint:
        session_keys.say_next("error", say("documents.preview.moved"))
        return
    save = partial(edits.save, resources.workbench(), collection, base.document_id, wanted, base.state, principal)
    if documents_errors.attempt(save) is not None:
        session_keys.stop_editing()
        session_keys.say_next("success", say("documents.preview.saved", path=plain(path)))


def _released(base: Editing) -> list[str]:
    return list(st.session_state.get(_key(base, "release"), ()))


def _discard(base: Editing) -> None:
    """A callback: the form is filled anew, from the document as it is now."""
    for name in (*base.form, "release"):
        st.session_state.pop(_key(base, name), None)
    session_keys.stop_editing()
