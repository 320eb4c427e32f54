from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xlsxwriter import Workbook

from core.errors import UnreadableFile
from core.ingest.parsers.sheets import SheetParser
from core.ingest.parsers.sheets_grid import REPEATED_MAX, ROWS_MAX, Columns, Counts, Grid
from core.ingest.parsers.sheets_xls import WARNING
from core.ports import ParsedDocument
from tests.support.spreadsheets import compound_file, ods, rows_xlsx, sheet_xml, with_parts, xls, xlsx

Check = Callable[[ParsedDocument], ParsedDocument]
SHEET = "xl/worksheets/sheet1.xml"


def sheets(data: bytes, name: str = "a.xlsx") -> ParsedDocument:
    return SheetParser().parse(Path(name), data)


def made(fill: Callable[[Workbook, Any], object], name: str = "Prices") -> ParsedDocument:
    """A workbook of one sheet."""
    return sheets(xlsx(lambda book: fill(book, book.add_worksheet(name))))


def by_hand(content: str, before: str = "", after: str = "") -> bytes:
    return with_parts(rows_xlsx([["x"]], "Sheet1"), {SHEET: sheet_xml(content, before, after)})


def test_rows_in_their_places(checked: Check) -> None:
    rows = [
        ["item", "", "price"],
        ["tea", None, 3],
        [None, "cup"],
        [None, None, 5],
        [],
        ["next", "table"],
        ["a|b", " c\nd "],
    ]
    parsed = checked(sheets(rows_xlsx(rows)))
    assert parsed.text.split("\n") == [
        *("Prices", "", "item |  | price", "tea |  | 3", " | cup", " |  | 5", "", "next | table", "a|b | c d")
    ]
    kinds = [block.kind for block in parsed.blocks]
    assert kinds == ["heading", "table", *["row"] * 4, "table", *["row"] * 2]
    assert parsed.title == "a" and parsed.warnings == ()
    assert parsed.blocks[2].provenance == {"sheet": ("Prices",), "section": ("Prices",), "lines": ((3, 3),)}


def test_headings_where_a_name_means_something() -> None:
    assert sheets(rows_xlsx([["a", "b"]], "Sheet1")).text == "a | b"
    assert sheets(rows_xlsx([["a", "b"]], "工作表1")).text == "a | b"
    assert sheets(rows_xlsx([["a", "b"]], "Costs")).text == "Costs\n\na | b"

    def two(book: Workbook) -> None:
        for name in ("Sheet1", "Sheet2", "Empty"):
            page = book.add_worksheet(name)
            if name != "Empty":
                page.write(0, 0, f"on {name}")

    parsed = sheets(xlsx(two))
    assert parsed.text == "Sheet1\n\non Sheet1\n\nSheet2\n\non Sheet2"
    assert [block.provenance["sheet"] for block in parsed.blocks] == [("Sheet1",)] * 2 + [("Sheet2",)] * 2


def test_lines_around_a_table_are_paragraphs(checked: Check) -> None:
    note = "(a) " + "words " * 20
    rows = [["Price list"], ["in CHF"], ["item", "price"], ["tea", 3], ["Total"], [note], [], ["alone"]]
    parsed = checked(sheets(rows_xlsx(rows, "Sheet1")))
    kinds = [block.kind for block in parsed.blocks]
    assert kinds == ["paragraph", "paragraph", "table", "row", "row", "paragraph", "paragraph", "paragraph"]
    column = checked(sheets(rows_xlsx([["a"], ["b"], ["c"], ["d"]], "Sheet1")))
    assert [block.kind for block in column.blocks] == ["table", *["row"] * 4]


def test_merged_cells_stand_wherever_they_reach(checked: Check) -> None:
    def fill(_: Workbook, page: Any) -> None:
        page.merge_range("A1:D1", "Title")
        page.merge_range("B2:C2", "2026")
        page.write("A2", "region")
        page.write("D2", "note")
        page.merge_range("A3:A6", "north")
        for row, value in ((3, 1), (4, 2), (6, 3)):
            page.write(f"B{row}", value)
        page.write("A7", "south")

    parsed = checked(made(fill, "Sheet1"))
    assert parsed.text.split("\n") == [
        *("Title", "", "region | 2026 | 2026 | note", "north | 1", "north | 2", "north | 3", "south")
    ]


