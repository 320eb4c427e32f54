from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.merge import MergedSpan, SpanChunk, merge

GOLDEN: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "golden" / "merge.json").read_text("utf-8"))


def build(spans: list[tuple[str, int, int, float]]) -> list[SpanChunk]:
    return [
        SpanChunk(f"c{i:02}", document, start, start + n, score) for i, (document, start, n, score) in enumerate(spans)
    ]


chunk_lists = st.lists(
    st.tuples(st.sampled_from("de"), st.integers(0, 300), st.integers(1, 90), st.integers(0, 4).map(lambda n: n / 4.0)),
    max_size=12,
).map(build)
limits = st.none() | st.integers(1, 200)


@pytest.mark.parametrize("limit", [None, 300])
@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_golden(case: dict[str, Any], limit: int | None) -> None:
    chunks = [SpanChunk(c["id"], c["doc"], c["start"], c["end"], c["score"]) for c in case["chunks"]]
    expected = [MergedSpan(e["doc"], e["start"], e["end"], e["score"], tuple(e["chunks"])) for e in case["expect"]]
    assert merge(chunks, case["gap"], limit) == expected


@given(chunk_lists, st.integers(0, 20), limits, st.randoms())
def test_input_order_does_not_matter(chunks: list[SpanChunk], gap: int, limit: int | None, random: Any) -> None:
    shuffled = list(chunks)
    random.shuffle(shuffled)
    assert merge(shuffled, gap, limit) == merge(chunks, gap, limit)


@given(chunk_lists, st.integers(0, 20), limits)
def test_each_chunk_once_and_spans_as_their_chunks(chunks: list[SpanChunk], gap: int, limit: int | None) -> None:
    by_key = {chunk.key: chunk for chunk in chunks}
    spans = merge(chunks, gap, limit)
    assert sorted(key for span in spans for key in span.chunks) == sorted(by_key)
    for span in spans:
        inside = [by_key[key] for key in span.chunks]
        assert {chunk.document for chunk in inside} == {span.document}
        assert (span.start, span.end) == (min(c.start for c in inside), max(c.end for c in inside))
        assert span.score == max(c.score for c in inside)
        assert [c.start for c in inside] == sorted(c.start for c in inside)
        covered = span.start
        for chunk in inside:
            assert chunk.start <= covered + gap
            covered = max(covered, chunk.end)
    assert [span.score for span in spans] == sorted((span.score for span in spans), reverse=True)


@given(chunk_lists, st.integers(0, 20), st.integers(1, 200))
def test_no_longer_than_the_limit_or_its_longest_chunk(chunks: list[SpanChunk], gap: int, limit: int) -> None:
    longest = {chunk.key: chunk.end - chunk.start for chunk in chunks}
    for span in merge(chunks, gap, limit):
        assert span.end - span.start <= max(limit, *(longest[key] for key in span.chunks))


@given(chunk_lists, st.integers(0, 20))
def test_without_a_limit_passages_lie_apart(chunks: list[SpanChunk], gap: int) -> None:
    spans = sorted(merge(chunks, gap, None), key=lambda span: (span.document, span.start))
    for before, after in pairwise(spans):
        assert before.document != after.document or after.start > before.end + gap


def run_of(*scores: float) -> list[SpanChunk]:
    return [SpanChunk(f"c{i}", "d", 100 * i, 100 * (i + 1), score) for i, score in enumerate(scores)]


def test_a_long_run_is_cut_around_its_best_chunk() -> None:
    got = [span.chunks for span in merge(run_of(0.1, 0.2, 0.5, 0.9, 0.6, 0.1), 0, 300)]
    assert got == [("c2", "c3", "c4"), ("c0", "c1"), ("c5",)]


def test_equal_neighbours_go_to_the_text_after() -> None:
    assert [span.chunks for span in merge(run_of(0.1, 0.9, 0.1), 0, 200)] == [("c1", "c2"), ("c0",)]


def test_a_chunk_beyond_the_limit_stands_alone() -> None:
    chunks = [SpanChunk("long", "d", 0, 500, 0.5), SpanChunk("next", "d", 500, 550, 0.9)]
    assert [span.chunks for span in merge(chunks, 0, 200)] == [("next",), ("long",)]


def test_a_chunk_inside_a_long_one_is_not_released_twice() -> None:
    chunks = [SpanChunk("long", "d", 0, 500, 0.5), SpanChunk("part", "d", 100, 150, 0.9)]
    assert merge(chunks, 0, 200) == [MergedSpan("d", 0, 500, 0.9, ("long", "part"))]
