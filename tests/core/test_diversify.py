from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.diversify import mmr, select
from core.types import Ranked

GOLDEN: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "golden" / "mmr.json").read_text("utf-8"))

sizes = st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 12), st.integers(1, 5))


def sample(seed: int, count: int, dimension: int) -> tuple[list[Ranked], np.ndarray[Any, np.dtype[np.float32]]]:
    random = np.random.default_rng(seed)
    # Coarse values, so that ties happen.
    scores = np.sort(random.integers(0, 6, count) / 5.0)[::-1]
    vectors = random.integers(-1, 2, (count, dimension)).astype(np.float32)
    return [Ranked(f"c{i:02}", float(score)) for i, score in enumerate(scores)], vectors


def plain(candidates: list[Ranked], vectors: Any, mmr_lambda: float, n: int) -> list[int]:
    """The definition, written out."""

    def cosine(i: int, j: int) -> float:
        a, b = [float(x) for x in vectors[i]], [float(x) for x in vectors[j]]
        lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
        return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0

    def marginal(i: int) -> float:
        nearest = max((cosine(i, pick) for pick in picks), default=0.0)
        return mmr_lambda * candidates[i].score - (1.0 - mmr_lambda) * nearest

    picks: list[int] = []
    while len(picks) < min(n, len(candidates)):
        picks.append(max((i for i in range(len(candidates)) if i not in picks), key=lambda i: (marginal(i), -i)))
    return picks


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_golden(case: dict[str, Any], dtype: Any) -> None:
    candidates = [Ranked(item["id"], item["relevance"]) for item in case["candidates"]]
    vectors = np.array([item["vector"] for item in case["candidates"]], dtype=dtype)
    picks = mmr(candidates, vectors, case["mmr_lambda"], case["n"])
    assert [candidates[pick].key for pick in picks] == case["expect"]


@given(sizes, st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.integers(0, 14))
def test_as_defined(size: tuple[int, int, int], mmr_lambda: float, n: int) -> None:
    candidates, vectors = sample(*size)
    assert mmr(candidates, vectors, mmr_lambda, n) == plain(candidates, vectors, mmr_lambda, n)


@given(sizes)
def test_lambda_1_keeps_a_sorted_list(size: tuple[int, int, int]) -> None:
    candidates, vectors = sample(*size)
    assert mmr(candidates, vectors, 1.0, len(candidates)) == list(range(len(candidates)))
    assert select(candidates, vectors, 1.0, 3) == candidates


@given(sizes, st.integers(0, 14))
def test_fewer_picks_are_a_prefix(size: tuple[int, int, int], n: int) -> None:
    candidates, vectors = sample(*size)
    assert mmr(candidates, vectors, 0.5, n) == mmr(candidates, vectors, 0.5, 99)[:n]


@given(sizes, st.integers(0, 14))
def test_select_moves_and_loses_nothing_else(size: tuple[int, int, int], keep: int) -> None:
    candidates, vectors = sample(*size)
    got = select(candidates, vectors, 0.5, keep)
    assert sorted(got, key=lambda item: item.key) == candidates
    chosen = {candidates[pick] for pick in mmr(candidates, vectors, 0.5, keep)}
    front, rest = got[: len(chosen)], got[len(chosen) :]
    assert {*front} == chosen or keep == 0
    assert front == sorted(front, key=candidates.index) and rest == sorted(rest, key=candidates.index)


def test_select_makes_room_without_putting_a_stray_first() -> None:
    candidates = [Ranked("a", 1.0), Ranked("a2", 0.95), Ranked("b", 0.7), Ranked("c", 0.6)]
    vectors = np.array([[1, 0, 0], [1, 0.01, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)
    assert [item.key for item in select(candidates, vectors, 0.5, 3)] == ["a", "b", "c", "a2"]
    assert select(candidates, vectors, 0.5, 0) == select(candidates, vectors, 0.5, 4) == candidates


def test_a_vector_for_each_candidate() -> None:
    with pytest.raises(ValueError, match="2 candidates, but 1 vectors"):
        mmr([Ranked("a", 1.0), Ranked("b", 0.5)], np.zeros((1, 3)), 0.5, 2)
