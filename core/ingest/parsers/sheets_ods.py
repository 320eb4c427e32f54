"""Sheets of an ODS workbook as displayed: the file holds the text of every cell as it was shown when it was saved.

Left out and counted: hidden and filtered rows, hidden columns and sheets, cells that show nothing, text in the colour
of its ground (as far as the cell's own style tells). Left out: comments, drawings, charts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lxml import etree

from core.errors import UnreadableFile
from core.ingest.parsers.docx_xml import whole
from core.ingest.parsers.sheets_grid import COLUMNS_MAX, Columns, Counts, Grid, Sheet
from core.ingest.parsers.sheets_styles import is_same
from core.ingest.parsers.sheets_xml import local, pieces
from core.ingest.parsers.zip_guard import Container

_CONTENT, _MANIFEST = "content.xml", "META-INF/manifest.xml"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_GROUPS = frozenset(
    "table table-rows table-header-rows table-row-group table-columns table-header-columns table-column-group".split()
)
_SPACES = frozenset({"s", "tab", "line-break"})


def is_ods(container: Container) -> bool:
    return _CONTENT in container.names


def read_ods(container: Container, path: str, counts: Counts) -> Iterator[Sheet]:
    """The sheets that are shown, in order. Raises UnreadableFile."""
    if _MANIFEST in container.names and b"encryption-data" in container.read(_MANIFEST):
        raise UnreadableFile(path, "protected by a password", "save it without one")
    styles = _Styles()
    sheet: _SheetReader | None = None
    tags = ("style", "table-column", "table-row", "table")
    for element in pieces(path, _CONTENT, container.read(_CONTENT), *tags):
        name = local(element)
        if name == "style":
            styles.add(element)
        elif _is_nested(element):
            continue
        elif name == "table":
            sheet = sheet or _SheetReader(styles, counts)
            if element.get(f"{_TABLE}style-name", "") in styles.hidden_tables:
                counts.hidden_sheets += 1
            else:
                yield Sheet(element.get(f"{_TABLE}name", ""), sheet.finish().rows)
            sheet = None
        else:
            sheet = sheet or _SheetReader(styles, counts)
            if name == "table-column":
                sheet.column(element)
            else:
                sheet.row(element)


def _is_nested(element: etree._Element) -> bool:
    """Whether it belongs to a table in a cell, in a drawing or among recorded changes."""
    parent = element.getparent()
    while parent is not None and local(parent) in _GROUPS:
        parent = parent.getparent()
    return parent is None or local(parent) != "spreadsheet"


class _Styles:
    """Of the styles that cells and tables name, what hides them."""

    def __init__(self) -> None:
        self.unseen: set[str] = set()
        self.hidden_tables: set[str] = set()

    def add(self, style: etree._Element) -> None:
        name = style.get(f"{_STYLE}name", "")
        table = style.find(f"{_STYLE}table-properties")
        if table is not None and table.get(f"{_TABLE}display") == "false":
            self.hidden_tables.add(name)
        text, cell = style.find(f"{_STYLE}text-properties"), style.find(f"{_STYLE}table-cell-properties")
        if text is None:
            return
        ground = cell.get(f"{_FO}background-color", "transparent") if cell is not None else "transparent"
        ground = "FFFFFF" if ground == "transparent" else ground.lstrip("#").upper()
        if is_same(text.get(f"{_FO}color", "").lstrip("#").upper(), ground):
            self.unseen.add(name)


class _SheetReader:
    """Reads one sheet: its columns, then its rows."""

    def __init__(self, styles: _Styles, counts: Counts) -> None:
        self._styles = styles
        self._counts = counts
        self._columns = Columns()
        self._grid = Grid(counts, self._columns)
        self._next_column = 0
        self._next_row = 0
        self._hidden_columns: set[int] = set()
        self._default_styles: list[tuple[int, int, str]] = []

    def finish(self) -> Grid:
        self._counts.hidden_columns += len(self._hidden_columns)
        return self._grid

    def column(self, element: etree._Element) -> None:
        first = self._next_column
        self._next_column = min(first + _repeated(element, "columns"), COLUMNS_MAX)
        if _is_hidden(element):
            self._columns.hide(first, self._next_column - 1)
        style = element.get(f"{_TABLE}default-cell-style-name", "")
        if style in self._styles.unseen:
            self._default_styles.append((first, self._next_column, style))

    def row(self, element: etree._Element) -> None:
        first = self._next_row
        times = _repeated(element, "rows")
        self._next_row += times
        if _is_hidden(element):
            hidden = any(_cell_text(cell) for cell in element)
            self._counts.hidden_rows += times if hidden else 0
            self._grid.skip(times)
            return
        row_style = element.get(f"{_TABLE}default-cell-style-name", "")
        cells = self._cells(first, element, row_style)
        if not cells:
            return
        if times > 1:  # to refuse what is too much before it is laid out
            replace(self._counts).spend(times, times * len(cells))
        for number in range(first, first + times):
            self._grid.add(number, cells)

    def _cells(self, row: int, element: etree._Element, row_style: str) -> dict[int, str]:
        cells: dict[int, str] = {}
        column = 0
        for cell in element:
            times = _repeated(cell, "columns")
            text = _cell_text(cell) if len(cell) else ""
            if text or cell.get(f"{_TABLE}formula"):
                self._cell(row, column, cell, text, row_style, cells, min(times, COLUMNS_MAX - column))
            column += times
        return cells

    def _cell(
        self, row: int, column: int, cell: etree._Element, text: str, row_style: str, cells: dict[int, str], times: int
    ) -> None:
        if not text:
            has_value = any(
                cell.get(f"{_OFFICE}{name}") for name in ("value", "string-value", "date-value", "time-value")
            )
            self._counts.invisible_cells += has_value
            self._counts.formulas_without_value += not has_value and cell.get(f"{_OFFICE}value-type") is None
            return
        for place in range(column, column + times):
            if self._columns.place(place) is None:
                self._hidden_columns.add(place)
            elif self._is_unseen(cell, place, row_style):
                self._counts.invisible_cells += 1
            else:
                cells[place] = text
        height, width = _repeated(cell, "rows", "spanned"), _repeated(cell, "columns", "spanned")
        if times == 1:
            self._grid.merge((row, column, row + height - 1, min(column + width, COLUMNS_MAX) - 1))

    def _is_unseen(self, cell: etree._Element, column: int, row_style: str) -> bool:
        style = cell.get(f"{_TABLE}style-name") or row_style
        if style:
            return style in self._styles.unseen
        return any(first <= column < end for first, end, _ in self._default_styles[:100])


def _cell_text(cell: etree._Element) -> str:
    """Empty for a cell that another one covers."""
    if local(cell) != "table-cell":
        return ""
    lines = []
    for paragraph in cell.iterfind(f"{_TEXT}p"):
        parts = [paragraph.text or ""]
        for item in paragraph.iterdescendants():
            if local(item) in _SPACES:
                parts.append(" ")
            elif item.text and not _is_note(item, paragraph):
                parts.append(item.text)
            if item.tail and not _is_note(item.getparent(), paragraph):
                parts.append(item.tail)
        lines.append("".join(parts))
    return " ".join(" ".join(lines).split())


def _is_note(item: etree._Element | None, paragraph: etree._Element) -> bool:
    while item is not None and item is not paragraph:
        if item.tag == f"{_OFFICE}annotation":
            return True
        item = item.getparent()
    return False


def _is_hidden(element: etree._Element) -> bool:
    if element.get(f"{_TABLE}visibility", "visible") != "visible":
        return True
    parent = element.getparent()
    return parent is not None and parent.get(f"{_TABLE}display") == "false"


def _repeated(element: etree._Element, what: str, how: str = "repeated") -> int:
    return max(whole(element.get(f"{_TABLE}number-{what}-{how}")) or 1, 1)