def test_numbers_dates_and_other_values_as_displayed() -> None:
    def fill(book: Workbook, page: Any) -> None:
        formats = ["#,##0.00", "0.0%", "dd.mm.yyyy", "[$€-407] #,##0", "h:mm", "0000"]
        values = [1234.5, 0.256, date(2026, 12, 1), 5000, 0.75, 7]
        for column, (value, code) in enumerate(zip(values, formats, strict=True)):
            page.write(0, column, value, book.add_format({"num_format": code}))
        page.write_row(1, 0, [0.1, 1e6, True, "1e5", "007"])
        page.write_formula(1, 5, "=A2", None, 0.1)
        page.write_formula(1, 6, '="a"', None, "a")
        page.write_formula(1, 7, "=1/0", None, "#DIV/0!")

    assert made(fill).text.split("\n")[2:] == [
        "1234.50 | 25.6% | 01.12.2026 | € 5000 | 18:00 | 0007",
        "0.1 | 1000000 | TRUE | 1e5 | 007 | 0.1 | a | #DIV/0!",
    ]


def test_what_is_hidden_is_left_out_and_counted(checked: Check) -> None:
    def fill(book: Workbook) -> None:
        page = book.add_worksheet("Sheet1")
        white = book.add_format({"font_color": "#FFFFFF"})
        page.write_row(0, 0, ["name", "secret column", "price"])
        page.set_column(1, 1, None, None, {"hidden": True})
        page.write_row(1, 0, ["secret row"])
        page.set_row(1, None, None, {"hidden": True})
        page.write(2, 0, "shown")
        page.write(2, 2, "secret format", book.add_format({"num_format": ";;;"}))
        page.write(3, 0, "secret white", white)
        page.write(3, 2, "white on black", book.add_format({"font_color": "#FFFFFF", "bg_color": "#000000"}))
        page.write(4, 2, "secret black", book.add_format({"font_color": "#000000", "bg_color": "#000000"}))
        page.write_rich_string(5, 0, "seen ", white, "secret run", " too")
        page.write(6, 0, "secret size", book.add_format({"font_size": 1}))
        page.write_comment(2, 0, "secret comment")
        for name, state in (("H", "hide"), ("V", "very_hidden")):
            other = book.add_worksheet(name)
            other.write(0, 0, "secret sheet")
            getattr(other, state)()

    parsed = checked(sheets(xlsx(fill)))
    assert parsed.text.split("\n") == ["name | price", "shown", " | white on black", "", "seen too"]
    assert parsed.warnings == ("left out 2 hidden sheets, 1 hidden row, 1 hidden column, 5 cells that show nothing",)


def test_white_on_a_ground_that_styles_do_not_tell_of_is_kept() -> None:
    def fill(book: Workbook, page: Any) -> None:
        white = book.add_format({"font_color": "white"})
        page.add_table("A1:B2", {"columns": [{"header": "item", "header_format": white}, {"header": "price"}]})
        page.write_row(1, 0, ["tea", 3])
        page.write(3, 0, "warm", white)
        page.conditional_format("A4", {"type": "no_blanks", "format": book.add_format({"bg_color": "red"})})

    parsed = made(fill, "Sheet1")
    assert parsed.text == "item | price\ntea | 3\n\nwarm" and parsed.warnings == ()


def test_hidden_rows_and_thin_ones_part_nothing() -> None:
    rows = '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row><row r="2" ht="4.5"/>'
    rows += '<row r="3"><c r="A3"><v>3</v></c><c r="B3"><v>4</v></c></row><row r="4" hidden="1"/>'
    rows += '<row r="5"><c r="A5"><v>5</v></c><c r="B5"><v>6</v></c></row><row r="6" ht="15"/>'
    assert sheets(by_hand(rows + '<row r="7"><c r="B7"><v>7</v></c></row>')).text == "1 | 2\n3 | 4\n5 | 6\n\n7"


def test_formulas_without_values_are_reported() -> None:
    rows = '<row><c><v>1</v></c><c><f>A1*2</f></c><c t="str"><f>""</f><v></v></c></row>'
    parsed = sheets(by_hand(rows))
    assert parsed.text == "1"
    assert parsed.warnings == ("1 formula without a stored value: open and save it in a spreadsheet program",)


def test_cells_without_references_inline_texts_and_escapes() -> None:
    cell = '<c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r><rPh sb="0" eb="1"><t>READING</t></rPh></is></c>'
    rows = f'<row><c t="str"><v>a_x000a_b</v></c>{cell}<c t="d"><v>2026-12-01</v></c><c t="s"><v>99</v></c></row>'
    assert sheets(by_hand(rows)).text == "a b | inline | 2026-12-01"


