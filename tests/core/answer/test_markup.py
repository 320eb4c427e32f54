from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answer.citations import parse_citations
from core.answer.markup import without_markup


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("**Decision:** it opens.", "Decision: it opens."),
        ("it is **very** good", "it is very good"),
        ("退款**三个工作日**到账", "退款三个工作日到账"),
        ("__more than that__ goes", "more than that goes"),
        ("**the** value `a[1]` of `it`", "the value `a[1]` of it"),
        ("run `a  b` now", "run a  b now"),
        ("a `` ` `` is one", "a ` is one"),
        ("`__init__` and `**kw` stay", "__init__ and **kw stay"),
    ],
)
def test_inline_marks_go(line: str, plain: str) -> None:
    assert without_markup(line) == plain


@pytest.mark.parametrize(
    "line",
    [
        "2**3 and 4**5",
        "a ** b ** c",
        "__init__ is a method",
        "snake__case__name",
        "**never closed",
        "one ` alone",
        r"\\**not bold**",
        "*slanted* and _so_",
        "the value `a[1]` of it",
        "[`1`] is code",
        "[**1**]",
        "",
    ],
)
def test_what_is_no_pair_of_marks_or_would_become_a_citation_stays(line: str) -> None:
    assert without_markup(line) == line


@given(st.text("ab 1[]*_`【】", max_size=40))
def test_no_citation_appears_and_nothing_but_marks_goes(line: str) -> None:
    got = without_markup(line)
    if got != line:
        assert not parse_citations(got, 0).marks
    kept = "".join(c for c in got if c not in "*_` ")
    assert kept == "".join(c for c in line if c not in "*_` ")
