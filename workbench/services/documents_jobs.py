"""Background jobs as the page shows them: whose they are to see, how far they are, what became of every file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from core.errors import InputError
from core.home import Workbench
from core.jobs import records
from core.jobs.liveness import worker_lives
from core.jobs.store import Job, Jobs, may_see
from core.types import Principal

ACTIVE = ("queued", "running")
RESUMABLE = ("failed", "cancelled", "interrupted")
LOG_LINES = 200

Stamp = tuple[Any, ...]
Uploads = Mapping[str, bytes | IO[bytes]]


@dataclass(frozen=True, slots=True)
class ShownFile:
    """What became of one file."""

    path: str
    outcome: str
    chunks: int
    reason: str
    warnings: tuple[str, ...]
    hidden: bool


def stamp(workbench: Workbench) -> Stamp:
    """Equal for two moments only if no job was submitted, removed, or has begun or ended between them.

    Listing jobs reads the report of each; this reads the time of one small file of each.
    """
    folder = records.jobs_folder(workbench.home)
    moments = []
    for identity in records.job_ids(workbench.home):
        try:
            moments.append((identity, (folder / identity / records.STATE).stat().st_mtime_ns))
        except OSError:
            moments.append((identity, 0))
    return (*moments, worker_lives(workbench.home) if moments else False)


def listed(workbench: Workbench) -> tuple[Job, ...]:
    """All jobs, newest first, whoever may see them. Raises StoreFailure."""
    return tuple(_jobs(workbench).list())


def of_collection(jobs: Sequence[Job], collection: str, principal: Principal) -> tuple[Job, ...]:
    """Of `jobs`, those of a collection that `principal` may see."""
    return tuple(job for job in jobs if job.collection == collection and may_see(job, principal))


def now(workbench: Workbench, job: Job) -> Job:
    """The job as it is at this moment. Raises InputError where it is gone."""
    return _jobs(workbench).get(job.id) if job.state in ACTIVE else job


def files_of(job: Job) -> tuple[ShownFile, ...]:
    """Of an ingestion that is done; what needs somebody's attention first, then by path."""
    report = job.report or {}
    files = [
        ShownFile(
            path=str(item["path"]),
            outcome=str(item["outcome"]),
            chunks=int(item["chunks"]),
            reason=str(item["reason"]),
            warnings=tuple(map(str, item["warnings"])),
            hidden=bool(item["hidden"]),
        )
        for item in report.get("files", ())
    ]
    return tuple(sorted(files, key=lambda file: (_urgency(file), file.path)))


def warnings_by_path(jobs: Sequence[Job]) -> dict[str, tuple[str, ...]]:
    """Of the newest ingestion that names each path; `jobs` newest first."""
    found: dict[str, tuple[str, ...]] = {}
    for job in jobs:
        if job.kind == "ingest":
            for file in (job.report or {}).get("files", ()):
                if file["outcome"] != "refused":
                    found.setdefault(str(file["path"]), tuple(map(str, file["warnings"])))
    return {path: warnings for path, warnings in found.items() if warnings}


def submit_uploads(workbench: Workbench, collection: str, principal: Principal, uploads: Uploads) -> Job:
    """Raises InputError, RoleMissing, AuditUnavailable, StoreFailure."""
    if not uploads:
        raise InputError("no file was chosen", "choose files first")
    return _submitted(workbench, "ingest", collection, principal, {"paths": []}, uploads)


def submit_folder(workbench: Workbench, collection: str, principal: Principal, path: str) -> Job:
    """Raises InputError where nothing is at `path`, RoleMissing, AuditUnavailable, StoreFailure."""
    place = Path(path.strip()).expanduser()
    if not path.strip() or not place.is_absolute():
        raise InputError("a folder on the server is named by its whole path", "begin with / or ~")
    if not place.exists():
        raise InputError(f"no such file or folder: {place}", "check the path")
    return _submitted(workbench, "ingest", collection, principal, {"paths": [str(place)]})


def submit_purge(workbench: Workbench, collection: str, principal: Principal, document_id: str) -> Job:
    return _submitted(workbench, "purge", collection, principal, {"names": [document_id]})


def submit_rebuild(workbench: Workbench, collection: str, principal: Principal) -> Job:
    return _submitted(workbench, "rebuild", collection, principal, {})


def cancel(workbench: Workbench, identity: str, principal: Principal) -> Job:
    """Raises InputError, RoleMissing, AuditUnavailable, StoreFailure."""
    return _jobs(workbench).cancel(_visible(workbench, identity, principal).id, principal)


def resume(workbench: Workbench, identity: str, principal: Principal) -> Job:
    """Raises InputError, RoleMissing, AuditUnavailable, StoreFailure."""
    jobs = _jobs(workbench)
    job = jobs.resume(_visible(workbench, identity, principal).id, principal)
    jobs.ensure_worker()
    return job


def remove(workbench: Workbench, identity: str, principal: Principal) -> None:
    """Raises InputError, RoleMissing, AuditUnavailable, StoreFailure."""
    _jobs(workbench).remove(_visible(workbench, identity, principal).id, principal)


def log(workbench: Workbench, identity: str, principal: Principal) -> tuple[str, ...]:
    """Raises InputError where there is no such job, also for one that `principal` may not see."""
    return tuple(_jobs(workbench).log(_visible(workbench, identity, principal).id, LOG_LINES))


def wake(workbench: Workbench, jobs: Sequence[Job]) -> None:
    """Start a worker where something waits and none lives. Raises StoreFailure."""
    if any(job.state == "queued" for job in jobs):
        _jobs(workbench).ensure_worker()


def _submitted(
    workbench: Workbench,
    kind: records.Kind,
    collection: str,
    principal: Principal,
    arguments: Mapping[str, Any],
    uploads: Uploads | None = None,
) -> Job:
    jobs = _jobs(workbench)
    job = jobs.submit(kind, collection, principal, arguments, uploads=uploads)
    jobs.ensure_worker()
    return job


def _jobs(workbench: Workbench) -> Jobs:
    return Jobs(workbench.home, workbench.audit)


def _visible(workbench: Workbench, identity: str, principal: Principal) -> Job:
    job = _jobs(workbench).get(identity)
    if not may_see(job, principal):
        raise InputError(f"no job {identity!r}", "look at the list of jobs")
    return job


def _urgency(file: ShownFile) -> int:
    return 0 if file.outcome == "refused" else 1 if file.hidden else 2 if file.warnings else 3
