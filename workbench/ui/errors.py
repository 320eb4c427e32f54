"""The one place that shows what went wrong: errors with their remedy, refusals, and addresses that were malformed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

from core.errors import CoreError, InputError, PermissionUnavailable
from core.types import RefusalCode, SearchResult
from workbench.messages import catalogue, say
from workbench.services.search_state import Problem
from workbench.view.markup import plain


@contextmanager
def shown() -> Iterator[None]:
    """Shows a CoreError of its block, whose rest is skipped."""
    try:
        yield
    except PermissionUnavailable as error:
        refusal("permission_unavailable", error)
    except InputError as error:
        st.error(_sentences(say("error.title"), error), icon=":material/error:")
    except CoreError as error:
        st.error(_sentences(say("error.unavailable_title"), error), icon=":material/cloud_off:")


def refusal(code: RefusalCode, error: CoreError | None = None) -> None:
    """A refusal in words; it always says that nothing was shown."""
    title, body = say(f"refusal.{code}.title"), say(f"refusal.{code}.body")
    parts = [f"**{title}**", f"{body} {say('refusal.nothing_shown')}"]
    if error is not None:
        parts += _details(error)
    text = "\n\n".join(parts)
    if code in ("no_evidence", "only_expired"):
        st.info(text, icon=":material/search_off:")
    else:
        st.warning(text, icon=":material/block:")


def flags(names: Sequence[str]) -> None:
    """What was degraded, in words."""
    for name in names:
        key = f"flag.{name}"
        known = key in catalogue("en")
        st.warning(say(key) if known else say("flag.other", name=plain(name)), icon=":material/warning:")


def notices(result: SearchResult) -> None:
    numbers = {passage.evidence_id: passage.rank for passage in result.passages}
    for notice in result.notices:
        cited = " ".join(f"\\[{numbers[name]}\\]" for name in notice.evidence_ids if name in numbers)
        st.warning(
            f"**{say(f'notice.{notice.code}')}** {plain(notice.message)} {cited}", icon=":material/compare_arrows:"
        )


def problems(found: Sequence[Problem], unknown_collections: Sequence[str]) -> None:
    """What an address held that could not be used."""
    lines = [say("problem.unknown_collection", name=plain(name)) for name in unknown_collections]
    for problem in found:
        name = "".join(character for character in problem.name if character.isalnum() or character in "_-.")[:40]
        if problem.reason:
            value, reason = plain(problem.value[:80]), plain(problem.reason[:300])
            lines.append(say("problem.malformed", name=name, value=value, reason=reason))
        else:
            lines.append(say("problem.unknown", name=name))
    if lines:
        text = "\n".join([f"**{say('problem.title')}**", "", *(f"- {line}" for line in lines)])
        st.warning(text, icon=":material/link_off:")


def _sentences(title: str, error: CoreError) -> str:
    return "\n\n".join([f"**{title}**", *_details(error)])


def _details(error: CoreError) -> list[str]:
    parts = [plain(error.message)]
    if error.remedy:
        parts.append(say("error.remedy", remedy=plain(error.remedy)))
    return parts
