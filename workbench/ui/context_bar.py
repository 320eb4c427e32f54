"""The bar that every page has in the same place: collections, who asks, preset, place, settings, link."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from core.errors import PermissionUnavailable
from core.home import Workbench
from core.settings import PRESETS
from core.types import Principal
from workbench.messages import say
from workbench.services.catalogue import Choice
from workbench.services.search_state import SearchState
from workbench.services.settings_choice import Difference
from workbench.ui import address, session_keys
from workbench.view.markup import plain

HOME_PRESET = ""


def draw(workbench: Workbench, state: SearchState, choice: Choice, differences: tuple[Difference, ...]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        _collections(choice)
        _person(workbench, state)
        _preset(workbench, state)
        _location(state)
        _settings_button(differences)
        _link(state)


def describe(principal: Principal) -> str:
    groups = ", ".join(sorted(principal.groups)) or say("context.no_groups")
    return f"{principal.actor} · {groups} · {principal.clearance}"


def _label(labels: Mapping[str, str], name: str) -> str:
    """What stands for an option. Not a closure: session state must be serialisable, and tests keep this in it."""
    return labels.get(name, name)


def _collections(choice: Choice) -> None:
    address.show(session_keys.COLLECTIONS, list(choice.chosen))
    st.multiselect(
        say("context.collections"),
        choice.known,
        key=session_keys.COLLECTIONS,
        placeholder=say("context.collections_none"),
        on_change=address.from_widget,
        args=(session_keys.COLLECTIONS, "collections", tuple),
        width=220,
    )


def _person(workbench: Workbench, state: SearchState) -> None:
    people: dict[str, Principal] = {}
    default = None
    try:
        people = {principal.actor: principal for principal in workbench.principals()}
        default = workbench.principal(None).actor
    except PermissionUnavailable:
        pass  # nobody to choose from, or no default: what asks for the identity says so
    wanted = state.actor or default
    address.show(session_keys.ACTOR, wanted if wanted in people else None)
    st.selectbox(
        say("context.person"),
        list(people),
        index=0 if wanted in people else None,
        key=session_keys.ACTOR,
        format_func=partial(_label, {name: describe(principal) for name, principal in people.items()}),
        placeholder=say("context.person_none"),
        on_change=address.from_widget,
        args=(session_keys.ACTOR, "actor"),
        width=270,
    )


def _preset(workbench: Workbench, state: SearchState) -> None:
    home = say("context.preset_home", preset=workbench.settings.retrieval.preset)
    address.show(session_keys.PRESET, state.preset)
    st.selectbox(
        say("context.preset"),
        (HOME_PRESET, *PRESETS),
        key=session_keys.PRESET,
        format_func=partial(_label, {HOME_PRESET: home}),
        on_change=address.from_widget,
        args=(session_keys.PRESET, "preset"),
        width=170,
    )


def _location(state: SearchState) -> None:
    parts = [part for part in (state.document.rsplit("/", 1)[-1], state.pages, state.sheet) if part]
    place = plain(" · ".join(parts)[:40])
    label = say("context.location_set", place=place) if parts else say("context.location")
    with st.popover(label, icon=":material/filter_alt:", key=session_keys.LOCATION):
        st.caption(say("context.location_help"))
        for key, field, hint in (
            (session_keys.DOCUMENT, "document", say("context.document_hint")),
            (session_keys.PAGES, "pages", say("context.pages_hint")),
            (session_keys.SHEET, "sheet", ""),
        ):
            address.show(key, getattr(state, field))
            st.text_input(
                say(f"place.{field}"),
                key=key,
                placeholder=hint,
                on_change=address.from_widget,
                args=(key, field),
            )
        st.button(
            say("context.location_clear"),
            key=session_keys.CLEAR_LOCATION,
            on_click=address.update,
            kwargs={"document": "", "pages": "", "sheet": ""},
            disabled=not parts,
        )


def _settings_button(differences: tuple[Difference, ...]) -> None:
    count = len(differences)
    label = say("context.settings_changed", count=count) if count else say("context.settings")
    st.button(
        label,
        icon=":material/tune:",
        key=session_keys.DRAWER,
        on_click=session_keys.toggle_drawer,
        type="primary" if count else "secondary",
    )


def _link(state: SearchState) -> None:
    with st.popover(say("context.link"), icon=":material/link:"):
        st.caption(say("context.link_help"))
        base = (st.context.url or "").partition("?")[0].partition("#")[0]
        st.code(f"{base}?{address.query_string(state)}", language=None, wrap_lines=True)
