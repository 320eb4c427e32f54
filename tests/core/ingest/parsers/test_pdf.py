from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import UnreadableFile
from core.ingest.parsers.pdf import PdfParser
from core.ports import ParsedDocument
from tests.support.pdf_writer import Pdf, lines, table, text

Check = Callable[[ParsedDocument], ParsedDocument]
FILLER = [
    "The quick brown fox jumps over the lazy dog and then",
    "it runs back across the field to where it began, as",
    "foxes tend to do when nobody looks after the chickens",
    "in the yard, which happens more often than one thinks.",
]
ROWS = [["Name", "Quantity", "Price"], ["Bolt", "4", "1.50"], ["Nut", "", "0.20"], ["Washer", "12", ""]]


def parse(data: bytes) -> ParsedDocument:
    return PdfParser().parse(Path("folder/paper.pdf"), data)


def one_page(content: bytes) -> ParsedDocument:
    pdf = Pdf()
    pdf.page(content)
    return parse(pdf.build())


def kinds(parsed: ParsedDocument) -> list[str]:
    return [block.kind for block in parsed.blocks]


def texts(parsed: ParsedDocument, kind: str) -> list[str]:
    return [parsed.text[block.start : block.end] for block in parsed.blocks if block.kind == kind]


def test_two_columns_are_read_one_after_the_other(checked: Check) -> None:
    left = [f"{line} left {number}" for number, line in enumerate(FILLER)]
    right = [f"{line} right {number}" for number, line in enumerate(FILLER)]
    rows = b"".join(
        text(50, 600 - 12 * number, left[number], 9) + text(310, 600 - 12 * number, right[number], 9)
        for number in range(4)
    )
    parsed = checked(one_page(text(50, 700, "A title across both columns of the page", 18) + rows))
    expected = [f"{side} {number}" for side in ("left", "right") for number in range(4)]
    places = [parsed.text.index(mark) for mark in expected]
    assert places == sorted(places)
    assert parsed.title == "A title across both columns of the page"


def test_headings_around_columns_are_not_of_them() -> None:
    columns = b"".join(
        lines(x, 700, [f"{line} {side}" for line in FILLER * 2], 9) for x, side in ((50, "L"), (310, "R"))
    )
    content = (
        text(50, 760, "Above it", 14, "F2") + columns + text(50, 560, "Below it", 14, "F2") + lines(50, 530, FILLER)
    )
    parsed = one_page(content)
    places = [parsed.text.index(part) for part in ("Above it", "then L", "then R", "Below it")]
    assert places == sorted(places) and texts(parsed, "heading") == ["Above it", "Below it"]


def test_rows_without_rules_stay_apart() -> None:
    cells = [("Item", "Q1", "Q2"), ("Coal", "1", "2"), ("Gas", "3", "4")]
    rows = [text(72 + 90 * column, 600 - 14 * row, cells[row][column]) for row in range(3) for column in range(3)]
    assert one_page(b"".join(rows)).text == "Item Q1 Q2\nCoal 1 2\nGas 3 4"


def test_a_paragraph_goes_on_in_the_next_column_and_on_the_next_page() -> None:
    first = [*FILLER[:3], "in the yard, where it hap-"]
    second = ["pens more often than one would think of such animals", *FILLER[:2]]
    second.append("and so the story goes on and on and on for ever and a")
    pdf = Pdf()
    pdf.page(lines(50, 600, first, 9) + lines(310, 600, second, 9))
    pdf.page(lines(50, 780, ["day until it ends here at last."], 9))
    parsed = parse(pdf.build())
    assert "where it happens more often than one would think" in parsed.text
    assert "for ever and a day until it ends" in parsed.text
    assert [block.provenance["pages"] for block in parsed.blocks] == [("1", "2")]


def test_words_and_tables_keep_their_places(checked: Check) -> None:
    content = lines(72, 760, FILLER) + table(72, 640, [120, 90, 90], ROWS) + lines(72, 500, FILLER[2:])
    parsed = checked(one_page(content))
    assert kinds(parsed) == ["paragraph", "table", *["row"] * 4, "paragraph"]
    assert texts(parsed, "row") == ["Name | Quantity | Price", "Bolt | 4 | 1.50", "Nut |  | 0.20", "Washer | 12"]


