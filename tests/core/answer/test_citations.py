from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answer.citations import parse_citations, without_marks
from core.answer.code_spans import without_code

GOLDEN: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "golden" / "citations.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_golden(case: dict[str, Any]) -> None:
    got = parse_citations(case["answer"], case["passages"])
    assert list(got.cited) == case["expect"]
    assert list(got.unknown) == case["unknown"]


def test_marks_say_where_and_which() -> None:
    answer = "Both [1, 7], then【2†source】."
    got = parse_citations(answer, 3)
    assert [(answer[m.start : m.end], m.numbers) for m in got.marks] == [("[1, 7]", (1, 7)), ("【2†source】", (2,))]


@pytest.mark.parametrize(
    ("answer", "cited", "unknown"),
    [
        ("Clipped [2-9].", (2, 3), ()),
        ("Beyond [7-9].", (), (7,)),
        ("An interval [0, 1] and a date [12, 2024].", (), ()),
        ("Mixed kinds［1】.", (1,), ()),
        ("A stray ` in one paragraph [1].\n\nand ` in another [2].", (1, 2), ()),
        ("- a stray ` here [1]\n- and ` there [2]", (1, 2), ()),
        ("One span `a\n[1] b` [2].", (2,), ()),
        ("``a ` [1]`` [2]", (2,), ()),
        (r"Escaped \` [1] ` [2].", (1, 2), ()),
        ("~~~\n[1]\n```\n[2]\n~~~\n[3]", (3,), ()),
        ("````\n```\n[1]\n````\n[3]", (3,), ()),
        ("> ```\n> [1]\n> ```\n> [2]", (2,), ()),
        ("Open fence [1].\n```\n[2]", (1,), ()),
        ("```x``` is no fence [1].", (1,), ()),
        ("[1 `, 2`]", (), ()),
    ],
)
def test_edges(answer: str, cited: tuple[int, ...], unknown: tuple[int, ...]) -> None:
    got = parse_citations(answer, 3)
    assert (got.cited, got.unknown) == (cited, unknown)


@given(st.text("[]［］【】`~0129-,，†\\ \n>ax", max_size=60), st.integers(0, 5))
def test_whatever_comes(answer: str, passages: int) -> None:
    got = parse_citations(answer, passages)
    assert all(1 <= number <= passages for number in got.cited)
    assert all(number > passages for number in got.unknown)
    assert {n for mark in got.marks for n in mark.numbers} == {*got.cited, *got.unknown}
    for before, after in pairwise(got.marks):
        assert before.end <= after.start
    assert len(without_code(answer)) == len(answer)


@given(st.text("[]［］【】`12,†\\ \nab", max_size=60))
def test_no_mark_is_left(text: str) -> None:
    assert parse_citations(without_marks(text), 9).marks == ()


def test_without_marks() -> None:
    assert without_marks("It opened in 1932 [2][3]. It is `a[1]`.") == "It opened in 1932. It is `a[1]`."
    assert without_marks("[note] stays") == "[note] stays"
    assert without_marks("[[2]1] goes") == "(1) goes"


MEGABYTE = 1 << 20
HOSTILE = {
    "openers": "[" * MEGABYTE,
    "opened-numbers": "[1" * (MEGABYTE // 2),
    "one-long-list": "[" + "1," * (MEGABYTE // 2),
    "spaces": "[1" + " " * MEGABYTE,
    "spaces-between": "[" + "1 , " * (MEGABYTE // 4),
    "digits": "[" + "1" * MEGABYTE + "]",
    "ranges": ("[1-999]" + " " * 25) * (MEGABYTE // 32),
    "daggers": "[1†" * (MEGABYTE // 3),
    "ticks": "`" * MEGABYTE,
    "single-ticks": "` " * (MEGABYTE // 2),
    "growing-runs": " ".join("`" * n for n in range(1, 1440)),
    "escapes": "\\" * MEGABYTE + "`",
    "escaped-ticks": "\\`" * (MEGABYTE // 2),
    "newlines": "\n" * MEGABYTE,
    "blank-lines": " \n" * (MEGABYTE // 2),
    "quotes": ">" * MEGABYTE,
    "fences": "```\n~~~\n" * (MEGABYTE // 8),
    "closed": ("[1]" + " " * 29) * (MEGABYTE // 32),
}


# Quadratic work on a megabyte would take hours; the limit leaves a slow machine ample room.
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_megabyte_of_anything_is_parsed(name: str) -> None:
    got = parse_citations(HOSTILE[name], 20)
    expected = {"ranges": tuple(range(1, 21)), "closed": (1,)}
    assert got.cited == expected.get(name, ())
