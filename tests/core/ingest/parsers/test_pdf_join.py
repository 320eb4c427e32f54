from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ingest.parsers.pdf_join import join_lines, vocabulary_of


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["a plain", "line"], "a plain line"),
        (["the exam-", "ple of it"], "the example of it"),
        (["the exam\ufffe", "ple of it"], "the example of it"),
        (["the exam\u00ad", "ple of it"], "the example of it"),
        (["Jean-", "Pierre"], "Jean-Pierre"),
        (["COVID-", "19"], "COVID-19"),
        (["from 10 -", "20 of them"], "from 10 - 20 of them"),
        (["海洋深", "处"], "海洋深处"),
        (["在系统中，", "Linux 可以"], "在系统中，Linux 可以"),
        (["使用 Linux", "系统"], "使用 Linux 系统"),
        (["한국어", "문장"], "한국어 문장"),
        (["ends in a hyphen\ufffe"], "ends in a hyphen-"),
        (["1.1 Scope . . . . . . . . 12"], "1.1 Scope … 12"),
        (["wait ... what"], "wait ... what"),
    ],
)
def test_join(lines: list[str], joined: str) -> None:
    assert join_lines(lines) == joined


def test_the_document_knows_its_compounds() -> None:
    known = vocabulary_of(["a well-known fact, rewritten"])
    assert join_lines(["a well-", "known fact"], known) == "a well-known fact"
    assert join_lines(["it was re-", "written"], known) == "it was rewritten"


def test_breaks_stay() -> None:
    assert join_lines(["one", "two", "three"], breaks={2}) == "one two\nthree"


@given(st.lists(st.text("abc -海，\ufffe", min_size=1, max_size=8), min_size=1, max_size=6))
def test_letters_are_all_kept_in_order(lines: list[str]) -> None:
    def letters(text: str) -> str:
        return "".join(character for character in text if character.isalpha())

    assert letters(join_lines(lines)) == letters("".join(lines))