def test_plain_parse_gives_the_same_words_without_tables() -> None:
    pdf = Pdf()
    pdf.page(lines(72, 760, FILLER) + table(72, 640, [120, 90, 90], ROWS))
    plain = PdfParser().parse_plain(Path("paper.pdf"), pdf.build())
    assert "table" not in kinds(plain) and "Bolt 4 1.50" in plain.text
    assert plain.warnings == ("tables were not recognised: they are read line by line",)
    assert plain.text.split()[:20] == parse(pdf.build()).text.split()[:20]


def test_what_liteparse_takes_for_a_table_is_prose() -> None:
    cells = b"".join(
        text(x, 600 - 14 * row, word) for row in range(3) for x, word in ((72, "Some words"), (300, "and some others"))
    )
    parsed = one_page(lines(72, 760, FILLER) + cells)
    assert "row" not in kinds(parsed) and "Some words and some others" in parsed.text


def test_outline_gives_levels_and_sections() -> None:
    pdf = Pdf()
    pdf.page(text(72, 760, "Chapter 1", 16) + text(72, 735, "Overview", 16) + lines(72, 700, FILLER))
    pdf.page(text(72, 760, "2. Refunds and", 13) + text(72, 744, "returns", 13) + lines(72, 700, FILLER))
    pdf.outline([("Overview", 0), ("Refunds and returns", 1)])
    parsed = parse(pdf.build())
    assert texts(parsed, "heading") == ["Chapter 1 Overview", "2. Refunds and returns"]
    assert [block.level for block in parsed.blocks if block.kind == "heading"] == [1, 1]
    assert parsed.blocks[-1].provenance["section"] == ("2. Refunds and returns",)
    assert parsed.title == "Chapter 1 Overview"


def test_headings_without_an_outline() -> None:
    content = (
        text(72, 780, "Handbook of things", 20)
        + text(72, 740, "1 First matter", 14, "F2")
        + lines(72, 715, FILLER)
        + text(72, 640, "1.1 A part of it", 12, "F2")
        + lines(72, 615, FILLER)
        + text(72, 540, "Bold alone", 11, "F2")
        + lines(72, 515, FILLER)
    )
    parsed = one_page(content)
    found = [(block.level, parsed.text[block.start : block.end]) for block in parsed.blocks if block.kind == "heading"]
    assert found == [(1, "Handbook of things"), (2, "1 First matter"), (3, "1.1 A part of it"), (4, "Bold alone")]


def test_lists_code_and_labelled_lines() -> None:
    content = (
        lines(72, 780, FILLER)
        + text(72, 720, "\x95 one thing that is said")
        + text(90, 706, "\x95 a thing below it")
        + text(72, 692, "\x95 another thing")
        + lines(72, 660, ["def f(x):", "    return x"], 10, "F3")
        + lines(72, 620, ["Invoice: 12", "Date: 3 May", "Total: 9.50"])
    )
    parsed = one_page(content)
    assert kinds(parsed) == ["paragraph", "list", "code", "paragraph"]
    assert texts(parsed, "list") == ["- one thing that is said\n  - a thing below it\n- another thing"]
    assert texts(parsed, "code") == ["def f(x):\n    return x"]
    assert parsed.text.endswith("Invoice: 12\nDate: 3 May\nTotal: 9.50")


def test_pages_are_counted_whatever_is_printed_on_them() -> None:
    pdf = Pdf()
    for number in range(4):
        pdf.page(lines(72, 700, [f"Page with the word number{number} on it."]))
    pdf.labels("0 << /S /r >> 2 << /S /D /P (A-) >>")
    parsed = parse(pdf.build())
    assert [block.provenance["pages"] for block in parsed.blocks] == [("1",), ("2",), ("3",), ("4",)]


