"""What went wrong on the pages that manage documents, with its remedy, and what came of the last action."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st

from core.errors import CoreError, InputError, PermissionUnavailable, RoleMissing
from workbench.messages import say
from workbench.ui import errors, session_keys
from workbench.view.markup import plain


@contextmanager
def shown() -> Iterator[None]:
    """Shows a CoreError of its block, whose rest is skipped."""
    try:
        yield
    except PermissionUnavailable as error:
        errors.refusal("permission_unavailable", error)
    except CoreError as error:
        st.error(in_words(error), icon=":material/error:")


def in_words(error: CoreError) -> str:
    """As Markdown, with everything that comes from elsewhere escaped."""
    kind = "refused" if isinstance(error, RoleMissing) else "input" if isinstance(error, InputError) else "unavailable"
    parts = [f"**{say(f'documents.error.{kind}')}**", plain(error.message)]
    if error.remedy:
        parts.append(say("error.remedy", remedy=plain(error.remedy)))
    return "\n\n".join(parts)


def attempt(action: Callable[[], Any]) -> Any:
    """For callbacks: what the action gives; None where it failed, which the next run then says."""
    try:
        return action()
    except CoreError as error:
        session_keys.say_next("error", in_words(error))
        return None


def last_action() -> None:
    """Says once what came of the last action."""
    said = session_keys.take_said()
    if said is None:
        return
    if said.kind == "success":
        st.success(said.text, icon=":material/check:")
    elif said.kind == "error":
        st.error(said.text, icon=":material/error:")
    else:
        st.info(said.text, icon=":material/info:")
