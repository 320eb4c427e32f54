"""Sheets of an XLSX workbook as displayed: number formats applied; hidden sheets, rows and columns, and cells that
show nothing, left out and counted.

Also left out: comments, text boxes, charts, headers and footers for print. Cells inside tables of their own style or
with conditional formats are taken to be seen, whatever their font, since their ground is not known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml import etree

from core.errors import UnreadableFile
from core.ingest.parsers.docx_xml import whole
from core.ingest.parsers.number_format import shown_number, shown_text
from core.ingest.parsers.ooxml import Relation, main_part, reference, relations
from core.ingest.parsers.sheets_grid import COLUMNS_MAX, Columns, Counts, Grid, Range, Sheet
from core.ingest.parsers.sheets_styles import PLAIN, CellStyle, is_unseen_run, read_styles
from core.ingest.parsers.sheets_xml import local, pieces
from core.ingest.parsers.zip_guard import Container

_ON = frozenset({"1", "true", "on"})
_MERGED = re.compile(
    rb"<(?:[\w.-]+:)?mergeCell\s[^<>]*?ref\s*=\s*[\"']([A-Za-z]{1,3}\d{1,7}:[A-Za-z]{1,3}\d{1,7})[\"']"
)
_CONDITIONAL = re.compile(rb"<(?:[\w.-]+:)?conditionalFormatting\s[^<>]*?sqref\s*=\s*[\"']([^\"'<>]{1,5000})[\"']")
_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_ROWS_END = 1_048_576
_SPACER_POINTS = 7.0
"""A row up to this height parts nothing: it is there for looks."""
_GROUNDS_MAX = 64
_REMEMBERED_MAX = 50_000

Text = tuple[str, str]
"""All of it, and what can be seen where nothing is filled behind."""


@dataclass(frozen=True, slots=True)
class _Book:
    container: Container
    path: str
    counts: Counts
    styles: Sequence[CellStyle]
    texts: Sequence[Text]
    date_1904: bool


def read_xlsx(container: Container, path: str, counts: Counts) -> Iterator[Sheet]:
    """The sheets that are shown, in order. Raises UnreadableFile."""
    part = main_part(container, path)
    root = container.xml(part)
    if local(root) != "workbook":
        raise UnreadableFile(path, "not what its extension says: it is no workbook", "rename or convert it")
    parts = relations(container, part)
    properties = root.find("{*}workbookPr")
    date_1904 = properties is not None and properties.get("date1904") in _ON
    by_kind = {relation.kind: relation.target for relation in parts.values()}
    styles = read_styles(container.xml(by_kind["styles"])) if "styles" in by_kind else ()
    texts = _shared_texts(container, path, by_kind["sharedStrings"]) if "sharedStrings" in by_kind else ()
    book = _Book(container, path, counts, styles, texts, date_1904)
    for item in root.iterfind("{*}sheets/{*}sheet"):
        relation = parts.get(reference(item))
        if item.get("state", "visible") != "visible":
            counts.hidden_sheets += 1
        elif relation is None or relation.kind != "worksheet":
            counts.other_sheets += 1
        else:
            yield _SheetReader(book, relation).read(item.get("name", ""))


def _shared_texts(container: Container, path: str, part: str) -> tuple[Text, ...]:
    return tuple(_rich(item) for item in pieces(path, part, container.read(part), "si"))


def _rich(item: etree._Element) -> Text:
    """Without readings (furigana)."""
    everything, seen = [], []
    for child in item:
        run = local(child) == "r"
        source = child.find("{*}t") if run else child if local(child) == "t" else None
        if source is None or not source.text:
            continue
        everything.append(source.text)
        if not run or not is_unseen_run(child.find("{*}rPr")):
            seen.append(source.text)
    texts = ["".join(parts) for parts in (everything, seen)]
    whole_text, seen_text = (_ESCAPED.sub(_character, text) if "_x" in text else text for text in texts)
    return whole_text, seen_text


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


class _SheetReader:
    """Reads one sheet. Values are as stored until their style shows them."""

    def __init__(self, book: _Book, relation: Relation) -> None:
        self._book = book
        self._part = relation.target
        self._columns = Columns()
        self._grid = Grid(book.counts, self._columns)
        self._hidden_columns: set[int] = set()
        self._grounds: list[Range] = []
        """Where something may be filled that no cell's style tells of."""
        self._column_of: dict[str, int] = {}
        self._numbers: dict[tuple[int, str], str] = {}
        """How a style shows a number: dates and prices come again and again."""
        self._style_of = {str(number): PLAIN if style == PLAIN else style for number, style in enumerate(book.styles)}

    def read(self, name: str) -> Sheet:
        data = self._book.container.read(self._part)
        for match in _MERGED.finditer(data):
            self._grid.merge(_area(match[1].decode("ascii")))
        self._read_grounds(data)
        row = -1
        for element in pieces(self._book.path, self._part, data, "col", "row"):
            if local(element) == "col":
                self._read_column(element)
            else:
                row = max((whole(element.get("r")) or 0) - 1, row + 1)
                if row >= _ROWS_END:
                    raise self._beyond(f"row {row + 1}")
                self._read_row(row, element)
        self._book.counts.hidden_columns += len(self._hidden_columns)
        return Sheet(name, self._grid.rows)

    def _beyond(self, what: str) -> UnreadableFile:
        return UnreadableFile(
            self._book.path, f"{self._part} has a cell outside the sheet: {what[:40]}", "save it anew"
        )

    def _read_grounds(self, data: bytes) -> None:
        for match in _CONDITIONAL.finditer(data):
            self._grounds += [_area(area) for area in match[1].decode("ascii", "replace").split()[:_GROUNDS_MAX]]
            if len(self._grounds) > _GROUNDS_MAX:
                break
        for relation in relations(self._book.container, self._part).values():
            if relation.kind == "table" and len(self._grounds) < _GROUNDS_MAX:
                table = self._book.container.xml(relation.target)
                style = table.find("{*}tableStyleInfo")
                if style is not None and style.get("name"):
                    self._grounds.append(_area(table.get("ref", "")))
        del self._grounds[_GROUNDS_MAX:]

    def _read_column(self, element: etree._Element) -> None:
        if element.get("hidden") in _ON or _is_zero(element.get("width")):
            first, last = whole(element.get("min")), whole(element.get("max"))
            if first is not None and last is not None:
                self._columns.hide(first - 1, last - 1)

    def _read_row(self, row: int, element: etree._Element) -> None:
        hidden = element.get("hidden") in _ON or _is_zero(element.get("ht"))
        cells: dict[int, str] = {}
        column = -1
        for cell in element:
            reference = cell.get("r")
            column = self._column(reference) if reference else column + 1
            if hidden:
                if _has_value(cell):
                    self._book.counts.hidden_rows += 1
                    break
            elif len(cell):
                text = self._shown(cell, row, column)
                if text:
                    cells[column] = text
        if hidden or (not cells and _points(element.get("ht")) <= _SPACER_POINTS):
            self._grid.skip()
        else:
            self._grid.add(row, cells)

    def _column(self, reference: str) -> int:
        letters = reference.rstrip("0123456789")
        column = self._column_of.get(letters)
        if column is None:
            column = _column_number(letters)
            if not 0 <= column < COLUMNS_MAX:
                raise self._beyond(reference)
            self._column_of[letters] = column
        return column

    def _shown(self, cell: etree._Element, row: int, column: int) -> str:
        """What a cell displays; counts what it hides."""
        kind = cell.get("t", "n")
        value, has_formula, rich = "", False, None
        for child in cell:
            tag = child.tag
            if tag.endswith("}v"):
                value = child.text or ""
            elif tag.endswith("}f"):
                has_formula = True
            elif tag.endswith("}is"):
                rich = _rich(child)
        if rich is None and not value:
            self._book.counts.formulas_without_value += has_formula and kind != "str"
            return ""
        if self._columns.place(column) is None:
            self._hidden_columns.add(column)
            return ""
        style = self._style_of.get(cell.get("s", "0"), PLAIN)
        if kind == "n" and style is PLAIN and value.isascii() and value.isdigit() and len(value) <= 15:
            return value
        shown, cut = self._text(kind, value, rich, style, style.is_on_white)
        if (cut or style.is_unseen) and self._has_ground(row, column):
            shown, cut = self._text(kind, value, rich, style, False)
        elif style.is_unseen:
            shown, cut = "", bool(shown.strip())
        self._book.counts.invisible_cells += cut
        return shown

    def _text(self, kind: str, value: str, rich: Text | None, style: CellStyle, on_white: bool) -> tuple[str, bool]:
        """What is shown, and whether a part is not."""
        if kind == "s" and rich is None:
            index = whole(value.strip())
            rich = self._book.texts[index] if index is not None and 0 <= index < len(self._book.texts) else ("", "")
        elif kind == "str":
            value = _ESCAPED.sub(_character, value)
            rich = (value, value)
        if rich is not None:
            text = rich[1] if on_white else rich[0]
            shown = "" if style.form.hides_all else shown_text(text, style.form)
            return shown, text != rich[0] or (not shown and bool(text))
        if kind == "b":
            value = "TRUE" if value.strip() in _ON else "FALSE"
        if kind != "n":
            return ("" if style.form.hides_all else value), style.form.hides_all
        shown = self._number(value.strip(), style)
        return shown, not shown

    def _number(self, value: str, style: CellStyle) -> str:
        if style.form.is_general and value.isascii() and value.isdigit() and len(value) <= 15:
            return value
        key = (id(style), value)
        shown = self._numbers.get(key)
        if shown is None:
            shown = _formatted(value, style, self._book.date_1904)
            if len(self._numbers) < _REMEMBERED_MAX:
                self._numbers[key] = shown
        return shown

    def _has_ground(self, row: int, column: int) -> bool:
        return any(top <= row <= bottom and left <= column <= right for top, left, bottom, right in self._grounds)


def _formatted(value: str, style: CellStyle, date_1904: bool) -> str:
    try:
        number = float(value)
    except ValueError:
        return value
    return shown_number(number, style.form, date_1904) if math.isfinite(number) else value


def _has_value(cell: etree._Element) -> bool:
    return any((child.text or len(child)) for child in cell if local(child) in ("v", "is"))


def _column_number(letters: str) -> int:
    """From 0; -1: none."""
    number = 0
    for letter in letters.upper():
        if not "A" <= letter <= "Z" or len(letters) > 3:
            return -1
        number = number * 26 + ord(letter) - 64
    return number - 1


def _area(reference: str) -> Range:
    """`A1:B2` or `A1`; an empty area where it is neither."""
    corners = [_REFERENCE.fullmatch(corner) for corner in reference.split(":")[:2]]
    places = [(int(corner[2]) - 1, _column_number(corner[1])) for corner in corners if corner]
    if not places or len(places) < len(corners):
        return (0, 0, -1, -1)
    first, last = places[0], places[-1]
    return (*min(first, last), *max(first, last))


def _points(height: str | None) -> float:
    try:
        return float(height) if height else math.inf
    except ValueError:
        return math.inf


def _is_zero(size: str | None) -> bool:
    return _points(size) == 0
