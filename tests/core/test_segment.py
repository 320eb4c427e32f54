from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import segment as seg
from core.ports import chunk_schema
from core.scripts import is_wide
from core.segment import Segment
from core.store.rows import chunk_table
from core.text import fold, term_hash, tokens
from core.types import Chunk, chunk_hash, chunk_id, document_id

DIMENSION = 3
WORDS = ("refund", "Refunds", "退款三天", "ERR-4012", "café", "🙂", "the", "RefundService", "--", "")

texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), max_size=6)
vectors = st.sampled_from((None, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.6, 0.8)))


def table(rows: list[str], seq: int = 1, given_vectors: Sequence[tuple[float, ...] | None] = ()) -> pa.Table:
    made = [chunk_schema(DIMENSION).empty_table()]
    for number, text in enumerate(rows):
        identity = document_id("c", f"{seq}/{number}")
        chunk = Chunk(
            chunk_id(identity, number, number + len(text), text),
            *(identity, number, number, number + len(text), text, chunk_hash(text), f"章/{number}"),
            provenance={"pages": (number, "iv")},
        )
        vector = given_vectors[number] if given_vectors else (1.0, 0.0, 0.0)
        made.append(chunk_table(seq, [chunk], None if vector is None else np.array([vector], np.float32), DIMENSION))
    return pa.concat_tables(made)


def assert_same(one: Segment, other: Segment) -> None:
    first, second = seg.arrays(one), seg.arrays(other)
    assert first.keys() == second.keys()
    for name, array in first.items():
        assert array.dtype == second[name].dtype, name
        np.testing.assert_array_equal(array, second[name], err_msg=name)


@given(texts)
def test_postings_are_the_counts_of_the_tokens(rows: list[str]) -> None:
    segment = seg.build(table(rows), DIMENSION)
    counted = [Counter(tokens(text)) for text in rows]
    assert segment.lengths.tolist() == [len(tokens(text)) for text in rows]
    vocabulary = {term for counts in counted for term in counts}
    assert len(segment.terms) == len(vocabulary)
    for term in vocabulary | {"absent"}:
        found, frequencies = segment.postings(term_hash(term))
        expected = [(row, counts[term]) for row, counts in enumerate(counted) if counts[term]]
        assert list(zip(found.tolist(), frequencies.tolist(), strict=True)) == expected
    for row, counts in enumerate(counted):
        hashes, frequencies = segment.terms_of(row)
        assert hashes.tolist() == sorted(hashes.tolist())
        held = dict(zip(hashes.tolist(), frequencies.tolist(), strict=True))
        assert held == {int(term_hash(term)): count for term, count in counts.items()}


def test_columns_come_from_the_table() -> None:
    rows = ["Refund 退款", "Café"]
    segment = seg.build(table(rows, 7, [None, (0.0, 0.6, 0.8)]), DIMENSION)
    assert segment.seq.tolist() == [7, 7]
    assert [segment.folded[row] for row in (0, 1)] == [fold(text) for text in rows]
    assert segment.wide.tolist() == [is_wide(fold(text).encode()) for text in rows]
    assert [segment.anchors[row] for row in (0, 1)] == ["章/0", "章/1"]
    assert json.loads(segment.provenance[1]) == {"pages": [1, "iv"]}
    assert segment.text_key[0] == int(chunk_hash(rows[0]).removeprefix("sha256:")[:16], 16)
    assert (segment.start.tolist(), segment.end.tolist()) == ([0, 1], [9, 5])
    assert segment.has_vector.tolist() == [False, True]
    np.testing.assert_array_equal(segment.vectors, np.array([[0, 0, 0], [0, 0.6, 0.8]], np.float32))


def test_a_zero_vector_counts_as_none() -> None:
    segment = seg.build(table(["a", "b"], 1, [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]), DIMENSION)
    assert segment.has_vector.tolist() == [False, True]


@given(st.lists(st.tuples(texts, st.data()), min_size=1, max_size=4))
def test_merging_is_building_from_what_is_kept(parts: list[tuple[list[str], st.DataObject]]) -> None:
    tables, masks = [], []
    for seq, (rows, data) in enumerate(parts, start=1):
        size = len(rows)
        tables.append(table(rows, seq, data.draw(st.lists(vectors, min_size=size, max_size=size))))
        masks.append(np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool))
    kept = [part.filter(pa.array(mask)) for part, mask in zip(tables, masks, strict=True)]
    merged = seg.merge([seg.build(part, DIMENSION) for part in tables], masks)
    whole = pa.concat_tables(kept)
    assert_same(merged, seg.build(whole, DIMENSION))
    order = np.array(parts[0][1].draw(st.permutations(range(len(whole)))), np.int64)
    reordered = seg.merge([seg.build(part, DIMENSION) for part in tables], masks, order)
    assert_same(reordered, seg.build(whole.take(order), DIMENSION))


@given(texts)
def test_arrays_bring_a_segment_back(rows: list[str]) -> None:
    segment = seg.build(table(rows), DIMENSION)
    assert_same(seg.from_arrays(seg.arrays(segment).__getitem__), segment)


def test_an_empty_segment() -> None:
    segment = seg.empty(DIMENSION)
    assert len(segment) == 0
    assert segment.vectors.shape == (0, DIMENSION)
    assert segment.postings(term_hash("refund"))[0].tolist() == []
    assert_same(seg.merge([segment, segment], [np.zeros(0, bool)] * 2), segment)


@pytest.mark.parametrize("rows", [[], [1], [2, 0], [0, 1, 2, 1]])
def test_strings_are_taken_by_row(rows: list[int]) -> None:
    strings = seg.pack(["退款", "", "b"])
    taken = strings.take(np.array(rows, np.int64))
    assert [taken[at] for at in range(len(rows))] == [strings[row] for row in rows]


def test_what_utf8_cannot_hold_becomes_a_question_mark() -> None:
    assert seg.pack(["a\ud800b"])[0] == "a?b"
    assert term_hash("\ud800") == term_hash("?")
