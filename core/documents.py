"""The documents of a snapshot as columns, so that a scope is a few array operations over all of them."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.scope import expires, revised
from core.segment import Strings, pack
from core.types import Document, Labels

Array = npt.NDArray[Any]

READ_KEPT = 10_000
"""Documents whose packed JSON has been read and is not read again."""

GONE = -1
"""`chunks_seq` of a document that was removed; its number is never given to another."""


@dataclass(frozen=True, slots=True, eq=False)
class DocumentTable:
    """Columns over `m` document numbers. Numbers only ever grow, so arrays that hold them outlive a refresh."""

    ids: Array
    """S32 (m,)"""
    numbers: Mapping[bytes, int]
    chunks_seq: Array
    """int64 (m,): commit that wrote the chunks it has now, or GONE."""
    label_set: Array
    """int32 (m,): index into `label_sets`."""
    label_sets: tuple[Labels, ...]
    knowledge: Array
    """int64 (m,): equal for the revisions of one knowledge in one collection."""
    revised_at: Array
    """int64 (m,): microseconds since 1970, NEVER_REVISED where unknown."""
    valid_until: Array
    """int64 (m,): microseconds since 1970, NEVER_EXPIRES where unlimited."""
    active: Array
    """bool (m,): status is `active`."""
    outlived: Array
    """bool (m,): status is `deprecated`."""
    quality: Array
    """float64 (m,): NaN where unscored."""
    name_key: Array
    """int64 (m,): `name_key` of the file name, to find a document by it."""
    records: Records

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def present(self) -> Array:
        return np.asarray(self.chunks_seq != GONE)

    def __getitem__(self, number: int) -> Document:
        return self.records[number]


class Records:
    """Documents by number: those changed since the base was saved, and the base as packed JSON read on demand."""

    __slots__ = ("_base", "_changed", "_count", "_read")

    def __init__(self, base: Strings | None, changed: Mapping[int, Document], count: int) -> None:
        self._base, self._changed, self._count = base, changed, count
        self._read: dict[int, Document] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> Document:
        from core.store.documents import document_from_json

        known = self._changed.get(number)
        if known is not None:
            return known
        read = self._read.get(number)
        if read is None:
            assert self._base is not None
            if len(self._read) >= READ_KEPT:
                self._read.clear()
            read = self._read[number] = document_from_json(self._base[number])
        return read

    def __iter__(self) -> Iterator[Document]:
        return (self[number] for number in range(self._count))

    def changed(self, changes: Mapping[int, Document], count: int) -> Records:
        return Records(self._base, {**self._changed, **changes}, count)

    def packed(self) -> Strings:
        from core.store.documents import document_to_json

        if self._base is not None and not self._changed:
            return self._base
        return pack(document_to_json(document) for document in self)


def no_documents() -> DocumentTable:
    return DocumentTable(
        ids=np.zeros(0, "S32"),
        numbers={},
        chunks_seq=np.zeros(0, np.int64),
        label_set=np.zeros(0, np.int32),
        label_sets=(),
        knowledge=np.zeros(0, np.int64),
        revised_at=np.zeros(0, np.int64),
        valid_until=np.zeros(0, np.int64),
        active=np.zeros(0, bool),
        outlived=np.zeros(0, bool),
        quality=np.zeros(0, np.float64),
        name_key=np.zeros(0, np.int64),
        records=Records(None, {}, 0),
    )


def update(
    table: DocumentTable, documents: Sequence[Document], removed: Sequence[str], chunks_seq: Mapping[str, int]
) -> DocumentTable:
    """The table after a delta; `table` itself stays as it is."""
    if not documents and not removed:
        return table
    numbers = dict(table.numbers)
    for document in documents:
        numbers.setdefault(document.document_id.encode(), len(numbers))
    at = np.fromiter((numbers[d.document_id.encode()] for d in documents), np.int64, len(documents))
    label_sets = {labels: index for index, labels in enumerate(table.label_sets)}
    codes = [label_sets.setdefault(document.labels, len(label_sets)) for document in documents]

    def column(old: Array, values: Sequence[Any]) -> Array:
        new = np.zeros(len(numbers), old.dtype)
        new[: len(old)] = old
        new[at] = np.asarray(values, old.dtype) if len(values) else new[at]
        return new

    seqs = column(table.chunks_seq, [chunks_seq[document.document_id] for document in documents])
    seqs[[numbers[name.encode()] for name in removed if name.encode() in numbers]] = GONE
    return DocumentTable(
        ids=column(table.ids, [document.document_id.encode() for document in documents]),
        numbers=numbers,
        chunks_seq=seqs,
        label_set=column(table.label_set, codes),
        label_sets=tuple(label_sets),
        knowledge=column(table.knowledge, [knowledge_number(document.knowledge_id) for document in documents]),
        revised_at=column(table.revised_at, [revised(document) for document in documents]),
        valid_until=column(table.valid_until, [expires(document) for document in documents]),
        active=column(table.active, [document.status == "active" for document in documents]),
        outlived=column(table.outlived, [document.status == "deprecated" for document in documents]),
        quality=column(table.quality, [np.nan if d.quality is None else d.quality for d in documents]),
        name_key=column(table.name_key, [name_key(document.name) for document in documents]),
        records=table.records.changed(dict(zip(at.tolist(), documents, strict=True)), len(numbers)),
    )


def join(tables: Sequence[DocumentTable]) -> DocumentTable:
    """The documents of several collections as one table, numbered one table after the other.

    Knowledge stays apart between collections: the same knowledge_id in two of them may name different things.
    """
    if len(tables) == 1:
        return tables[0]
    first_label = np.cumsum([0, *(len(table.label_sets) for table in tables)])
    ids = np.concatenate([table.ids for table in tables])
    return DocumentTable(
        ids=ids,
        numbers={identity: number for number, identity in enumerate(ids.tolist())},
        chunks_seq=np.concatenate([table.chunks_seq for table in tables]),
        label_set=np.concatenate([t.label_set + first for t, first in zip(tables, first_label, strict=False)]),
        label_sets=tuple(labels for table in tables for labels in table.label_sets),
        knowledge=np.concatenate([table.knowledge ^ np.int64(index << 8) for index, table in enumerate(tables)]),
        revised_at=np.concatenate([table.revised_at for table in tables]),
        valid_until=np.concatenate([table.valid_until for table in tables]),
        active=np.concatenate([table.active for table in tables]),
        outlived=np.concatenate([table.outlived for table in tables]),
        quality=np.concatenate([table.quality for table in tables]),
        name_key=np.concatenate([table.name_key for table in tables]),
        records=_JoinedRecords([table.records for table in tables]),
    )


class _JoinedRecords(Records):
    __slots__ = ("_first", "_parts")

    def __init__(self, parts: Sequence[Records]) -> None:
        super().__init__(None, {}, sum(len(part) for part in parts))
        self._parts = tuple(parts)
        self._first = np.cumsum([0, *(len(part) for part in parts)])

    def __getitem__(self, number: int) -> Document:
        part = int(np.searchsorted(self._first, number, side="right")) - 1
        return self._parts[part][number - int(self._first[part])]


def knowledge_number(knowledge_id: str) -> int:
    """63 bits of the knowledge id's hash: a group number that needs no table."""
    return _hash63(knowledge_id)


def name_key(name: str) -> int:
    """63 bits of the hash of a file name as people type it: without regard to case and composition."""
    return _hash63(unicodedata.normalize("NFC", name).casefold())


def _hash63(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
