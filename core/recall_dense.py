"""The dense channel: exact cosine of the query's vector with every row in scope.

A matrix product differs in its last bits with batch and subset, so it only selects; the score is a float64 dot of the
stored vector, computed row by row (`numeric.row_dots`). With that, batch, single, masked and permuted searches agree
to the byte.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.candidates import CandidateSet
from core.numeric import row_dots

Array = npt.NDArray[Any]

BATCH = 32
"""Queries in one product: 100,000 rows make 13 MB of scores."""


def rank(candidates: CandidateSet, queries: Array, depth: int) -> list[tuple[Array, Array]]:
    """For each query, float32 (queries, d), the first `depth` rows and their cosines; rows without vector are out."""
    lists = []
    for first in range(0, len(queries), BATCH):
        batch = queries[first : first + BATCH]
        approximate = _product(candidates, batch)
        lists += [_exact(candidates, approximate[:, column], batch[column], depth) for column in range(len(batch))]
    return lists


def _product(candidates: CandidateSet, queries: Array) -> Array:
    """float32 (n, queries), column by column in memory; any value at all for rows outside `candidates.spans`."""
    snapshot = candidates.snapshot
    scores = np.empty((len(queries), len(snapshot)), np.float32).T
    for placed, first in zip(snapshot.placed, snapshot.first_rows.tolist(), strict=False):
        vectors = placed.segment.vectors
        for span in candidates.spans:
            begin, end = max(span.start - first, 0), min(span.stop - first, len(vectors))
            if begin < end:
                scores[first + begin : first + end] = vectors[begin:end] @ queries.T
    return scores


def _exact(candidates: CandidateSet, approximate: Array, query: Array, depth: int) -> tuple[Array, Array]:
    # |fl(x·y) − x·y| ≤ d·2⁻²⁴ for unit vectors, and two such values are compared.
    margin = np.float32(len(query) * 2.0**-23)
    # A query of length 0 has no angle with anything; without this, every row would tie at 0.
    rows, members, first, places = candidates.embedded
    if not query.any():
        rows, members = rows[:0], members[:0]
    found = approximate[rows]
    if len(members):
        found[places] = np.maximum.reduceat(approximate[members], first)
    if len(rows) > depth:
        last = np.partition(found, len(rows) - depth)[len(rows) - depth]
        rows = rows[found >= last - margin]
    scores = row_dots(candidates.snapshot.vectors(rows), query)
    for representative, group in candidates.twins_of(rows).items():
        group = group[candidates.snapshot.has_vector[group]]
        scores[np.searchsorted(rows, representative)] = row_dots(candidates.snapshot.vectors(group), query).max()
    order = np.lexsort((candidates.snapshot.ids[rows], -scores))[:depth]
    return rows[order], scores[order]
