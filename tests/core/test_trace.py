from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.merge import MergedSpan
from core.ranking import Ranking, rank
from core.settings import Retrieval
from core.trace import trace
from core.types import Ranked, TraceRow, document_id
from tests.support.engine import library_of, paths_of, seen, tuned
from tests.support.memory_library import MemoryLibrary, document_write, near_duplicate_vector


def ranked(**scores: float) -> list[Ranked]:
    return [Ranked(key, score) for key, score in scores.items()]


def by_hand(
    lists: dict[str, list[Ranked]],
    fused: list[Ranked],
    prior: list[Ranked],
    merged: list[MergedSpan],
    tail: tuple[str, ...] = (),
) -> Ranking:
    keys = {item.key for ranking in lists.values() for item in ranking}
    rows = {key: at for at, key in enumerate(sorted(keys))}
    return Ranking(lists, tuple(fused), tuple(prior), tuple(prior), tuple(merged), tail, rows)  # type: ignore[arg-type]


def traced(ranking: Ranking, released: int, settings: Retrieval) -> dict[str, TraceRow]:
    rows = trace(ranking, settings, released, lambda key: f"document of {key}")
    found = {row.chunk_id: row for row in rows}
    assert len(found) == len(rows)
    assert all(row.document_id == f"document of {row.chunk_id}" for row in rows)
    return found


def losses(ranking: Ranking, released: int, settings: Retrieval) -> dict[str, Any]:
    return {key: (row.lost_at, row.margin) for key, row in traced(ranking, released, settings).items()}


def span(score: float, *chunks: str) -> MergedSpan:
    return MergedSpan("0", 0, 1, score, chunks)


def test_ranks_after_each_stage() -> None:
    ranking = by_hand(
        {"exact": ranked(b=1.4), "bm25": ranked(a=3.0, b=2.0), "dense": ranked(c=0.9, a=0.8)},
        ranked(a=0.9, b=0.8, c=0.7),
        ranked(b=1.0, a=0.9, c=0.8),
        [span(1.0, "a", "b"), span(0.8, "c")],
    )
    rows = traced(ranking, 2, tuned())
    assert list(rows) == ["a", "b", "c"]
    found = {k: (r.exact, r.bm25, r.dense, r.fused, r.diversified, r.prior, r.merged) for k, r in rows.items()}
    assert found == {"a": (None, 1, 2, 1, 2, 2, 1), "b": (1, 2, None, 2, 1, 1, 1), "c": (None, None, 1, 3, 3, 3, 2)}
    assert {(row.lost_at, row.margin) for row in rows.values()} == {(None, None)}


def test_lost_at_top_k() -> None:
    """By a passage's own score; a selection in front may hold lower ones, which is no gain."""
    lists = {"bm25": ranked(a=3.0, b=2.0, c=1.0)}
    ranking = by_hand(lists, ranked(a=1.0, b=0.5, c=0.6), ranked(a=1.0, b=0.5, c=0.6), [])
    ranking = by_hand(lists, list(ranking.fused), list(ranking.prior), [span(1, "a"), span(0.5, "b"), span(0.6, "c")])
    assert losses(ranking, 1, tuned()) == {"a": (None, None), "b": ("top_k", -0.5), "c": ("top_k", -0.4)}
    assert losses(ranking, 2, tuned())["c"] == ("top_k", 0.0)
    assert set(losses(ranking, 0, tuned()).values()) == {("top_k", None)}


def test_lost_in_fusion() -> None:
    """Beyond the candidates."""
    ranking = by_hand(
        {"bm25": ranked(a=3.0, b=2.0, c=1.0)}, ranked(a=0.5, b=0.4, c=0.1), ranked(a=1.0, b=0.8), [span(1, "a", "b")]
    )
    settings = tuned(candidates=2)
    assert losses(ranking, 1, settings)["c"] == ("fused", pytest.approx(-0.3))
    assert losses(ranking, 1, settings)["b"] == (None, None)


