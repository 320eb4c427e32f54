"""A job as those see it who look on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from core.errors import IntegrityFailure
from core.jobs import records
from core.jobs.arguments import ROLES
from core.jobs.records import JobState, Kind, Progress, Record, Request
from core.types import Principal


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it is at a moment. `agent`, `starts`, `cancelling` and `exit_code`: as in `records.Record`."""

    id: str
    """In the order of submission."""
    kind: Kind
    collection: str
    actor: str
    """Who submitted it or, since, resumed it: whose rights it needs."""
    arguments: Mapping[str, Any]
    state: JobState
    created_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    done: int
    """Items (files) behind it."""
    total: int | None
    current: str
    """The item that it is at."""
    rate: float | None
    """Items per second, over the last twenty."""
    remaining_s: float | None
    message: str
    """What went wrong and what mends it, or a summary; one line."""
    report: Mapping[str, Any] | None
    """Of an ingestion: `IngestReport` as JSON, with `counts` by outcome and the number `hidden`."""
    agent: str | None = None
    starts: int = 0
    cancelling: bool = False
    exit_code: int | None = None


def job_of(folder: Path, request: Request, record: Record) -> Job:
    """What is stored in a job's folder, as one value."""
    running = record.state == "running"
    progress = records.read_progress(folder) if running else Progress(record.done, record.total)
    return Job(
        id=folder.name,
        kind=request.kind,
        collection=request.collection,
        actor=record.actor,
        arguments=request.arguments,
        state=record.state,
        created_at=request.created_at,
        started_at=record.started_at,
        ended_at=record.ended_at,
        done=progress.done,
        total=progress.total,
        current=progress.current,
        rate=progress.rate,
        remaining_s=progress.remaining_s,
        message=record.message,
        report=records.read_report(folder) if record.state == "done" else None,
        agent=record.agent,
        starts=record.starts,
        cancelling=record.cancelling,
        exit_code=record.exit_code,
    )


def interrupted(job: Job) -> Job:
    """A job whose worker is known not to live, as it is then."""
    if job.state != "running":
        return job
    message = "its worker ended before it was done: the next worker takes it up again"
    return replace(job, state="interrupted", rate=None, remaining_s=None, message=message)


def damaged(folder: Path, error: IntegrityFailure) -> Job:
    """A job that cannot be read, as far as it can be."""
    moment = records.moment_of(folder.name)
    try:
        request = records.read_request(folder)
    except IntegrityFailure:
        request = Request("ingest", "", {}, moment)
    record = Record("failed", "", moment, message=error.line(), exit_code=error.exit_code)
    return job_of(folder, request, record)


def cancelled_after(done: int, total: int | None) -> str:
    if total is None:
        return "cancelled before it began"
    return f"cancelled after {done} of {total} files: what was finished stays"


def may_see(job: Job, principal: Principal) -> bool:
    """Whether `principal` manages the job's collection: a job names files, whoever may read them."""
    return principal.has_role(ROLES[job.kind], job.collection)
