"""Diversity: maximal marginal relevance, used to choose a part of the candidates, not to order them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.numeric import Floats, tree_sum
from core.types import Ranked


def mmr(candidates: Sequence[Ranked], vectors: Floats, mmr_lambda: float, n: int) -> list[int]:
    """Positions of the `n` candidates (all, if there are fewer) that maximal marginal relevance picks, in its order.

    Each step takes the largest `λ · relevance − (1 − λ) · (largest cosine to any pick so far)`, ties to the earlier
    candidate; for the first pick the second term is 0. `candidates` carry relevance as score (0–1); `vectors` has
    their rows, shape (len(candidates), d), of any length; a zero vector has similarity 0 to all.
    The picks depend on nothing but these values, to the last bit of each cosine (see `core.numeric`).

    Carbonell, Goldstein: The use of MMR, diversity-based reranking, SIGIR 1998.
    """
    count = min(n, len(candidates))
    if count <= 0:
        return []
    if len(vectors) != len(candidates):
        raise ValueError(f"{len(candidates)} candidates, but {len(vectors)} vectors")
    gain = mmr_lambda * np.array([item.score for item in candidates], dtype=np.float64)
    columns = np.ascontiguousarray(vectors.T, dtype=np.float64)
    norms = np.sqrt(tree_sum(columns * columns))
    scratch = np.empty_like(columns)
    nearest = np.full(len(candidates), -np.inf)
    picks = [int(np.argmax(gain))]
    while len(picks) < count:
        np.maximum(nearest, _cosines(columns, norms, picks[-1], scratch), out=nearest)
        marginal = gain - (1.0 - mmr_lambda) * nearest
        marginal[picks] = -np.inf
        picks.append(int(np.argmax(marginal)))
    return picks


def select(candidates: Sequence[Ranked], vectors: Floats, mmr_lambda: float, keep: int) -> list[Ranked]:
    """The `keep` candidates that `mmr` picks, in the order given, then the others in the order given.

    An order of its own would let a dissimilar stray overtake good answers; as a choice of what goes on in front it
    only makes room. Scores stay as they are. `keep` 0, or no less than there are candidates: nothing moves.
    """
    if keep <= 0 or keep >= len(candidates):
        return list(candidates)
    kept = set(mmr(candidates, vectors, mmr_lambda, keep))
    front = [item for position, item in enumerate(candidates) if position in kept]
    return front + [item for position, item in enumerate(candidates) if position not in kept]


def _cosines(
    columns: npt.NDArray[np.float64], norms: npt.NDArray[np.float64], pick: int, scratch: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    np.multiply(columns, columns[:, pick : pick + 1], out=scratch)
    lengths = norms * norms[pick]
    cosines: npt.NDArray[np.float64] = np.zeros_like(lengths)
    np.divide(tree_sum(scratch), lengths, out=cosines, where=lengths > 0)
    return cosines
