"""The process that runs a home's jobs, one at a time: `python -m core.jobs.worker HOME`.

There is one a home; a second one ends at once. It ends itself when there has been nothing to do for a while. Whatever
ends it sooner, its lock is freed with it, and the next worker takes up what it was at.
"""

from __future__ import annotations

import argparse
import os
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import CoreError
from core.jobs import records
from core.jobs.job import cancelled_after
from core.jobs.liveness import become_worker
from core.jobs.progress import Reporter
from core.jobs.queue import End, Queue
from core.jobs.records import Record
from core.jobs.run import Cancelled, Task, principal_of, run
from core.jobs.store import IDLE_S, Jobs
from core.store.faults import FREE_SPACE, FULL, is_full

if TYPE_CHECKING:
    from core.home import Workbench

POLL_S = 0.2


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m core.jobs.worker", description="Runs the jobs of a home.")
    parser.add_argument("home", type=Path)
    parser.add_argument("--idle", type=float, default=IDLE_S, help="seconds without work after which it ends itself")
    parser.add_argument("--lock", type=int, help="the worker's lock, where whoever starts it holds it already")
    args = parser.parse_args(argv)
    home = args.home.resolve()
    handle = become_worker(home) if args.lock is None else args.lock
    if handle is None:
        return 0
    os.set_inheritable(handle, False)  # a parser that outlives this process must not keep the lock
    os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    work(home, handle, args.idle)
    return 0


def work(home: Path, handle: int, idle_s: float) -> None:
    """Run what is queued until nothing has been for `idle_s` seconds; then give the lock back."""
    queue, opened = Queue(home), _Opened(home)
    queue.recover()
    since = time.monotonic()
    while True:
        taken = queue.take()
        if taken is not None:
            _run(opened, queue, *taken)
            since = time.monotonic()
        elif time.monotonic() - since < idle_s:
            time.sleep(POLL_S)
        elif queue.leave(handle):
            return


class _Opened:
    """The home's Workbench, and so its models, from one job to the next; anew where settings have changed."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._held: Workbench | None = None

    def workbench(self) -> Workbench:
        """Raises SettingsError, InputError."""
        from core.home import Workbench, read_settings

        if self._held is None or read_settings(self.home) != self._held.settings:
            self._held = Workbench.open(self.home)
        return self._held


def _run(opened: _Opened, queue: Queue, identity: str, record: Record) -> None:
    folder = records.jobs_folder(opened.home) / identity
    who = record.actor if record.agent is None else f"{record.agent} for {record.actor}"
    records.append_log(folder, [f"start {record.starts}, in the name of {who}"])
    with Reporter(folder) as reporter:
        end = _end_of(opened, queue, identity, record, reporter)
    records.append_log(folder, [f"{end.state}: {end.message}"])
    queue.end(identity, record, end, reporter.now())


def _end_of(opened: _Opened, queue: Queue, identity: str, record: Record, reporter: Reporter) -> End:
    """What became of the job; never raises for what is wrong with it."""
    folder = records.jobs_folder(opened.home) / identity
    try:
        request = records.read_request(folder)
        workbench = opened.workbench()
        principal = principal_of(workbench, record, request)
        jobs = Jobs(opened.home, workbench.audit)
        return run(
            Task(
                workbench=workbench,
                principal=principal,
                request=request,
                record=record,
                folder=folder,
                reporter=reporter,
                cancelling=lambda: queue.cancelling(identity),
                forget=lambda: jobs.forget(request.collection),
            )
        )
    except Cancelled:
        progress = reporter.now()
        return End("cancelled", cancelled_after(progress.done, progress.total))
    except CoreError as error:
        return End("failed", error.line(), error.exit_code)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        remedy = FREE_SPACE if is_full(error) else "check the disk and the rights there"
        return End("failed", f"{place}{FULL if is_full(error) else error.strerror or error}: {remedy}", 1)
    except Exception as error:
        traceback.print_exc()  # into worker.log
        return End("failed", f"{type(error).__name__}: {error}: see worker.log, and report this as a defect", 1)


if __name__ == "__main__":
    raise SystemExit(main())
