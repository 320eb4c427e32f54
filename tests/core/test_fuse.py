from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.fuse import convex, relevance, rrf
from core.types import Ranked

GOLDEN: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "golden" / "rrf.json").read_text("utf-8"))


def ranking(*keys: str) -> list[Ranked]:
    return [Ranked(key, float(len(keys) - position)) for position, key in enumerate(keys)]


entries = st.builds(Ranked, st.sampled_from("abcdefgh"), st.floats(-1e6, 1e6))
rankings = st.lists(entries, max_size=8).map(lambda items: sorted(items, key=lambda item: (-item.score, item.key)))
channels = st.lists(st.tuples(rankings, st.floats(0, 100)), max_size=5)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_golden(case: dict[str, Any]) -> None:
    got = rrf([ranking(*keys) for keys in case["lists"]], case["weights"], case["rrf_k"])
    assert [item.key for item in got] == [key for key, _ in case["expect"]]
    assert [item.score for item in got] == pytest.approx([score for _, score in case["expect"]], rel=1e-12)


def test_rrf_looks_at_ranks_alone() -> None:
    assert rrf([[Ranked("a", 9.0), Ranked("b", 1.0)]], None, 60) == rrf(
        [[Ranked("a", 0.2), Ranked("b", 0.1)]], None, 60
    )


def test_a_repeated_key_leaves_the_ranks_below_as_they_are() -> None:
    assert rrf([ranking("a", "a", "b")], None, 1) == [Ranked("a", 1 / 2), Ranked("b", 1 / 4)]


def test_convex_by_hand() -> None:
    first = [Ranked("a", 10.0), Ranked("b", 6.0), Ranked("c", 2.0)]
    second = [Ranked("c", 0.9), Ranked("d", 0.1)]
    assert convex([first, second, []], [1.0, 2.0, 1.0]) == [
        Ranked("c", 0.5),
        Ranked("a", 0.25),
        Ranked("b", 0.125),
        Ranked("d", 0.0),
    ]


def test_convex_of_equal_scores_is_one() -> None:
    assert convex([[Ranked("b", 3.0), Ranked("a", 3.0)]], None) == [Ranked("a", 1.0), Ranked("b", 1.0)]


def test_convex_takes_the_best_score_of_a_repeated_key() -> None:
    got = convex([[Ranked("a", 3.0), Ranked("b", 2.0), Ranked("a", 0.0), Ranked("c", 1.0)]], None)
    assert got == [Ranked("a", 1.0), Ranked("b", 0.5), Ranked("c", 0.0)]


def test_silence_is_not_held_against_a_key() -> None:
    words = [Ranked("a", 2.0), Ranked("b", 1.0)]
    vectors = [Ranked("c", 0.9), Ranked("b", 0.8), Ranked("d", 0.7)]
    weights = [1.0, 1.0, 2.0]
    plainly = {"a": 0.25, "b": 0.125, "c": 0.25, "d": 0.0}
    assert {item.key: item.score for item in convex([words, vectors, []], weights)} == pytest.approx(plainly)
    found = convex([words, vectors, []], weights, [{"c", "d", "elsewhere"}, (), ()])
    assert found[0] == Ranked("c", pytest.approx(1 / 3))
    assert {item.key: item.score for item in found} == pytest.approx({**plainly, "c": 1 / 3})


def test_silence_of_the_only_list_that_holds_a_key_changes_nothing() -> None:
    words = [Ranked("a", 2.0), Ranked("b", 1.0)]
    assert convex([words, []], None, [{"a", "b"}, ()]) == convex([words, []], None)


@given(channels, st.lists(st.sets(st.sampled_from("abcdefgh")), min_size=5, max_size=5))
def test_silence_raises_silent_keys_alone(pairs: list[tuple[list[Ranked], float]], mute: list[set[str]]) -> None:
    lists, weights = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    silent = mute[: len(pairs)]
    before = {item.key: item.score for item in convex(lists, weights)}
    after = {item.key: item.score for item in convex(lists, weights, silent)}
    assert before.keys() == after.keys()
    for key, score in after.items():
        assert before[key] <= score <= 1.0
        if not any(key in keys for keys in silent):
            assert score == before[key]


def test_zero_weights_give_nothing() -> None:
    assert convex([ranking("a")], [0.0]) == rrf([ranking("a")], [0.0], 60) == convex([], None) == []


def test_a_weight_for_each_list() -> None:
    with pytest.raises(ValueError, match="zip"):
        rrf([ranking("a")], [1.0, 1.0], 60)


def test_relevance() -> None:
    assert relevance([Ranked("a", 0.5), Ranked("b", 0.25)]) == [Ranked("a", 1.0), Ranked("b", 0.5)]
    assert relevance([]) == []
    assert relevance([Ranked("a", 0.0)]) == [Ranked("a", 0.0)]


@given(channels, st.randoms())
def test_the_order_of_the_lists_does_not_matter(pairs: list[tuple[list[Ranked], float]], random: Any) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)
    lists, weights = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    other_lists, other_weights = [pair[0] for pair in shuffled], [pair[1] for pair in shuffled]
    assert rrf(lists, weights, 60) == rrf(other_lists, other_weights, 60)
    assert convex(lists, weights) == convex(other_lists, other_weights)


@given(channels)
def test_sorted_with_ties_to_the_smallest_key_and_each_key_once(pairs: list[tuple[list[Ranked], float]]) -> None:
    lists, weights = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found = {item.key for items, weight in pairs if weight > 0 for item in items}
    for fused in (rrf(lists, weights, 60), convex(lists, weights)):
        assert [(-item.score, item.key) for item in fused] == sorted((-item.score, item.key) for item in fused)
        assert sorted(item.key for item in fused) == sorted(found)


@given(channels)
def test_convex_is_bounded(pairs: list[tuple[list[Ranked], float]]) -> None:
    fused = convex([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    assert all(0.0 <= item.score <= 1.0 for item in fused)
