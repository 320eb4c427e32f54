"""The SQLite file under the vector cache: opened by many processes at once, set aside when it is damaged."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeVar

from filelock import FileLock, Timeout

from core.errors import StoreFailure

Result = TypeVar("Result")

APPLICATION_ID = 0x46564543
"""`FVEC`: tells our file from any other SQLite file."""

SCHEMA_VERSION = 1
TABLES = """
CREATE TABLE embedders (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL);
CREATE TABLE passages (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, embedder INTEGER NOT NULL,
    checksum INTEGER NOT NULL, vector BLOB NOT NULL, UNIQUE (hash, embedder));
CREATE TABLE queries (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, embedder INTEGER NOT NULL,
    checksum INTEGER NOT NULL, vector BLOB NOT NULL, UNIQUE (hash, embedder));
"""
ATTEMPTS = 3


class VectorFile:
    """One connection, used by one thread at a time.

    `synchronous=NORMAL`: in WAL mode a killed process loses nothing and a power cut at most the last transactions,
    never the file's soundness; what is lost is embedded again, so waiting for the disk at every batch buys nothing.
    """

    def __init__(self, path: Path, busy_timeout_s: float) -> None:
        self.path = path
        self._busy_timeout_s = busy_timeout_s
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None
        self._lock = threading.RLock()

    def read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Raises StoreFailure."""
        return self._run(work)

    def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """All of `work` or nothing of it. Raises StoreFailure."""

        def transaction(connection: sqlite3.Connection) -> Result:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                connection.execute("COMMIT")
                return result
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

        return self._run(transaction)

    def close(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def set_aside(self) -> list[Path]:
        """Damaged files of earlier times."""
        return sorted(self.path.parent.glob(f"{self.path.name}.damaged-*"))

    def _run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        with self._lock:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    return work(self._current())
                except sqlite3.ProgrammingError:
                    raise
                except sqlite3.Error as error:
                    self._mend(error, last=attempt == ATTEMPTS)
        raise AssertionError("the last attempt returns or raises")

    def _mend(self, error: sqlite3.Error, *, last: bool) -> None:
        """Make the next attempt worth it, or raise StoreFailure."""
        with suppress(sqlite3.Error):
            self.close()
        damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
        if last or not damaged:
            full = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
            remedy = "free space on the disk" if full else "check the disk and the rights on the home folder"
            raise StoreFailure(f"vector cache {self.path.name}: {error}", remedy) from error
        with self._guard():
            if not _sound(self.path):
                self._quarantine()

    def _current(self) -> sqlite3.Connection:
        """The connection; a new one where another process has set the file aside or someone removed it."""
        if self._connection is not None and _identity(self.path) != self._opened:
            self.close()
        if self._connection is None:
            self._connection = self._open()
            self._opened = _identity(self.path)
        return self._connection

    def _open(self) -> sqlite3.Connection:
        with self._guard():
            connection = self._connect()
            try:
                state = _state(connection)
                if state == "foreign":
                    connection.close()
                    self._quarantine()
                    connection = self._connect()
                if state != "ours":
                    _create(connection)
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA secure_delete = ON")
                return connection
            except BaseException:
                connection.close()
                raise

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=self._busy_timeout_s, isolation_level=None, check_same_thread=False)

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Opening, creating and setting aside are done by one process at a time."""
        lock = FileLock(f"{self.path}.lock")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=self._busy_timeout_s)
        except (OSError, Timeout) as error:
            raise StoreFailure(
                f"vector cache {self.path.name} cannot be opened ({type(error).__name__})",
                "check the rights on the home folder",
            ) from error
        try:
            yield
        finally:
            lock.release()

    def _quarantine(self) -> None:
        """The file first: without it SQLite throws away a leftover log, never replays it into the new file."""
        number = 1 + max((int(path.name.rsplit("-", 1)[1]) for path in self.set_aside()), default=0)
        target = f"{self.path}.damaged-{number}"
        try:
            os.replace(self.path, target)
            for suffix in ("-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        except OSError as error:
            raise StoreFailure(
                f"damaged vector cache {self.path.name} cannot be set aside", "remove the file by hand"
            ) from error


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_dev, state.st_ino


def _state(connection: sqlite3.Connection) -> Literal["ours", "empty", "foreign"]:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if (application, version) == (APPLICATION_ID, SCHEMA_VERSION):
        return "ours"
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return "foreign" if application or version or tables else "empty"


def _create(connection: sqlite3.Connection) -> None:
    """One script, one transaction: a process killed here leaves an empty file."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(
        f"BEGIN IMMEDIATE; {TABLES} PRAGMA application_id = {APPLICATION_ID};"
        f" PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
    )


def _sound(path: Path) -> bool:
    """Whether the file at `path` passes SQLite's own check: another process may have mended it by now."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            return bool(connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
    except sqlite3.Error:
        return False
