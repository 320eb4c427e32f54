"""Canonical texts of one collection in a SQLite file beside its snapshot, which opens a few of many in a fraction of
the time that the store takes.

Only a cache: every text is checked against its hash, and whatever is missing, damaged or locked is read from the store.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from core.types import text_hash as hash_of

Result = TypeVar("Result")
Fetch = Callable[[Sequence[str]], Mapping[str, str]]

BATCH = 500
BUSY_TIMEOUT_S = 1.0
_TABLE = "CREATE TABLE IF NOT EXISTS texts (hash TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID"


class TextCache:
    """Thread-safe; several processes may share the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get(self, hashes: Sequence[str], fetch: Fetch) -> dict[str, str]:
        """The texts of `hashes`; those that are not here come from `fetch`, whose errors are raised."""
        found = self._try(partial(_select, hashes=hashes)) or {}
        missing = [name for name in hashes if name not in found]
        return {**found, **fetch(missing)} if missing else found

    def hold(self, hashes: Collection[str], fetch: Fetch) -> None:
        """Hold exactly the texts of `hashes` from now on: read what is missing, remove the others from the file.

        Where another process is at it, or the disk is full, nothing is done. Raises what `fetch` raises.
        """
        wanted = set(hashes)
        held = self._try(partial(_remove_others, wanted=wanted), make=True)
        if held is None:
            return
        missing = sorted(wanted - held)
        for first in range(0, len(missing), BATCH):
            rows = list(fetch(missing[first : first + BATCH]).items())
            if self._try(partial(_insert, rows=rows)) is None:
                return

    def close(self) -> None:
        with self._lock:
            self._close()

    def _try(self, work: Callable[[sqlite3.Connection], Result], make: bool = False) -> Result | None:
        """What `work` gives; None where there is no file, or SQLite fails. A damaged file is removed."""
        with self._lock:
            try:
                connection = self._opened(make)
                return None if connection is None else work(connection)
            except (sqlite3.Error, OSError) as error:
                self._close()
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                    self._path.unlink(missing_ok=True)
                return None

    def _opened(self, make: bool) -> sqlite3.Connection | None:
        if self._connection is not None and not self._path.exists():  # the snapshot was dropped meanwhile
            self._close()
        if self._connection is None and (make or self._path.exists()):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_S, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = OFF")  # a torn text fails its hash
            self._connection.execute("PRAGMA secure_delete = ON")
            self._connection.execute(_TABLE)
        return self._connection

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _select(connection: sqlite3.Connection, hashes: Sequence[str]) -> dict[str, str]:
    """The sound ones by hash."""
    rows: list[tuple[str, object]] = []
    for first in range(0, len(hashes), BATCH):
        part = hashes[first : first + BATCH]
        marks = ", ".join("?" * len(part))
        rows += connection.execute(f"SELECT hash, text FROM texts WHERE hash IN ({marks})", part)
    return {name: text for name, text in rows if isinstance(text, str) and hash_of(text) == name}


def _remove_others(connection: sqlite3.Connection, wanted: set[str]) -> set[str]:
    """Which of `wanted` are held."""
    held = {name for (name,) in connection.execute("SELECT hash FROM texts")}
    with connection:
        connection.executemany("DELETE FROM texts WHERE hash = ?", [(name,) for name in held - wanted])
    return held & wanted


def _insert(connection: sqlite3.Connection, rows: Sequence[tuple[str, str]]) -> int:
    with connection:
        return connection.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?)", rows).rowcount
