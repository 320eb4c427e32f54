from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from core import recall_bm25
from core.candidates import CandidateSet
from core.settings import Retrieval
from core.text import query_tokens, term_hash, tokens
from tests.support.engine import library_of, only, path_of, paths_of, seen, tuned

WORDS = ("refund", "days", "three", "policy", "退款", "ERR-4012")
texts = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=9, unique=True
)
queries = st.lists(st.sampled_from((*WORDS, "absent")), min_size=1, max_size=4).map(" ".join)


def by_path(candidates: CandidateSet, scores: Any) -> dict[str, float]:
    return {path_of(candidates, row): float(scores[row]) for row in np.flatnonzero(candidates.mask).tolist()}


def lucene(corpus: list[list[str]], weights: dict[str, float], k1: float, b: float) -> list[float]:
    """The formula, term by term and text by text."""
    average = sum(map(len, corpus)) / len(corpus)
    scores = []
    for text in corpus:
        counts, score = Counter(text), 0.0
        for term, weight in weights.items():
            holding = sum(term in other for other in corpus)
            idf = math.log(1 + (len(corpus) - holding + 0.5) / (holding + 0.5))
            norm = k1 * (1 - b + b * len(text) / average)
            score += weight * idf * counts[term] * (k1 + 1) / (counts[term] + norm) if counts[term] else 0.0
        scores.append(score)
    return scores


def hashed(weights: Mapping[str, float]) -> dict[np.uint64, float]:
    return {term_hash(term): weight for term, weight in weights.items()}


@given(texts, queries, st.sampled_from((1, 2, 9)), st.data())
def test_okapi_is_the_package_on_what_may_be_seen(
    held: list[str], query: str, per_commit: int, data: st.DataObject
) -> None:
    """Over the visible texts alone, in one segment and in several."""
    settings = tuned(bm25_scorer="rank_bm25", bm25_k1=data.draw(st.sampled_from((0.9, 1.5))))
    inside = sorted(data.draw(st.sets(st.integers(0, len(held) - 1), min_size=1)))
    candidates = only(seen(library_of(held, per_commit)), [f"d{number}" for number in inside])
    oracle = BM25Okapi([tokens(held[number]) for number in inside], k1=settings.bm25_k1, b=settings.bm25_b)
    terms = query_tokens(query, stop_words=True)
    expected = dict(zip((f"d{number}" for number in inside), oracle.get_scores(terms), strict=True))
    scores = recall_bm25.scores(candidates, recall_bm25.weighted(terms), settings)
    assert by_path(candidates, scores) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert not scores[~candidates.mask].any()


@given(texts, queries, st.sampled_from((1, 2, 9)), st.data())
def test_lucene_is_the_formula_on_what_may_be_seen(
    held: list[str], query: str, per_commit: int, data: st.DataObject
) -> None:
    k1, b = data.draw(st.sampled_from(((1.5, 0.75), (0.0, 0.5), (2.0, 0.0), (1.2, 1.0))))
    settings = tuned(bm25_k1=k1, bm25_b=b)
    inside = sorted(data.draw(st.sets(st.integers(0, len(held) - 1), min_size=1)))
    candidates = only(seen(library_of(held, per_commit)), [f"d{number}" for number in inside])
    terms = query_tokens(query, stop_words=True)
    weights = {term: data.draw(st.sampled_from((1.0, 0.3, 0.0))) for term in terms}
    expected = lucene([tokens(held[number]) for number in inside], weights, k1, b)
    found = by_path(candidates, recall_bm25.scores(candidates, hashed(weights), settings))
    assert [found[f"d{number}"] for number in inside] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_statistics_of_hidden_texts_do_not_count() -> None:
    texts = ["refund days", "refund", "refund refund refund", "three"]
    candidates = only(seen(library_of(texts)), ["d0", "d3"])
    assert recall_bm25.document_frequency(candidates, "refund") == 1
    assert recall_bm25.document_frequency(candidates, "absent") == 0
    alone = seen(library_of(["refund days"]))
    both = recall_bm25.scores(only(seen(library_of(texts)), ["d0"]), recall_bm25.weighted(["refund"]), tuned())
    assert both.max() == recall_bm25.scores(alone, recall_bm25.weighted(["refund"]), tuned()).max()


@pytest.mark.parametrize("scorer", ["lucene", "rank_bm25"])
def test_nothing_in_scope_scores_nothing(scorer: str) -> None:
    candidates = only(seen(library_of(["refund"])), [])
    assert recall_bm25.scores(candidates, recall_bm25.weighted(["refund"]), tuned(bm25_scorer=scorer)).tolist() == [0.0]


