from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableFile
from core.ingest.parsers.table import FIELD_MAX, ROWS_MAX, DelimitedParser, RecordsParser
from core.ports import ParsedDocument

Check = Callable[[ParsedDocument], ParsedDocument]


def table(source: str, name: str = "a.csv") -> ParsedDocument:
    return DelimitedParser().parse(Path(name), source.encode())


def records(source: str, name: str = "a.jsonl") -> ParsedDocument:
    return RecordsParser().parse(Path(name), source.encode())


def test_one_line_a_row(checked: Check) -> None:
    parsed = checked(table('name,limit\n"Smith, J.",3\n"two\nlines",4\n\nshort\n'))
    assert parsed.text == "name | limit\nSmith, J. | 3\ntwo lines | 4\nshort"
    assert [block.kind for block in parsed.blocks] == ["table", "row", "row", "row", "row"]
    assert parsed.blocks[2].provenance == {"lines": ((2, 2),)}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a;b\n1,5;2\n", "a | b\n1,5 | 2"),
        ("a\tb\n1, 2\t3\n", "a | b\n1, 2 | 3"),
        ("a|b\n1|2\n", "a | b\n1 | 2"),
        ("sep=;\na;b\n", "a | b"),
        ("one column\nonly\n", "one column\nonly"),
        ('q;"a;b"\n1;2\n', "q | a;b\n1 | 2"),
        ("a,,c,\n,b,,\n", "a |  | c\n | b"),
    ],
)
def test_delimiters(source: str, text: str) -> None:
    # leading empty cells keep their place, the very start of a line loses only its space
    assert [line.strip() for line in table(source).text.split("\n")] == [line.strip() for line in text.split("\n")]


def test_tabs_divide_tsv_whatever_else_is_there() -> None:
    assert table("a,b\tc\n1,2\t3\n", "a.tsv").text == "a,b | c\n1,2 | 3"


def test_a_stray_quotation_mark_swallows_nothing() -> None:
    assert table('size,n\n"5 inch,1\n6 inch,2\n').text == 'size | n\n"5 inch | 1\n6 inch | 2'
    assert table('"x\t1\n"y\t2\n', "a.tsv").text == '"x | 1\n"y | 2'


def test_limits() -> None:
    with pytest.raises(UnreadableFile, match="field"):
        table("a,b\n1," + "x" * (FIELD_MAX + 1))
    with pytest.raises(UnreadableFile, match="rows"):
        table("a\n" * (ROWS_MAX + 1))


def test_records_are_lines_of_keys_and_values(checked: Check) -> None:
    parsed = checked(records('{"a": 1.10, "b": {"c": [1, "x"], "d": null}}\n\n{"a": true, "e": [{"f": 1}, 2]}\n'))
    assert parsed.text == "a: 1.10\nb.c: 1; x\n\na: true\ne[1].f: 1\ne[2]: 2"
    assert [block.kind for block in parsed.blocks] == ["table", "row", "row"]


def test_long_records_are_text_to_be_divided(checked: Check) -> None:
    parsed = checked(records(json.dumps({"id": "1", "text": "long " * 400}) + '\n{"id": "2"}'))
    assert {block.kind for block in parsed.blocks} == {"list"}


def test_json_as_list_as_envelope_and_as_one(checked: Check) -> None:
    rows = [{"id": 1}, {"id": 2}]
    for value in (rows, {"data": rows}):
        assert checked(records(json.dumps(value), "a.json")).text == "id: 1\n\nid: 2"
    assert records('{"a": 1, "b": [1, 2]}', "a.json").text == "a: 1\nb: 1; 2"
    assert records('["x", "y"]', "a.json").text == "x\n\ny"


def test_a_lone_surrogate_does_not_reach_the_text() -> None:
    parsed = records('{"a": "\\ud800"}')
    assert parsed.text == "a: \ufffd" and parsed.warnings


@pytest.mark.parametrize(
    ("name", "source", "why"),
    [
        ("a.jsonl", '{"a": 1}\n{"a":', "not JSON: line 2, column 6: expecting value$"),
        ("a.jsonl", '\n{"a": 1} x\n', "not JSON: line 2, column 10: extra data$"),
        ("a.jsonl", "{}\n" + "[" * 100_000, "not JSON: line 2: nested too deeply$"),
        ("a.json", "[" * 100_000, "not JSON: nested too deeply$"),
        ("a.json", "[]", "empty"),
        ("a.jsonl", "null\n{}\n", "empty"),
    ],
)
def test_bad_json_is_refused(name: str, source: str, why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        records(source, name)


@pytest.mark.parametrize(("name", "source"), [("a.jsonl", '{"a": 1}\n{"a": x}\n'), ("a.json", '{"a": 1,\n "b": x}\n')])
def test_a_mistake_in_json_has_one_place(name: str, source: str) -> None:
    with pytest.raises(UnreadableFile) as raised:
        records(source, name)
    assert raised.value.reason.count("line 2") == raised.value.reason.count("line") == 1
    assert "column 7" in raised.value.reason and "char" not in raised.value.reason


@pytest.mark.parametrize(
    ("source", "first", "lines"),
    [
        ('size,n\n"5 inch,1\n6 inch,2\n', 2, "in 1 line"),
        ('\n\nsize,n\n\nx,1\n"5 inch,1\n6" wide,2\n', 6, "in 2 lines"),
        ('sep=,\na,b\n"1,2\n', 3, "in 1 line"),
        ('a,b\n"x\ny",1\n"z"z,2\n', 4, "in 3 lines"),
    ],
)
def test_a_quotation_mark_that_nothing_closes_is_said(source: str, first: int, lines: str) -> None:
    warnings = [warning for warning in table(source).warnings if "quotation" in warning]
    assert len(warnings) == 1
    assert warnings[0].startswith(f"line {first}: ") and f" {lines};" in warnings[0]


@pytest.mark.parametrize(
    ("source", "warning"),
    [
        ("a,b\n1,2\n3\n4,5,6\n", "line 3: 2 rows have more or fewer cells than the header, beginning there"),
        ('\na,b\n"1\n1",2\n3\n', "line 5: 1 row has more or fewer cells than the header, beginning there"),
        ("sep=;\na;b\n1;2;3\n", "line 3: 1 row has more or fewer cells than the header, beginning there"),
    ],
)
def test_rows_of_another_width_are_said(source: str, warning: str) -> None:
    assert table(source).warnings == (warning,)


@pytest.mark.parametrize(
    "source",
    ["a,b\n1,2\n", "a,b\n1,2,,\n\n,,,\n3,4\n", 'a,b\n"1, ""x""\ny",2\n', "a,\n1,\n", "one\ntwo\n", 'a,b\n5",2\n'],
)
def test_a_table_in_order_has_no_warnings(source: str) -> None:
    assert table(source).warnings == ()


@given(st.lists(st.lists(st.text(alphabet='ab ,;"\n中', max_size=6), min_size=1, max_size=4), min_size=1, max_size=6))
def test_no_value_is_lost_and_order_stays(rows: list[list[str]]) -> None:
    quoted = "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)
    values = [" ".join(cell.split()) for row in rows for cell in row if cell.strip()]
    if not values:
        return
    parsed = table(quoted + "\n")
    # whichever delimiter is seen, every word stays, in order
    words = "".join("".join(values).split())
    kept = [c for c in parsed.text if c in "ab中"]
    assert kept == [c for c in words if c in "ab中"]
