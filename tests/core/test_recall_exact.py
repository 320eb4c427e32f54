from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import recall_bm25, recall_exact
from core.candidates import CandidateSet
from core.identifiers import contains_exact, exact_terms
from core.ranking import rank
from core.settings import Settings, load
from core.text import fold, query_tokens
from tests.support import golden
from tests.support.engine import library_of, only, path_of, paths_of, seen, tuned
from tests.support.memory_library import near_duplicate_vector

WORDS = ("ERR-4012", "ERR", "4012", "grace", "period", "max_retry_count", "v2.3.1", "2.3.10", "开放平台", "the")
texts = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=8, unique=True
)
queries = st.sampled_from(
    ("ERR-4012", '"grace period" ERR-4012', "release 2.3.1 max_retry_count", "開放平台", "refund", '"ERR 4012" v2.3.1')
)


@given(texts, queries, st.sampled_from((1, 3, 8)), st.sampled_from(("lucene", "rank_bm25")), st.data())
def test_as_reading_every_text(held: list[str], query: str, size: int, scorer: str, data: st.DataObject) -> None:
    """By distinct terms, then BM25, then id; as if every visible text were read from front to back."""
    inside = sorted(data.draw(st.sets(st.integers(0, len(held) - 1))))
    candidates = only(seen(library_of(held, size)), [f"d{number}" for number in inside])
    terms = exact_terms(query)
    weights = recall_bm25.weighted(query_tokens(query, stop_words=True))
    bm25 = recall_bm25.scores(candidates, weights, tuned(bm25_scorer=scorer))
    matches = {
        row: sum(contains_exact(term, fold(held[int(path_of(candidates, row)[1:])])) for term in terms)
        for row in np.flatnonzero(candidates.mask).tolist()
    }
    ids: Any = candidates.snapshot.ids
    order = sorted(
        (row for row in matches if matches[row]), key=lambda row: (-matches[row], -max(0.0, float(bm25[row])), ids[row])
    )
    rows, scores = recall_exact.rank(candidates, terms, bm25, 5)
    assert rows.tolist() == order[:5]
    assert [int(score) for score in scores] == [matches[row] for row in order[:5]]


@pytest.mark.parametrize("depth", [1, 3, 30])
@pytest.mark.parametrize("seed", range(6))
def test_the_reading_stops_only_where_nothing_better_follows(seed: int, depth: int) -> None:
    """Most texts hold the words of both phrases, few hold a phrase."""
    random = Random(seed)
    words = ["grace", "period", "late", "fee", "grace period", "late fee", "and", "day"]
    held = [" ".join(random.choices(words, (4, 4, 4, 4, 1, 1, 2, 2), k=random.randint(2, 9))) for _ in range(90)]
    candidates = seen(library_of(list(dict.fromkeys(held)), 30))
    query = '"grace period" "late fee"'
    bm25 = recall_bm25.scores(candidates, recall_bm25.weighted(query_tokens(query, stop_words=True)), tuned())
    rows, scores = recall_exact.rank(candidates, exact_terms(query), bm25, depth)
    all_rows, all_scores = recall_exact.rank(candidates, exact_terms(query), bm25, 1_000)
    matches = {
        row: sum(phrase in text_of(candidates, row) for phrase in ("grace period", "late fee"))
        for row in range(len(candidates.snapshot))
    }
    assert len(all_rows) == sum(count > 0 for count in matches.values()) > depth
    assert [int(score) for score in all_scores] == [matches[row] for row in all_rows.tolist()]
    assert (rows.tolist(), scores.tolist()) == (all_rows[:depth].tolist(), all_scores[:depth].tolist())


def text_of(candidates: CandidateSet, row: int) -> str:
    segment, local = candidates.snapshot.locate(row)
    return segment.folded[local]


def test_in_a_collection_of_one_a_match_is_a_match() -> None:
    """Okapi's idf is negative there; four terms bring BM25 below −1."""
    candidates = seen(library_of(["ERR-4012 alpha beta gamma delta"]))
    query = "ERR-4012 alpha beta gamma"
    weights = recall_bm25.weighted(query_tokens(query, stop_words=True))
    bm25 = recall_bm25.scores(candidates, weights, tuned(bm25_scorer="rank_bm25"))
    assert bm25.min() < 0
    rows, scores = recall_exact.rank(candidates, exact_terms(query), bm25, 5)
    assert (len(rows), scores.tolist()) == (1, [1.0])


def test_twins_are_one_hit() -> None:
    candidates = seen(library_of(["ERR-4012", "ERR-4012", "ERR-4012 again"]))
    bm25 = recall_bm25.scores(candidates, recall_bm25.weighted(["err-4012"]), tuned())
    rows, _ = recall_exact.rank(candidates, exact_terms("ERR-4012"), bm25, 5)
    assert len(rows) == 2


def test_no_terms_no_hits() -> None:
    candidates = seen(library_of(["refund"]))
    rows, scores = recall_exact.rank(candidates, (), np.ones(1), 5)
    assert (rows.tolist(), scores.tolist()) == ([], [])


def by_words(held: list[str], query: str, settings: Settings) -> list[str]:
    candidates = seen(library_of(held))
    only_words = settings.with_retrieval(channels=("exact", "bm25")).retrieval
    ranking = rank(candidates, query, near_duplicate_vector(query), only_words)
    return paths_of(candidates, [ranking.rows[key] for keys in ranking.order for key in keys])


@pytest.mark.parametrize("case", golden("word_match.jsonl"), ids=lambda case: case["id"])
def test_golden_matches(case: dict[str, Any]) -> None:
    assert by_words([case["text"]], case["query"], load([], {})) == ["d0"] * case["match"]


@pytest.mark.parametrize("preset", ["classic", "measured"])
@pytest.mark.parametrize("case", golden("word_beats.jsonl"), ids=lambda case: case["id"])
def test_golden_orders(case: dict[str, Any], preset: str) -> None:
    settings = load([], {"WORKBENCH_RETRIEVAL__PRESET": preset})
    for held in ([case["better"], case["worse"]], [case["worse"], case["better"]]):
        assert by_words(held, case["query"], settings)[0] == f"d{held.index(case['better'])}"