def test_lost_at_the_quality_floor() -> None:
    """With candidates to spare, and with others that took its place."""
    lists = {"bm25": ranked(a=3.0, b=2.0, c=1.0, d=0.5)}
    fused = ranked(a=0.5, b=0.4, c=0.3, d=0.2)
    spare = by_hand(lists, fused, ranked(b=1.0, c=0.8, d=0.5), [span(1, "b", "c", "d")])
    assert losses(spare, 1, tuned(candidates=9))["a"] == ("prior", None)
    full = by_hand(lists, fused, ranked(b=1.0, c=0.8), [span(1, "b", "c")])
    found = losses(full, 1, tuned(candidates=2))
    assert found["a"] == ("prior", None)
    assert found["d"] == ("fused", pytest.approx(-0.1))


def test_lost_in_a_channel() -> None:
    """Below every window: at the channel where it stood nearest."""
    lists = {"bm25": ranked(a=3.0, b=2.0, c=1.5), "dense": ranked(b=0.9, a=0.8, x=0.7, c=0.2)}
    ranking = by_hand(lists, ranked(a=1.0, b=1.0), ranked(a=1.0, b=1.0), [span(1, "a", "b")], ("c", "x"))
    found = losses(ranking, 1, tuned(window=2))
    assert found["c"] == ("bm25", -0.5)
    assert found["x"] == ("dense", pytest.approx(-0.1))


def test_lost_to_a_weight_of_nothing() -> None:
    """In the window of a channel that fusion does not count."""
    lists = {"bm25": ranked(a=3.0, b=2.0), "dense": ranked(b=0.9)}
    ranking = by_hand(lists, ranked(b=1.0), ranked(b=1.0), [span(1, "b")])
    assert losses(ranking, 1, tuned(weight_bm25=0))["a"] == ("fused", None)


WORDS = ("refund", "days", "three", "policy")
texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=9)


@given(texts, st.integers(0, 5), st.integers(0, 12), st.data())
def test_every_chunk_that_was_met_is_accounted_for(
    held: list[str], released: int, depth: int, data: st.DataObject
) -> None:
    library = MemoryLibrary()
    qualities = st.sampled_from((None, 10.0, 90.0))
    writes = [document_write("c", f"d{n}", [text], quality=data.draw(qualities)) for n, text in enumerate(held)]
    library.commit("c", writes)
    settings = tuned(
        window=data.draw(st.integers(1, 5)),
        candidates=data.draw(st.integers(1, 6)),
        quality_floor=data.draw(st.sampled_from((None, 50.0))),
        weight_bm25=data.draw(st.sampled_from((0.0, 1.0))),
        fusion=data.draw(st.sampled_from(("rrf", "convex"))),
        mmr_keep=2,
    )
    ranking = rank(seen(library), "refund days", near_duplicate_vector("refund days"), settings, depth)
    released = min(released, len(ranking.merged))
    rows = trace(ranking, settings, released, lambda key: "d")
    keys = [row.chunk_id for row in rows]
    order = [key for passage in ranking.order for key in passage]
    assert keys[: len(order)] == order, "in production order"
    assert set(keys) == set(ranking.rows)
    shown = {key for found in ranking.merged[:released] for key in found.chunks}
    for row in rows:
        assert (row.lost_at is None) == (row.chunk_id in shown)
        assert row.margin is None or row.margin <= 0
        assert row.lost_at in (None, "exact", "bm25", "dense", "fused", "prior", "top_k")


def test_a_floored_chunk_never_has_a_margin() -> None:
    library = MemoryLibrary()
    for path, quality in (("poor", 0.0), ("good", 90.0), ("fair", 60.0), ("other", None)):
        library.commit("c", [document_write("c", path, [f"refund {path}"], quality=quality)])
    candidates = seen(library)
    settings = tuned(channels=("bm25",), quality_floor=50, candidates=1)
    ranking = rank(candidates, "refund poor", None, settings)
    names = {key: paths_of(candidates, [row])[0] for key, row in ranking.rows.items()}
    found = {names[row.chunk_id]: row for row in trace(ranking, settings, 1, lambda key: document_id("c", key))}
    assert (found["poor"].fused, found["poor"].lost_at, found["poor"].margin) == (1, "prior", None)


def test_without_a_hit_there_is_nothing_to_trace() -> None:
    ranking = rank(seen(library_of(["refund"])), "penguin", None, tuned())
    found: Any = trace(ranking, tuned(), 0, lambda key: "d")
    assert found == ()
