"""The exact channel: identifiers, quoted phrases and short CJK queries, whole matches only.

Ordered by (distinct terms matched, BM25, chunk id); the score is `matches + BM25 / (1 + BM25)`, which keeps that order
in one number. Postings tell which rows hold every token of a term, an upper bound of the score; only the folded text
decides, and it is read for the most promising rows first, until no other row can come into the list (as the threshold
algorithm stops: Fagin, Lotem, Naor, "Optimal aggregation algorithms for middleware", 2003).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.candidates import CandidateSet
from core.identifiers import ExactTerm, contains_exact
from core.text import term_hash

Array = npt.NDArray[Any]


def rank(candidates: CandidateSet, terms: Sequence[ExactTerm], bm25: Array, depth: int) -> tuple[Array, Array]:
    """The first `depth` rows that hold at least one term, and their scores. `bm25`: float64 (n,) of every row."""
    if not terms:
        return np.zeros(0, np.int64), np.zeros(0, np.float64)
    bm25 = np.maximum(bm25, 0.0)  # Okapi's idf, and with it BM25, can be negative in a small collection
    possible = np.zeros((len(terms), len(candidates.snapshot)), bool)
    for term, held in zip(terms, possible, strict=True):
        _hold_all_tokens(candidates, term, held)
    matches = possible.sum(axis=0)
    bound = np.where(matches > 0, matches + bm25 / (1 + bm25), 0.0)
    scores = np.zeros(len(bound), np.float64)
    for rows in _in_portions(bound, depth):
        for row in rows.tolist():
            count = _count(candidates, terms, possible[:, row], row)
            scores[row] = count + bm25[row] / (1 + bm25[row]) if count else 0.0
        bound[rows] = 0.0
        folded = scores.copy()
        candidates.fold_twins(folded, 0.0)
        best = candidates.best(folded, depth, 0.0)
        # A row of equal score could still win by its chunk id, so only a higher one is safe.
        if len(best) == depth and folded[best[-1]] > bound.max():
            break
    else:
        folded = scores
        candidates.fold_twins(folded, 0.0)
        best = candidates.best(folded, depth, 0.0)
    return best, folded[best]


def _hold_all_tokens(candidates: CandidateSet, term: ExactTerm, held: Array) -> None:
    """Mark in `held`, bool (n,), the rows in scope that have every token of a term."""
    for placed, first in zip(candidates.snapshot.placed, candidates.snapshot.first_rows.tolist(), strict=False):
        count = np.zeros(len(placed.segment), np.int16)
        for token in term.tokens:
            count[placed.segment.postings(term_hash(token))[0]] += 1
        held[first : first + len(count)] = count == len(term.tokens)
    held &= candidates.mask


def _in_portions(bound: Array, depth: int) -> Iterator[Array]:
    """Rows with a bound above 0, the most promising first: a portion of `depth`, then larger ones."""
    rows, size = np.flatnonzero(bound), max(depth, 16)
    while len(rows) > size:
        order = np.argpartition(-bound[rows], size)
        yield rows[order[:size]]
        rows, size = rows[order[size:]], size * 4
    yield rows


def _count(candidates: CandidateSet, terms: Sequence[ExactTerm], possible: Array, row: int) -> int:
    segment, local = candidates.snapshot.locate(row)
    text = segment.folded[local]
    return sum(contains_exact(terms[at], text) for at in np.flatnonzero(possible).tolist())
