"""The audit log: what was asked by whom and what was released, durable before anyone gets an answer.

A folder of segments `segment-000001.jsonl`, …; one record a line, ASCII only, so that no text can break a line:

    {"v": 1, "seq": 1, "ts": "2025-01-01T00:00:00.000000Z", "kind": "search", "payload": {…}}

`seq` runs from 1 over all segments and processes without a gap; `ts` is the clock's and orders nothing. Files are
only ever appended to. What a crash or a full disk left of an append is never acknowledged; the next append ends that
line with a mark that no record bears and explains it in a record of kind `recovery` (offset, bytes and SHA-256).
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from core.audit_files import RECOVERY, SEAL, encode, last_record, read, read_range, segment_path, segments, torn_payload
from core.errors import AuditUnavailable
from core.types import text_hash, to_json

__all__ = ["JsonlAudit", "MemoryAudit", "read"]

TEXT_MAX_CHARS = 4_000
"""A longer string in a payload is recorded as its beginning, its length and its SHA-256."""
RECORD_MAX_BYTES = 1_000_000
"""A longer record is refused: cutting lists of released evidence would falsify it."""

_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class _End:
    """Where the last whole record ends, and its number."""

    segment: int
    offset: int
    seq: int


class JsonlAudit:
    """An AuditSink on a folder, shared by any number of threads and processes.

    Each record is one write and one fsync under a lock that all of them take. A folder that does not exist is
    created for its owner alone; one that does keeps its mode. Files are readable by their owner alone.
    """

    def __init__(
        self,
        folder: Path,
        *,
        lock_timeout_s: float = 10.0,
        segment_max_bytes: int = 64 * 1024 * 1024,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._folder = folder
        self._lock_timeout_s = lock_timeout_s
        self._segment_max_bytes = segment_max_bytes
        self._clock = clock
        self._prepared = False
        self._end: _End | None = None  # read and written under the file lock only

    def record(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Append one record; it is on the disk when this returns. Raises AuditUnavailable."""
        plain = _plain(kind, payload)
        try:
            self._prepare()
            lock = FileLock(self._folder / ".lock", mode=0o600)
            with lock.acquire(timeout=self._lock_timeout_s, poll_interval=0.002):
                self._end = self._append(self._end, kind, plain)
        except (OSError, NotImplementedError) as error:
            raise AuditUnavailable(
                f"the audit log {self._folder} cannot be written ({error})",
                "free space or mend the folder's permissions; until then nothing is answered",
            ) from error

    def _prepare(self) -> None:
        if self._prepared:
            return
        if not self._folder.is_dir():
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            self._folder.mkdir(mode=0o700, exist_ok=True)
            _sync_folder(self._folder.parent)
        # Another process may have died between creating a segment and making its name durable.
        _sync_folder(self._folder)
        self._prepared = True

    def _append(self, known: _End | None, kind: str, plain: Any) -> _End:
        segment, descriptor = self._open_newest(known)
        try:
            size = os.fstat(descriptor).st_size
            end = self._find_end(known, segment, descriptor, size)
            data, seq = b"", end.seq
            if size > end.offset:
                seq += 1
                torn = read_range(descriptor, end.offset, size)
                data = SEAL + self._line(seq, RECOVERY, torn_payload(end.offset, torn))
            elif size >= self._segment_max_bytes:
                os.close(descriptor)
                descriptor = -1
                segment, size = segment + 1, 0
                descriptor = self._create(segment)
            data += self._line(seq + 1, kind, plain)
            written = os.write(descriptor, data)
            if written != len(data):
                raise OSError(errno.ENOSPC, f"only {written} of {len(data)} bytes were written")
            os.fsync(descriptor)
            return _End(segment, size + len(data), seq + 1)
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def _open_newest(self, known: _End | None) -> tuple[int, int]:
        """Number and descriptor of the segment to append to."""
        if known is None:
            numbers = segments(self._folder)
            if not numbers:
                return 1, self._create(1)
            segment = numbers[-1]
        else:
            segment = known.segment
            while segment_path(self._folder, segment + 1).exists():
                segment += 1
        return segment, os.open(segment_path(self._folder, segment), os.O_RDWR | os.O_APPEND | _BINARY)

    def _create(self, segment: int) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | _BINARY
        descriptor = os.open(segment_path(self._folder, segment), flags, 0o600)
        _sync_folder(self._folder)
        return descriptor

    def _find_end(self, known: _End | None, segment: int, descriptor: int, size: int) -> _End:
        """The end of the last whole record; reads only what was appended since `known`."""
        here = known if known is not None and known.segment == segment else None
        if here is not None and size < here.offset:
            raise OSError(errno.EIO, f"{segment_path(self._folder, segment)} lost records that were acknowledged")
        if here is not None and size == here.offset:
            return here
        found = last_record(descriptor, 0 if here is None else here.offset, size)
        if found is not None:
            return _End(segment, *found)
        if here is not None:
            return here
        return _End(segment, 0, self._last_seq(segment - 1))

    def _last_seq(self, segment: int) -> int:
        if segment == 0:
            return 0
        descriptor = os.open(segment_path(self._folder, segment), os.O_RDONLY | _BINARY)
        try:
            found = last_record(descriptor, 0, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)
        return self._last_seq(segment - 1) if found is None else found[1]

    def _line(self, seq: int, kind: str, plain: Any) -> bytes:
        return encode({"v": 1, "seq": seq, "ts": _stamp(self._clock()), "kind": kind, "payload": plain})


class MemoryAudit:
    """An AuditSink that keeps its records, as `read` would give them, and fails while `failing` is set."""

    def __init__(self, failing: bool = False) -> None:
        self.failing = failing
        self.records: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def record(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Raises AuditUnavailable while `failing`, and for what the log on disk would refuse."""
        plain = _plain(kind, payload)
        if self.failing:
            raise AuditUnavailable("the audit log cannot be written", "free space")
        with self._lock:
            head = {"v": 1, "seq": len(self.records) + 1, "ts": _stamp(datetime.now(UTC))}
            self.records.append(json.loads(encode({**head, "kind": kind, "payload": plain})))


def _plain(kind: str, payload: Mapping[str, Any]) -> Any:
    """The payload as JSON types with long texts cut. Raises AuditUnavailable for what cannot be recorded."""
    try:
        if not isinstance(kind, str) or not kind or kind == RECOVERY:
            raise ValueError(f"{kind!r} is no kind of record")
        plain = _cut(to_json(payload))
        size = len(encode(plain))
    except (TypeError, ValueError, RecursionError) as error:
        raise AuditUnavailable(f"a record cannot be written ({error})", "report this as a defect") from error
    if size > RECORD_MAX_BYTES:
        raise AuditUnavailable(f"a record of {size} bytes is too long", f"the most is {RECORD_MAX_BYTES}; ask for less")
    return plain


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > TEXT_MAX_CHARS:
        return {"text": value[:TEXT_MAX_CHARS], "chars": len(value), "sha256": text_hash(value)}
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    return [_cut(item) for item in value] if isinstance(value, list) else value


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # a folder cannot be opened there, and its entries are journalled
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
