"""A segment: an immutable block of chunk rows with their postings and vectors, as columns.

A snapshot is a few segments. Terms are kept as 64-bit hashes (two terms of a million collide with odds of 3e-8),
so that a segment is nothing but arrays: it can be saved, memory-mapped and shared as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.scripts import SAMPLE_BYTES, is_wide
from core.text import fold, term_hash, tokens

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Columns over `n` chunk rows; `d` is the dimension of the vectors."""

    ids: Array
    """S32 (n,): chunk ids."""
    document_ids: Array
    """S32 (n,)"""
    seq: Array
    """int64 (n,): commit that wrote the row."""
    start: Array
    """int32 (n,)"""
    end: Array
    """int32 (n,)"""
    text_key: Array
    """uint64 (n,): first 64 bits of the chunk hash; equal for twins (unequal texts agree with odds of n²/2⁶⁵)."""
    lengths: Array
    """int32 (n,): tokens of the indexed text."""
    anchors: Strings
    provenance: Strings
    """JSON"""
    folded: Strings
    """The indexed text in the form that the exact channel compares."""
    wide: Array
    """bool (n,): the text's script, see `core.scripts`."""
    terms: Array
    """uint64 (t,): term hashes, ascending."""
    pointers: Array
    """int64 (t + 1,): postings of term i are [pointers[i], pointers[i + 1])."""
    rows: Array
    """int32 (p,): ascending within a term."""
    frequencies: Array
    """int32 (p,)"""
    forward: Array
    """int32 (p,): the postings of each row, by their place in `rows`; those of row i are
    [forward_pointers[i], forward_pointers[i + 1]), by term."""
    forward_pointers: Array
    """int64 (n + 1,)"""
    vectors: Array
    """float32 (n, d)"""
    has_vector: Array
    """bool (n,): false where there is no vector yet, or a zero one."""

    def __len__(self) -> int:
        return len(self.ids)

    def numbers(self, hashes: Array) -> Array:
        """int64 (len(hashes),): which of `self.terms` each is, −1 where it does not occur."""
        if not len(self.terms):
            return np.full(len(hashes), -1)
        at = np.minimum(np.searchsorted(self.terms, hashes), len(self.terms) - 1)
        return np.where(self.terms[at] == hashes, at, -1)

    def postings(self, term: np.uint64) -> tuple[Array, Array]:
        """Rows and frequencies of a term, given by its hash; both empty where it does not occur."""
        at = int(np.searchsorted(self.terms, term))
        if at == len(self.terms) or self.terms[at] != term:
            return self.rows[:0], self.frequencies[:0]
        where = slice(int(self.pointers[at]), int(self.pointers[at + 1]))
        return self.rows[where], self.frequencies[where]

    def terms_of(self, row: int) -> tuple[Array, Array]:
        """Hashes of the terms of one row, ascending, and how often it holds each."""
        places = self.forward[int(self.forward_pointers[row]) : int(self.forward_pointers[row + 1])]
        return self.terms[np.searchsorted(self.pointers, places, side="right") - 1], self.frequencies[places]


@dataclass(frozen=True, slots=True, eq=False)
class Strings:
    """Many strings as one UTF-8 buffer."""

    data: Array
    """uint8"""
    offsets: Array
    """int64 (n + 1,)"""

    def __getitem__(self, row: int) -> str:
        return bytes(self.data[int(self.offsets[row]) : int(self.offsets[row + 1])]).decode("utf-8")

    def start(self, row: int, length: int) -> bytes:
        """The first `length` bytes of a string, or all of it."""
        first = int(self.offsets[row])
        return self.data[first : min(int(self.offsets[row + 1]), first + length)].tobytes()

    def take(self, rows: Array) -> Strings:
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        index = np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Strings(self.data[index], offsets)


def pack(strings: Iterable[str]) -> Strings:
    encoded = [text.encode("utf-8", "replace") for text in strings]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(item) for item in encoded], out=offsets[1:])
    return Strings(np.frombuffer(b"".join(encoded), np.uint8), offsets)


def build(table: pa.Table, dimension: int) -> Segment:
    """A segment of the rows of a chunk table (`ports.chunk_schema`), in their order."""
    texts: list[str] = table["indexed_text"].to_pylist()
    folded = pack(fold(text) for text in texts)
    terms, pointers, rows, frequencies, lengths = _invert(texts)
    forward, forward_pointers = _by_row(rows, len(texts))
    vectors, has_vector = _vectors(table["vector"], dimension)
    return Segment(
        ids=_ascii(table["chunk_id"], 32),
        document_ids=_ascii(table["document_id"], 32),
        seq=table["seq"].to_numpy().astype(np.int64),
        start=table["start"].to_numpy().astype(np.int32),
        end=table["end"].to_numpy().astype(np.int32),
        text_key=_text_keys(table["chunk_hash"].to_pylist()),
        lengths=lengths,
        anchors=pack(table["section_anchor"].to_pylist()),
        provenance=pack(table["provenance"].to_pylist()),
        folded=folded,
        wide=np.array([is_wide(folded.start(row, SAMPLE_BYTES)) for row in range(len(texts))], bool),
        terms=terms,
        pointers=pointers,
        rows=rows,
        frequencies=frequencies,
        forward=forward,
        forward_pointers=forward_pointers,
        vectors=vectors,
        has_vector=has_vector,
    )


def empty(dimension: int) -> Segment:
    from core.ports import chunk_schema

    return build(chunk_schema(dimension).empty_table(), dimension)


