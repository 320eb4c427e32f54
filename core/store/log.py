"""Reading a collection's log at one version, and every filter that is ever sent to LanceDB.

Filters are built from integers and hexadecimal ids alone, which are checked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from core.errors import CoreError, IntegrityFailure, StoreFailure
from core.ports import Delta, chunk_schema
from core.store.faults import store_failure
from core.store.files import Stamp, TableFiles
from core.store.rows import (
    CHUNK_ROW,
    DOCUMENT_COLUMNS,
    DOCUMENT_ROW,
    STATE_COLUMNS,
    State,
    as_chunks,
    check_counts,
    damaged,
    is_id,
    live_mask,
    log_schema,
    read_document,
    read_state,
)
from core.store.texts import to_newest
from core.types import Document

if TYPE_CHECKING:
    from lancedb.table import Table

Result = TypeVar("Result")

LANCE_ERRORS = (OSError, RuntimeError, ValueError)
_MARKS = 1_024
_FEW_ROWS = 2_000
"""Up to so many new rows are read whole and kept: who asks for the newest number soon asks for what is new."""
_IDS_PER_FILTER = 10_000


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was read: the folder of versions as it was just before, Lance's version, the newest commit."""

    stamp: Stamp
    version: int
    seq: int


class Log:
    """The chunks table as one process reads it. Thread-safe.

    The handle stays at one version until it is moved, so that one answer has one version. Of each document the state
    is kept, in order of commit, and of each commit the number of rows up to it.
    """

    def __init__(self, table: Table, files: TableFiles, dimension: int, place: str) -> None:
        self.place = place
        self._table, self._files, self._dimension = table, files, dimension
        self._states: dict[str, State] = {}
        self._marks: dict[int, int] = {}
        self._total = 0
        self._recent: tuple[int, pa.Table] | None = None
        self._seen: _Seen | None = None
        self._mutex = threading.RLock()

    def head(self) -> int:
        """Two calls to the system while nothing is new. Raises StoreFailure, IntegrityFailure."""
        seen = self._seen
        try:
            if seen is not None and self._files.unchanged(seen.stamp, seen.version):
                return seen.seq
        except FileNotFoundError:
            raise gone(self.place) from None
        return self.at_newest(lambda: self._seen.seq if self._seen is not None else 0)

    def at_newest(self, operation: Callable[[], Result]) -> Result:
        """Run on the newest version, and again on a newer one if a clean-up took its files away.

        Raises StoreFailure, IntegrityFailure.
        """
        for attempt in range(3):
            with self._mutex:
                try:
                    self._refresh(again=attempt > 0)
                    return operation()
                except CoreError:
                    raise
                except LANCE_ERRORS as error:
                    failure = error
        raise store_failure(self.place, "read", failure) from failure

    def since(self, seq: int) -> Delta:
        return self.at_newest(lambda: self._since(seq))

    def chunk_rows(self, chunk_ids: Sequence[str]) -> pa.Table:
        wanted = sorted({identity for identity in chunk_ids if is_id(identity)})
        return self.at_newest(lambda: self._chunk_rows(wanted))

    def is_live(self, identity: str) -> bool:
        with self._mutex:
            state = self._states.get(identity)
        return state is not None and not state.removed

    def checked_states(self, identities: Sequence[str]) -> dict[str, State]:
        """States of documents from rows that are checked, to be built upon. Raises IntegrityFailure."""
        return self.at_newest(lambda: self._checked_states(identities))

    def adopt(self, rows: pa.Table, version: int) -> None:
        """Take over an own commit without reading it back. No other can have come between: the lock is held."""
        with self._mutex:
            stamp = self._files.stamp()
            if self._move() == version and self._seen is not None and self._seen.version == version - 1:
                self._note(_documents_of(rows, STATE_COLUMNS))
                self._settle(stamp, version, rows["seq"][0].as_py())
            else:
                self._refresh(again=True)

    def delete_superseded(self, writer: Table) -> None:
        """Drop rows that no reader can need; tombstones and every document's newest row stay, whoever is behind.

        `writer` stands at the newest version, and the collection's lock is held.
        """
        rows = writer.search().select(["kind", "seq", "document_id"]).with_row_id(True).to_arrow()
        with self._mutex:
            chunks = live_mask(rows, self._states)
            newest = live_mask(rows, {key: State(0, state.seq, 0, False) for key, state in self._states.items()})
        is_document = pc.equal(rows["kind"], DOCUMENT_ROW).to_numpy()
        dead = rows.filter(pa.array(~((is_document & newest) | (~is_document & chunks))))
        for portion in _portions(dead["_rowid"].to_pylist()):
            writer.delete(f"_rowid IN ({','.join(str(int(number)) for number in portion)})")

    def _refresh(self, again: bool) -> None:
        seen = self._seen
        try:
            stamp = self._files.stamp()
            if seen is not None and not again and self._files.unchanged(seen.stamp, seen.version):
                return
        except FileNotFoundError:
            raise gone(self.place) from None
        if seen is not None and stamp[0] != seen.stamp[0]:
            raise gone(self.place)
        version = self._move()
        if self._files.lost(version) or (seen is not None and version < seen.version):
            remedy = "restore a backup, or open the collection again if it was restored on purpose"
            raise IntegrityFailure(f"{self.place} has gone back to an older version", remedy)
        head = seen.seq if seen is not None else 0
        rows = self._documents_after(head, STATE_COLUMNS)
        self._note(rows)
        self._settle(stamp, version, max([head, *(row["seq"] for row in rows)]))

    def _move(self) -> int:
        """The handle to the newest version, which is returned."""
        to_newest(self._table)
        self._recent = None
        self._total = self._table.count_rows()
        return int(self._table.version)

    def _note(self, rows: Sequence[Mapping[str, Any]]) -> None:
        states = [(row["document_id"], read_state(row)) for row in rows]
        for identity, state in sorted(states, key=lambda item: item[1].seq):
            self._states.pop(identity, None)
            self._states[identity] = state

    def _settle(self, stamp: Stamp, version: int, head: int) -> None:
        self._marks.pop(head, None)
        self._marks[head] = self._total
        if len(self._marks) > _MARKS:
            del self._marks[next(iter(self._marks))]
        self._seen = _Seen(stamp, version, head)

    def _documents_after(self, seq: int, columns: Sequence[str]) -> list[dict[str, Any]]:
        rows = self._tail(seq, ("kind", *columns))
        if rows is None:
            rows = self._scan(f"kind = {DOCUMENT_ROW} AND seq > {int(seq)}", ("kind", *columns))
        return _documents_of(rows, columns)

    def _chunks_after(self, seq: int) -> pa.Table:
        columns = chunk_schema(self._dimension).names
        rows = self._tail(seq, ("kind", *columns))
        if rows is None:
            return self._scan(f"kind = {CHUNK_ROW} AND seq > {int(seq)}", columns)
        return rows.filter(pc.equal(rows["kind"], CHUNK_ROW)).select(columns)

    def _tail(self, seq: int, columns: Sequence[str]) -> pa.Table | None:
        """Log rows after commit `seq` by their place, which costs the same whatever the number of fragments.

        Rows stand in order of commit. If the row at the last place of commit `seq`, as once counted, still belongs to
        it, nothing before has been dropped, and what follows is new. None: not so, or never counted; then scan.
        """
        place = self._marks.get(seq, 0)
        if not 0 < place <= self._total:
            return None
        if self._recent is not None and self._recent[0] == seq:
            return self._recent[1].select(list(columns))
        few = self._total - place <= _FEW_ROWS
        wanted = log_schema(self._dimension).names if few else list(columns)
        rows = self._table.search().select(wanted).offset(place - 1).limit(self._total - place + 1).to_arrow()
        seqs = rows["seq"].to_numpy()
        if len(seqs) != self._total - place + 1 or seqs[0] != seq or not (seqs[1:] > seq).all():
            return None
        rows = rows.slice(1)
        if few:
            self._recent = (seq, rows)
        return rows.select(list(columns))

    def _scan(self, predicate: str, columns: Sequence[str]) -> pa.Table:
        return self._table.search().where(predicate).select(list(columns)).to_arrow()

    def _since(self, seq: int) -> Delta:
        head = self._seen.seq if self._seen is not None else 0
        if seq > head:
            remedy = "open the collection again if it was made anew, else restore a backup"
            raise IntegrityFailure(f"{self.place} stands at commit {head}, before {seq}", remedy)
        changed = dict(takewhile(lambda item: item[1].seq > seq, reversed(self._states.items())))
        documents = self._newest_documents(self._documents_after(seq, DOCUMENT_COLUMNS) if changed else [])
        if missing := changed.keys() - documents.keys():
            raise damaged(min(missing))
        live = {identity: document for identity, document in sorted(documents.items()) if document is not None}
        chunks = chunk_schema(self._dimension).empty_table()
        expected = {key: changed[key].chunk_count for key in live if changed[key].chunks_seq > seq}
        if expected:
            chunks = self._live_chunks(self._chunks_after(seq))
            check_counts(chunks, expected)
        return Delta(
            seq=head,
            documents=tuple(live.values()),
            removed=tuple(sorted(documents.keys() - live.keys())) if seq else (),
            document_seq={identity: changed[identity].seq for identity in live},
            chunks_seq={identity: changed[identity].chunks_seq for identity in live},
            chunks=chunks,
        )

    def _newest_documents(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Document | None]:
        found = {}
        for row in rows:
            known = self._states.get(row["document_id"])
            if known is None or row["seq"] == known.seq:
                state, found[row["document_id"]] = read_document(row)
                if state != known:
                    raise damaged(row["document_id"])
        return found

    def _live_chunks(self, rows: pa.Table) -> pa.Table:
        mask = live_mask(rows, self._states)
        return as_chunks(rows if mask.all() else rows.filter(pa.array(mask)), self._dimension)

    def _chunk_rows(self, wanted: Sequence[str]) -> pa.Table:
        columns = chunk_schema(self._dimension).names
        tables = [chunk_schema(self._dimension).empty_table()]
        for ids in _portions(wanted):
            tables.append(
                self._live_chunks(self._scan(f"kind = {CHUNK_ROW} AND chunk_id IN ({_quoted(ids)})", columns))
            )
        return pa.concat_tables(tables)

    def _checked_states(self, identities: Sequence[str]) -> dict[str, State]:
        rows: list[dict[str, Any]] = []
        for ids in _portions(sorted(identities)):
            predicate = f"kind = {DOCUMENT_ROW} AND document_id IN ({_quoted(ids)})"
            rows += self._scan(predicate, DOCUMENT_COLUMNS).to_pylist()
        if missing := set(identities) - self._newest_documents(rows).keys():
            raise damaged(min(missing))
        return {identity: self._states[identity] for identity in identities}


def _documents_of(rows: pa.Table, columns: Sequence[str]) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = rows.filter(pc.equal(rows["kind"], DOCUMENT_ROW)).select(list(columns)).to_pylist()
    return listed


def _portions(items: Sequence[Any]) -> list[Sequence[Any]]:
    return [items[start : start + _IDS_PER_FILTER] for start in range(0, len(items), _IDS_PER_FILTER)]


def _quoted(ids: Sequence[str]) -> str:
    if not all(is_id(identity) for identity in ids):
        raise StoreFailure("a filter was to be built from something other than ids", "report this as a defect")
    return ",".join(f"'{identity}'" for identity in ids)


def gone(place: str) -> StoreFailure:
    return StoreFailure(f"{place} is gone", "it was dropped: open it again")
