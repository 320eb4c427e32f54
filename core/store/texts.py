"""Canonical texts by their hash: written before the commit that names them, checked on every read."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from core.errors import IntegrityFailure, StoreFailure
from core.ports import DocumentWrite
from core.store.files import Stamp, TableFiles
from core.store.rows import text_schema
from core.types import text_hash as hash_of

if TYPE_CHECKING:
    from lancedb.table import Table


class TextTable:
    """One LanceDB table, read by place: the places of all hashes are kept, and a wrong place is noticed by the hash."""

    def __init__(self, table: Table, files: TableFiles) -> None:
        self.files = files
        self._table = table
        self._places: dict[str, int] = {}
        self._last = ""
        self._seen: tuple[Stamp, int] | None = None
        self._mutex = threading.RLock()

    def read(self, text_hashes: Sequence[str]) -> dict[str, str]:
        """Raises IntegrityFailure, StoreFailure, and what LanceDB raises."""
        wanted = sorted(set(text_hashes))
        found: dict[str, str] = {}
        with self._mutex:
            for attempt in range(3):
                try:
                    found = self._take(wanted)
                    break
                except (OSError, RuntimeError, ValueError):
                    if attempt == 2:
                        raise
                    self._places.clear()  # a clean-up took this version's files: look on the newest
        for name in wanted:
            if name not in found:
                raise StoreFailure(f"no text {name!r} is stored", "re-ingest the document or restore a backup")
            if hash_of(found[name]) != name:
                raise IntegrityFailure(f"the text {name} is not what was stored", "re-ingest it or restore a backup")
        return {name: found[name] for name in text_hashes}

    def put(self, writes: Sequence[DocumentWrite]) -> None:
        """Store what is not there yet, durably. The caller holds the collection's lock.

        Raises StoreFailure for a text that is neither given nor stored, and what LanceDB raises.
        """
        given = {write.document.text_hash: write.text for write in writes if write.text is not None}
        with self._mutex:
            self._find_places()
            for write in writes:
                if write.document.text_hash not in given and write.document.text_hash not in self._places:
                    raise StoreFailure(f"the text of {write.document.path!r} is not stored", "commit it with its text")
            fresh = sorted(given.keys() - self._places.keys())
            if fresh:
                texts = [given[key] for key in fresh]
                rows = pa.table([pa.array(fresh), pa.array(texts)], schema=text_schema())
                self._adopt(fresh, self._table.add(rows).version)
        if given:
            self.files.sync()  # also what a writer left that died before it could

    def writer(self) -> Table:
        """The table at its newest version, for compaction under the collection's lock."""
        with self._mutex:
            to_newest(self._table)
            return self._table

    def _take(self, wanted: Sequence[str]) -> dict[str, str]:
        if any(name not in self._places for name in wanted):
            self._find_places()
        places = sorted(self._places[name] for name in wanted if name in self._places)
        if not places:
            return {}
        rows = self._table.take_offsets(places).select(["text_hash", "text"]).to_arrow()
        found = dict(zip(rows["text_hash"].to_pylist(), rows["text"].to_pylist(), strict=True))
        if found.keys() != self._places.keys() & set(wanted):
            raise ValueError("texts are not in their places")
        return found

    def _find_places(self) -> None:
        if self._seen is not None and self._places and self.files.unchanged(*self._seen):
            return
        stamp = self.files.stamp()
        to_newest(self._table)
        total, known = self._table.count_rows(), len(self._places)
        if not known or total < known or self._hashes(known - 1, 1) != [self._last]:
            self._places.clear()
            known = 0
        self._extend(self._hashes(known, total - known) if total > known else [])
        self._seen = (stamp, self._table.version)

    def _adopt(self, fresh: Sequence[str], version: int) -> None:
        """Take over rows that were added under the lock, without reading them back."""
        if self._seen is not None and self._seen[1] == version - 1:
            self._extend(fresh)
            self._seen = (self.files.stamp(), version)

    def _extend(self, hashes: Sequence[str]) -> None:
        self._places.update(zip(hashes, range(len(self._places), len(self._places) + len(hashes)), strict=True))
        self._last = hashes[-1] if hashes else self._last

    def _hashes(self, place: int, count: int) -> list[str]:
        rows = self._table.search().select(["text_hash"]).offset(place).limit(count).to_arrow()
        return [str(value) for value in rows["text_hash"].to_pylist()]


def to_newest(table: Table) -> None:
    """Move a handle, which stays at the version it was opened at, to the newest one of any process."""
    table.checkout_latest()  # type: ignore[no-untyped-call]
