from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.enhance import Enhancements, resolve_enhancements
from core.errors import InputError

GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "enhancements.json").read_text("utf-8")
)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_golden(case: dict[str, Any]) -> None:
    got = resolve_enhancements(case["caller"], case["args"], case["default"], case["max"], case["llm"])
    assert got == Enhancements(**case["expect"])


def test_none_is_no_wish() -> None:
    got = resolve_enhancements(
        {"expand": None, "rerank": None}, {"expand": 2}, {"rerank": True}, {"expand": None}, True
    )
    assert got == Enhancements(expand=2, rerank=True)


@pytest.mark.parametrize("llm", [True, False])
@pytest.mark.parametrize(
    "wishes", [{"expand": "3"}, {"hyde": 1.5}, {"expand": True}, {"rerank": "false"}, {"rerank": 1}]
)
def test_a_wish_of_the_wrong_kind_is_an_error(wishes: Any, llm: bool) -> None:
    with pytest.raises(InputError, match=next(iter(wishes))):
        resolve_enhancements({}, wishes, {}, {}, llm)


def test_a_maximum_of_the_wrong_kind_does_not_lift_the_cap() -> None:
    maximum: Any = {"expand": "2"}
    with pytest.raises(InputError):
        resolve_enhancements({"expand": 9}, {}, {}, maximum, True)
