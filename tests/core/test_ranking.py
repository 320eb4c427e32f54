from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from core.ranking import Clock, Ranking, rank, rank_batch
from core.types import Channel
from tests.support.engine import library_of, paths_of, seen, tuned
from tests.support.memory_library import MemoryLibrary, document_write, near_duplicate_vector

TEXTS = ("refund days", "refund refund", "three days", "ERR-4012 refund", "policy")


def ranked(query: str, vector: Any = None, depth: int = 0, **changes: Any) -> Ranking:
    return rank(seen(library_of(TEXTS, 2)), query, vector, tuned(**changes), depth)


def test_a_channel_that_takes_no_part_has_no_list() -> None:
    vector = near_duplicate_vector("refund days")
    channels: list[tuple[Channel, ...]] = [("exact",), ("bm25",), ("dense",), ("exact", "dense"), ("bm25", "exact")]
    for chosen in channels:
        assert set(ranked("refund ERR-4012", vector, channels=chosen).lists) == set(chosen)
    assert set(ranked("refund").lists) == {"exact", "bm25"}, "without a vector"


def test_windows_bound_what_is_fused_and_depth_reads_on() -> None:
    shallow = ranked("refund days", channels=("bm25",), window=1, candidates=1)
    deep = ranked("refund days", channels=("bm25",), window=1, candidates=1, depth=9)
    assert (len(shallow.lists["bm25"]), len(deep.lists["bm25"])) == (1, 4)
    assert shallow.fused == deep.fused and len(deep.fused) == 1
    assert [item.key for item in deep.lists["bm25"]][1:] == list(deep.tail)
    assert (shallow.tail, len(deep.order)) == ((), 4)


def test_candidates_bound_what_goes_on() -> None:
    found = ranked("refund days", channels=("bm25",), candidates=2)
    assert (len(found.fused), len(found.prior)) == (4, 2)
    assert [item.score for item in found.diversified] == sorted((i.score for i in found.diversified), reverse=True)
    assert found.diversified[0].score == 1.0


def test_the_quality_floor_leaves_the_unscored() -> None:
    library = MemoryLibrary()
    for path, quality in (("poor", 10.0), ("good", 90.0), ("unscored", None)):
        library.commit("c", [document_write("c", path, [f"refund {path} days"], quality=quality)])
    candidates = seen(library)
    found = rank(candidates, "refund poor", None, tuned(channels=("bm25",), quality_floor=50))
    assert len(found.fused) == 3
    kept = paths_of(candidates, [found.rows[item.key] for item in found.prior])
    assert sorted(kept) == ["good", "unscored"]
    assert max(item.score for item in found.diversified) == 1.0, "the maximum is taken after the floor"


def test_the_quality_floor_makes_room_for_others() -> None:
    library = MemoryLibrary()
    for path, quality in (("poor", 10.0), ("good", 90.0)):
        library.commit("c", [document_write("c", path, [f"refund {path}"], quality=quality)])
    candidates = seen(library)
    found = rank(candidates, "refund poor", None, tuned(channels=("bm25",), quality_floor=50, candidates=1))
    assert paths_of(candidates, [found.rows[item.key] for item in found.prior]) == ["good"]


def test_neighbours_become_one_passage() -> None:
    library = MemoryLibrary()
    library.commit("c", [document_write("c", "a", ["refund days", "refund", "other", "refund three"])])
    found = rank(seen(library), "refund", None, tuned(channels=("bm25",), merge_gap=1))
    assert [len(span.chunks) for span in found.merged] == [2, 1]
    apart = rank(seen(library), "refund", None, tuned(channels=("bm25",), merge_gap=0))
    assert [len(span.chunks) for span in apart.merged] == [1, 1, 1]


def test_weights_of_nothing_leave_nothing() -> None:
    for fusion in ("rrf", "convex"):
        found = ranked("refund", fusion=fusion, weight_exact=0, weight_bm25=0, weight_dense=0)
        assert (found.fused, found.merged) == ((), ())


def test_the_selection_goes_in_front() -> None:
    vector = near_duplicate_vector("refund")
    plain = ranked("refund days", vector, mmr=False)
    selected = ranked("refund days", vector, mmr=True, mmr_keep=2, mmr_lambda=0.1)
    assert {item.key for item in plain.prior} == {item.key for item in selected.prior}
    assert [item.key for item in ranked("refund days", vector, mmr_keep=0).prior] == [i.key for i in plain.prior]
    best = [item.key for item in plain.prior]
    front = [item.key for item in selected.prior][:2]
    assert front != best[:2], "unlike texts come to the front"
    assert [key for key in best if key in front] == front, "in the order of fusion"


@pytest.mark.parametrize("count", [1, 3])
def test_the_clock_knows_every_stage(count: int) -> None:
    clock = Clock()
    queries = ["refund"] * count
    vectors = np.array([near_duplicate_vector(query) for query in queries])
    rank_batch(seen(library_of(TEXTS)), queries, vectors, tuned(), 0, clock)
    assert set(clock.ms) == {"dense", "bm25", "exact", "fuse", "diversify", "prior", "merge"}
    assert all(ms >= 0 for ms in clock.ms.values())


def test_an_empty_collection() -> None:
    found = rank(seen(library_of([])), "refund", near_duplicate_vector("refund"), tuned(), 5)
    assert (found.order, found.fused, found.rows) == ((), (), {})


def test_scores_fall_within_each_list() -> None:
    found = ranked("refund days ERR-4012", near_duplicate_vector("refund"), depth=9)
    for listed in (*found.lists.values(), found.fused):
        assert all(above.score >= below.score for above, below in pairwise(listed))


BOTH_SCRIPTS = ("refund days", "policy refund", "ERR-4012 refund", "退款三天", "退款 refund 三天")


def fused(query: str, like: str, texts: tuple[str, ...] = BOTH_SCRIPTS, **changes: Any) -> dict[str, float]:
    """Fused score by path, of a query whose vector is that of the text `like`."""
    candidates = seen(library_of(texts, 2))
    shares = {"weight_exact": 1.0, "weight_bm25": 1.0, "weight_dense": 2.0, "fusion": "convex", "feedback_documents": 0}
    found = rank(candidates, query, near_duplicate_vector(like), tuned(**{**shares, **changes}))
    return dict(
        zip(
            paths_of(candidates, [found.rows[item.key] for item in found.fused]),
            [item.score for item in found.fused],
            strict=True,
        )
    )


def test_words_are_not_missed_in_another_script() -> None:
    """The Chinese text is first for its meaning and has none of the words: its meaning alone counts, 2 of 2 + 1."""
    assert fused("refund days", "退款三天")["d3"] == pytest.approx(2 / 3)
    assert fused("退款要三天吗", "policy refund")["d1"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("query", ["refund ERR-4012", "ERR-4012", '"policy refund"'])
def test_words_are_missed_beside_an_identifier_or_a_quotation(query: str) -> None:
    assert fused(query, "退款三天")["d3"] == pytest.approx(2 / 4)


def test_words_that_are_best_found_in_the_other_script_are_missed() -> None:
    texts = ("invoice", "API 退款三天说明", "退款三天")
    assert fused("API", "退款三天", texts)["d2"] == pytest.approx(2 / 4)


def test_ranks_are_fused_as_they_are() -> None:
    one, other = (fused("refund days", "退款三天", fusion="rrf", weight_bm25=weight) for weight in (1.0, 0.0))
    assert one["d3"] == other["d3"]
