"""The panels of the Home page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from core.errors import CoreError
from core.home import Workbench
from core.types import Principal
from workbench.messages import say
from workbench.services import catalogue, documents_jobs, documents_list, home_view
from workbench.services.home_view import Attention, Steps, Summary
from workbench.ui import documents_bar, documents_cache, documents_errors, session_keys
from workbench.view.markup import plain

PAGES = Path(__file__).resolve().parents[2] / "pages"
SEARCH, DOCUMENTS = PAGES / "search.py", PAGES / "documents.py"
Params = dict[str, str]

_ICONS = {"fault": ":material/error:", "warning": ":material/warning:", "note": ":material/info:"}
_COLOURS = {"fault": "red", "warning": "orange", "note": "gray"}
EXAMPLES_SHOWN = 5
GUIDES = (
    ("start", "README.md"),
    ("metadata", "docs/metadata.md"),
    ("cli", "docs/cli.md"),
    ("settings", "docs/settings.md"),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one person sees of the home."""

    summaries: tuple[Summary, ...]
    attention: tuple[Attention, ...]
    """The most urgent first."""
    broken: tuple[str, ...]
    """Collections that could not be read: why, as Markdown."""


def gather(workbench: Workbench, principal: Principal) -> Seen:
    """One collection that cannot be read hides no other. Raises StoreFailure where jobs cannot be read."""
    summaries: list[Summary] = []
    found: list[Attention] = []
    broken: list[str] = []
    jobs, now = documents_cache.jobs(), datetime.now(UTC)
    for name in documents_list.collections_for(workbench, principal):
        try:
            listed = documents_cache.listing(name, principal)
        except CoreError as error:
            broken.append(f"{plain(name)}: {documents_errors.in_words(error)}")
            continue
        own = documents_jobs.of_collection(jobs, name, principal)
        summaries.append(home_view.summary(listed, own))
        found += home_view.attention(listed, own, now)
    return Seen(tuple(summaries), home_view.by_urgency(found), tuple(broken))


def draw(workbench: Workbench, seen: Seen, actor: str) -> None:
    done = home_view.steps(workbench, seen.summaries)
    if not done.all_done and not seen.broken:
        first_steps(done, workbench.home)
        return
    row = st.container(horizontal=True, gap="large")
    with row.container(width="stretch", gap="small"):
        _collections(seen.summaries, actor)
    with row.container(width="stretch", gap="small"):
        if seen.broken or any(item.owner for item in seen.summaries):
            _attention(seen, len(seen.summaries) + len(seen.broken) > 1, actor)
        _where_to_go([item.name for item in seen.summaries], actor)


def bar(workbench: Workbench, actor: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        documents_bar.person(workbench, actor, session_keys.HOME_ACTOR, _other_person)
        documents_bar.link(urlencode({"as": actor}) if actor else "")


def _other_person(key: str) -> None:
    st.query_params.from_dict({"as": st.session_state[key]} if st.session_state[key] else {})


def _collections(found: Sequence[Summary], actor: str) -> None:
    st.subheader(say("home.here.title"), anchor=False)
    for item in found:
        with st.container(border=True, gap="small"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"**{plain(item.name)}**", width="stretch")
                if item.owner:
                    st.badge(say("home.here.owner"), icon=":material/edit:", color="blue")
            with st.container(horizontal=True, gap="large"):
                for name, value in (
                    ("documents", item.documents),
                    ("in_force", item.in_force),
                    ("chunks", item.chunks),
                ):
                    st.metric(say(f"home.count.{name}"), f"{value:,}", width="content")
            if item.last_ingestion is not None:
                when = item.last_ingestion.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
                st.caption(say("home.here.last", when=when))
            with st.container(horizontal=True, gap="medium"):
                params = _params(actor, c=item.name)
                st.page_link(SEARCH, label=say("home.go.search"), icon=":material/search:", query_params=params)
                st.page_link(
                    DOCUMENTS, label=say("home.go.documents"), icon=":material/folder_open:", query_params=params
                )
                if item.owner:
                    adding = _params(actor, c=item.name, view="add")
                    st.page_link(
                        DOCUMENTS, label=say("home.go.add"), icon=":material/upload_file:", query_params=adding
                    )


def _attention(seen: Seen, several: bool, actor: str) -> None:
    """`several`: the collection is named with each."""
    st.subheader(say("home.attention.title"), anchor=False)
    for text in seen.broken:
        st.error(text, icon=":material/error:")
    if not seen.attention and not seen.broken:
        st.success(say("home.attention.nothing"), icon=":material/check:")
        return
    for item in seen.attention:
        with st.container(border=True, gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.badge(
                    say(f"home.urgency.{item.urgency}"),
                    icon=_ICONS[item.urgency],
                    color=_COLOURS[item.urgency],  # type: ignore[arg-type]
                )
                title = say(f"home.attention.{item.kind}.title", count=item.count)
                where = f" · {plain(item.collection)}" if several else ""
                st.markdown(f"**{title}**{where}", width="stretch")
                st.page_link(
                    DOCUMENTS,
                    label=say("home.attention.open"),
                    icon=":material/arrow_forward:",
                    query_params=_params(actor, c=item.collection, view=item.view, show=item.show),
                )
            st.caption(say(f"home.attention.{item.kind}.body"))


def _where_to_go(names: Sequence[str], actor: str) -> None:
    examples = catalogue.examples(names)
    if examples:
        st.subheader(say("home.go.ask"), anchor=False)
        for question in examples[:EXAMPLES_SHOWN]:
            st.page_link(
                SEARCH,
                label=plain(question),
                icon=":material/search:",
                query_params=_params(actor, c=catalogue.DEMO, q=question),
            )
    st.subheader(say("home.go.read"), anchor=False)
    lines = [f"- `{path}` — {say(f'home.guide.{name}')}" for name, path in GUIDES]
    st.markdown("\n".join(lines))


def first_steps(done: Steps, home: Path) -> None:
    """What a new home needs before anybody can ask something."""
    st.subheader(say("home.steps.title"), anchor=False)
    st.markdown(say("home.steps.body"))
    people = say("home.steps.people_code")
    for number, (name, finished, code) in enumerate(
        (
            ("people", done.people, f"# {home / 'principals.toml'}\n\n{people}"),
            ("collection", done.collection and done.documents, say("home.steps.collection_code")),
            ("ask", False, ""),
        ),
        start=1,
    ):
        with st.container(border=True, gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"**{number}. {say(f'home.steps.{name}')}**", width="stretch")
                if finished:
                    st.badge(say("home.steps.done"), icon=":material/check:", color="green")
            st.caption(say(f"home.steps.{name}_help"))
            if code and not finished:
                st.code(code, language="toml" if name == "people" else None)
    st.page_link(SEARCH, label=say("home.go.search"), icon=":material/search:")


def _params(actor: str, **others: str) -> Params:
    """Query parameters of a link: who asks stays who it is."""
    usual = {"view": "documents", "show": "all"}
    return {name: value for name, value in {"as": actor, **others}.items() if value and value != usual.get(name)}
