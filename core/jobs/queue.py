"""What the worker does to jobs: takes the next one, writes down how it ended, takes up what was interrupted."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from core.errors import IntegrityFailure
from core.jobs import records
from core.jobs.job import cancelled_after
from core.jobs.records import JobState, Progress, Record, changing

STARTS_MAX = 3
"""A job during which the worker died so many times is not begun again but by a person."""
_DEBRIS = (".new-", ".removed-")
_DEBRIS_AGE_S = 3_600.0


@dataclass(frozen=True, slots=True)
class End:
    """How a job ended."""

    state: JobState
    message: str
    exit_code: int | None = None
    report: Mapping[str, Any] | None = None


def next_moment(home: Path, moment: datetime) -> datetime:
    """`moment`, or later, so that it is after that of every job in the queue. The caller holds `changing`."""
    queued = [record.queued_at for _, record in _all(home) if record.state == "queued"]
    return max([moment, *(other + timedelta(microseconds=1) for other in queued)])


class Queue:
    """For the one worker of a home. All raise StoreFailure and OSError where the folder of jobs cannot be written."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folder = records.jobs_folder(home)

    def recover(self) -> None:
        """Queue again, in their old places, the jobs during which another worker died; sweep up after it.

        Not one that was being cancelled, nor one that has been started STARTS_MAX times.
        """
        with changing(self._home):
            for folder, record in _all(self._home):
                if record.state == "running":
                    self._take_up(folder, record)
                elif record.state == "done":
                    shutil.rmtree(folder / records.UPLOADS, ignore_errors=True)
            self._sweep()

    def take(self) -> tuple[str, Record] | None:
        """Id and record of the job that has waited longest, now running; None: there is none."""
        with changing(self._home):
            waiting = [(record.queued_at, path.name, record) for path, record in _all(self._home) if _waits(record)]
            if not waiting:
                return None
            _, identity, record = min(waiting, key=lambda item: item[:2])
            folder = self._folder / identity
            for name in (records.PROGRESS, records.REPORT):
                (folder / name).unlink(missing_ok=True)
            starts, now = record.starts + 1, datetime.now(UTC)
            record = replace(record, state="running", started_at=now, starts=starts, done=0, total=None, message="")
            records.write_record(folder, record)
        return identity, record

    def cancelling(self, identity: str) -> bool:
        """Whether somebody wants the running job to stop."""
        try:
            return records.read_record(self._folder / identity).cancelling
        except IntegrityFailure:
            return False

    def end(self, identity: str, record: Record, end: End, progress: Progress) -> None:
        """Write down how the job ended that `take` gave."""
        folder = self._folder / identity
        if end.report is not None:
            records.write_report(folder, end.report)
        with changing(self._home):
            record = replace(
                record,
                state=end.state,
                ended_at=datetime.now(UTC),
                cancelling=False,
                done=progress.done,
                total=progress.total,
                message=" ".join(end.message.split()),
                exit_code=end.exit_code,
            )
            records.write_record(folder, record)
        if end.state == "done":
            shutil.rmtree(folder / records.UPLOADS, ignore_errors=True)

    def leave(self, handle: int) -> bool:
        """Give the worker's lock back, unless a job is waiting: whoever queues one later finds no worker any more."""
        with changing(self._home):
            if any(_waits(record) for _, record in _all(self._home)):
                return False
            os.close(handle)
        return True

    def _take_up(self, folder: Path, record: Record) -> None:
        now, progress = datetime.now(UTC), records.read_progress(folder)
        if record.cancelling:
            message = cancelled_after(progress.done, progress.total)
            record = replace(record, state="cancelled", ended_at=now, cancelling=False, message=message)
        elif record.starts >= STARTS_MAX:
            message = f"the worker ended {record.starts} times during it: look at its log, then resume it"
            record = replace(record, state="failed", ended_at=now, message=message, exit_code=1)
        else:
            record = replace(record, state="queued", started_at=None)
        records.append_log(folder, [record.message or "interrupted; to be started again"])
        records.write_record(folder, replace(record, done=progress.done, total=progress.total))

    def _sweep(self) -> None:
        """What a process left that died while it submitted or removed a job."""
        for entry in list(os.scandir(self._folder)):
            with suppress(FileNotFoundError):
                if entry.name.startswith(_DEBRIS) and time.time() - entry.stat().st_mtime > _DEBRIS_AGE_S:
                    shutil.rmtree(entry.path, ignore_errors=True)


def _all(home: Path) -> Iterator[tuple[Path, Record]]:
    """Every job that can be read, with its folder, oldest first."""
    for identity in records.job_ids(home):
        folder = records.jobs_folder(home) / identity
        with suppress(IntegrityFailure):
            yield folder, records.read_record(folder)


def _waits(record: Record) -> bool:
    return record.state == "queued"
