"""Fusion: the channels' lists become one.

Both variants map lists of `Ranked` (best first) and a weight for each to one list, best first, ties to the smallest
key. Sums are exactly rounded (`math.fsum`), so the order in which the channels come changes no bit of the result.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from core.types import Ranked

Item = TypeVar("Item")


def rrf(lists: Sequence[Sequence[Ranked]], weights: Sequence[float] | None, rrf_k: int) -> list[Ranked]:
    """Reciprocal rank fusion: `Σ weight / (rrf_k + rank)`, rank from 1; scores of the lists do not matter.

    A key repeated in a list counts once, at its best rank; the ranks below it stay as they are. A list of weight 0
    contributes nothing, so a key that only such lists hold is absent. `weights` None: 1 each. Raises ValueError where
    weights and lists differ in number.

    Cormack, Clarke, Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods,
    SIGIR 2009.
    """
    parts: dict[str, list[float]] = {}
    for ranking, weight in _weighted(lists, weights):
        for key, rank in _best_ranks(ranking).items():
            parts.setdefault(key, []).append(weight / (rrf_k + rank))
    return _ordered({key: math.fsum(values) for key, values in parts.items()})


def convex(
    lists: Sequence[Sequence[Ranked]],
    weights: Sequence[float] | None,
    silent: Sequence[Collection[str]] | None = None,
) -> list[Ranked]:
    """Convex combination of scores, each list scaled to 0–1 between its smallest and its largest score.

    All scores of a list equal: 1; a key absent from a list: 0 there. The weighted sum is divided by the sum of all
    weights, those of empty lists included, so a score is in 0–1 and says which share of the possible it reached.
    Repeated keys, lists of weight 0 and `weights` as in `rrf`.

    `silent` names for each list the keys on which it cannot tell: such a key gets at least the share that it reaches
    of the other lists alone, so that a list's silence is not held against it. None: no such keys.

    Bruch, Gai, Ingber: An Analysis of Fusion Functions for Hybrid Retrieval, TOIS 2023.
    """
    mute = [()] * len(lists) if silent is None else silent
    pairs = _weighted(list(zip(lists, mute, strict=True)), weights)
    parts: dict[str, list[float]] = {}
    told: dict[str, list[float]] = {}
    for (ranking, cannot), weight in pairs:
        for key, score in _scaled(ranking).items():
            parts.setdefault(key, []).append(weight * score)
            if key not in cannot:
                told.setdefault(key, []).append(weight * score)
    whole = math.fsum(weight for _, weight in pairs)
    scores = {key: math.fsum(values) / whole for key, values in parts.items()}
    for key in told.keys() & set().union(*(cannot for (_, cannot), _ in pairs)):
        others = math.fsum(weight for (_, cannot), weight in pairs if key not in cannot)
        scores[key] = max(scores[key], math.fsum(told[key]) / others)
    return _ordered(scores)


def relevance(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Scores divided by the largest of them, order kept; all 0 where none is above 0."""
    best = max((item.score for item in ranked), default=0.0)
    return [Ranked(item.key, item.score / best if best > 0 else 0.0) for item in ranked]


def _weighted(lists: Sequence[Item], weights: Sequence[float] | None) -> list[tuple[Item, float]]:
    """Those of `lists` with a weight above 0, and their weights."""
    values = [1.0] * len(lists) if weights is None else weights
    return [(item, weight) for item, weight in zip(lists, values, strict=True) if weight > 0]


def _best_ranks(ranking: Sequence[Ranked]) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for rank, item in enumerate(ranking, start=1):
        ranks.setdefault(item.key, rank)
    return ranks


def _scaled(ranking: Sequence[Ranked]) -> dict[str, float]:
    best: dict[str, float] = {}
    for item in ranking:
        best[item.key] = max(item.score, best.get(item.key, item.score))
    low, high = min(best.values(), default=0.0), max(best.values(), default=0.0)
    if high == low:
        return dict.fromkeys(best, 1.0)
    return {key: (score - low) / (high - low) for key, score in best.items()}


def _ordered(scores: Mapping[str, float]) -> list[Ranked]:
    return [Ranked(key, scores[key]) for key in sorted(scores, key=lambda key: (-scores[key], key))]
