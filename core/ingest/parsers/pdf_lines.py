"""Words of a PDF page to lines, in the order in which a person reads them, column by column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from core.ingest.parsers.pdf_columns import Segment, around, regions, segments_of
from core.ingest.parsers.pdf_words import BOLD, DIAGONAL, MONO, Box, Word, is_cjk

_CELL_GAP = 1.3
"""Least gap between words that no justified line has, in font sizes."""


@dataclass(frozen=True, slots=True)
class Line:
    """Words on one base line within one column."""

    text: str
    box: Box
    size: float
    style: int
    """BOLD, MONO: all of it is."""
    first: float
    """Width of its first word, or CJK character: what would have to fit on the line before."""
    region: int
    """Lines of equal number stand in the same column, one below the other."""
    gapped: bool = False
    """It has wide gaps, as a row of a table has."""
    turned: bool = False
    """It does not read from left to right as the page is displayed; then `box` is not as displayed either."""


@dataclass(frozen=True, slots=True)
class Table:
    box: Box
    rows: tuple[tuple[str, ...], ...]
    region: int = 0


def lines_of(words: Sequence[Word], tables: Sequence[Table] = ()) -> tuple[Line | Table, ...]:
    """Lines, and the tables given, in reading order. Text in other directions follows that in the main one."""
    upright = [word for word in words if word.turns == 0]
    found = list(_ordered(upright, tables))
    for turns in (1, 2, 3, DIAGONAL):
        turned = [_turned(word, turns) for word in words if word.turns == turns]
        first = max((item.region for item in found), default=0) + 1
        for item in _ordered(turned, ()):
            if isinstance(item, Line):
                # On a page with nothing upright, what is turned is the page.
                found.append(replace(item, region=item.region + first, turned=bool(upright or tables)))
    return tuple(found)


def joined(words: Sequence[Word], positions: dict[int, int]) -> str:
    """The words of a line; `positions` tells by identity where each came in the page."""
    parts: list[str] = []
    for number, word in enumerate(words):
        follows = number and positions[id(word)] == positions[id(words[number - 1])] + 1
        parts.append(word.text if not number or (follows and word.glued) else f" {word.text}")
    return "".join(parts)


def visual_lines(words: Sequence[Word]) -> list[list[Word]]:
    """Words that share a base line, each line from left to right, lines from the top."""
    lines: list[tuple[float, float, list[Word]]] = []
    for word in sorted(words, key=lambda item: (item.box[1] + item.box[3]) / 2):
        top, bottom = word.box[1], word.box[3]
        if lines:
            line_top, line_bottom, line = lines[-1]
            overlap = min(bottom, line_bottom) - max(top, line_top)
            if overlap >= 0.5 * min(bottom - top, line_bottom - line_top):
                line.append(word)
                # The tallest word stands for the line: a chain of shifted ones must not join two lines.
                if bottom - top > line_bottom - line_top:
                    lines[-1] = (top, bottom, line)
                continue
        lines.append((top, bottom, [word]))
    return [sorted(line, key=lambda item: item.box[0]) for _, _, line in lines]


def _turned(word: Word, turns: int) -> Word:
    """The word with its boxes turned back to read from left to right."""

    def back(box: Box) -> Box:
        left, top, right, bottom = box
        if turns == 1:
            return top, -right, bottom, -left
        if turns == 2:
            return -right, -bottom, -left, -top
        return (-bottom, left, -top, right) if turns == 3 else box

    return replace(word, box=back(word.box), ink=back(word.ink), turns=0)


def _ordered(words: Sequence[Word], tables: Sequence[Table]) -> Iterator[Line | Table]:
    positions = {id(word): number for number, word in enumerate(words)}
    places = {Segment(table.box): table for table in tables}
    for number, region in enumerate(regions([*segments_of(words), *places])):
        items: list[Line | Table] = [replace(places[item], region=number) for item in region if item in places]
        free = [word for item in region for word in item.words]
        items += [_line(line, positions, number) for line in visual_lines(free)]
        yield from sorted(items, key=_height)


def _height(item: Line | Table) -> float:
    """A table comes where it begins, a line where its middle is."""
    return item.box[1] if isinstance(item, Table) else (item.box[1] + item.box[3]) / 2


def _line(words: list[Word], positions: dict[int, int], region: int) -> Line:
    sizes: Counter[float] = Counter()
    for word in words:
        sizes[round(word.size, 1)] += len(word.text)
    style = BOLD | MONO
    for word in [word for word in words if any(map(str.isalnum, word.text))] or words:
        style &= word.style
    text = joined(words, positions)
    first = words[0].box[2] - words[0].box[0]
    if is_cjk(text[0]):
        first /= len(words[0].text)
    size = max(sizes, key=lambda found: (sizes[found], found))
    gapped = any(after.box[0] - before.box[2] > _CELL_GAP * size for before, after in pairwise(words))
    return Line(text, around(words), size, style, first, region, gapped)
