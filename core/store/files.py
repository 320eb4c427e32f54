"""Durable files and the writer's lock: what the store needs of the file system, and nothing of LanceDB's queries.

LanceDB writes files and links manifests, but never calls fsync: a commit survives the death of its process, not that
of the machine. So what a commit has added is synced here before the commit is acknowledged.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import StoreFailure
from core.store.faults import FREE_SPACE, FULL, is_full

WRITE_LOCK = "write.lock"
"""Name of the lock in a collection's folder: held while its tables change, and while the folder is taken away."""

MAX_VERSIONS = 512
"""Most table versions kept, however young. Lance lists them all to find the newest and reads them all to clean up:
at 10,000 that is 8 ms a refresh and 2 s a clean-up, at 512 it is 0.6 ms and 0.1 s."""

_NEWEST_VERSION = 2**64 - 1
_FOLDERS = ("data", "_deletions", "_versions")
"""Folders whose files a version is made of; transactions only serve writers that race, which the lock excludes."""

Stamp = tuple[int, int]
"""Inode and time of last change (ns) of a table's folder of versions."""


@contextmanager
def locked(path: Path, timeout_s: float, what: str) -> Iterator[None]:
    """Hold the lock file `path`. The operating system frees it when the holder dies. Raises StoreFailure."""
    from filelock import FileLock, Timeout

    if not path.parent.is_dir():
        raise StoreFailure(f"{what} is gone", "it was dropped while in use: open it again")
    try:
        lock = FileLock(path, timeout=timeout_s, poll_interval=0.01)
        lock.acquire()
    except Timeout:
        remedy = "wait for the other writer to end or raise store.lock_timeout_s"
        raise StoreFailure(f"{what} has been locked by another writer for {timeout_s:g} s", remedy) from None
    except OSError as error:
        if is_full(error):
            raise StoreFailure(f"{what} cannot be locked: {FULL}", FREE_SPACE) from error
        raise StoreFailure(f"{what} cannot be locked ({error})", "check that its folder is writable") from error
    try:
        yield
    finally:
        lock.release()


def sync_file(path: Path) -> None:
    """fsync one file or folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file: readers see the old content or the new, also after a loss of power."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    with fresh.open("wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())
    fresh.replace(path)
    sync_file(path.parent)


class TableFiles:
    """The files of one LanceDB table."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._versions = folder / "_versions"
        self._synced: dict[str, set[str]] = {name: set() for name in _FOLDERS}

    def stamp(self) -> Stamp:
        """Raises FileNotFoundError when the table is gone."""
        state = os.stat(self._versions)
        return state.st_ino, state.st_mtime_ns

    def unchanged(self, stamp: Stamp, version: int) -> bool:
        """Whether `version`, read after `stamp` was taken, is still the newest: two calls to the system, about 5 µs.

        The time of last change is as coarse as the kernel's tick, so the next version's name is looked for too.
        Raises FileNotFoundError when the table is gone.
        """
        return self.stamp() == stamp and not self._manifest(version + 1).exists()

    def lost(self, version: int) -> bool:
        """Whether `version`, just read as the newest, is no longer there and none has followed it.

        A handle keeps what it has read: it would not notice that the newest manifest was taken away.
        """
        if self._manifest(version).exists():
            return False
        names = self._manifests()
        return not names or _NEWEST_VERSION - int(names[0].partition(".")[0]) < version

    def _manifests(self) -> list[str]:
        """Names, newest version first."""
        with os.scandir(self._versions) as entries:
            return sorted(entry.name for entry in entries if entry.name.endswith(".manifest"))

    def _manifest(self, version: int) -> Path:
        return self._versions / f"{_NEWEST_VERSION - version:020}.manifest"

    def sync(self) -> None:
        """fsync every file that is new since the last call, then the folders they are in.

        The first call syncs all: a writer that died may have left files which the next commit builds on.
        """
        first = not self._synced["_versions"]
        for name in _FOLDERS:
            folder = self._folder / name
            if not folder.is_dir():
                continue
            with os.scandir(folder) as entries:
                present = {entry.name for entry in entries}
            for file in sorted(present - self._synced[name]):
                sync_file(folder / file)
            if present - self._synced[name]:
                sync_file(folder)
                first = first or not self._synced[name]
            self._synced[name] = present
        if first:
            sync_file(self._folder)

    def prunable_age(self, retention_s: float, most: int = MAX_VERSIONS) -> float | None:
        """Age in seconds above which versions may go; None: there is none to drop.

        A version may go when its successor is older than the retention, or when `most` newer ones exist.
        """
        names = self._manifests()
        now = time.time()
        ages = [now - (self._versions / name).stat().st_mtime for name in names]
        for place in range(1, len(ages)):
            if ages[place - 1] > retention_s or place >= most:
                return max(ages[place], 0.001)
        return None
