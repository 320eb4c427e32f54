"""The smallest pieces that chunks are put together from: headings, table rows, lines, sentences, parts of them.

Lengths are in tenths: a character is 10, a CJK character 22, as it says more. A target of 900 characters is thus one
of about 400 characters of Chinese.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from core.ingest.sections import Kind
from core.ports import Block
from core.sentences import sentences

TENTHS = 10
"""Length of a character."""
_CJK_EXTRA = 12
_CJK_RANGES = ((0x3040, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_CLAUSE_END = re.compile(r"[，、；：﹐､]|[,;:–—](?=\s)|—")
_NEVER_FIRST = re.compile("[\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef\u1160-\u11ff]")
_REGIONAL = re.compile("[\U0001f1e6-\U0001f1ff]")
_LOOK_BACK = 32


class Cut(IntEnum):
    """How well a text can be cut before a piece."""

    PART = 0
    SENTENCE = 1
    LINE = 2
    BLANK_LINE = 3
    BLOCK = 4
    HEADING = 5
    SECTION = 6
    """Before a heading of level 1 or 2."""


@dataclass(frozen=True, slots=True)
class Atom:
    start: int
    end: int
    """Without the white space after it, which reaches to the next atom."""
    cut: Cut
    kind: Kind
    block: int
    """Index of its block, or for text outside every block of the one before it (-1: none)."""


class Measure:
    """Lengths, in tenths, of the spans of one text."""

    def __init__(self, text: str) -> None:
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        wide = np.zeros(len(points), dtype=bool)
        for low, high in _CJK_RANGES:
            wide |= (points >= low) & (points <= high)
        sums = np.zeros(len(points) + 1, dtype=np.int64)
        np.cumsum(TENTHS + _CJK_EXTRA * wide.astype(np.int64), out=sums[1:])
        self._sums = sums.data  # gives plain integers, three times as fast as the array

    def length(self, start: int, end: int) -> int:
        return int(self._sums[end] - self._sums[start])

    def reach(self, start: int, length: int) -> int:
        """The last offset up to which the text from `start` is no longer than `length`; at least one character."""
        found = bisect_right(self._sums, self._sums[start] + length, lo=start) - 1
        return max(found, start + 1)


def atoms(text: str, blocks: Sequence[Block], measure: Measure, most: int) -> list[Atom]:
    """All that is not white space in `text`, in order, in pieces of at most `most` but for table rows.

    A piece below headings leaves room for them.
    """
    found: list[Atom] = []
    for kind, start, end, block in _leaves(text, blocks):
        if kind == "row":
            first_row = block == 0 or blocks[block - 1].kind != "row"
            found.append(Atom(start, end, Cut.BLOCK if first_row else Cut.LINE, kind, block))
        elif kind == "heading" and measure.length(start, end) <= most:
            found.append(Atom(start, end, Cut.SECTION if blocks[block].level <= 2 else Cut.HEADING, kind, block))
        else:
            left = most - measure.length(_headings_above(found, start), start)
            room = left if left >= most // 2 else most
            cut = Cut.BLOCK
            for first, last, inner in _pieces(text, kind, start, end, measure, room):
                found.append(Atom(first, last, cut if cut == Cut.BLOCK else inner, _body(kind), block))
                cut = Cut.PART
    return found


def _body(kind: Kind) -> Kind:
    """An over-long heading is text."""
    return "paragraph" if kind == "heading" else kind


def _headings_above(found: Sequence[Atom], start: int) -> int:
    """Where the headings right above `start` begin; `start` where there are none."""
    for piece in reversed(found):
        if piece.kind != "heading":
            break
        start = piece.start
    return start


def _leaves(text: str, blocks: Sequence[Block]) -> Iterator[tuple[Kind, int, int, int]]:
    """Kind, span without white space around it, and block of every stretch, in order, without overlap."""
    position, last = 0, -1
    for number, block in enumerate(blocks):
        following = blocks[number + 1] if number + 1 < len(blocks) else None
        if block.kind == "table" and following is not None and following.kind == "row":
            continue
        start, end = max(block.start, position), max(block.end, position)
        yield from _stretch(text, "paragraph", position, start, last)
        yield from _stretch(text, block.kind, start, end, number)
        position, last = end, number
    yield from _stretch(text, "paragraph", position, len(text), last)


def _stretch(text: str, kind: Kind, start: int, end: int, block: int) -> Iterator[tuple[Kind, int, int, int]]:
    """The span, without blank lines before and white space after it, if anything is left of it."""
    if start < end:
        piece = text[start:end]
        body = piece.lstrip()
        if body:
            yield kind, _indented(text, start, end - len(body)), start + len(piece.rstrip()), block


def _indented(text: str, least: int, start: int) -> int:
    """Where the indent before `start` begins, if only that stands before it in its line; not before `least`."""
    line = max(text.rfind("\n", least, start) + 1, least)
    return line if text[line:start].isspace() and (line == 0 or text[line - 1] == "\n") else start


def _pieces(text: str, kind: Kind, start: int, end: int, measure: Measure, most: int) -> Iterator[tuple[int, int, Cut]]:
    spans = _lines(text, start, end) if kind == "code" else _sentences(text, start, end)
    for first, last, cut in spans:
        begin = first
        while measure.length(begin, last) > most:
            break_at = _break(text, begin, measure.reach(begin, most))
            yield begin, begin + len(text[begin:break_at].rstrip()), cut
            begin = _after_space(text, break_at, last)
            cut = Cut.PART
        if begin < last:
            yield begin, last, cut


def _after_space(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int, Cut]]:
    before = start
    for first, last in sentences(text[start:end]):
        begin = _indented(text, before, start + first)
        yield begin, start + last, Cut.LINE if "\n" in text[before:begin] else Cut.SENTENCE
        before = start + last


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int, Cut]]:
    offset, blank = start, False
    for line in text[start:end].split("\n"):
        body = line.rstrip()
        if body:
            yield offset, offset + len(body), Cut.BLANK_LINE if blank else Cut.LINE
        blank = not body
        offset += len(line) + 1


def _break(text: str, start: int, end: int) -> int:
    """Where to cut `[start, end)`, which goes on beyond `end`: a line's or clause's end or a space in its second
    half, else at `end`, but never before a mark that belongs to the character before it."""
    half = start + (end - start) // 2
    newline = text.rfind("\n", half, end)
    if newline > start:
        return newline + 1
    clauses = [match.end() for match in _CLAUSE_END.finditer(text, half, end)]
    if clauses:
        return clauses[-1]
    for place in range(end - 1, max(half, start), -1):
        if text[place].isspace():
            return place + 1
    for place in range(end, max(start, end - _LOOK_BACK), -1):
        if not _belongs(text, place):
            return place
    return end


def _belongs(text: str, place: int) -> bool:
    """Whether the character at `place` is one with the one before it to the eye."""
    if place >= len(text):
        return False
    here, before = text[place], text[place - 1]
    if unicodedata.category(here)[0] == "M" or _NEVER_FIRST.match(here) or before == "\u200d":
        return True
    return bool(_REGIONAL.match(here) and _REGIONAL.match(before))
