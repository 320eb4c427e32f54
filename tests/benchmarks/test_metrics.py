"""The benchmarks' metrics against golden values and ranx, and their statistics against values worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import metrics
from benchmarks.metrics import Metric, holm, interval, permutation_p
from tests.support import golden

METRICS: dict[str, Metric] = {
    "recall": metrics.recall,
    "hit_rate": metrics.hit_rate,
    "precision": metrics.precision,
    "mrr": metrics.mrr,
    "ndcg": metrics.ndcg,
    "map": metrics.average_precision,
    "judged": metrics.judged,
}
CASES = golden("metrics.json")

names = st.sampled_from("abcdefgh")
rankings = st.lists(names, max_size=12)
grades = st.dictionaries(names, st.integers(0, 3), max_size=8)
cutoffs = st.integers(1, 12)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_golden_cases(case: dict[str, Any]) -> None:
    for query, expected in case["expect"]["per_query"].items():
        ranking, judgments = case["run"].get(query, []), case["qrels"][query]
        if expected is None:
            assert metrics.ndcg(ranking, judgments, case["k"]) is None
            continue
        for name, value in expected.items():
            found = METRICS[name](ranking, judgments, case["k"])
            assert found == (None if value is None else pytest.approx(value, abs=1e-12)), name


@given(rankings, grades, cutoffs)
def test_values_lie_between_0_and_1(ranking: list[str], judgments: dict[str, int], cutoff: int) -> None:
    for metric in METRICS.values():
        value = metric(ranking, judgments, cutoff)
        assert value is None or 0 <= value <= 1 + 1e-12


@given(grades, cutoffs)
def test_the_ideal_order_has_ndcg_1(judgments: dict[str, int], cutoff: int) -> None:
    ideal = sorted(judgments, key=lambda name: -judgments[name])
    value = metrics.ndcg(ideal, judgments, cutoff)
    assert value == (pytest.approx(1) if any(judgments.values()) else None)


def test_agrees_with_ranx() -> None:
    from ranx import Qrels, Run, evaluate

    draw = np.random.default_rng(7)
    documents = [f"d{number}" for number in range(30)]
    judged = {
        f"q{q}": {str(d): int(draw.integers(1, 4)) for d in draw.choice(documents, 6, replace=False)} for q in range(20)
    }
    ranked = {query: [str(d) for d in draw.permutation(documents)[:20]] for query in judged}
    run = Run({q: {d: float(-at) for at, d in enumerate(ranking)} for q, ranking in ranked.items()})
    ours: dict[str, Metric] = {
        "ndcg@10": metrics.ndcg,
        "recall@10": metrics.recall,
        "mrr@10": metrics.mrr,
        "map@10": metrics.average_precision,
        "precision@10": metrics.precision,
        "hit_rate@10": metrics.hit_rate,
    }
    evaluate(Qrels(judged), run, list(ours))
    for name, metric in ours.items():
        for query, ranking in ranked.items():
            assert metric(ranking, judged[query], 10) == pytest.approx(run.scores[name][query], abs=1e-12)


def test_a_bootstrap_interval_holds_the_mean_and_repeats() -> None:
    values = np.random.default_rng(1).normal(0.3, 0.2, 400)
    low, high = interval(values, 5)
    assert (low, high) == interval(values, 5)
    assert low < values.mean() < high
    # Standard error 0.2 / √400 = 0.01, so about ±0.0196.
    assert high - low == pytest.approx(2 * 1.96 * values.std() / math.sqrt(400), rel=0.05)
    assert interval(np.full(9, 0.25), 5) == (0.25, 0.25)


def test_permutation_p_of_few_queries_is_the_exact_one() -> None:
    # Of the 2⁴ sign patterns of four equal differences only two are as extreme.
    assert permutation_p(np.full(4, 0.1), 3) == pytest.approx(2 / 16, abs=0.02)
    assert permutation_p(np.zeros(4), 3) == 1.0
    assert permutation_p(np.full(60, 0.1), 3) == pytest.approx(1 / (metrics.SAMPLES + 1))
    assert permutation_p(np.array([0.3, -0.2, 0.1]), 3) == permutation_p(np.array([-0.3, 0.2, -0.1]), 3)


def test_holm_adjusts_from_the_smallest_up() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
