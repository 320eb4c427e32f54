"""A document opened at one of its passages: the canonical text by lines, cut to what a page can show."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from core.highlight import highlight
from core.home import DocumentRow, DocumentView, Workbench
from core.types import Principal

REACH_CHARS = 20_000
"""Text shown before and after the passage."""
PASSAGE_CHARS = 100_000
"""Longest passage that settings allow."""
NEAR_LINES = 8
"""Lines before the passage that stand right above it."""

_HEADING = re.compile(r"#{1,6}\s+(.*?)[\s#]*$")


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    """From 1, in the canonical text."""
    text: str
    passage: tuple[int, int] | None
    """The part of it that belongs to the passage, `(0, 0)` for an empty line inside; None: nothing."""
    marks: tuple[tuple[int, int], ...]
    """Parts that match the query, inside the passage only."""
    heading: bool


@dataclass(frozen=True, slots=True)
class OpenedDocument:
    row: DocumentRow
    before: tuple[Line, ...]
    around: tuple[Line, ...]
    """A few lines before the passage, and the passage."""
    after: tuple[Line, ...]
    hidden_before: int
    """Lines above `before` that are left out."""
    hidden_after: int
    headings: tuple[tuple[int, str], ...]
    """Line and text of every heading."""


def open_document(
    workbench: Workbench, collection: str, document: str, span: tuple[int, int], query: str, principal: Principal
) -> OpenedDocument:
    """`span`: the passage, `[start, end)` of the canonical text. Raises UnknownDocument, PermissionUnavailable."""
    return at_passage(workbench.document(collection, document, principal), span, query)


def at_passage(view: DocumentView, span: tuple[int, int], query: str) -> OpenedDocument:
    """The span is cut to the text: an address may come from an older revision."""
    text = view.text
    start = min(max(0, span[0]), len(text))
    end = min(max(start, span[1]), len(text), start + PASSAGE_CHARS)
    marks = [(start + first, start + last) for first, last in highlight(text[start:end], query)] if query else []
    mark_starts, mark_ends = [first for first, _ in marks], [last for _, last in marks]
    low, high = max(0, start - REACH_CHARS), min(len(text), end + REACH_CHARS)
    shown: list[Line] = []
    headings: list[tuple[int, str]] = []
    first_in = last_in = None
    offset = total = 0
    for total, raw in enumerate(text.split("\n"), start=1):
        found = _HEADING.match(raw)
        if found and found.group(1):
            headings.append((total, found.group(1)))
        if offset + len(raw) >= low and offset <= high:
            near = marks[bisect_right(mark_ends, offset) : bisect_left(mark_starts, offset + len(raw))]
            line = _line(total, raw, offset, (max(low, start), min(high, end)), (low, high), near, bool(found))
            shown.append(line)
            if line.passage is not None:
                first_in = first_in or total
                last_in = total
        offset += len(raw) + 1
    first_in, last_in = first_in or shown[0].number, last_in or shown[0].number
    return OpenedDocument(
        row=view.row,
        before=tuple(line for line in shown if line.number < first_in - NEAR_LINES),
        around=tuple(line for line in shown if first_in - NEAR_LINES <= line.number <= last_in),
        after=tuple(line for line in shown if line.number > last_in),
        hidden_before=shown[0].number - 1,
        hidden_after=total - shown[-1].number,
        headings=tuple(headings),
    )


def _line(
    number: int,
    raw: str,
    offset: int,
    passage: tuple[int, int],
    window: tuple[int, int],
    marks: Sequence[tuple[int, int]],
    heading: bool,
) -> Line:
    """The line that begins at `offset`, cut to `window`."""
    begin, finish = max(offset, window[0]), min(offset + len(raw), window[1])

    def inside(span: tuple[int, int]) -> tuple[int, int] | None:
        first, last = max(span[0], begin), min(span[1], finish)
        return (first - begin, last - begin) if first < last else None

    empty_inside = begin == finish and passage[0] <= begin < passage[1]
    return Line(
        number=number,
        text=raw[begin - offset : finish - offset],
        passage=(0, 0) if empty_inside else inside(passage),
        marks=tuple(part for span in marks if (part := inside(span))),
        heading=heading,
    )
