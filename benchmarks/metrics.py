"""Ranking metrics of one query, and what can be said of their mean.

A ranking is a list of document ids, best first; of repeated ids the first counts. `grades` gives the judged
documents' relevance; relevant means grade 1 or more, a document without a grade is not relevant. A query without a
relevant document has no value (None), one without a result has 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Grades = Mapping[str, int]
Metric = Callable[[Sequence[str], Grades, int], float | None]

SAMPLES = 10_000
"""Resamples of a bootstrap, sign flips of a permutation test."""

BATCH = 1_000


def recall(ranking: Sequence[str], grades: Grades, cutoff: int) -> float | None:
    """Relevant documents among the first `cutoff`, divided by all relevant ones."""
    relevant = _relevant(grades)
    return len(relevant.intersection(_top(ranking, cutoff))) / len(relevant) if relevant else None


def hit_rate(ranking: Sequence[str], grades: Grades, cutoff: int) -> float | None:
    """1 where a relevant document is among the first `cutoff`, else 0."""
    relevant = _relevant(grades)
    return float(not relevant.isdisjoint(_top(ranking, cutoff))) if relevant else None


def precision(ranking: Sequence[str], grades: Grades, cutoff: int) -> float | None:
    """Relevant documents among the first `cutoff`, divided by `cutoff` however few were returned."""
    relevant = _relevant(grades)
    return len(relevant.intersection(_top(ranking, cutoff))) / cutoff if relevant else None


def mrr(ranking: Sequence[str], grades: Grades, cutoff: int) -> float | None:
    """1 divided by the rank of the first relevant document; 0 where none is among the first `cutoff`."""
    relevant = _relevant(grades)
    if not relevant:
        return None
    ranks = (rank for rank, name in enumerate(_top(ranking, cutoff), start=1) if name in relevant)
    return 1.0 / next(ranks, math.inf)


def ndcg(ranking: Sequence[str], grades: Grades, cutoff: int) -> float | None:
    """Discounted cumulative gain, Σ grade / log2(rank + 1), divided by that of the ideal order of all judged documents.

    Järvelin, Kekäläinen: Cumulated gain-based evaluation of IR techniques, TOIS 2002; gains linear as in trec_eval.
    """
    ideal = _gain(sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:cutoff])
    return _gain([max(0, grades.get(name, 0)) for name in _top(ranking, cutoff)]) / ideal if ideal else None


def average_precision(ranking: Sequence[str], grades: Grades, cutoff: int) -> float | None:
    """Σ precision at the rank of each relevant document among the first `cutoff`, divided by all relevant ones."""
    relevant = _relevant(grades)
    if not relevant:
        return None
    ranks = [rank for rank, name in enumerate(_top(ranking, cutoff), start=1) if name in relevant]
    return math.fsum(hits / rank for hits, rank in enumerate(ranks, start=1)) / len(relevant)


def judged(ranking: Sequence[str], grades: Grades, cutoff: int) -> float | None:
    """Share of the first `cutoff` that has a judgment; None where nothing was returned."""
    top = _top(ranking, cutoff)
    return sum(name in grades for name in top) / len(top) if top else None


def interval(values: Array, seed: int) -> tuple[float, float]:
    """95 % bootstrap interval of the mean (percentiles). Of differences of two systems, query by query: paired."""
    draw = np.random.default_rng(seed)
    means = [
        values[draw.integers(0, len(values), (min(BATCH, SAMPLES - first), len(values)))].mean(axis=1)
        for first in range(0, SAMPLES, BATCH)
    ]
    low, high = np.percentile(np.concatenate(means), (2.5, 97.5))
    return float(low), float(high)


def permutation_p(differences: Array, seed: int) -> float:
    """Two-sided p of a paired sign-flip permutation test, `(as extreme + 1) / (flips + 1)`: never 0."""
    draw = np.random.default_rng(seed)
    observed = abs(differences.sum()) * (1 - 1e-12)
    extreme = 0
    for first in range(0, SAMPLES, BATCH):
        signs = draw.integers(0, 2, (min(BATCH, SAMPLES - first), len(differences)), dtype=np.int8) * 2 - 1
        extreme += int(np.count_nonzero(np.abs(signs @ differences) >= observed))
    return (extreme + 1) / (SAMPLES + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values, in the order given. Holm: A simple sequentially rejective multiple test procedure, 1979."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for position, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        largest = max(largest, min(1.0, (len(p_values) - position) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def _top(ranking: Sequence[str], cutoff: int) -> list[str]:
    return list(dict.fromkeys(ranking))[:cutoff]


def _relevant(grades: Grades) -> set[str]:
    return {name for name, grade in grades.items() if grade > 0}


def _gain(grades: Sequence[int]) -> float:
    return math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))