def test_running_titles_and_page_numbers_are_left_out() -> None:
    pdf = Pdf()
    for number in range(1, 6):
        head = text(72, 810, f"Annual report {2020}", 9) + text(300, 30, f"- {number} -", 9)
        pdf.page(head + lines(72, 700, [f"Matter {number} is told here.", *FILLER]))
    parsed = parse(pdf.build())
    assert "Annual report" not in parsed.text and "- 3 -" not in parsed.text
    assert all(f"Matter {number} is told" in parsed.text for number in range(1, 6))
    assert parsed.warnings == ("left out 10 repeated page headers and footers",)


def test_a_short_document_keeps_its_titles() -> None:
    pdf = Pdf()
    for number in range(1, 4):
        pdf.page(text(72, 810, "Annual report", 9) + lines(72, 700, [f"Matter {number}.", *FILLER]))
    assert parse(pdf.build()).text.count("Annual report") == 3


def test_cjk_lines_join_without_space() -> None:
    characters = "海洋深处的压力很大而且没有光线所以生物必须适应黑暗"
    pdf = Pdf(cjk=characters)
    pdf.page(
        text(72, 700, pdf.cjk(characters[:12]), 12, "C1")
        + text(72, 684, pdf.cjk(characters[12:24]), 12, "C1")
        + text(72, 668, pdf.cjk(characters[24:]), 12, "C1")
    )
    assert parse(pdf.build()).text == characters


def test_scanned_pages_are_named() -> None:
    pdf = Pdf()
    resources = f"/XObject << /I {pdf.picture()} 0 R >>"
    scan = b"q 595 0 0 842 0 0 cm /I Do Q\n"
    pdf.page(lines(72, 700, FILLER))
    for content in (scan, scan, b"", scan + text(500, 20, "ABC-0001", 7)):
        pdf.page(content, resources=resources)
    parsed = parse(pdf.build())
    assert parsed.warnings == ("pages 2–3, 5 have no text: they look like scans (needs OCR)",)


def test_a_scan_alone_is_refused() -> None:
    pdf = Pdf()
    pdf.page(b"q 595 0 0 842 0 0 cm /I Do Q", resources=f"/XObject << /I {pdf.picture()} 0 R >>")
    with pytest.raises(UnreadableFile, match="look like scans") as caught:
        parse(pdf.build())
    assert "recognition" in caught.value.remedy


def test_blank_pages_alone_are_refused() -> None:
    pdf = Pdf()
    pdf.page(b"")
    with pytest.raises(UnreadableFile, match="no text in it"):
        parse(pdf.build())


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_page_that_is_turned_as_a_whole(turn: int) -> None:
    """Its text is set so that it reads upright once the page is turned, as a scanner does it."""
    matrix = {0: "1 0 0 1 72 700", 90: "0 1 -1 0 100 72", 180: "-1 0 0 -1 500 100", 270: "0 -1 1 0 500 700"}[turn]
    content = f"q {matrix} cm\n".encode() + lines(0, 0, FILLER) + b"Q"
    pdf = Pdf()
    pdf.page(content, entries=f"/Rotate {turn}")
    assert parse(pdf.build()).text == " ".join(FILLER)


def test_text_along_the_margin_follows_the_rest() -> None:
    stamp = b"BT /F1 9 Tf 0 1 -1 0 30 200 Tm (Stamped along the side) Tj ET\n"
    parsed = one_page(stamp + lines(72, 700, FILLER))
    assert parsed.text == f"{' '.join(FILLER)}\n\nStamped along the side"


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("Annual review 2031", "Annual review 2031"),
        ("Microsoft Word - draft7.doc", "paper"),
        ("untitled", "paper"),
        ("12", "paper"),
        ("scan_0001.pdf", "paper"),
        ("", "paper"),
    ],
)
def test_title(stated: str, expected: str) -> None:
    pdf = Pdf(title=stated)
    pdf.page(lines(72, 700, FILLER))
    assert parse(pdf.build()).title == expected


def test_result_is_the_same_each_time() -> None:
    pdf = Pdf()
    pdf.page(lines(72, 760, FILLER) + table(72, 640, [120, 90, 90], ROWS))
    assert parse(pdf.build()) == parse(pdf.build())
