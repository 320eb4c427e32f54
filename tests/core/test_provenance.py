from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.provenance import aggregate, format_location

GOLDEN: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "golden" / "location.json").read_text("utf-8"))

provenances = st.dictionaries(
    st.sampled_from(["pages", "lines", "section", "figure"]),
    st.lists(st.integers(1, 9) | st.text("ab", max_size=2) | st.tuples(st.integers(1, 5), st.integers(5, 9))).map(
        tuple
    ),
)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_golden(case: dict[str, Any]) -> None:
    assert format_location(case["provenance"]) == case["expect"]


def test_aggregate_unites_in_order() -> None:
    assert aggregate([{"pages": (4,), "figure": ("7",)}, {"pages": (3, 4), "lines": ([1, 2],)}]) == {
        "pages": (4, 3),
        "figure": ("7",),
        "lines": ((1, 2),),
    }
    assert aggregate([]) == {}


@given(st.lists(provenances, max_size=5))
def test_aggregate_holds_every_value_once(given_: list[dict[str, tuple[Any, ...]]]) -> None:
    united = aggregate(given_)
    for key in {key for provenance in given_ for key in provenance}:
        assert set(united[key]) == {value for provenance in given_ for value in provenance.get(key, ())}
        assert len(united[key]) == len(set(united[key]))
    assert aggregate([united]) == united


@given(provenances)
def test_one_line_whatever_is_in_it(provenance: dict[str, tuple[Any, ...]]) -> None:
    assert "\n" not in format_location(provenance)


@pytest.mark.parametrize(
    ("provenance", "expected"),
    [
        ({"lines": ((1, 20), (21, 40), (55, 55))}, "L1–40, 55"),
        ({"pages": ("3", "4", "A-1", "007")}, "p.3–4, A-1, 007"),
        ({"section": ("Two\nlines",), "sheet": ()}, "Two lines"),
        ({"zone": ("b", "a"), "figure": (1,)}, "figure 1 · zone b, a"),
    ],
)
def test_formats(provenance: dict[str, Any], expected: str) -> None:
    assert format_location(provenance) == expected
