"""Jobs of a collection: how far they are, what became of every file, and what can be done about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC
from functools import partial
from typing import Literal

import pandas as pd
import streamlit as st

from core.jobs.store import Job
from core.types import Principal
from workbench import resources
from workbench.messages import say
from workbench.services import documents_jobs
from workbench.services.documents_jobs import ACTIVE, RESUMABLE, ShownFile
from workbench.services.documents_list import Listing
from workbench.ui import documents_address, documents_cache, documents_errors, session_keys
from workbench.view.markup import plain

EVERY_S = 1.0
"""How often a running job is looked at."""
SHOWN = 12
OUTCOMES = ("added", "updated", "relabelled", "unchanged", "refused")

Colour = Literal["gray", "blue", "green", "orange", "red"]
_COLOURS: dict[str, Colour] = {
    "queued": "gray",
    "running": "blue",
    "done": "green",
    "failed": "red",
    "cancelled": "gray",
    "interrupted": "orange",
}


def draw(listed: Listing, jobs: Sequence[Job], principal: Principal) -> None:
    """`jobs`: those of the collection, newest first."""
    with documents_errors.shown():
        documents_jobs.wake(resources.workbench(), jobs)
    active = any(job.state in ACTIVE for job in jobs)
    # Looked at again and again only while something runs.
    st.fragment(_panel, run_every=EVERY_S if active else None)(listed, principal, tuple(job.id for job in jobs), active)
    _rebuild(listed, principal)


def title(jobs: Sequence[Job]) -> str:
    running = sum(job.state in ACTIVE for job in jobs)
    return say("documents.view.jobs_running", count=running) if running else say("documents.view.jobs")


def _panel(listed: Listing, principal: Principal, before: tuple[str, ...], active: bool) -> None:
    with documents_errors.shown():
        name = listed.collection.name
        jobs = documents_jobs.of_collection(documents_cache.jobs(), name, principal)
        # What the rest of the page shows has changed: other jobs, none that runs any more, another view.
        ended = active and not any(job.state in ACTIVE for job in jobs)
        if ended or tuple(job.id for job in jobs) != before or session_keys.said() or _elsewhere():
            st.rerun()
        if not jobs:
            with st.container(border=True):
                st.markdown(f"**{say('documents.jobs.none_title')}**")
                st.markdown(say("documents.jobs.none"))
        for number, job in enumerate(jobs[:SHOWN]):
            _job(documents_jobs.now(resources.workbench(), job), principal, newest=number == 0)
        if len(jobs) > SHOWN:
            st.caption(say("documents.jobs.more", count=len(jobs) - SHOWN))


def _elsewhere() -> bool:
    return documents_address.read()[0].view != "jobs"


def _job(job: Job, principal: Principal, newest: bool) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown(f"**{say(f'documents.jobs.kind.{job.kind}')}**", width="content")
            state = "stopping" if job.cancelling and job.state == "running" else job.state
            st.badge(say(f"documents.jobs.state.{state}"), color=_COLOURS[job.state])
            st.caption(say("documents.jobs.by", actor=plain(job.actor), when=_when(job)), width="stretch")
            _actions(job, principal)
        if job.state in ACTIVE:
            _progress(job)
        elif job.state == "done" and job.kind == "ingest":
            _outcome(job, newest)
        elif job.message:
            show = st.markdown if job.state in ("done", "cancelled") else st.warning
            show(plain(job.message))
        if session_keys.log_is_open(job.id):
            lines = documents_jobs.log(resources.workbench(), job.id, principal)
            st.code("\n".join(lines) or say("documents.jobs.no_log"), language=None, wrap_lines=True, height=260)


def _when(job: Job) -> str:
    moment = job.ended_at or job.started_at or job.created_at
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _progress(job: Job) -> None:
    if job.state == "queued":
        st.caption(say("documents.jobs.waiting"))
        return
    if job.total is None:
        st.progress(0.0, say("documents.jobs.begun"))
        return
    parts = [say("documents.jobs.done", done=job.done, total=job.total)]
    if job.rate:
        parts.append(say("documents.jobs.rate", rate=f"{job.rate:.1f}"))
    if job.remaining_s is not None and job.done < job.total:
        parts.append(say("documents.jobs.remaining", time=duration(job.remaining_s)))
    if job.current:
        parts.append(plain(job.current))
    st.progress(min(1.0, job.done / job.total) if job.total else 1.0, " · ".join(parts))


def duration(seconds: float) -> str:
    if seconds < 90:
        return say("documents.jobs.seconds", count=max(1, round(seconds)))
    return say("documents.jobs.minutes", count=round(seconds / 60))


def _outcome(job: Job, newest: bool) -> None:
    files = documents_jobs.files_of(job)
    counts = Counter(file.outcome for file in files)
    said = [say(f"documents.jobs.outcome.{name}", count=counts[name]) for name in OUTCOMES if counts[name]]
    st.markdown(" · ".join(said) or say("documents.jobs.no_files"))
    refused, hidden = counts["refused"], sum(file.hidden for file in files)
    warned = sum(bool(file.warnings) for file in files)
    if refused:
        st.error(say("documents.jobs.refused", count=refused), icon=":material/error:")
    if hidden:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.warning(say("documents.jobs.hidden", count=hidden), icon=":material/visibility_off:", width="stretch")
            st.button(
                say("documents.jobs.hidden_show"),
                key=session_keys.part("hidden", job.id),
                on_click=documents_address.update,
                kwargs={"view": "documents", "show": "hidden", "find": "", "document": ""},
            )
    if not files:
        return
    label = say("documents.jobs.files", count=len(files), attention=refused + hidden + warned)
    with st.expander(label, expanded=newest):
        _files(job, files)


def _files(job: Job, files: Sequence[ShownFile]) -> None:
    notes = [" · ".join((*_note(file), *file.warnings)) for file in files]
    frame = pd.DataFrame(
        {
            "path": [file.path for file in files],
            "outcome": [say(f"documents.jobs.one.{file.outcome}") for file in files],
            "chunks": pd.array([file.chunks if file.outcome != "refused" else None for file in files], dtype="Int64"),
            "note": notes,
        }
    )
    st.dataframe(
        frame,
        hide_index=True,
        height="auto" if len(files) <= 10 else 385,
        placeholder="",
        key=session_keys.part("files", job.id),
        column_config={
            "path": st.column_config.TextColumn(say("documents.column.path"), width=320),
            "outcome": st.column_config.TextColumn(say("documents.column.outcome"), width=100),
            "chunks": st.column_config.NumberColumn(say("documents.column.chunks"), width=75, alignment="right"),
            "note": st.column_config.TextColumn(say("documents.column.note"), width=760),
        },
        alt=say("documents.jobs.files_alt", count=len(files)),
    )


def _note(file: ShownFile) -> list[str]:
    return [*([file.reason] if file.reason else []), *([say("documents.hidden")] if file.hidden else [])]


def _actions(job: Job, principal: Principal) -> None:
    shown = session_keys.log_is_open(job.id)
    st.button(
        say("documents.jobs.log_close") if shown else say("documents.jobs.log"),
        key=session_keys.part("log", job.id),
        icon=":material/receipt_long:",
        type="tertiary",
        on_click=session_keys.toggle_log,
        args=(job.id,),
    )
    stoppable = job.state == "queued" or (job.state == "running" and job.kind == "ingest")
    if stoppable and not job.cancelling:
        _action(job, principal, "cancel", ":material/stop_circle:")
    if job.state in RESUMABLE:
        _action(job, principal, "resume", ":material/play_circle:")
    if job.state not in ACTIVE:
        _action(job, principal, "remove", ":material/delete:")


def _action(job: Job, principal: Principal, name: str, icon: str) -> None:
    st.button(
        say(f"documents.jobs.act.{name}"),
        key=session_keys.part(name, job.id),
        icon=icon,
        type="tertiary",
        on_click=_act,
        args=(name, job.id, principal),
    )


def _act(name: str, job_id: str, principal: Principal) -> None:
    action = {"cancel": documents_jobs.cancel, "resume": documents_jobs.resume, "remove": documents_jobs.remove}[name]
    documents_errors.attempt(partial(action, resources.workbench(), job_id, principal))


def _rebuild(listed: Listing, principal: Principal) -> None:
    with st.popover(say("documents.rebuild.open"), icon=":material/build:"):
        st.markdown(say("documents.rebuild.body"))
        st.button(
            say("documents.rebuild.button"),
            key=session_keys.part("rebuild"),
            on_click=_start_rebuild,
            args=(listed.collection.name, principal),
        )


def _start_rebuild(collection: str, principal: Principal) -> None:
    documents_errors.attempt(lambda: documents_jobs.submit_rebuild(resources.workbench(), collection, principal))
