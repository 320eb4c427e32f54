"""Tables of a PDF: liteparse says where, the page's own words say what."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from core.ingest.parsers.pdf_columns import around
from core.ingest.parsers.pdf_join import join_lines
from core.ingest.parsers.pdf_lines import Table, joined, visual_lines
from core.ingest.parsers.pdf_words import MONO, Box, Word

_RULES_MIN = 3
_COLUMNS_MIN, _ROWS_MIN = 4, 4
_SHORT, _SHORT_SHARE = 30, 0.85
"""Characters of a short cell, and the least share of such cells."""
_RULE_SHARE = 0.3
_CELL_GAP = 0.35
"""Least gap between cells side by side, in font sizes."""
_GLUED_SHARE = 0.8
_BATCH_PAGES = 25
_APART = 15.0
"""Points between two parts of one table, at most."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Where a table stands on a page."""

    box: Box
    edges: tuple[float, ...]
    """Between the columns, from the left."""
    bands: tuple[tuple[float, float], ...]
    """Top and bottom of its rows."""
    ruled: bool


@dataclass(frozen=True, slots=True)
class PageGrids:
    width: float
    height: float
    grids: tuple[Grid, ...]


def grids_of(data: bytes) -> Mapping[int, PageGrids]:
    """The tables of a PDF by page number from 0, those that are prose in truth left out.

    Raises whatever liteparse does. It may also end the process, if the file is made to.
    """
    from liteparse import LiteParse

    parser = LiteParse(
        ocr_enabled=False,
        quiet=True,
        num_workers=1,
        image_mode="off",
        output_format="json",
        extract_blocks=True,
        extract_links=False,
        extract_vector_graphics=True,
        keep_headers_footers=True,
        continue_on_page_error=True,
        max_pages=1_000_000,
    )
    found: dict[int, PageGrids] = {}
    for batch in parser.parse_batches(data, batch_size=_BATCH_PAGES):
        for page in batch.result.pages:
            blocks = [block for block in page.blocks or () if block.kind == "table"]
            grids = [grid for block in blocks if (grid := _grid_of(block, page)) is not None]
            if grids:
                found[page.page_num - 1] = PageGrids(page.width, page.height, tuple(_merged(grids)))
    return found


def take_tables(words: Sequence[Word], grids: Sequence[Grid]) -> tuple[tuple[Table, ...], tuple[Word, ...]]:
    """The tables with their text, and the words that are in none."""
    inside: list[list[Word]] = [[] for _ in grids]
    outside: list[Word] = []
    for word in words:
        number = next((n for n, grid in enumerate(grids) if word.turns == 0 and _holds(grid.box, word.box)), None)
        (outside if number is None else inside[number]).append(word)
    positions = {id(word): number for number, word in enumerate(words)}
    tables = []
    for grid, content in zip(grids, inside, strict=True):
        rows = tuple(_rows(grid, content, positions))
        listing = not grid.ruled and all(word.style & MONO for word in content)
        if len(rows) >= 2 and max(map(len, rows)) >= 2 and not listing:
            tables.append(Table(around(content), rows))
        else:
            outside += content
    outside.sort(key=lambda word: positions[id(word)])
    return tuple(tables), tuple(outside)


def _grid_of(block: Any, page: Any) -> Grid | None:
    """What liteparse took for a table, if it is one: it has rules, or many rows and columns of short cells."""
    rows = [row for row in (block.header or None, *(block.rows or ())) if row]
    columns = max(map(len, rows), default=0)
    if block.bbox is None or columns < 2 or len(rows) < 2:
        return None
    ruled = _rules(block.bbox, page) >= _RULES_MIN
    cells = [cell.text for row in rows for cell in row if cell.text.strip()]
    short = sum(len(text) <= _SHORT for text in cells)
    regular = columns >= _COLUMNS_MIN and len(rows) >= _ROWS_MIN and short >= _SHORT_SHARE * len(cells)
    return _grid(block, ruled) if ruled or regular else None


def _rules(box: Any, page: Any) -> int:
    """Horizontal lines within the table that are as long as a part of it, those at one height counted once."""
    heights: dict[int, float] = {}
    for line in page.vector_graphics.lines if page.vector_graphics else ():
        level = abs(line.y1 - line.y2) <= 1 and box.y - 3 <= line.y1 <= box.y + box.height + 3
        left, right = sorted((line.x1, line.x2))
        length = min(right, box.x + box.width) - max(left, box.x)
        if level and length > 0:
            heights[round(line.y1 / 2)] = heights.get(round(line.y1 / 2), 0.0) + length
    return sum(length >= _RULE_SHARE * box.width for length in heights.values())


