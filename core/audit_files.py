"""The audit log's files: their lines, and how they are read. The log itself is described in `core.audit`."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.errors import IntegrityFailure, StoreFailure

RECOVERY = "recovery"
SEAL = b" #torn\n"
"""Ends a torn line, so that even one that lacks its line feed alone is no record."""
_SEGMENT = re.compile(r"segment-(\d{6,})\.jsonl")
_BLOCK = 65_536


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """All records in order, oldest first; none where the folder does not exist. Takes no lock.

    An append that is under way, or was torn and not yet sealed, is left out. Raises IntegrityFailure at the first
    place where a record is missing, repeated or unreadable without a recovery record, StoreFailure where the files
    cannot be read.
    """
    try:
        numbers = segments(folder) if folder.exists() else []
        seq = 0
        for place, segment in enumerate(numbers, start=1):
            if segment != place:
                raise IntegrityFailure(f"audit segment {place} is missing", "restore it from a backup")
            for record in _read_segment(segment_path(folder, segment), last=place == len(numbers)):
                seq += 1
                if record["seq"] != seq:
                    raise IntegrityFailure(f"audit record {seq} is missing", "restore the log from a backup")
                yield record
    except OSError as error:
        raise StoreFailure(f"the audit log {folder} cannot be read ({error})", "mend its permissions") from error


def _read_segment(path: Path, *, last: bool) -> Iterator[dict[str, Any]]:
    offset, torn = 0, b""
    with path.open("rb") as lines:
        for line in lines:
            record = parse(line)
            if record is None:
                torn += line
            else:
                if torn and not _explains(record, offset - len(torn), torn):
                    raise _unreadable(path, offset - len(torn))
                torn = b""
                yield record
            offset += len(line)
            if not line.endswith(b"\n"):
                break  # its rest may be on its way; read on, it would pass for a line of its own
    if torn and not last:
        raise _unreadable(path, offset - len(torn))


def _unreadable(path: Path, offset: int) -> IntegrityFailure:
    return IntegrityFailure(f"{path} is unreadable from byte {offset}", "restore the log from a backup")


def torn_payload(offset: int, torn: bytes) -> dict[str, Any]:
    """What a recovery record says of the bytes it follows."""
    return {"offset": offset, "bytes": len(torn), "sha256": hashlib.sha256(torn).hexdigest()}


def _explains(record: Mapping[str, Any], offset: int, sealed: bytes) -> bool:
    if record["kind"] != RECOVERY or not sealed.endswith(SEAL):
        return False
    return bool(record["payload"] == torn_payload(offset, sealed[: -len(SEAL)]))


def encode(value: Any) -> bytes:
    """One ASCII line. Raises TypeError, ValueError for what JSON cannot hold (NaN among it)."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def parse(line: bytes) -> dict[str, Any] | None:
    """A whole record, or None."""
    if not line.endswith(b"\n"):
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(record, dict) and record.keys() == {"v", "seq", "ts", "kind", "payload"}
    return record if whole and type(record["seq"]) is int and record["v"] == 1 else None


def last_record(descriptor: int, floor: int, size: int) -> tuple[int, int] | None:
    """End offset and number of the last whole record in `[floor, size)`; a line starts at `floor`."""
    block = _BLOCK
    while True:
        start = max(floor, size - block)
        data = read_range(descriptor, start, size)
        end = data.rfind(b"\n")
        while end >= 0:
            begin = data.rfind(b"\n", 0, end)
            if begin < 0 and start > floor:
                break  # the line starts before this block
            record = parse(data[begin + 1 : end + 1])
            if record is not None:
                return start + end + 1, record["seq"]
            end = begin
        if start == floor:
            return None
        block *= 4


def read_range(descriptor: int, start: int, end: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    data = b""
    while len(data) < end - start:
        part = os.read(descriptor, end - start - len(data))
        if not part:
            raise OSError(errno.EIO, "the audit log shrank while it was read")
        data += part
    return data


def segments(folder: Path) -> list[int]:
    """Numbers of the segments there are, ascending. Raises OSError."""
    return sorted(int(match[1]) for name in os.listdir(folder) if (match := _SEGMENT.fullmatch(name)))


def segment_path(folder: Path, segment: int) -> Path:
    return folder / f"segment-{segment:06d}.jsonl"
