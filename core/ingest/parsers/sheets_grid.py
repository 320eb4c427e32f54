"""Cells of a sheet as rows of text, and its rows as tables: what the formats of spreadsheets have in common."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from core.errors import UnreadableFile
from core.ingest.builder import TextBuilder

AREA_MAX = 5_000_000
"""Cells of a workbook, with the empty ones between others in a row."""
ROWS_MAX = 200_000
COLUMNS_MAX = 16_384
REPEATED_MAX = 100_000
"""Cells of a workbook that repeat a merged one; beyond it merged cells stand once."""
_REPEATED_TEXT_MAX = 200
_TITLE_LINES_MAX = 3
_LINE_OF_TEXT = 80
"""Characters from which a line of one cell is text rather than a value."""

Range = tuple[int, int, int, int]
"""First row, first column, last row, last column, all from 0."""


@dataclass(slots=True)
class Counts:
    """Of one workbook: what was spent of its limits, and what was left out."""

    path: str
    area: int = 0
    rows: int = 0
    repeated: int = 0
    hidden_sheets: int = 0
    hidden_rows: int = 0
    hidden_columns: int = 0
    invisible_cells: int = 0
    formulas_without_value: int = 0
    other_sheets: int = 0

    def spend(self, rows: int, area: int) -> None:
        """Raises UnreadableFile beyond a limit."""
        self.rows += rows
        self.area += area
        if self.rows > ROWS_MAX:
            raise UnreadableFile(self.path, f"more than {ROWS_MAX:,} rows", "divide it into smaller files")
        if self.area > AREA_MAX:
            reason = f"more than {AREA_MAX:,} cells, with the empty ones between others"
            raise UnreadableFile(self.path, reason, "divide it into smaller files")

    def warnings(self) -> tuple[str, ...]:
        left_out = [
            _counted(self.hidden_sheets, "hidden sheet"),
            _counted(self.hidden_rows, "hidden row"),
            _counted(self.hidden_columns, "hidden column"),
            _counted(self.invisible_cells, "cell that shows nothing", "cells that show nothing"),
            _counted(self.other_sheets, "sheet without cells", "sheets without cells"),
        ]
        found = [f"left out {', '.join(filter(None, left_out))}"] if any(left_out) else []
        if self.formulas_without_value:
            formulas = _counted(self.formulas_without_value, "formula")
            found.append(f"{formulas} without a stored value: open and save it in a spreadsheet program")
        if self.repeated > REPEATED_MAX:
            found.append(f"more than {REPEATED_MAX:,} cells are merged: not all of them were repeated")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    """Among the rows that are shown."""
    first: int
    """Place of its first cell that is not empty, among the columns that are shown."""
    line: str
    """`a | b | c` from that cell on."""
    cells: int
    """How many hold a text of their own."""
    joined: bool
    """No blank row stands before it."""


@dataclass(frozen=True, slots=True)
class Sheet:
    name: str
    rows: Sequence[Row]


class Columns:
    """Which columns are hidden, and where the others stand."""

    def __init__(self) -> None:
        self._hidden = bytearray(COLUMNS_MAX)
        self._any = False
        self._places: list[int] = []

    def hide(self, first: int, last: int) -> None:
        """Both from 0."""
        first, last = max(first, 0), min(last, COLUMNS_MAX - 1)
        if first <= last:
            self._hidden[first : last + 1] = b"\1" * (last - first + 1)
            self._any = True
            self._places.clear()

    def placed(self, texts: dict[int, str]) -> dict[int, str]:
        """`texts` by place instead of column, without those in hidden columns."""
        if not self._any:
            return texts
        return {place: text for column, text in texts.items() if (place := self.place(column)) is not None}

    def place(self, column: int) -> int | None:
        """Its place among those shown; None: it is hidden, or beyond what a sheet can have."""
        if not 0 <= column < COLUMNS_MAX or self._hidden[column]:
            return None
        if not self._any:
            return column
        if not self._places:
            self._places = list(accumulate((1 - hidden for hidden in self._hidden), initial=0))
        return self._places[column]


class Grid:
    """Lays out one sheet, row by row, from the top."""

    def __init__(self, counts: Counts, columns: Columns) -> None:
        self.rows: list[Row] = []
        self._counts = counts
        self._columns = columns
        self._coming: list[Range] = []
        self._open: list[tuple[Range, str]] = []
        """Merged cells that reach the row at hand, with their text."""
        self._not_shown = 0

    def merge(self, area: Range) -> None:
        """A merged cell that begins in the row at hand or below."""
        if area[:2] != area[2:]:
            heapq.heappush(self._coming, area)

    def skip(self, rows: int = 1) -> None:
        """Rows that are not shown, so that those around them stand together."""
        self._not_shown += rows

    def add(self, row: int, cells: Mapping[int, str]) -> None:
        """A row that is shown: the texts in columns that are shown. Raises UnreadableFile beyond a limit."""
        own = {column: text for column, value in cells.items() if (text := " ".join(value.split()))}
        if not own:
            return
        bridged, texts = False, own
        if self._open or (self._coming and self._coming[0][0] <= row):
            bridged = self._advance(row, own)
            alone = len(own) == 1 and all(area[0] == row for area, _ in self._open)
            texts = own if alone else {**self._reaching(), **own}
        placed = self._columns.placed(texts)
        if not placed:
            return
        first, last = min(placed), max(placed)
        self._counts.spend(1, last - first + 1)
        line = " | ".join([placed.get(place, "") for place in range(first, last + 1)])
        number = row - self._not_shown
        joined = bool(self.rows) and (number - self.rows[-1].number <= 1 or bridged)
        self.rows.append(Row(number, first, line, len(own), joined))

    def _advance(self, row: int, own: Mapping[int, str]) -> bool:
        """Open and close merged cells; whether one reaches over all blank rows before this one."""
        before = self._open
        bridged = any(area[2] >= row - 1 for area, _ in before)
        self._open = [item for item in before if item[0][2] >= row]
        while self._coming and self._coming[0][0] <= row:
            area = heapq.heappop(self._coming)
            self._counts.repeated += 1
            if area[0] == row and self._counts.repeated <= REPEATED_MAX:
                self._open.append((area, own.get(area[1], "")))
        return bridged

    def _reaching(self) -> dict[int, str]:
        texts: dict[int, str] = {}
        for (_, left, _, right), text in self._open:
            self._counts.repeated += right - left + 1
            if self._counts.repeated > REPEATED_MAX:
                self._open.clear()
                break
            if text and len(text) <= _REPEATED_TEXT_MAX:
                texts.update(dict.fromkeys(range(left, right + 1), text))
        return texts


def write_rows(builder: TextBuilder, rows: Sequence[Row]) -> None:
    """Tables parted where blank rows part them; lines of text around a table, or alone, as paragraphs."""
    for group in _groups(rows):
        start, end = _table_of(group)
        for row in group[:start]:
            builder.add("paragraph", row.line)
        table = group[start:end]
        left = min((row.first for row in table), default=0)
        builder.add_rows([" | " * (row.first - left) + row.line for row in table])
        for row in group[end:]:
            builder.add("paragraph", row.line)


def _table_of(group: Sequence[Row]) -> tuple[int, int]:
    """First row of the table in a group of rows, and the one after its last."""
    wide = [place for place, row in enumerate(group) if row.cells > 1]
    if not wide:
        is_text = len(group) <= _TITLE_LINES_MAX or _is_text(group)
        return (len(group), len(group)) if is_text else (0, len(group))
    start = wide[0] if wide[0] <= _TITLE_LINES_MAX else 0
    return start, wide[-1] + 1 if _is_text(group[wide[-1] + 1 :]) else len(group)


def _is_text(rows: Sequence[Row]) -> bool:
    return any(len(row.line) > _LINE_OF_TEXT for row in rows)


def _groups(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    start = 0
    for place in range(1, len(rows) + 1):
        if place == len(rows) or not rows[place].joined:
            yield rows[start:place]
            start = place


def _counted(number: int, one: str, more: str = "") -> str:
    return f"{number} {one if number == 1 else more or one + 's'}" if number else ""
