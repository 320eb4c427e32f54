from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from core.ingest.parsers.docx_number_forms import written
from core.ingest.parsers.docx_numbers import Numbers
from tests.support.office import W, level, lists


def numbers(inner: str, style_lists: dict[str, str] | None = None) -> Numbers:
    return Numbers(etree.fromstring(f'<w:numbering xmlns:w="{W}">{inner}</w:numbering>'), style_lists)


def labels(counted: Numbers, *items: tuple[str, int]) -> list[str]:
    return [counted.label(*item).rstrip() for item in items]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("decimal", {1: "1", 12: "12"}),
        ("decimalZero", {1: "01", 12: "12"}),
        ("lowerRoman", {1: "i", 4: "iv", 9: "ix", 14: "xiv", 1994: "mcmxciv"}),
        ("upperRoman", {3: "III"}),
        ("lowerLetter", {1: "a", 26: "z", 27: "aa", 28: "bb", 53: "aaa"}),
        ("upperLetter", {2: "B"}),
        ("ordinal", {1: "1st", 2: "2nd", 3: "3rd", 11: "11th", 21: "21st", 112: "112th"}),
        ("chineseCounting", {1: "一", 10: "十", 11: "十一", 20: "二十", 101: "一百零一", 1020: "一千零二十"}),
        ("chineseCountingThousand", {110: "一百一十", 2005: "二千零五"}),
        ("japaneseCounting", {15: "十五"}),
        ("ideographDigital", {10: "一〇"}),
        ("chineseLegalSimplified", {3: "叁", 10: "壹拾", 105: "壹佰零伍"}),
        ("ideographTraditional", {1: "甲", 10: "癸", 11: "11"}),
        ("ideographZodiac", {12: "亥"}),
        ("decimalEnclosedCircle", {1: "①", 20: "⑳", 21: "21"}),
        ("decimalFullWidth", {12: "１２"}),
        ("ganada", {2: "나"}),
        ("russianLower", {3: "в"}),
        ("notAForm", {7: "7"}),
    ],
)
def test_forms(form: str, expected: dict[int, str]) -> None:
    assert {number: written(number, form) for number in expected} == expected


@given(st.integers(-10, 20_000), st.sampled_from(["lowerRoman", "chineseCounting", "lowerLetter", "ganada", "ordinal"]))
def test_any_number_is_written_shortly(number: int, form: str) -> None:
    assert 0 < len(written(number, form)) < 40


def test_lower_levels_begin_anew() -> None:
    counted = numbers(lists(level(0, "%1.") + level(1, "%1.%2.") + level(2, "%3)", "lowerLetter")))
    assert labels(counted, *(("1", n) for n in (0, 1, 2, 2, 1, 2, 0, 1))) == [
        "1.", "1.1.", "a)", "b)", "1.2.", "a)", "2.", "2.1.",
    ]  # fmt: skip


def test_lists_of_one_definition_count_on_unless_they_begin_anew() -> None:
    anew = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    counted = numbers(lists(level(0, "%1."), "", "", anew))
    assert labels(counted, ("1", 0), ("2", 0), ("3", 0), ("3", 0), ("1", 0)) == ["1.", "2.", "5.", "6.", "7."]


def test_overrides_of_a_level() -> None:
    own = f'<w:lvlOverride w:ilvl="0">{level(0, "§%1", "upperRoman", 3)}</w:lvlOverride>'
    counted = numbers(lists(level(0, "%1."), own))
    assert labels(counted, ("1", 0), ("1", 0)) == ["§III", "§IV"]


def test_levels_that_never_begin_anew_and_digits_only() -> None:
    never = '<w:lvlRestart w:val="0"/>'
    counted = numbers(lists(level(0, "%1", "upperRoman") + level(1, "%1.%2", more=never + "<w:isLgl/>")))
    assert labels(counted, ("1", 0), ("1", 1), ("1", 0), ("1", 1)) == ["I", "1.1", "II", "2.2"]


def test_levels_that_begin_anew_after_a_certain_one() -> None:
    after_first = '<w:lvlRestart w:val="1"/>'
    counted = numbers(lists(level(0, "%1") + level(1, "%2") + level(2, "%3", more=after_first)))
    assert labels(counted, *(("1", n) for n in (0, 1, 2, 1, 2, 0, 1, 2))) == ["1", "1", "1", "2", "2", "2", "1", "1"]


def test_start_bullets_and_no_label() -> None:
    counted = numbers(lists(level(0, "%1", start=0) + level(1, "•", "bullet") + level(2, "", "none")))
    assert labels(counted, ("1", 0), ("1", 1), ("1", 2), ("1", 0)) == ["0", "-", "", "1"]
    assert counted.label("1", 7) == counted.label("99", 0) == ""


def test_what_parts_label_and_text() -> None:
    glued = numbers(lists(level(0, "第%1条", "chineseCounting", more='<w:suff w:val="nothing"/>')))
    assert glued.label("1", 0) == "第一条"
    assert numbers(lists(level(0, "%1"))).label("1", 0) == "1 "


def test_definitions_that_name_a_style() -> None:
    linked = (
        '<w:abstractNum w:abstractNumId="7"><w:numStyleLink w:val="S"/></w:abstractNum>'
        '<w:num w:numId="8"><w:abstractNumId w:val="7"/></w:num>'
    )
    counted = numbers(lists(level(0, "%1)")) + linked, {"S": "1"})
    assert labels(counted, ("8", 0), ("8", 0)) == ["1)", "2)"]
    loop = numbers(linked, {"S": "8"})
    assert loop.label("8", 0) == ""


def test_the_level_of_a_style() -> None:
    counted = numbers(lists(level(0, "%1") + level(1, "%2", more='<w:pStyle w:val="H2"/>')))
    assert counted.level_of_style("1", "H2") == 1
    assert counted.level_of_style("1", "other") == counted.level_of_style("9", "H2") == 0


def test_no_numbering_at_all() -> None:
    assert Numbers(None).label("1", 0) == ""
