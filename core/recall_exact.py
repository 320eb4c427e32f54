"""The exact channel: identifiers, quoted phrases and short CJK queries, whole matches only.

Postings choose the rows that hold every token of a term; the folded text decides. Ordered by (distinct terms
matched, BM25, chunk id); the score is `matches + BM25 / (1 + BM25)`, which keeps that order in one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.candidates import CandidateSet
from core.identifiers import ExactTerm, contains_exact

Array = npt.NDArray[Any]


def rank(candidates: CandidateSet, terms: Sequence[ExactTerm], bm25: Array, depth: int) -> tuple[Array, Array]:
    """The first `depth` rows that hold at least one term, and their scores. `bm25`: float64 (n,) of every row."""
    matches = np.zeros(len(candidates.snapshot), np.float64)
    for term in terms:
        matches[_rows_with(candidates, term)] += 1
    scores = np.where(matches > 0, matches + bm25 / (1 + bm25), 0.0)
    candidates.fold_twins(scores, 0.0)
    rows = candidates.best(scores, depth, 0.0)
    return rows, scores[rows]


def _rows_with(candidates: CandidateSet, term: ExactTerm) -> list[int]:
    found = []
    for placed, first in zip(candidates.snapshot.placed, candidates.snapshot.first_rows.tolist(), strict=False):
        lists = sorted((placed.segment.postings(token)[0] for token in term.tokens), key=len)
        if not lists:
            continue
        local = lists[0][candidates.mask[lists[0] + first]]
        for other in lists[1:]:
            local = local[np.isin(local, other, assume_unique=True)]
        found += [first + row for row in local.tolist() if contains_exact(term, placed.segment.folded[row])]
    return found
