"""The cells of a Word table and how far merged ones reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml import etree

from core.ingest.parsers.docx_xml import WORD, is_on, value, whole

_COLUMNS_MAX = 1_000


@dataclass(slots=True)
class Cell:
    element: etree._Element | None
    """None: a gap at the edge of a row."""
    columns: int
    rows: int = 1


def is_on_screen(row: etree._Element) -> bool:
    """Neither deleted nor hidden."""
    properties = row.find(WORD + "trPr")
    return properties is None or (properties.find(WORD + "del") is None and not is_on(properties, "hidden"))


def grid(rows: Sequence[etree._Element]) -> list[list[Cell]]:
    """For every row the cells that begin in it."""
    result: list[list[Cell]] = []
    above: dict[tuple[int, int], Cell] = {}
    """Cells that those below may continue, by first column and width."""
    for row in rows:
        cells: list[Cell] = []
        open_cells: dict[tuple[int, int], Cell] = {}
        column = _count(value(row.find(WORD + "trPr"), "gridBefore"), 0)
        if column:
            cells.append(Cell(None, column))
        for element in _cells(row):
            properties = element.find(WORD + "tcPr")
            width = _count(value(properties, "gridSpan"), 1)
            place = (column, width)
            column += width
            merge = properties.find(WORD + "vMerge") if properties is not None else None
            if merge is not None and merge.get(WORD + "val", "continue") == "continue" and place in above:
                open_cells[place] = above[place]
                open_cells[place].rows += 1
                continue
            cell = Cell(element, width)
            cells.append(cell)
            if merge is not None:
                open_cells[place] = cell
        above = open_cells
        result.append(cells)
    return result


def _cells(row: etree._Element) -> Iterator[etree._Element]:
    """Cells of a row, also those inside content controls; deleted ones are left out."""
    for child in row:
        if child.tag == WORD + "tc":
            properties = child.find(WORD + "tcPr")
            if properties is None or properties.find(WORD + "cellDel") is None:
                yield child
        elif child.tag == WORD + "customXml":
            yield from _cells(child)
        elif child.tag == WORD + "sdt":
            content = child.find(WORD + "sdtContent")
            if content is not None:
                yield from _cells(content)


def _count(text: str | None, least: int) -> int:
    number = whole(text)
    return least if number is None else max(least, min(number, _COLUMNS_MAX))