def merge(segments: Sequence[Segment], keep: Sequence[Array], order: Array | None = None) -> Segment:
    """One segment of the rows that `keep` (one bool array a segment) marks, one segment after the other.

    `order`: places in that list, in the order that the rows are to have instead.
    """
    kept = [np.flatnonzero(mask) for mask in keep]
    count = sum(map(len, kept))
    order = np.arange(count) if order is None else order

    def column(name: str) -> Array:
        joined: Array = np.concatenate([getattr(s, name)[rows] for s, rows in zip(segments, kept, strict=True)])
        return joined[order]

    def strings(name: str) -> Strings:
        parts = [getattr(s, name).take(rows) for s, rows in zip(segments, kept, strict=True)]
        return _concatenate(parts).take(order)

    place = np.empty(count, np.int32)
    place[order] = np.arange(count, dtype=np.int32)
    terms, pointers, rows_, frequencies = _merge_postings(segments, keep, kept, place)
    forward, forward_pointers = _by_row(rows_, count)
    plain = ("ids", "document_ids", "seq", "start", "end", "text_key", "lengths", "vectors", "has_vector", "wide")
    columns: dict[str, Any] = {name: column(name) for name in plain}
    columns |= {name: strings(name) for name in ("anchors", "provenance", "folded")}
    return Segment(
        **columns,
        terms=terms,
        pointers=pointers,
        rows=rows_,
        frequencies=frequencies,
        forward=forward,
        forward_pointers=forward_pointers,
    )


def arrays(segment: Segment) -> dict[str, Array]:
    """Every array of a segment by name, to be saved; `from_arrays` is the way back."""
    found: dict[str, Array] = {}
    for item in fields(segment):
        value = getattr(segment, item.name)
        if isinstance(value, Strings):
            found[f"{item.name}.data"], found[f"{item.name}.offsets"] = value.data, value.offsets
        else:
            found[item.name] = value
    return found


def from_arrays(load: Callable[[str], Array]) -> Segment:
    values: dict[str, Any] = {}
    for item in fields(Segment):
        if item.name in ("anchors", "provenance", "folded"):
            values[item.name] = Strings(load(f"{item.name}.data"), load(f"{item.name}.offsets"))
        else:
            values[item.name] = load(item.name)
    return Segment(**values)


def _invert(texts: Sequence[str]) -> tuple[Array, Array, Array, Array, Array]:
    """Postings of texts: terms, pointers, rows, frequencies, and the token count of each text."""
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    lengths = np.zeros(len(texts), np.int32)
    numbers: list[int] = []
    for row, text in enumerate(texts):
        found = tokens(text)
        lengths[row] = len(found)
        numbers.extend(map(vocabulary.__getitem__, found))
    hashes = np.fromiter((term_hash(term) for term in vocabulary), np.uint64, len(vocabulary))
    by_hash = np.argsort(hashes)
    position = np.empty(len(by_hash), np.int64)
    position[by_hash] = np.arange(len(by_hash))
    term = position[np.asarray(numbers, np.int64)] if numbers else np.zeros(0, np.int64)
    row_of = np.repeat(np.arange(len(texts), dtype=np.int64), lengths)
    width = max(len(texts), 1)
    pairs, counts = np.unique(term * width + row_of, return_counts=True)
    pointers = np.searchsorted(pairs // width, np.arange(len(hashes) + 1)).astype(np.int64)
    return hashes[by_hash], pointers, (pairs % width).astype(np.int32), counts.astype(np.int32), lengths


def _merge_postings(
    segments: Sequence[Segment], keep: Sequence[Array], kept: Sequence[Array], place: Array
) -> tuple[Array, Array, Array, Array]:
    """`place`: where each kept row goes."""
    terms, rows, frequencies = [], [], []
    first = 0
    for segment, mask, alive in zip(segments, keep, kept, strict=True):
        renumber = np.zeros(len(segment), np.int32)
        renumber[alive] = place[first : first + len(alive)]
        first += len(alive)
        live = mask[segment.rows]
        terms.append(np.repeat(segment.terms, np.diff(segment.pointers))[live])
        rows.append(renumber[segment.rows[live]])
        frequencies.append(segment.frequencies[live])
    term, row = np.concatenate(terms), np.concatenate(rows)
    by_row = np.argsort(row, kind="stable")
    order = by_row[np.argsort(term[by_row], kind="stable")]
    term = term[order]
    distinct, first_at = np.unique(term, return_index=True)
    pointers = np.append(first_at, len(term)).astype(np.int64)
    return distinct, pointers, row[order], np.concatenate(frequencies)[order]


def _by_row(rows: Array, count: int) -> tuple[Array, Array]:
    """`forward` and its pointers for the postings' rows."""
    pointers = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=pointers[1:])
    return np.argsort(rows, kind="stable").astype(np.int32), pointers


def _concatenate(parts: Sequence[Strings]) -> Strings:
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    return Strings(np.concatenate([part.data for part in parts]), offsets)


def _ascii(column: pa.ChunkedArray, width: int) -> Array:
    return np.array([value.encode("ascii") for value in column.to_pylist()], dtype=f"S{width}")


def _text_keys(hashes: Sequence[str]) -> Array:
    return np.array([int(value.removeprefix("sha256:")[:16], 16) for value in hashes], dtype=np.uint64)


def _vectors(column: pa.ChunkedArray, dimension: int) -> tuple[Array, Array]:
    vectors = np.zeros((len(column), dimension), np.float32)
    valid = np.asarray(column.is_valid())
    if valid.any():
        flat = column.combine_chunks().drop_null().flatten()
        vectors[valid] = np.asarray(flat, dtype=np.float32).reshape(-1, dimension)
    return vectors, np.asarray(vectors.any(axis=1))
