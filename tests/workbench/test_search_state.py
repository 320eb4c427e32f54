from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, SettingsError
from core.settings import PRESETS, Retrieval, Settings, load
from core.types import CHANNELS
from workbench.services.page_labels import PAGES_MAX, expand_pages
from workbench.services.search_state import SearchState, checked, from_params, to_params
from workbench.services.settings_choice import differences, effective

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_BOUNDS = {field.name: (field.metadata.get("low"), field.metadata.get("high")) for field in fields(Retrieval)}


def _values() -> dict[str, st.SearchStrategy[Any]]:
    def floats(key: str) -> st.SearchStrategy[float]:
        low, high = _BOUNDS[key]
        return st.floats(low, high, allow_nan=False).map(lambda value: value + 0.0)

    def whole(key: str) -> st.SearchStrategy[int]:
        low, high = _BOUNDS[key]
        return st.integers(int(low or 0), int(high or 100))

    return {
        "channels": st.lists(st.sampled_from(CHANNELS), min_size=1, unique=True).map(tuple),
        "fusion": st.sampled_from(["rrf", "convex"]),
        "mmr": st.booleans(),
        "quality_floor": st.none() | floats("quality_floor"),
        "mmr_lambda": floats("mmr_lambda"),
        "quality_weight": floats("quality_weight"),
        "weight_bm25": floats("weight_bm25"),
        "window": whole("window"),
        "rrf_k": whole("rrf_k"),
        "top_k": whole("top_k"),
    }


CHANGES = st.fixed_dictionaries({}, optional=_values()).map(lambda found: tuple(sorted(found.items())))
STATES = st.builds(
    SearchState,
    query=TEXT,
    collections=st.lists(TEXT.filter(bool), unique=True, max_size=3).map(tuple),
    actor=TEXT,
    document=TEXT,
    pages=TEXT,
    sheet=TEXT,
    preset=st.sampled_from(["", *PRESETS]),
    changes=CHANGES,
)


@given(STATES)
def test_an_address_gives_back_its_state(state: SearchState) -> None:
    assert from_params(to_params(state)) == (state, ())


@given(st.dictionaries(st.sampled_from([*_BOUNDS, "q", "c", "as", "preset", "x"]), st.lists(TEXT, max_size=3)))
def test_any_address_gives_a_state_that_can_be_used(params: dict[str, list[str]]) -> None:
    state, problems = from_params(params)
    settings = effective(Settings(), state)
    assert settings.retrieval.channels
    assert from_params(to_params(state)) == (state, ())
    for problem in problems:
        assert problem.name in params


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rrf_k", "0"),
        ("rrf_k", "x"),
        ("mmr_lambda", "nan"),
        ("mmr", "maybe"),
        ("channels", ""),
        ("channels", "web"),
        ("fusion", ""),
    ],
)
def test_malformed_values_are_named_and_left_out(name: str, value: str) -> None:
    state, problems = from_params({name: [value], "q": ["refund"]})
    assert state == SearchState(query="refund")
    assert [(problem.name, problem.value) for problem in problems] == [(name, value)]
    assert problems[0].reason


def test_unknown_parameters_are_named() -> None:
    _, problems = from_params({"user": ["admin"], "limits.top_k_max": ["99"], "top_k_max": ["99"]})
    assert [problem.name for problem in problems] == ["user", "limits.top_k_max", "top_k_max"]


def test_a_channel_named_twice_counts_once() -> None:
    assert checked("channels", "bm25,dense,bm25") == ("bm25", "dense")
    with pytest.raises(SettingsError):
        checked("channels", ())


def test_changes_lie_on_the_preset_and_the_preset_on_the_home() -> None:
    home = load(environment={}).with_retrieval(rrf_k=7)
    state = SearchState(changes=(("top_k", 3),))
    assert effective(home, state).retrieval.rrf_k == 7
    assert {item.key for item in differences(effective(home, state))} == {"rrf_k", "top_k"}
    shipped = effective(home, replace(state, preset="classic"))
    assert (shipped.retrieval.rrf_k, shipped.retrieval.top_k) == (60, 3)
    assert [(item.key, item.value) for item in differences(shipped)] == [("top_k", 3)]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_differs_from_itself_in_nothing(preset: str) -> None:
    assert differences(effective(Settings(), SearchState(preset=preset))) == ()


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("", ()),
        (" , ", ()),
        ("3-5, 7", ("3", "4", "5", "7")),
        ("３－５、７", ("3", "4", "5", "7")),
        ("5 – 5;5", ("5",)),
        ("iv, A-3", ("iv", "A-3")),
        ("iv, 1-3,2", ("iv", "1", "2", "3")),
        ("4-4", ("4",)),
        (f"1-{PAGES_MAX}", tuple(str(number) for number in range(1, PAGES_MAX + 1))),
    ],
)
def test_pages_are_expanded(text: str, labels: tuple[str, ...]) -> None:
    assert expand_pages(text) == labels


@pytest.mark.parametrize("text", ["5-3", "-", "3-", "-5", "–5", "3-x", "3-5-7", "A-", "3 5"])
def test_pages_that_cannot_be_meant_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="names no pages"):
        expand_pages(text)


@pytest.mark.parametrize("text", [f"1-{PAGES_MAX + 1}", "1-999999999", f"1-{PAGES_MAX}, iv"])
def test_too_many_pages_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=f"more than {PAGES_MAX}"):
        expand_pages(text)
