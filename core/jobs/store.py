"""Jobs of a home: submitted, looked at, cancelled and resumed from any process; run by the worker."""

from __future__ import annotations

import getpass
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from core.access import permission_set
from core.audit import JsonlAudit
from core.errors import InputError, IntegrityFailure, PermissionUnavailable
from core.jobs import records
from core.jobs.arguments import ROLES, check_uploads, checked, save_uploads
from core.jobs.job import Job, cancelled_after, damaged, interrupted, job_of, may_see
from core.jobs.liveness import start_worker, worker_lives
from core.jobs.queue import next_moment
from core.jobs.records import JobState, Kind, Record, Request, changing
from core.ports import AuditSink
from core.principals import load_principals, require_role
from core.settings import Limits
from core.store.files import sync_file
from core.store.registry import read_collection
from core.types import Principal

__all__ = ["IDLE_S", "Job", "Jobs", "may_see"]

IDLE_S = 30.0
"""A worker without work ends itself after so long."""
Lines = list[str]
Listed = list[Job]
ENDED: tuple[JobState, ...] = ("done", "failed", "cancelled")
RESUMABLE: tuple[JobState, ...] = ("failed", "cancelled", "interrupted")


class Jobs:
    """Any number of them, in any number of processes, may be at one home. `audit` None: the home's own log.

    `list`, `get` and `log` show all there is: whom to show what is decided by `may_see`.
    """

    def __init__(self, home: Path, audit: AuditSink | None = None) -> None:
        self._home = home
        self._audit = audit or JsonlAudit(home / "audit")

    def submit(
        self,
        kind: Kind,
        collection: str,
        principal: Principal,
        arguments: Mapping[str, Any],
        *,
        uploads: Mapping[str, bytes | IO[bytes]] | None = None,
    ) -> Job:
        """Put a job into the queue; durable on return, and run once there is a worker (`ensure_worker`).

        `arguments` of an ingestion: `paths`, `metadata`, `retain`; of a rebuild: `embedder`; of a purge: `names`.
        `uploads`: files to ingest that are not on this machine's disk, by the paths their documents will have.
        Raises InputError, UnknownCollection, RoleMissing, PermissionUnavailable, AuditUnavailable, StoreFailure.
        """
        files = check_uploads(uploads or {})
        given = checked(kind, arguments, bool(files))
        name = read_collection(self._home, collection).name
        named = self._who(principal, kind, name)
        self._record("submit", principal, name, {"kind": kind, "arguments": given, "uploads": list(files)})
        folder = records.made_folder(self._home)
        fresh = folder / f".new-{secrets.token_hex(8)}"
        try:
            fresh.mkdir()
            if files:
                save_uploads(fresh / records.UPLOADS, files)
            with changing(self._home):
                identity = records.next_id(self._home)
                moment = records.moment_of(identity)
                records.write_request(fresh, Request(kind, name, given, moment))
                queued_at = next_moment(self._home, moment)
                record = Record("queued", principal.actor, queued_at, agent=principal.agent, named=named)
                records.write_record(fresh, record)
                fresh.rename(folder / identity)
                sync_file(folder)
        except OSError as error:
            raise records.jobs_failure(folder, error) from None
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        return self.get(identity)

    def list(self) -> Listed:
        """Newest first; a damaged one as failed, saying so."""
        found = [self._read(identity) for identity in reversed(records.job_ids(self._home))]
        jobs = [job for job in found if job is not None]
        if not any(job.state == "running" for job in jobs) or worker_lives(self._home):
            return jobs
        # One that ran when it was read may have ended with its worker since: only one that still does was interrupted.
        again = [self._read(job.id) if job.state == "running" else job for job in jobs]
        return [interrupted(job) for job in again if job is not None]

    def get(self, identity: str) -> Job:
        """Raises InputError where there is no such job."""
        job = self._read(identity) if records.is_job_id(identity) else None
        if job is not None and job.state == "running" and not worker_lives(self._home):
            again = self._read(identity)
            job = None if again is None else interrupted(again)
        if job is None:
            raise InputError(f"no job {identity!r}", "`workbench jobs list` shows those there are")
        return job

    def cancel(self, identity: str, principal: Principal) -> Job:
        """A queued job at once, a running ingestion before its next file; what it has committed stays.

        Raises InputError for a job that has ended or cannot be stopped, RoleMissing, AuditUnavailable, StoreFailure.
        """
        with changing(self._home) as folder:
            job = self._permitted(identity, principal)
            if job.state not in ("queued", "running", "interrupted"):
                raise InputError(f"job {identity} is {job.state} already", "there is nothing to cancel")
            if job.state == "running" and job.kind != "ingest":
                raise InputError(f"a {job.kind} is done in one step, and has begun", "wait for its end")
            self._record("cancel", principal, job.collection, {"job": identity})
            record = records.read_record(folder / identity)
            if job.state == "running":
                record = replace(record, cancelling=True)
            else:
                done = replace(record, done=job.done, total=job.total)
                record = replace(
                    done, state="cancelled", ended_at=datetime.now(UTC), message=cancelled_after(job.done, job.total)
                )
            self._write(folder / identity, record)
            records.append_log(folder / identity, [f"cancelled by {principal.actor}"])
        return self.get(identity)

    def resume(self, identity: str, principal: Principal) -> Job:
        """Queue a failed, cancelled or interrupted job again, in the name of `principal`.

        What is done already costs nothing the second time. Raises InputError for a job in another state, RoleMissing,
        PermissionUnavailable, AuditUnavailable, StoreFailure, IntegrityFailure.
        """
        with changing(self._home) as folder:
            job = self._permitted(identity, principal)
            if job.state not in RESUMABLE:
                raise InputError(f"job {identity} is {job.state}", f"only {', '.join(RESUMABLE)} jobs are resumed")
            records.read_request(folder / identity)  # without it there is nothing to run
            named = self._who(principal, job.kind, job.collection)
            self._record("resume", principal, job.collection, {"job": identity})
            moment = next_moment(self._home, datetime.now(UTC))
            record = Record("queued", principal.actor, moment, agent=principal.agent, named=named)
            self._write(folder / identity, record)
            records.append_log(folder / identity, [f"resumed by {principal.actor}"])
        return self.get(identity)

    def log(self, identity: str, last: int = 200) -> Lines:
        """The newest lines, the newest last: `TIME TEXT`. Raises InputError where there is no such job."""
        self.get(identity)
        return records.read_log(records.jobs_folder(self._home) / identity, last)

    def remove(self, identity: str, principal: Principal | None = None) -> None:
        """Delete all that is kept of a job that does not run; what it has done stays.

        `principal` None: the caller has seen to it that whoever wants this may. Raises InputError, RoleMissing.
        """
        with changing(self._home) as folder:
            job = self.get(identity)
            if job.state == "running":
                raise InputError(f"job {identity} is running", "cancel it first")
            if principal is not None:
                self._permitted(identity, principal)
                self._record("remove", principal, job.collection, {"job": identity})
            self._delete(folder / identity)

    def forget(self, collection: str) -> None:
        """Delete all that is kept of a collection's ended jobs, which name its files and may hold uploads."""
        with changing(self._home) as folder:
            for job in self.list():
                if job.state in ENDED and job.collection == collection:
                    self._delete(folder / job.id)

    def ensure_worker(self, idle_s: float = IDLE_S) -> bool:
        """Start the home's worker where none lives, and do not wait for it; whether one was started.

        It outlives this process. Raises StoreFailure.
        """
        return start_worker(self._home, idle_s)

    def _read(self, identity: str) -> Job | None:
        """As stored; None where it is gone."""
        folder = records.jobs_folder(self._home) / identity
        try:
            request = records.read_request(folder)
            record = records.read_record(folder)
        except IntegrityFailure as error:
            return damaged(folder, error) if folder.is_dir() else None
        return job_of(folder, request, record)

    def _permitted(self, identity: str, principal: Principal) -> Job:
        """The job, if `principal` may manage it. Raises InputError, RoleMissing, PermissionUnavailable."""
        job = self.get(identity)
        permission_set(principal, None, Limits())
        require_role(principal, ROLES[job.kind], job.collection)
        return job

    def _who(self, principal: Principal, kind: Kind, collection: str) -> bool:
        """Whether it is somebody of principals.toml, else the operator. Raises RoleMissing, PermissionUnavailable."""
        permission_set(principal, None, Limits())
        require_role(principal, ROLES[kind], collection)
        try:
            load_principals(self._home).named(principal.actor)
        except PermissionUnavailable:
            if principal.actor == f"operator {getpass.getuser()}":
                return False
            raise
        return True

    def _record(self, action: str, principal: Principal, collection: str, details: Mapping[str, Any]) -> None:
        who = {"actor": principal.actor, "agent": principal.agent, "collection": collection}
        self._audit.record(f"job.{action}", {**who, **details})

    def _write(self, folder: Path, record: Record) -> None:
        try:
            records.write_record(folder, record)
        except OSError as error:
            raise records.jobs_failure(folder.parent, error) from None

    def _delete(self, folder: Path) -> None:
        away = folder.with_name(f".removed-{secrets.token_hex(8)}")
        try:
            folder.rename(away)
            sync_file(away.parent)
        except OSError as error:
            raise records.jobs_failure(folder.parent, error) from None
        shutil.rmtree(away, ignore_errors=True)
