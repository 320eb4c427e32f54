"""Diversity: maximal marginal relevance, used to choose a part of the candidates, not to order them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from core.numeric import Floats, tree_sum
from core.types import Ranked

CLOSE = 1e-9
"""Marginal relevances that differ by less are compared exactly."""


def mmr(candidates: Sequence[Ranked], vectors: Floats, mmr_lambda: float, n: int) -> list[int]:
    """Positions of the `n` candidates (all, if there are fewer) that maximal marginal relevance picks, in its order.

    Each step takes the largest `λ · relevance − (1 − λ) · (largest cosine to any pick so far)`, ties to the earlier
    candidate; for the first pick the second term is 0. `candidates` carry relevance as score (0–1); `vectors` has
    their rows, shape (len(candidates), d), of any length whose square is a normal float64; a zero vector has
    similarity 0 to all.
    The picks depend on nothing but these values, to the last bit of each cosine (see `core.numeric`).

    Carbonell, Goldstein: The use of MMR, diversity-based reranking, SIGIR 1998.
    """
    count = min(n, len(candidates))
    if count <= 0:
        return []
    if len(vectors) != len(candidates):
        raise ValueError(f"{len(candidates)} candidates, but {len(vectors)} vectors")
    gain = mmr_lambda * np.array([item.score for item in candidates], dtype=np.float64)
    cosines = _Cosines(vectors)
    nearest = np.full(len(candidates), -np.inf)
    picks = [int(np.argmax(gain))]
    while len(picks) < count:
        np.maximum(nearest, cosines.about(picks[-1]), out=nearest)
        marginal = gain - (1.0 - mmr_lambda) * nearest
        marginal[picks] = -np.inf
        close = np.flatnonzero(marginal >= marginal.max() - CLOSE)
        if len(close) > 1:
            exact = np.max([cosines.exact(pick)[close] for pick in picks], axis=0)
            close = close[[np.argmax(gain[close] - (1.0 - mmr_lambda) * exact)]]
        picks.append(int(close[0]))
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


class _Cosines:
    """Cosines of all pairs of rows: quickly to within 1e-11, and to the last bit where that decides."""

    def __init__(self, vectors: Floats) -> None:
        self._rows = np.asarray(vectors, dtype=np.float64)
        self._lengths = np.sqrt(np.vecdot(self._rows, self._rows))
        self._exact: dict[int, npt.NDArray[np.float64]] = {}

    def about(self, row: int) -> npt.NDArray[np.float64]:
        """float64 (n,): of one row with all, off by less than d · 2⁻⁵⁰, in whatever order the sums are taken.

        Row by row, since a product of so small matrices would wait for the threads of BLAS longer than it takes.
        """
        return _divided(np.vecdot(self._rows, self._rows[row]), self._lengths * self._lengths[row])

    def exact(self, row: int) -> npt.NDArray[np.float64]:
        """float64 (n,): of one row with all."""
        if row not in self._exact:
            columns, norms = self._columns
            products = tree_sum(columns * columns[:, row : row + 1])
            self._exact[row] = _divided(products, norms * norms[row])
        return self._exact[row]

    @cached_property
    def _columns(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The rows as columns, and their lengths."""
        columns = np.ascontiguousarray(self._rows.T)
        return columns, np.sqrt(tree_sum(columns * columns))


def _divided(products: npt.NDArray[np.float64], lengths: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    cosines: npt.NDArray[np.float64] = np.zeros_like(lengths)
    np.divide(products, lengths, out=cosines, where=lengths > 0)
    return cosines
