"""A collection in LanceDB: an append-only log of documents and chunks, and a table of texts by hash.

One commit is one `add` to the log, hence one Lance version: readers see all of it or nothing. Every row bears the
commit's number, so that a reader can ask for what is new. Nothing else is ever a point of change: texts are written
before and are unreachable until the log names them; compaction drops superseded rows only.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from core.errors import CoreError, EmbedderMismatch, UnknownDocument
from core.ports import Delta, DocumentWrite
from core.settings import Store
from core.store.faults import reason_of, store_failure
from core.store.files import WRITE_LOCK, TableFiles, locked, sync_file
from core.store.log import LANCE_ERRORS, Log, gone
from core.store.rows import check_batch, log_rows, log_schema, text_schema
from core.store.texts import TextTable, to_newest
from core.store.upkeep import is_due, merge_fragments

if TYPE_CHECKING:
    from lancedb.db import DBConnection
    from lancedb.table import Table

_LOG, _TEXTS = "chunks", "texts"
_logger = logging.getLogger(__name__)


def open_store(folder: Path, dimension: int, settings: Store) -> LanceStore:
    """The store of the collection in `folder`, which exists; its tables are made if there are none.

    Raises StoreFailure, and EmbedderMismatch if the tables hold vectors of another dimension.
    """
    import lancedb

    folder = folder.resolve()
    place = _place(folder)
    if not folder.is_dir():  # LanceDB would make it
        raise gone(place)
    try:
        database = lancedb.connect(folder / "db")
        if not all((folder / "db" / f"{name}.lance" / "_versions").is_dir() for name in (_LOG, _TEXTS)):
            with locked(folder / WRITE_LOCK, settings.lock_timeout_s, place):
                _make_tables(database, folder, dimension)
        return LanceStore(folder, database, dimension, settings)
    except LANCE_ERRORS as error:
        raise store_failure(place, "opened", error) from error


def _make_tables(database: DBConnection, folder: Path, dimension: int) -> None:
    for name, schema in ((_TEXTS, text_schema()), (_LOG, log_schema(dimension))):
        database.create_table(name, schema=schema, exist_ok=True)
        _files(folder, name).sync()
    sync_file(folder / "db")
    sync_file(folder)


def _files(folder: Path, table: str) -> TableFiles:
    return TableFiles(folder / "db" / f"{table}.lance")


def _place(folder: Path) -> str:
    return f"collection folder {folder.name}"


class LanceStore:
    """Implements `ChunkStore`; safe to share between threads, and beside other processes on one machine."""

    def __init__(self, folder: Path, database: DBConnection, dimension: int, settings: Store) -> None:
        self._folder = folder
        self._database = database
        self._dimension = dimension
        self._settings = settings
        table = database.open_table(_LOG)
        held = table.schema.field("vector").type.list_size
        if held != dimension:
            remedy = "use the collection's embedder, or rebuild the collection with the new one"
            raise EmbedderMismatch(f"the collection has {held} dimensions, the embedder {dimension}", remedy)
        self._files = _files(folder, _LOG)
        self._log = Log(table, self._files, dimension, _place(folder))
        self._texts = TextTable(database.open_table(_TEXTS), _files(folder, _TEXTS))
        self._writer: Table | None = None

    @property
    def dimension(self) -> int:
        return self._dimension

    def head(self) -> int:
        """About 5 µs while nothing is new. Raises StoreFailure, IntegrityFailure."""
        return self._log.head()

    def commit(self, writes: Sequence[DocumentWrite], removed: Sequence[str] = ()) -> int:
        """A commit that changes nothing gives the present number; ids in `removed` that are not there are ignored.

        Raises InputError, UnknownDocument (chunks None, and no such document), StoreFailure, IntegrityFailure.
        """
        check_batch(writes, removed, self._dimension)
        with self._locked():
            head = self._log.head()
            gone = [identity for identity in removed if self._log.is_live(identity)]
            if not writes and not gone:
                return head
            kept = {write.document.document_id: write.document.path for write in writes if write.chunks is None}
            for identity, path in kept.items():
                if not self._log.is_live(identity):
                    raise UnknownDocument(path)
            states = self._log.checked_states(list(kept)) if kept else {}
            rows = log_rows(head + 1, writes, gone, states, self._dimension)
            version = self._append(rows, writes)
            self._follow_up(rows, version, head + 1)
        return head + 1

    def since(self, seq: int) -> Delta:
        """Costs about what is new; `removed` may name documents that came and went in between.

        Raises StoreFailure, and IntegrityFailure for a damaged row or a number above the head.
        """
        return self._log.since(seq)

    def text(self, text_hash: str) -> str:
        return self.texts([text_hash])[text_hash]

    def texts(self, text_hashes: Sequence[str]) -> dict[str, str]:
        """Costs one read, whatever the number. Raises IntegrityFailure, StoreFailure."""
        try:
            return self._texts.read(text_hashes)
        except LANCE_ERRORS as error:
            raise store_failure(_place(self._folder), "read", error) from error

    def chunk_rows(self, chunk_ids: Sequence[str]) -> pa.Table:
        """Raises StoreFailure, IntegrityFailure."""
        return self._log.chunk_rows(chunk_ids)

    def compact(self) -> None:
        """Raises StoreFailure."""
        with self._locked():
            self._log.head()
            try:
                self._compact()
            except LANCE_ERRORS as error:
                raise store_failure(_place(self._folder), "compacted", error) from error

    # What follows runs under the collection's lock, on a handle of its own: readers go on meanwhile.

    def _locked(self) -> AbstractContextManager[None]:
        return locked(self._folder / WRITE_LOCK, self._settings.lock_timeout_s, _place(self._folder))

    def _append(self, rows: pa.Table, writes: Sequence[DocumentWrite]) -> int:
        """Lance's version of the commit, which is durable."""
        try:
            self._texts.put(writes)
            version = self._newest_writer().add(rows).version
            self._files.sync()
        except LANCE_ERRORS as error:
            raise store_failure(_place(self._folder), "written", error) from error
        return int(version)

    def _newest_writer(self) -> Table:
        if self._writer is None:
            self._writer = self._database.open_table(_LOG)
        to_newest(self._writer)
        return self._writer

    def _follow_up(self, rows: pa.Table, version: int, seq: int) -> None:
        """A commit that is already durable does not fail because of what comes after it."""
        every = self._settings.compact_after
        try:
            self._log.adopt(rows, version)
            if seq % every == 0 and is_due(self._newest_writer(), every):
                self._compact()
        except (CoreError, *LANCE_ERRORS) as error:
            _logger.warning("%s could not be compacted: %s", _place(self._folder), reason_of(error))

    def _compact(self) -> None:
        writer = self._newest_writer()
        self._log.delete_superseded(writer)
        for table, files in ((writer, self._files), (self._texts.writer(), self._texts.files)):
            merge_fragments(table, files, self._settings.retention_s)
