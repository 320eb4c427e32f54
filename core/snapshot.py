"""A snapshot: what ranking needs of one version of one or more collections, immutable.

It is made of segments and of the documents' columns. A refresh reads only what was committed since; small segments
are merged as they gather (each at least a quarter as long as the one before), so their number stays logarithmic.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core import documents as docs
from core import segment as seg
from core.access import EffectiveLabels, resolve_labels
from core.documents import DocumentTable
from core.ports import Delta
from core.scope import boundaries
from core.segment import Segment
from core.types import Labels, document_id

Array = npt.NDArray[Any]

HIDDEN = -1
"""Access class of a document whose labels let nobody see it."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A segment in a snapshot: `document` gives each row's document number, int32 (n,)."""

    segment: Segment
    document: Array


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Rows of all segments, one after the other, `n` in all; document numbers index `documents`."""

    collections: tuple[str, ...]
    versions: Mapping[str, int]
    """Newest commit it holds, by collection."""
    dimension: int
    documents: DocumentTable
    document_collection: Array
    """int16 (m,): index into `collections`."""
    document_class: Array
    """int32 (m,): index into `classes`, or HIDDEN."""
    classes: tuple[EffectiveLabels, ...]
    """Access classes: the distinct combinations of labels that occur."""
    parents: Mapping[int, int | None]
    """Number of the document that another one inherits from, for those that name one; None: it is not here."""
    defaults: tuple[Labels | None, ...]
    """Default labels of each collection."""
    placed: tuple[Placed, ...]
    embedder: str = ""
    """Fingerprint of the embedder that made the vectors."""

    def __len__(self) -> int:
        return int(self.first_rows[-1])

    @cached_property
    def first_rows(self) -> Array:
        """int64: first row of each segment, and the number of rows at the end."""
        return np.cumsum([0, *(len(item.segment) for item in self.placed)], dtype=np.int64)

    @cached_property
    def document(self) -> Array:
        """int32 (n,): document number of each row."""
        return self._column([item.document for item in self.placed], np.int32)

    @cached_property
    def ids(self) -> Array:
        """S32 (n,): chunk ids."""
        return self._column([item.segment.ids for item in self.placed], "S32")

    @cached_property
    def lengths(self) -> Array:
        """int64 (n,)"""
        return self._column([item.segment.lengths for item in self.placed], np.int64)

    @cached_property
    def text_key(self) -> Array:
        return self._column([item.segment.text_key for item in self.placed], np.uint64)

    @cached_property
    def start(self) -> Array:
        """int32 (n,)"""
        return self._column([item.segment.start for item in self.placed], np.int32)

    @cached_property
    def end(self) -> Array:
        """int32 (n,)"""
        return self._column([item.segment.end for item in self.placed], np.int32)

    @cached_property
    def wide(self) -> Array:
        """bool (n,)"""
        return self._column([item.segment.wide for item in self.placed], bool)

    @cached_property
    def has_vector(self) -> Array:
        return self._column([item.segment.has_vector for item in self.placed], bool)

    @cached_property
    def alive(self) -> Array:
        """bool (n,): the row belongs to the state its document has now."""
        seq = self._column([item.segment.seq for item in self.placed], np.int64)
        return np.asarray(self.documents.chunks_seq[self.document] == seq)

    @cached_property
    def counts(self) -> tuple[Array, Array]:
        """int64 (m,) each: living rows of every document, and those that still wait for a vector (they have tokens)."""
        size = len(self.documents)
        waiting = self.alive & ~self.has_vector & (self.lengths > 0)
        return (
            np.bincount(self.document[self.alive], minlength=size),
            np.bincount(self.document[waiting], minlength=size),
        )

    @cached_property
    def twins(self) -> tuple[Array, Array]:
        """Rows whose text occurs in more than one living row, sorted by text, and the text's number of each."""
        rows = np.flatnonzero(self.alive)
        keys = self.text_key[rows]
        order = np.argsort(keys, kind="stable")
        _, number, counts = np.unique(keys[order], return_inverse=True, return_counts=True)
        several = counts[number] > 1
        return rows[order][several], number[several]

    @cached_property
    def boundaries(self) -> Array:
        """int64: the moments, ascending, at which a document comes into force or expires."""
        return boundaries(self.documents.revised_at, self.documents.valid_until)

    def locate(self, row: int) -> tuple[Segment, int]:
        """The segment that holds a row, and the row's place in it."""
        at = int(np.searchsorted(self.first_rows, row, side="right")) - 1
        return self.placed[at].segment, row - int(self.first_rows[at])

    def vectors(self, rows: Array) -> Array:
        """float32 (len(rows), d)"""
        found = np.empty((len(rows), self.dimension), np.float32)
        at = np.searchsorted(self.first_rows, rows, side="right") - 1
        for index in np.unique(at):
            mine = at == index
            found[mine] = self.placed[index].segment.vectors[rows[mine] - self.first_rows[index]]
        return found

    def effective_labels(self, number: int) -> EffectiveLabels | None:
        """A document's labels worked out anew from its own record and its ancestors', without the class columns."""
        chain: dict[str, Labels] = {}
        at: int | None = number
        while at is not None and str(at) not in chain and self.documents.chunks_seq[at] != docs.GONE:
            chain[str(at)] = self.documents[at].labels
            at = self.parents.get(at)
        parent_of = {
            key: None if (up := self.parents[int(key)]) is None else str(up)
            for key in chain
            if int(key) in self.parents
        }
        default = self.defaults[self.document_collection[number]]
        return resolve_labels(chain, parent_of, default)[str(number)]

    def provenance(self, row: int) -> dict[str, Any]:
        segment, local = self.locate(row)
        return {key: tuple(values) for key, values in json.loads(segment.provenance[local]).items()}

    def _column(self, parts: Sequence[Array], dtype: Any) -> Array:
        return np.concatenate(parts).astype(dtype, copy=False) if parts else np.zeros(0, dtype)


