"""The files that documents were read from, kept as they came: by their SHA-256, so an equal file is kept once.

Written before the commit that names them; one whose commit never came is swept by the next purge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

from core.errors import InputError, IntegrityFailure
from core.store.faults import store_failure
from core.store.files import write_durably

FOLDER = "sources"


class SourceFiles:
    """Of one collection, in `folder`, which is made when the first file comes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, source_hash: str, data: bytes) -> None:
        """Keep a file. Raises StoreFailure."""
        path = self._folder / source_hash
        if path.exists():
            return
        try:
            self._folder.mkdir(exist_ok=True)
            write_durably(path, data)
        except OSError as error:
            raise store_failure("the source file", "kept", error) from error

    def read(self, source_hash: str) -> bytes:
        """The file as it came. Raises InputError where it was not kept, IntegrityFailure where it was altered,
        StoreFailure."""
        try:
            data = (self._folder / source_hash).read_bytes()
        except FileNotFoundError:
            raise InputError("the source file was not kept", "ingest it with store.keep_sources = true") from None
        except OSError as error:
            raise store_failure("the source file", "read", error) from error
        if hashlib.sha256(data).hexdigest() != source_hash:
            raise IntegrityFailure("the kept file is not what was ingested", "ingest it again")
        return data

    def sweep(self, keep: Collection[str]) -> int:
        """Delete the files that none of `keep` names; gives how many. The caller holds the collection's lock."""
        if not self._folder.is_dir():
            return 0
        gone = [path for path in self._folder.iterdir() if path.name not in keep]
        for path in gone:
            path.unlink(missing_ok=True)
        return len(gone)