def test_the_ranking_drops_zeros_and_folds_twins() -> None:
    candidates = seen(library_of(["refund days", "three", "refund days", "refund refund days"]))
    bm25 = recall_bm25.scores(candidates, recall_bm25.weighted(["refund"]), tuned())
    before = bm25.copy()
    rows, scores = recall_bm25.rank(candidates, bm25, 10)
    assert len(rows) == 2 and (scores > 0).all()
    assert path_of(candidates, int(rows[0])) == "d3"
    np.testing.assert_array_equal(bm25, before, err_msg="the scores given are left as they are")
    assert recall_bm25.rank(candidates, bm25, 1)[0].tolist() == rows[:1].tolist()


def feedback(held: list[str], query: str, settings: Retrieval, per_commit: int = 1) -> dict[str, float]:
    """The added terms by name."""
    candidates = seen(library_of(held, per_commit))
    terms = recall_bm25.weighted(query_tokens(query, stop_words=True))
    bm25 = recall_bm25.scores(candidates, terms, settings)
    added = recall_bm25.feedback(candidates, terms, bm25, settings)
    vocabulary = {term_hash(term): term for text in held for term in tokens(text)}
    return {vocabulary[term]: weight for term, weight in added.items()}


def feedback_oracle(held: list[str], query: str, settings: Retrieval) -> dict[str, float]:
    """Rocchio's positive part, from the texts, for one segment and lucene's idf."""
    candidates = seen(library_of(held))
    terms = query_tokens(query, stop_words=True)
    bm25 = recall_bm25.scores(candidates, recall_bm25.weighted(terms), settings)
    rows, _ = recall_bm25.rank(candidates, bm25, settings.feedback_documents)
    gains: Counter[str] = Counter()
    for path in paths_of(candidates, rows):
        counts = Counter(tokens(held[int(path[1:])]))
        for term, count in counts.items():
            holding = sum(term in tokens(text) for text in held)
            idf = math.log(1 + (len(held) - holding + 0.5) / (holding + 0.5))
            gains[term] += count / counts.total() * idf
    for term in terms:
        del gains[term]
    best = gains.most_common(settings.feedback_terms)
    return {term: settings.feedback_weight * gain / best[0][1] for term, gain in best}


@given(texts, queries, st.sampled_from(("lucene", "rank_bm25")), st.integers(1, 3), st.integers(1, 4))
def test_feedback_adds_terms_that_exist(held: list[str], query: str, scorer: str, documents: int, most: int) -> None:
    settings = tuned(bm25_scorer=scorer, feedback_documents=documents, feedback_terms=most, feedback_weight=0.5)
    weights = feedback(held, query, settings)
    assert len(weights) <= most
    assert not weights.keys() & set(query_tokens(query, stop_words=True))
    values = list(weights.values())
    assert values == sorted(values, reverse=True)
    assert all(0 < value <= 0.5 for value in values)
    assert not values or values[0] == 0.5
    assert feedback(held, query, settings, per_commit=3) == weights
    assert list(feedback(held, query, settings, per_commit=3)) == list(weights)


def test_feedback_brings_what_stands_beside_the_query() -> None:
    held = ["refund voucher", "voucher office", "three", "days", "policy"]
    settings = tuned(feedback_documents=1)
    assert feedback(held, "refund", settings) == {"voucher": settings.feedback_weight}
    candidates = seen(library_of(held))
    found = recall_bm25.scores(candidates, hashed({"refund": 1.0, "voucher": 0.3}), settings)
    assert paths_of(candidates, recall_bm25.rank(candidates, found, 9)[0]) == ["d0", "d1"]


def test_feedback_with_terms_that_tell_nothing_adds_none() -> None:
    """In Okapi, a term that half of the texts hold has idf 0."""
    settings = tuned(bm25_scorer="rank_bm25", feedback_documents=1)
    assert feedback(["rare half", "half", "other", "others"], "rare", settings) == {}


@given(st.lists(st.sampled_from(("refund voucher a1", "b2 c3 c3", "refund days c3", "d4")), min_size=1, max_size=6))
def test_feedback_is_the_formula(held: list[str]) -> None:
    held = [f"{text} own{number}" for number, text in enumerate(held)]
    settings = tuned(feedback_documents=2, feedback_terms=99, feedback_weight=0.4)
    expected = feedback_oracle(held, "refund", settings)
    assert feedback(held, "refund", settings) == pytest.approx(expected, rel=1e-12)


def test_scores_add_to_what_is_given() -> None:
    candidates = seen(library_of(["refund days", "three days", "refund"]))
    whole = recall_bm25.scores(candidates, recall_bm25.weighted(["refund", "days"]), tuned())
    first = recall_bm25.scores(candidates, recall_bm25.weighted(["refund"]), tuned())
    before = first.copy()
    both = recall_bm25.scores(candidates, recall_bm25.weighted(["days"]), tuned(), onto=first)
    np.testing.assert_array_equal(both, whole)
    np.testing.assert_array_equal(first, before)
