"""A job's folder: its files, each replaced as a whole, so that a reader never sees half of one."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from core.errors import IntegrityFailure, StoreFailure
from core.store.faults import FREE_SPACE, FULL, is_full, reason_of
from core.store.files import locked, write_durably
from core.types import to_json

Kind = Literal["ingest", "rebuild", "purge", "evaluate"]
JobState = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]

REQUEST, STATE, PROGRESS, REPORT, LOG, UPLOADS = (
    "request.json",
    "job.json",
    "progress.json",
    "report.json",
    "log.txt",
    "uploads",
)
LOG_MAX_BYTES = 1_000_000
"""A longer log keeps its newest half."""
LOG_DROPPED = "(earlier lines were dropped)"
LOCK_TIMEOUT_S = 30.0
_LINE_MAX_CHARS = 2_000
_STAMP = "%Y%m%d-%H%M%S-%f"
_ID = re.compile(r"\d{8}-\d{6}-\d{6}-[0-9a-f]{4}")


@dataclass(frozen=True, slots=True)
class Request:
    """What a job is to do; never changes but for the names of a purge."""

    kind: Kind
    collection: str
    arguments: Mapping[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Record:
    """In whose name a job runs, and how far it is."""

    state: JobState
    actor: str
    queued_at: datetime
    """Jobs are taken in this order."""
    agent: str | None = None
    named: bool = True
    """The actor is one of principals.toml; else an operator."""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    starts: int = 0
    """Since it was last queued by a person."""
    cancelling: bool = False
    done: int = 0
    total: int | None = None
    message: str = ""
    exit_code: int | None = None
    """As the command line would have exited; None: not ended."""


@dataclass(frozen=True, slots=True)
class Progress:
    done: int = 0
    total: int | None = None
    current: str = ""
    rate: float | None = None
    """Items per second."""
    remaining_s: float | None = None


def jobs_folder(home: Path) -> Path:
    return home / "jobs"


def made_folder(home: Path) -> Path:
    """The folder of jobs, made if need be. Raises StoreFailure."""
    folder = jobs_folder(home)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise jobs_failure(folder, error) from None
    return folder


@contextmanager
def changing(home: Path) -> Iterator[Path]:
    """The folder of jobs while no other process or thread changes the state of a job. Raises StoreFailure."""
    folder = made_folder(home)
    with locked(folder / ".lock", LOCK_TIMEOUT_S, "the list of jobs"):
        yield folder


def jobs_failure(folder: Path, error: OSError) -> StoreFailure:
    """What to say where the folder of jobs cannot be written."""
    if is_full(error):
        return StoreFailure(f"the jobs folder {folder} cannot be written: {FULL}", FREE_SPACE)
    return StoreFailure(
        f"the jobs folder {folder} cannot be written ({error.strerror or reason_of(error)})",
        "check that it is a folder and writable",
    )


def job_ids(home: Path) -> list[str]:
    """Of all jobs, oldest first."""
    try:
        with os.scandir(jobs_folder(home)) as entries:
            return sorted(entry.name for entry in entries if _ID.fullmatch(entry.name) and entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def is_job_id(name: str) -> bool:
    return isinstance(name, str) and _ID.fullmatch(name) is not None


def next_id(home: Path) -> str:
    """Later in order than any that is there, also where the clock was set back. The caller holds `changing`."""
    known = job_ids(home)
    moment = datetime.now(UTC)
    if known:
        moment = max(moment, moment_of(known[-1]) + timedelta(microseconds=1))
    return f"{moment.strftime(_STAMP)}-{secrets.token_hex(2)}"


def moment_of(identity: str) -> datetime:
    try:
        return datetime.strptime(identity[:22], _STAMP).replace(tzinfo=UTC)
    except ValueError:  # digits that are no date: nobody but a person made this folder
        return datetime.fromtimestamp(0, UTC)


def write_request(folder: Path, request: Request) -> None:
    write_durably(folder / REQUEST, _encoded(request))


def write_record(folder: Path, record: Record) -> None:
    """Durable on return. The caller holds `changing`."""
    write_durably(folder / STATE, _encoded(record))


def read_request(folder: Path) -> Request:
    """Raises IntegrityFailure."""
    value = _read(folder / REQUEST)
    with _damage(folder / REQUEST):
        if value["kind"] not in get_args(Kind) or not isinstance(value["collection"], str):
            raise ValueError("it is no request")
        if not isinstance(value["arguments"], dict):
            raise ValueError("it has no arguments")
        return Request(value["kind"], value["collection"], value["arguments"], _moment(value["created_at"]))


def read_record(folder: Path) -> Record:
    """Raises IntegrityFailure."""
    value = _read(folder / STATE)
    with _damage(folder / STATE):
        if value["state"] not in get_args(JobState) or not isinstance(value["actor"], str):
            raise ValueError("it is no state of a job")
        times = {name: _optional_moment(value[name]) for name in ("started_at", "ended_at")}
        record = Record(**{**value, **times, "queued_at": _moment(value["queued_at"])})
        if type(record.starts) is not int or type(record.done) is not int or not isinstance(record.message, str):
            raise ValueError("a value is of the wrong type")
        return record


def write_progress(folder: Path, progress: Progress) -> None:
    """For those who look on: not synced, and left out where it cannot be written."""
    fresh = folder / ".progress.new"
    with suppress(OSError):
        fresh.write_bytes(_encoded(progress))
        fresh.replace(folder / PROGRESS)


def read_progress(folder: Path) -> Progress:
    """Nothing known where there is none, or none that can be read."""
    try:
        value = json.loads((folder / PROGRESS).read_bytes())
        return Progress(**{item.name: value[item.name] for item in fields(Progress)})
    except (OSError, ValueError, KeyError, TypeError):
        return Progress()


def write_report(folder: Path, report: Mapping[str, Any]) -> None:
    write_durably(folder / REPORT, _encoded(report))


def read_report(folder: Path) -> Mapping[str, Any] | None:
    try:
        value = json.loads((folder / REPORT).read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def append_log(folder: Path, lines: Iterable[str]) -> None:
    """Add lines, each with the time; left out where they cannot be written. Beyond LOG_MAX_BYTES the oldest go."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    text = "".join(f"{now} {_one_line(line)}\n" for line in lines)
    path = folder / LOG
    with suppress(OSError):
        with path.open("ab") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
            size = file.tell()
        if size > LOG_MAX_BYTES:
            kept = path.read_bytes()[-LOG_MAX_BYTES // 2 :].partition(b"\n")[2]
            fresh = folder / ".log.new"
            fresh.write_bytes(f"{LOG_DROPPED}\n".encode() + kept)
            fresh.replace(path)


def read_log(folder: Path, last: int) -> list[str]:
    try:
        lines = (folder / LOG).read_text("utf-8", "replace").split("\n")[:-1]
    except OSError:
        return []
    return lines[-last:] if last > 0 else []


def _one_line(text: str) -> str:
    shown = "".join(c if c.isprintable() or "\ud800" <= c <= "\udfff" else " " for c in text[:_LINE_MAX_CHARS])
    return " ".join(shown.split())


def _encoded(value: Any) -> bytes:
    """ASCII, so that a path of bytes that are no Unicode comes back as it was."""
    return json.dumps(to_json(value), allow_nan=False).encode("ascii")


def _read(path: Path) -> dict[str, Any]:
    with _damage(path):
        value = json.loads(path.read_bytes())
        if not isinstance(value, dict):
            raise ValueError("it is no object")
        return value


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or reason_of(error)
        remedy = "remove the job and submit it anew" if path.name == REQUEST else "resume the job, or remove it"
        raise IntegrityFailure(f"{path.name} of the job is damaged ({why})", remedy) from None


def _moment(text: Any) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time has no zone")
    return moment


def _optional_moment(text: Any) -> datetime | None:
    return None if text is None else _moment(text)