def empty(collection: str, dimension: int, embedder: str = "") -> Snapshot:
    return Snapshot(
        collections=(collection,),
        versions={collection: 0},
        dimension=dimension,
        documents=docs.no_documents(),
        document_collection=np.zeros(0, np.int16),
        document_class=np.zeros(0, np.int32),
        classes=(),
        parents={},
        defaults=(None,),
        placed=(),
        embedder=embedder,
    )


def refresh(snapshot: Snapshot, delta: Delta, default: Labels | None) -> Snapshot:
    """The snapshot of one collection after a delta, with labels resolved anew; `default`: the collection's labels."""
    (collection,) = snapshot.collections
    table = docs.update(snapshot.documents, delta.documents, delta.removed, delta.chunks_seq)
    parents = _parents(table, collection)
    classes, document_class = access_classes(table, parents, default)
    placed = list(snapshot.placed)
    if len(delta.chunks):
        placed.append(_placed(delta.chunks, snapshot.dimension, table, document_class))
    return replace(
        snapshot,
        versions={collection: delta.seq},
        documents=table,
        document_collection=np.zeros(len(table), np.int16),
        document_class=document_class,
        classes=classes,
        parents=parents,
        defaults=(default,),
        placed=tuple(_tidy(placed, table, document_class)),
    )


def join(snapshots: Sequence[Snapshot]) -> Snapshot:
    """One snapshot of several collections, each with the same dimension."""
    if len(snapshots) == 1:
        return snapshots[0]
    first_document = np.cumsum([0, *(len(s.documents) for s in snapshots)])
    classes: dict[EffectiveLabels, int] = {}
    document_class = []
    for snapshot in snapshots:
        codes = np.array([*(classes.setdefault(item, len(classes)) for item in snapshot.classes), HIDDEN], np.int32)
        document_class.append(codes[snapshot.document_class])
    return Snapshot(
        collections=tuple(name for s in snapshots for name in s.collections),
        versions={name: version for s in snapshots for name, version in s.versions.items()},
        dimension=snapshots[0].dimension,
        documents=docs.join([s.documents for s in snapshots]),
        document_collection=np.repeat(np.arange(len(snapshots), dtype=np.int16), [len(s.documents) for s in snapshots]),
        document_class=np.concatenate(document_class),
        classes=tuple(classes),
        parents={
            child + int(first): None if up is None else up + int(first)
            for s, first in zip(snapshots, first_document, strict=False)
            for child, up in s.parents.items()
        },
        defaults=tuple(default for s in snapshots for default in s.defaults),
        placed=tuple(
            Placed(item.segment, item.document + np.int32(first))
            for s, first in zip(snapshots, first_document, strict=False)
            for item in s.placed
        ),
        embedder=snapshots[0].embedder,
    )