def test_other_kinds_of_sheets_are_counted() -> None:
    def fill(book: Workbook) -> None:
        book.add_worksheet("Sheet1").write(0, 0, 1)
        chart = book.add_chart({"type": "line"})
        chart.add_series({"values": "=Sheet1!$A$1"})
        book.add_chartsheet("Chart").set_chart(chart)

    assert sheets(xlsx(fill)).warnings == ("left out 1 sheet without cells",)


@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.integers(-999, 999), st.text(alphabet="ab中", max_size=3)), max_size=5),
        min_size=1,
        max_size=6,
    )
)
def test_every_cell_comes_out_in_order(rows: list[list[Any]]) -> None:
    values = [str(cell) for row in rows for cell in row if cell not in (None, "")]
    if not values:
        with pytest.raises(UnreadableFile, match="no value"):
            sheets(rows_xlsx(rows, "Sheet1"))
        return
    assert sheets(rows_xlsx(rows, "Sheet1")).text.replace("|", " ").split() == values


# ODS and XLS


def test_ods_as_displayed(checked: Check) -> None:
    def cell(text: str, more: str = "") -> str:
        return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"

    def row(cells: str, more: str = "") -> str:
        return f"<table:table-row {more}>{cells}</table:table-row>"

    styles = (
        '<style:style style:name="w"><style:text-properties fo:color="#ffffff"/></style:style>'
        '<style:style style:name="t"><style:table-properties table:display="false"/></style:style>'
    )
    empty = "<table:table-cell/>"
    note = "<table:table-cell><office:annotation><text:p>secret note</text:p></office:annotation><text:p>b</text:p>"
    covered = "<table:covered-table-cell/>"
    content = (
        '<table:table table:name="Prices"><table:table-column/><table:table-column table:visibility="collapse"/>'
        '<table:table-column table:number-columns-repeated="16382"/>'
        + row(cell("a<text:s/>1") + cell("secret column") + note + "</table:table-cell>")
        + row(cell("secret row"), 'table:visibility="filter"')
        + row(cell("secret white", 'table:style-name="w"') + empty + cell("€ 1.50", 'office:value="1.5"'))
        + row(cell("x") + empty + cell("y"), 'table:number-rows-repeated="2"')
        + row(empty, 'table:number-rows-repeated="3"')
        + row(cell("n", 'table:number-rows-spanned="2"') + empty + cell("1"))
        + row(covered + empty + cell("2") + '<table:table-cell table:formula="of:=1"/>')
        + row('<table:table-cell table:number-columns-repeated="16384"/>', 'table:number-rows-repeated="1048000"')
        + '</table:table><table:table table:name="Hidden" table:style-name="t">'
        + row(cell("secret sheet"))
        + "</table:table>"
    )
    parsed = checked(sheets(ods(content, styles), "a.ods"))
    assert parsed.text.split("\n") == ["Prices", "", "a 1 | b", " | € 1.50", "x | y", "x | y", "", "n | 1", "n | 2"]
    assert parsed.warnings == (
        "left out 1 hidden sheet, 1 hidden row, 1 hidden column, 1 cell that shows nothing",
        "1 formula without a stored value: open and save it in a spreadsheet program",
    )


def test_xls(checked: Check) -> None:
    rows: list[list[str | float]] = [["名称", "price"], ["tea", 2.5], ["cup", 3.0]]
    data = xls({"Prices": rows, "Hidden": [["secret"]]}, hidden=["Hidden"])
    parsed = checked(sheets(data, "a.xls"))
    assert parsed.text == "Prices\n\n名称 | price\ntea | 2.5\ncup | 3"
    assert parsed.warnings == ("left out 1 hidden sheet", WARNING)


# Hostile files


def repeated_rows(count: int) -> str:
    return "".join(f"<row><c><v>{number}</v></c></row>" for number in range(count))


BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
WIDE = '<row><c r="A{0}"><v>1</v></c><c r="XFD{0}"><v>1</v></c></row>'


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: b"", "empty"),
        (lambda: rows_xlsx([["x"]])[:2000], "damaged"),
        (lambda: b"%PDF-1.7", "it is a PDF"),
        (lambda: b"a,b\n1,2\n", "not what its extension says"),
        (lambda: compound_file("EncryptedPackage", b"x" * 5000), "password"),
        (lambda: with_parts(rows_xlsx([["x"]]), {"xl/sharedStrings.xml": lambda old: BOMB + old}), "document type"),
        (lambda: with_parts(rows_xlsx([["x"]]), {SHEET: b"<worksheet>" + b" " * 90_000_000}), "200 times"),
        (lambda: with_parts(rows_xlsx([["x"]]), {SHEET: lambda old: old[:-30]}), "not well-formed"),
        (lambda: with_parts(rows_xlsx([["x"]]), {SHEET: lambda old: old.decode().encode("utf-16")}), "UTF-8"),
        (lambda: with_parts(rows_xlsx([["x"]]), {"_rels/.rels": b"<Relationships/>"}), "no Office document"),
        (lambda: by_hand('<row><c r="XFE1"><v>1</v></c></row>'), "outside the sheet"),
        (lambda: by_hand('<row r="1048577"><c><v>1</v></c></row>'), "outside the sheet"),
        (lambda: by_hand("".join(WIDE.format(row) for row in range(1, 400))), "more than 5,000,000 cells"),
        (lambda: by_hand("<row>" + "".join(f'<c s="{n}"/>' for n in range(1_100_000)) + "</row>"), "tags"),
        (lambda: by_hand("<row/>"), "no value"),
    ],
)
def test_hostile_xlsx_is_refused(make: Callable[[], bytes], why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        sheets(make())


def test_rows_are_limited_over_all_sheets() -> None:
    counts = Counts("a.xlsx", rows=ROWS_MAX - 1)
    Grid(counts, Columns()).add(0, {0: "last"})
    with pytest.raises(UnreadableFile, match="more than 200,000 rows"):
        Grid(counts, Columns()).add(0, {0: "one more"})


def test_the_far_corner_costs_nothing() -> None:
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    assert sheets(by_hand(rows)).text == "1\n\n2"


def test_merged_cells_beyond_the_limit_stand_once() -> None:
    merged = "".join(f'<mergeCell ref="A{row}:XFD1048576"/>' for row in range(1, 5))
    parsed = sheets(by_hand(repeated_rows(1000), after=f"<mergeCells>{merged}</mergeCells>"))
    assert len(parsed.text) < 20 * REPEATED_MAX
    assert any("are merged" in warning for warning in parsed.warnings)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(5000), "damaged"),
        (compound_file("EncryptedPackage", b"x" * 5000), "damaged|password"),
        (xls({"Sheet1": [["a"] * 10] * 20})[:3000], "damaged"),
        (b"<html><table><tr><td>1</table></html>", "HTML"),
        (b"", "empty"),
    ],
)
def test_hostile_xls_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        sheets(data, "a.xls")


def test_hostile_ods_is_refused() -> None:
    row = (
        '<table:table-row table:number-rows-repeated="{1}"><table:table-cell {0}><text:p>x</text:p></table:table-cell>'
    )
    wide = 'table:number-columns-repeated="16384"'
    for more, times, why in (("", 1_048_576, "200,000 rows"), (wide, 1_000, "5,000,000 cells")):
        with pytest.raises(UnreadableFile, match=why):
            sheets(
                ods(f'<table:table table:name="a">{row.format(more, times)}</table:table-row></table:table>'), "a.ods"
            )
    protected = with_parts(ods(""), {"META-INF/manifest.xml": b"<manifest:encryption-data/>"})
    with pytest.raises(UnreadableFile, match="password"):
        sheets(protected, "a.ods")


@given(st.binary(max_size=200), st.integers(0, 3000))
def test_no_damage_raises_anything_else(noise: bytes, place: int) -> None:
    whole = by_hand('<row r="1"><c r="A1" s="0"><v>1</v></c></row>')
    old = sheet_xml(
        '<row r="1"><c r="A1" s="0"><v>1</v></c></row>', after='<mergeCells><mergeCell ref="A1:B2"/></mergeCells>'
    )
    place %= len(old)
    damaged = with_parts(whole, {SHEET: old[:place] + noise + old[place + len(noise) :]})
    for data in (damaged, whole[:place] + noise + whole[place + len(noise) :]):
        try:
            sheets(data)
        except UnreadableFile:
            continue


# Public files


def test_public_workbooks(shared_data: Path, checked: Check) -> None:
    folder = shared_data / "documents"
    entries = [json.loads(line) for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines()]
    seen = 0
    for entry in entries:
        if not entry["file"].endswith(SheetParser.extensions):
            continue
        parsed = checked(sheets((folder / entry["file"]).read_bytes(), entry["file"]))
        row = " | ".join(entry["row"])
        assert any(line.replace(",", "").startswith(row) for line in parsed.text.split("\n"))
        assert [fact for fact in entry.get("facts", ()) if fact not in parsed.text] == []
        assert [text for text in entry.get("hidden", ()) if text in parsed.text] == []
        seen += 1
    assert seen