def _grid(block: Any, ruled: bool) -> Grid:
    box = block.bbox
    rows = [row for row in (block.header or None, *(block.rows or ())) if row]
    bands = []
    for row in rows:
        spans = [(cell.bbox.y, cell.bbox.y + cell.bbox.height) for cell in row if cell.bbox is not None]
        if spans:
            bands.append((min(span[0] for span in spans), max(span[1] for span in spans)))
    return Grid((box.x, box.y, box.x + box.width, box.y + box.height), _edges(rows), tuple(bands), ruled)


def _edges(rows: Sequence[Sequence[Any]]) -> tuple[float, ...]:
    """Middles of the white between neighbouring columns. Cells that reach across others do not count."""
    columns = max(map(len, rows))
    spans: list[list[tuple[float, float]]] = [[] for _ in range(columns)]
    for row in rows:
        for number, cell in enumerate(row):
            if cell.bbox is not None and cell.text.strip():
                spans[number].append((cell.bbox.x, cell.bbox.x + cell.bbox.width))
    filled = [column for column in spans if column]
    centres = [median((left + right) / 2 for left, right in column) for column in filled]
    ends = [float("-inf"), *centres, float("inf")]
    edges = []
    for number, (column, following) in enumerate(pairwise(filled), 1):
        rights = [right for left, right in column if right < ends[number + 1]] or [centres[number - 1]]
        lefts = [left for left, right in following if left > ends[number]] or [centres[number]]
        edges.append((max(rights) + min(lefts)) / 2)
    return tuple(sorted(edges))


def _merged(grids: Sequence[Grid]) -> Iterator[Grid]:
    """Those that stand close below each other and are as wide as one; the columns are those of the finest."""
    pending: Grid | None = None
    for grid in sorted(grids, key=lambda item: item.box[1]):
        if pending is None or not _are_one(pending, grid):
            if pending is not None:
                yield pending
            pending = grid
            continue
        box = (*_least(pending.box, grid.box), *_most(pending.box, grid.box))
        edges = max(pending.edges, grid.edges, key=len)
        pending = Grid((box[0], box[1], box[2], box[3]), edges, pending.bands + grid.bands, pending.ruled or grid.ruled)
    if pending is not None:
        yield pending


def _least(one: Box, other: Box) -> tuple[float, float]:
    return min(one[0], other[0]), min(one[1], other[1])


def _most(one: Box, other: Box) -> tuple[float, float]:
    return max(one[2], other[2]), max(one[3], other[3])


def _are_one(upper: Grid, lower: Grid) -> bool:
    same = abs(upper.box[0] - lower.box[0]) <= 6 and abs(upper.box[2] - lower.box[2]) <= 6
    return same and -_APART <= lower.box[1] - upper.box[3] <= _APART


def _holds(box: Box, inner: Box) -> bool:
    across, down = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return box[0] - 2 <= across <= box[2] + 2 and box[1] - 1 <= down <= box[3] + 1


def _rows(grid: Grid, words: Sequence[Word], positions: dict[int, int]) -> Iterator[tuple[str, ...]]:
    bands: list[list[list[Word]]] = [[] for _ in grid.bands]
    for line in visual_lines(words):
        middle = (min(word.box[1] for word in line) + max(word.box[3] for word in line)) / 2
        distances = [max(top - middle, middle - bottom, 0.0) for top, bottom in grid.bands]
        bands[distances.index(min(distances))].append(line)
    for lines in bands:
        cells = [_cells(grid, line, positions) for line in lines]
        for row in cells if _is_glued(cells) else [_stacked(cells)]:
            if any(row):
                yield row


def _cells(grid: Grid, line: Sequence[Word], positions: dict[int, int]) -> tuple[str, ...]:
    """The line's text in its columns; what reaches across several stands in that of its middle."""
    texts: list[list[str]] = [[] for _ in range(len(grid.edges) + 1)]
    run: list[Word] = []
    for word in (*line, None):
        if run and (word is None or _parts(grid, run[-1], word)):
            column = bisect_right(grid.edges, (run[0].box[0] + run[-1].box[2]) / 2)
            texts[column].append(joined(run, positions))
            run = []
        if word is not None:
            run.append(word)
    return tuple(" ".join(parts) for parts in texts)


def _parts(grid: Grid, before: Word, word: Word) -> bool:
    gap = word.box[0] - before.box[2]
    middles = [bisect_right(grid.edges, (item.box[0] + item.box[2]) / 2) for item in (before, word)]
    return middles[0] != middles[1] and gap >= _CELL_GAP * word.size


def _is_glued(lines: Sequence[tuple[str, ...]]) -> bool:
    """Whether the lines of a row are rows themselves: nearly every cell goes on in each of them."""
    if len(lines) < 2:
        return False
    filled = [number for number in range(len(lines[0])) if any(line[number] for line in lines)]
    whole = sum(all(line[number] for line in lines) for number in filled)
    return len(filled) >= 2 and whole >= _GLUED_SHARE * len(filled)


def _stacked(lines: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(join_lines([cell for cell in column if cell]) for column in zip(*lines, strict=True))
