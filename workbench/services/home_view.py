"""What the Home page says: what is here, what needs attention, and what a new home still lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from core.errors import PermissionUnavailable
from core.home import Workbench
from core.jobs.store import Job
from workbench.services.documents_jobs import ACTIVE, RESUMABLE, files_of
from workbench.services.documents_list import Listing
from workbench.services.search_state import Problem

Urgency = Literal["fault", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Summary:
    """A collection as one person sees it."""

    name: str
    owner: bool
    documents: int
    in_force: int
    chunks: int
    last_ingestion: datetime | None
    """Of a job; None: not known, or not this person's to know."""


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that somebody ought to do. `view` and `show`: where on the Documents page it is done."""

    kind: str
    """hidden, conflicting, expired, expiring, waiting, refused, failed or running"""
    collection: str
    count: int
    urgency: Urgency
    view: str = "documents"
    show: str = "all"


@dataclass(frozen=True, slots=True)
class Steps:
    """What has been done of the first three."""

    people: bool
    collection: bool
    documents: bool

    @property
    def all_done(self) -> bool:
        return self.people and self.collection and self.documents


_KNOWN = ("as", "c")
_OF_DOCUMENTS: tuple[tuple[str, Urgency], ...] = (
    ("hidden", "fault"),
    ("conflicting", "fault"),
    ("expired", "warning"),
    ("expiring", "warning"),
    ("waiting", "note"),
)


def from_params(params: Mapping[str, Sequence[str]]) -> tuple[str, tuple[Problem, ...]]:
    """Who asks, by the address; empty: whoever the home names as its default. `c` is meant for the other pages."""
    problems = tuple(
        Problem(name, values[-1] if values else "", "") for name, values in params.items() if name not in _KNOWN
    )
    return next(iter(params.get("as", ())), ""), problems


def summary(listed: Listing, jobs: Sequence[Job]) -> Summary:
    """`jobs`: those of the collection that this person may see, newest first."""
    ended = (job.ended_at for job in jobs if job.kind == "ingest" and job.state == "done" and job.ended_at is not None)
    return Summary(
        name=listed.collection.name,
        owner=listed.owner,
        documents=sum(not row.hidden for row in listed.documents),
        in_force=listed.in_force,
        chunks=sum(row.chunks for row in listed.documents if not row.hidden),
        last_ingestion=max(ended, default=None),
    )


def attention(listed: Listing, jobs: Sequence[Job], now: datetime) -> tuple[Attention, ...]:
    """For owners, who can mend it; for everybody else nothing."""
    if not listed.owner:
        return ()
    name = listed.collection.name
    found = [
        Attention(kind, name, count, urgency, show=kind)
        for kind, urgency in _OF_DOCUMENTS
        if (count := listed.count(kind, now))
    ]
    newest = next((job for job in jobs if job.kind == "ingest" and job.state == "done"), None)
    refused = sum(file.outcome == "refused" for file in files_of(newest)) if newest is not None else 0
    failed = sum(job.state in RESUMABLE and job.state != "cancelled" for job in _newest_of_each_kind(jobs))
    running = sum(job.state in ACTIVE for job in jobs)
    of_jobs: tuple[tuple[str, int, Urgency], ...] = (
        ("failed", failed, "fault"),
        ("refused", refused, "warning"),
        ("running", running, "note"),
    )
    return (*found, *(Attention(kind, name, count, urgency, view="jobs") for kind, count, urgency in of_jobs if count))


def by_urgency(found: Sequence[Attention]) -> tuple[Attention, ...]:
    order: tuple[Urgency, ...] = ("fault", "warning", "note")
    return tuple(sorted(found, key=lambda item: order.index(item.urgency)))


def steps(workbench: Workbench, summaries: Sequence[Summary]) -> Steps:
    """`summaries`: of the collections that whoever asks may know of."""
    try:
        people = bool(workbench.principals()) and bool(workbench.principal(None))
    except PermissionUnavailable:
        people = False
    return Steps(people, bool(summaries), any(item.documents for item in summaries))


def _newest_of_each_kind(jobs: Sequence[Job]) -> list[Job]:
    newest: dict[str, Job] = {}
    for job in jobs:
        newest.setdefault(job.kind, job)
    return list(newest.values())
