"""Who would see what: the preview that stands before every change of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from workbench.messages import say
from workbench.view.markup import plain

if TYPE_CHECKING:
    from core.ingest.edit import Audience, Seer

PATHS_SHOWN = 12


def audience(found: Audience) -> None:
    count = len(found.paths)
    if not count:
        st.caption(say("documents.audience.same"))
        return
    st.markdown(
        f"**{say('documents.audience.title_one') if count == 1 else say('documents.audience.title', count=count)}**"
    )
    if found.hidden:
        st.warning(say("documents.audience.hidden", count=len(found.hidden)), icon=":material/visibility_off:")
    names = ("person", "before", "after", "change")
    header = tuple(f"**{say(f'documents.audience.column.{name}')}**" for name in names)
    columns: dict[str, list[str]] = {name: [] for name in header}
    for seer in found.people:
        cells = (plain(seer.name), _seen(seer.before, count), _seen(seer.after, count), _change(seer))
        for name, cell in zip(header, cells, strict=True):
            columns[name].append(cell)
    st.table(columns, border="horizontal")
    if count > 1:
        paths = [f"- {plain(path)}" for path in found.paths[:PATHS_SHOWN]]
        if count > PATHS_SHOWN:
            paths.append(f"- {say('documents.audience.more', count=count - PATHS_SHOWN)}")
        with st.expander(say("documents.audience.paths", count=count)):
            st.markdown("\n".join(paths))


def _seen(count: int, of: int) -> str:
    if of == 1:
        return say("documents.audience.sees") if count else say("documents.audience.blind")
    return say("documents.audience.some", count=count, of=of)


def _change(seer: Seer) -> str:
    if seer.after > seer.before:
        return f":green[:material/add: {say('documents.audience.gains', count=seer.after - seer.before)}]"
    if seer.after < seer.before:
        return f":red[:material/remove: {say('documents.audience.loses', count=seer.before - seer.after)}]"
    return say("documents.audience.unchanged")