def access_classes(
    table: DocumentTable, parents: Mapping[int, int | None], default: Labels | None
) -> tuple[tuple[EffectiveLabels, ...], Array]:
    """The access classes of a collection's documents, and each document's class number (HIDDEN: nobody's).

    Documents without a parent share the result of their label set, so the work is that of the distinct sets.
    """
    asked = {f"set {code}": labels for code, labels in enumerate(table.label_sets) if labels.inherits_from is None}
    asked.update({str(number): table.label_sets[table.label_set[number]] for number in _families(parents)})
    parent_of = {str(number): None if up is None else str(up) for number, up in parents.items()}
    resolved = resolve_labels(asked, parent_of, default)
    classes: dict[EffectiveLabels, int] = {}

    def code(labels: EffectiveLabels | None) -> int:
        return HIDDEN if labels is None else classes.setdefault(labels, len(classes))

    by_set = np.array([code(resolved.get(f"set {c}")) for c in range(len(table.label_sets))], np.int32)
    document_class = by_set[table.label_set] if len(table) else np.zeros(0, np.int32)
    for number in parents:
        document_class[number] = code(resolved[str(number)])
    return tuple(classes), document_class


def _parents(table: DocumentTable, collection: str) -> dict[int, int | None]:
    naming = {code for code, labels in enumerate(table.label_sets) if labels.inherits_from is not None}
    children = np.flatnonzero(np.isin(table.label_set, list(naming)) & table.present).tolist() if naming else []
    return {c: _named(table, collection, str(table.label_sets[table.label_set[c]].inherits_from)) for c in children}


def _named(table: DocumentTable, collection: str, name: str) -> int | None:
    """The document that a path, an id or a knowledge_id (its newest revision) names."""
    for identity in (document_id(collection, name), name):
        number = table.numbers.get(identity.encode())
        if number is not None and table.chunks_seq[number] != docs.GONE:
            return number
    revisions = np.flatnonzero((table.knowledge == docs.knowledge_number(name)) & table.present)
    if not len(revisions):
        return None
    moments = table.revised_at[revisions]
    newest = revisions[moments == moments.max()]  # not by sorting −moments: NEVER_REVISED has no negative
    return int(newest[np.argsort(table.ids[newest])[0]])


def _families(parents: Mapping[int, int | None]) -> set[int]:
    return set(parents) | {up for up in parents.values() if up is not None}


def _placed(chunks: pa.Table, dimension: int, table: DocumentTable, document_class: Array) -> Placed:
    """The rows of a delta as a segment. Rows of one access class stand together, as in a merged segment: a scan for
    somebody then passes over long runs of what he may not see (`CandidateSet.spans`)."""
    identities = [identity.encode() for identity in chunks["document_id"].to_pylist()]
    numbers = np.array([table.numbers[identity] for identity in identities], np.int32)
    order = _by_class(document_class[numbers])
    if order is None:
        return Placed(seg.build(chunks, dimension), numbers)
    return Placed(seg.build(chunks.take(order), dimension), numbers[order])


def _by_class(classes: Array) -> Array | None:
    """Order of rows in which those of one class are together, and otherwise as they were; None: they are already."""
    if np.all(classes[1:] >= classes[:-1]):
        return None
    return np.argsort(classes, kind="stable")


def _tidy(placed: list[Placed], table: DocumentTable, document_class: Array) -> list[Placed]:
    """Merge the last segments while they are out of proportion, and drop rows that are mostly dead."""

    def living(item: Placed) -> Array:
        return np.asarray(table.chunks_seq[item.document] == item.segment.seq)

    def merged(items: Sequence[Placed]) -> Placed:
        keep = [living(item) for item in items]
        numbers = np.concatenate([item.document[mask] for item, mask in zip(items, keep, strict=True)])
        order = _by_class(document_class[numbers])
        segment = seg.merge([item.segment for item in items], keep, order)
        return Placed(segment, numbers if order is None else numbers[order])

    while len(placed) > 1 and len(placed[-1].segment) * 4 >= len(placed[-2].segment):
        placed[-2:] = [merged(placed[-2:])]
    return [
        merged([item]) if living(item).sum() * 2 < len(item.segment) else item for item in placed if len(item.segment)
    ]
