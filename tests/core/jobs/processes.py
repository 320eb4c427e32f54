"""Waiting for what other processes do, and ending a home's worker."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from core.jobs.liveness import LOCK, worker_lives
from core.jobs.records import jobs_folder
from core.jobs.store import Job, Jobs

T = TypeVar("T")
DEADLINE_S = 90.0
ENDED = ("done", "failed", "cancelled")


def until(what: Callable[[], T | None]) -> T:
    """The first answer of `what` that is true; fails after DEADLINE_S."""
    deadline = time.monotonic() + DEADLINE_S
    while not (answer := what()):
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)
    return answer


def ended(jobs: Jobs, identity: str) -> Job:
    """The job, once it has ended."""
    return until(lambda: job if (job := jobs.get(identity)).state in ENDED else None)


def worker_pid(home: Path) -> int | None:
    """Of the home's living worker, once it has said so."""
    if not worker_lives(home):
        return None
    text = (jobs_folder(home) / LOCK).read_text()
    if not text.strip():
        return None
    command = b""
    with suppress(FileNotFoundError):
        command = Path(f"/proc/{int(text)}/cmdline").read_bytes()
    return int(text) if b"core.jobs.worker" in command and str(home).encode() in command else None


def kill_worker(home: Path, group: bool = False) -> bool:
    """Kill −9; whether there was one. Gone when this returns."""
    pid = until(lambda: worker_pid(home) or (None if worker_lives(home) else -1))
    if pid < 0:
        return False
    with suppress(ProcessLookupError):
        (os.killpg if group else os.kill)(pid, signal.SIGKILL)
    until(lambda: not worker_lives(home))
    return True


def end_worker(home: Path) -> None:
    while kill_worker(home):
        pass
