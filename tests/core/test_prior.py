from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.prior import apply_quality, smoothstep
from core.types import Ranked

GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "quality_prior.json").read_text("utf-8")
)

fused = st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=12).map(
    lambda scores: [Ranked(f"c{i:02}", score) for i, score in enumerate(sorted(scores, reverse=True))]
)
quality = st.none() | st.floats(0, 100)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_golden(case: dict[str, Any]) -> None:
    candidates = [Ranked(item["id"], item["rrf"]) for item in case["candidates"]]
    got = apply_quality(candidates, [item["quality"] for item in case["candidates"]], case["weight"], case["floor"])
    assert [item.key for item in got] == [key for key, _ in case["expect"]]
    if all(score is None for _, score in case["expect"]):
        assert got == candidates
    else:
        assert [item.score for item in got] == pytest.approx([score for _, score in case["expect"]], abs=1e-12)


@given(fused, st.floats(0, 1), st.none() | st.floats(0, 100), st.integers(0, 12))
def test_untouched_where_nothing_is_scored(
    candidates: list[Ranked], weight: float, floor: float | None, front: int
) -> None:
    backwards = candidates[::-1]
    assert apply_quality(backwards, [None] * len(backwards), weight, floor, front) == backwards


@given(fused, st.data())
def test_no_score_moves_by_more_than_half_the_weight(candidates: list[Ranked], data: st.DataObject) -> None:
    qualities = data.draw(st.lists(quality, min_size=len(candidates), max_size=len(candidates)))
    if all(value is None for value in qualities):
        return
    relevance = {item.key: item.score / candidates[0].score for item in candidates}
    got = apply_quality(candidates, qualities, 0.1, None)
    assert len(got) == len(candidates)
    assert all(abs(item.score - relevance[item.key]) <= 0.05 + 1e-12 for item in got)
    assert [item.score for item in got] == sorted((item.score for item in got), reverse=True)


@given(fused, st.floats(0, 100), st.data())
def test_what_the_floor_drops_leaves_no_trace(candidates: list[Ranked], floor: float, data: st.DataObject) -> None:
    qualities = data.draw(st.lists(quality, min_size=len(candidates), max_size=len(candidates)))
    pairs = [(c, q) for c, q in zip(candidates, qualities, strict=True) if q is None or q >= floor]
    kept = apply_quality([c for c, _ in pairs], [q for _, q in pairs], 0.1, None)
    assert apply_quality(candidates, qualities, 0.1, floor) == kept


def test_ties_keep_the_order_given() -> None:
    candidates = [Ranked("b", 0.5), Ranked("a", 0.5), Ranked("c", 0.5)]
    got = apply_quality(candidates, [50.0, 50.0, 80.0], 0.1, None)
    assert [item.key for item in got] == ["c", "b", "a"]


def test_the_front_stays_in_front() -> None:
    candidates = [Ranked("a", 1.0), Ranked("c", 0.5), Ranked("b", 0.9), Ranked("d", 0.48)]
    qualities = [None, 0.0, 100.0, 100.0]
    assert [item.key for item in apply_quality(candidates, qualities, 0.1, None)] == ["a", "b", "d", "c"]
    assert [item.key for item in apply_quality(candidates, qualities, 0.1, None, 2)] == ["a", "c", "b", "d"]
    assert [item.key for item in apply_quality(candidates, qualities, 0.1, 50.0, 2)] == ["a", "b", "d"]


def test_not_a_number_is_unscored() -> None:
    candidates = [Ranked("a", 0.5)]
    assert apply_quality(candidates, [float("nan")], 0.1, 50.0) == candidates


def test_smoothstep() -> None:
    assert [smoothstep(x) for x in (-1.0, 0.0, 0.5, 1.0, 2.0)] == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert smoothstep(0.25) == 0.15625
