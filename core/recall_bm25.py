"""BM25 over the candidate set: statistics of its rows alone, terms added in query order.

    score(d) = Σ_t weight_t · idf(t) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · |d| / average length))

`lucene` has idf ln(1 + (N − n + 0.5) / (n + 0.5)) (Robertson and Zaragoza, "The Probabilistic Relevance Framework",
2009, kept positive as Lucene does); `rank_bm25` has the Okapi idf of the package of that name: ln(N − n + 0.5) −
ln(n + 0.5), and 0.25 times the vocabulary's mean idf where that is negative.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.candidates import CandidateSet
from core.settings import Retrieval
from core.text import term_hash

Array = npt.NDArray[Any]

OKAPI_FLOOR = 0.25


Weights = Mapping[np.uint64, float]
"""Weight by term, given by its hash."""


def weighted(terms: Sequence[str]) -> dict[np.uint64, float]:
    """Query terms, each with weight 1."""
    return dict.fromkeys(map(term_hash, terms), 1.0)


def scores(candidates: CandidateSet, terms: Weights, settings: Retrieval, onto: Array | None = None) -> Array:
    """float64 (n,): BM25 of every row in scope, 0 elsewhere and where no term occurs; added to a copy of `onto`."""
    found = np.zeros(len(candidates.snapshot), np.float64) if onto is None else onto.copy()
    if not candidates.count:
        return found
    k1, b = settings.bm25_k1, settings.bm25_b
    for term, weight in terms.items():
        rows, frequencies = _postings(candidates, term)
        if not len(rows):
            continue
        idf = _idf(candidates, len(rows), settings)
        length = candidates.snapshot.lengths[rows] / candidates.average_length
        tf = frequencies.astype(np.float64)
        found[rows] += weight * idf * (tf * (k1 + 1) / (tf + k1 * (1 - b + b * length)))
    return found


def rank(candidates: CandidateSet, bm25: Array, depth: int) -> tuple[Array, Array]:
    """The first `depth` rows and their scores. `bm25` as given by `scores`; twins are folded into one."""
    folded = bm25.copy()
    candidates.fold_twins(folded, 0.0)
    rows = candidates.best(folded, depth, 0.0)
    return rows, folded[rows]


def feedback(
    candidates: CandidateSet, query_terms: Weights, bm25: Array, settings: Retrieval
) -> dict[np.uint64, float]:
    """The terms that pseudo-relevance feedback adds to those of the query, best first (Rocchio 1971, positive part).

    Terms of the first `feedback_documents` rows are weighed by their summed tf · idf, scaled so that the best of them
    gets `feedback_weight`.
    """
    rows, _ = rank(candidates, bm25, settings.feedback_documents)
    held = [_terms_of(candidates, row) for row in rows.tolist()]
    if not held:
        return {}
    names, number = np.unique(np.concatenate([terms for terms, _ in held]), return_inverse=True)
    # bincount adds one after the other, in the order of the rows' ranks.
    shares = np.bincount(number, weights=np.concatenate([share for _, share in held]))
    new = ~np.isin(names, np.array(list(query_terms), np.uint64))
    names, shares = names[new], shares[new]
    idf = np.array([_idf(candidates, n, settings) if n else 0.0 for n in _occurrences(candidates, names)])
    gains = shares * idf
    # Okapi's idf is not above 0 where half of the texts hold a term: such a term tells nothing.
    best = [at for at in np.lexsort((names, -gains)).tolist() if idf[at] > 0][: settings.feedback_terms]
    return {names[at]: settings.feedback_weight * float(gains[at]) / float(gains[best[0]]) for at in best}


def document_frequency(candidates: CandidateSet, term: str) -> int:
    """Rows in scope that hold the term."""
    return len(_postings(candidates, term_hash(term))[0])


def _terms_of(candidates: CandidateSet, row: int) -> tuple[Array, Array]:
    """A row's terms, and the share that each has of its length."""
    segment, local = candidates.snapshot.locate(row)
    terms, frequencies = segment.terms_of(local)
    return terms, frequencies / int(segment.lengths[local])


def _postings(candidates: CandidateSet, term: np.uint64) -> tuple[Array, Array]:
    """Rows in scope that hold a term, ascending, and how often each does."""
    rows, frequencies = [], []
    for placed, first in zip(candidates.snapshot.placed, candidates.snapshot.first_rows, strict=False):
        local, tf = placed.segment.postings(term)
        if len(local):
            at = local + first
            inside = candidates.mask[at]
            rows.append(at[inside])
            frequencies.append(tf[inside])
    if not rows:
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    return np.concatenate(rows), np.concatenate(frequencies)


def _idf(candidates: CandidateSet, occurrences: int, settings: Retrieval) -> float:
    total = candidates.count
    if settings.bm25_scorer == "lucene":
        return math.log(1 + (total - occurrences + 0.5) / (occurrences + 0.5))
    okapi = _okapi(total, occurrences)
    return okapi if okapi >= 0 else OKAPI_FLOOR * _mean_okapi(candidates)


def _okapi(total: int, occurrences: int) -> float:
    return math.log(total - occurrences + 0.5) - math.log(occurrences + 0.5)


def _occurrences(candidates: CandidateSet, terms: Array) -> list[int]:
    """Rows in scope that hold each term; every segment's counts are kept with the candidate set."""
    held = candidates.__dict__.get("_occurrences")
    if held is None:
        held = candidates.__dict__["_occurrences"] = [
            np.add.reduceat(candidates.mask[placed.segment.rows + first], placed.segment.pointers[:-1], dtype=np.int32)
            if len(placed.segment.rows)
            else np.zeros(0, np.int32)
            for placed, first in zip(candidates.snapshot.placed, candidates.snapshot.first_rows, strict=False)
        ]
    totals = np.zeros(len(terms), np.int64)
    for placed, counts in zip(candidates.snapshot.placed, held, strict=True):
        at = placed.segment.numbers(terms)
        totals[at >= 0] += counts[at[at >= 0]]
    return [int(total) for total in totals.tolist()]


def _mean_okapi(candidates: CandidateSet) -> float:
    """Mean Okapi idf over the vocabulary of the rows in scope; kept with the candidate set."""
    known = candidates.__dict__.get("_mean_okapi")
    if known is None:
        terms, counts = [], []
        for placed, first in zip(candidates.snapshot.placed, candidates.snapshot.first_rows, strict=False):
            segment = placed.segment
            if len(segment.rows):
                inside = candidates.mask[segment.rows + first].astype(np.int64)
                terms.append(segment.terms)
                counts.append(np.add.reduceat(inside, segment.pointers[:-1]))
        _, number = np.unique(np.concatenate(terms), return_inverse=True)
        occurrences = np.bincount(number, weights=np.concatenate(counts)).astype(np.int64)
        occurrences = occurrences[occurrences > 0]
        distinct, times = np.unique(occurrences, return_counts=True)
        parts = [int(t) * _okapi(candidates.count, int(n)) for n, t in zip(distinct, times, strict=True)]
        known = candidates.__dict__["_mean_okapi"] = math.fsum(parts) / len(occurrences)
    return float(known)
