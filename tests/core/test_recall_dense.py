from __future__ import annotations

import math
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import recall_dense
from core.candidates import CandidateSet
from tests.support.engine import only, path_of, paths_of, seen, with_vectors
from tests.support.memory_library import DIMENSION, MemoryLibrary, document_write

DIRECTIONS = np.random.default_rng(7).normal(size=(4, DIMENSION))


def unit(direction: int, nudge: int) -> Any:
    """Vectors of one direction differ by a few 1e-8: a float32 product does not tell them apart."""
    noise = np.random.default_rng(nudge).normal(size=DIMENSION) * 3e-8
    vector = DIRECTIONS[direction] / np.linalg.norm(DIRECTIONS[direction]) + noise
    return (vector / np.linalg.norm(vector)).astype(np.float32)


vectors = st.one_of(
    st.none(), st.just("zero"), st.tuples(st.integers(0, 3), st.integers(0, 9)), st.tuples(st.just(0), st.just(0))
)
documents = st.lists(st.tuples(st.sampled_from(("refund", "days", "three", "policy", "x")), vectors), max_size=12)


def library_of(rows: list[tuple[str, Any]], per_commit: int) -> MemoryLibrary:
    library = MemoryLibrary(eager=True)
    library.snapshot("c")
    writes = []
    for number, (text, vector) in enumerate(rows):
        row = np.zeros(DIMENSION) if vector == "zero" else None if vector is None else unit(*vector)
        write = document_write("c", f"d{number}", [text])
        writes.append(with_vectors(write, None if row is None else [row]))
    for first in range(0, len(writes), per_commit):
        library.commit("c", writes[first : first + per_commit])
    return library


def brute_force(candidates: CandidateSet, query: Any, depth: int) -> list[tuple[int, float]]:
    """Exactly rounded dots of every visible vector; the best of a text's twins stands at its smallest id."""
    best: dict[int, tuple[bytes, int, float]] = {}
    twins: dict[int, tuple[bytes, int]] = {}
    ids, keys = candidates.snapshot.ids, candidates.snapshot.text_key
    for row in np.flatnonzero(candidates.mask).tolist():
        key = int(keys[row])
        twins[key] = min(twins.get(key, (ids[row], row)), (ids[row], row))
        vector = candidates.snapshot.vectors(np.array([row]))[0]
        if vector.any():
            score = math.fsum(float(x) * float(y) for x, y in zip(vector, query, strict=True))
            best[key] = (b"", 0, max(score, best[key][2] if key in best else score))
    found = [(twins[key][1], score) for key, (_, _, score) in best.items()]
    return sorted(found, key=lambda item: (-item[1], ids[item[0]]))[:depth]


@given(documents, st.sampled_from((1, 2, 5)), st.sampled_from((1, 3, 1024)), st.integers(1, 14), st.data())
def test_as_brute_force(
    rows: list[tuple[str, Any]], per_commit: int, block: int, depth: int, data: st.DataObject
) -> None:
    with mock.patch("core.candidates.BLOCK", block):
        check_against_brute_force(rows, per_commit, depth, data)


def check_against_brute_force(rows: list[tuple[str, Any]], per_commit: int, depth: int, data: st.DataObject) -> None:
    candidates = seen(library_of(rows, per_commit))
    inside = data.draw(st.sets(st.integers(0, len(rows) - 1))) if rows else set()
    candidates = only(candidates, [f"d{number}" for number in sorted(inside)])
    query = unit(data.draw(st.integers(0, 3)), data.draw(st.integers(0, 9)))
    ((found, scores),) = recall_dense.rank(candidates, query[np.newaxis], depth)
    expected = brute_force(candidates, query, depth)
    assert scores.tolist() == pytest.approx([score for _, score in expected], abs=1e-15)
    # Where exact rounding and the fixed tree of additions part, two neighbours may change places.
    close = {round(score, 13) for _, score in expected}
    if len(close) == len(expected):
        assert found.tolist() == [row for row, _ in expected]
    assert all(scores[at] >= scores[at + 1] for at in range(len(scores) - 1))


def test_a_tie_goes_to_the_smaller_id() -> None:
    candidates = seen(library_of([(f"text {number}", (0, 0)) for number in range(9)], 4))
    ((found, scores),) = recall_dense.rank(candidates, unit(0, 0)[np.newaxis], 5)
    assert len(set(scores.tolist())) == 1
    assert found.tolist() == sorted(range(9), key=lambda row: candidates.snapshot.ids[row])[:5]


def test_a_twin_with_a_vector_speaks_for_one_without() -> None:
    candidates = seen(library_of([("refund", None), ("refund", (0, 0)), ("refund", "zero"), ("days", None)], 1))
    ((found, scores),) = recall_dense.rank(candidates, unit(0, 0)[np.newaxis], 9)
    assert len(found) == 1 and scores[0] == pytest.approx(1.0)
    twins = [row for row in range(4) if path_of(candidates, row) != "d3"]
    assert found[0] == min(twins, key=lambda row: candidates.snapshot.ids[row])


@pytest.mark.parametrize("best", [0, 1, 2])
def test_of_twins_the_nearest_counts(best: int) -> None:
    candidates = seen(library_of([("refund", (1 if n == best else 2, n)) for n in range(3)] + [("days", (0, 0))], 2))
    ((found, scores),) = recall_dense.rank(candidates, unit(1, best)[np.newaxis], 9)
    assert (len(found), scores[0]) == (2, pytest.approx(1.0, abs=1e-6))
    assert found[0] == min(
        (row for row in range(4) if path_of(candidates, row) != "d3"), key=lambda row: candidates.snapshot.ids[row]
    )


@pytest.mark.parametrize("count", [1, recall_dense.BATCH, recall_dense.BATCH + 1, 2 * recall_dense.BATCH + 3])
def test_a_batch_is_its_queries_one_by_one(count: int) -> None:
    rows = [(f"text {number}", (number % 4, number % 10)) for number in range(40)]
    candidates = seen(library_of(rows, 7))
    queries = np.array([unit(number % 4, number) for number in range(count)])
    together = recall_dense.rank(candidates, queries, 6)
    assert len(together) == count
    for query, (found, scores) in zip(queries, together, strict=True):
        ((alone, alone_scores),) = recall_dense.rank(candidates, query[np.newaxis], 6)
        assert found.tolist() == alone.tolist()
        assert scores.tobytes() == alone_scores.tobytes()


def test_a_query_without_direction_is_near_nothing() -> None:
    candidates = seen(library_of([("refund", (0, 0)), ("days", (1, 0))], 1))
    ((found, scores),) = recall_dense.rank(candidates, np.zeros((1, DIMENSION), np.float32), 5)
    assert (paths_of(candidates, found), scores.tolist()) == ([], [])


def test_of_an_empty_collection_nothing_is_near() -> None:
    candidates = seen(library_of([], 1))
    ((found, scores),) = recall_dense.rank(candidates, unit(0, 0)[np.newaxis], 5)
    assert (found.tolist(), scores.tolist()) == ([], [])
    assert recall_dense.rank(candidates, np.zeros((0, DIMENSION), np.float32), 5) == []
