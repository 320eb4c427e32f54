"""Canonical text to chunks, along its headings, blocks and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.ingest.atoms import TENTHS, Atom, Cut, Measure, atoms
from core.ingest.sections import LineIndex
from core.ports import Block, ParsedDocument
from core.provenance import aggregate
from core.settings import Chunking
from core.types import Chunk, chunk_hash, chunk_id

_WORTH = {
    Cut.PART: -0.3,
    Cut.SENTENCE: 0.1,
    Cut.LINE: 0.25,
    Cut.BLANK_LINE: 0.35,
    Cut.BLOCK: 0.5,
    Cut.HEADING: 0.9,
    Cut.SECTION: 1.0,
}
"""What a cut at that place is worth, against its distance from the target length as a share of that length."""
_BELOW_HEADING = -10.0
_LEAVES_LITTLE = -0.4
_TINY = 0.25
"""Share of the target length up to which a section is tiny."""


def chunk_document(document_id: str, parsed: ParsedDocument, settings: Chunking) -> tuple[Chunk, ...]:
    """Chunks in reading order. Without overlap they tile the text from its first visible character on: each begins
    where the one before ends, and the white space between belongs to the earlier.

    A chunk holds at most `max_chars` (a CJK character counts 2.2, white space at the end nothing), but for a
    table row, which is never cut, with its headings. A heading stays with the text below it; a chunk reaches across
    a heading of level 1 or 2 only where both sides are tiny. The indexed text is the canonical span.
    """
    text = parsed.text
    measure = Measure(text)
    most = settings.max_chars * TENTHS
    target = min(settings.target_chars * TENTHS, most)
    pieces = atoms(text, parsed.blocks, measure, most)
    cutter = _Cutter(pieces, measure, target, most)
    lines = LineIndex(text)
    chunks: list[Chunk] = []
    first, previous = 0, 0
    while first < len(pieces):
        after = cutter.cut(first)
        begin = cutter.overlapped(previous, first, after, settings.overlap_chars * TENTHS) if first else first
        start = pieces[begin].start
        end = pieces[after].start if after < len(pieces) else len(text)
        span = text[start:end]
        anchor, provenance = _place(parsed.blocks, pieces[begin:after], lines)
        identifier = chunk_id(document_id, start, end, span)
        chunks.append(
            Chunk(identifier, document_id, len(chunks), start, end, span, chunk_hash(span), anchor, provenance)
        )
        previous, first = first, after
    return tuple(chunks)


def _place(blocks: Sequence[Block], pieces: Sequence[Atom], lines: LineIndex) -> tuple[str, dict[str, tuple[Any, ...]]]:
    """Section anchor of the first block; provenance of all, with the lines as one pair."""
    numbers = dict.fromkeys(piece.block for piece in pieces if piece.block >= 0)
    provenance = aggregate([blocks[number].provenance for number in numbers])
    provenance["lines"] = (lines.pair(pieces[0].start, pieces[-1].end),)
    return (blocks[pieces[0].block].section_anchor if pieces[0].block >= 0 else ""), provenance


class _Cutter:
    """Decides where chunks end. Places are indices of atoms: a cut at `n` is one before atom `n`."""

    def __init__(self, pieces: Sequence[Atom], measure: Measure, target: int, most: int) -> None:
        self._pieces = pieces
        self._measure = measure
        self._target = target
        self._most = most

    def cut(self, first: int) -> int:
        """The place after the chunk that begins with atom `first`."""
        stop = self._stop(first)
        if stop is not None and self._length(first, stop) <= self._target:
            return stop
        best, best_worth = first + 1, float("-inf")
        place = first + 1
        while place <= len(self._pieces) and self._length(first, place) <= self._most:
            worth = self._worth(first, place, stop)
            if worth >= best_worth:
                best, best_worth = place, worth
            if place == stop:
                break
            place += 1
        return self._below_headings(first, best)

    def overlapped(self, previous: int, first: int, after: int, overlap: int) -> int:
        """The atom that a chunk of atoms `first` to `after` begins with, when up to `overlap` tenths of the chunk
        before, which began with atom `previous`, are repeated. Nothing is repeated across a heading."""
        begin = first
        if self._pieces[first].cut >= Cut.HEADING:
            return first
        while begin - 1 > previous:
            start = self._pieces[begin - 1].start
            if self._pieces[begin - 1].kind == "heading":
                break
            if self._measure.length(start, self._pieces[first - 1].end) > overlap:
                break
            if self._measure.length(start, self._pieces[after - 1].end) > self._most:
                break
            begin -= 1
        return begin

    def _stop(self, first: int) -> int | None:
        """The place that the chunk may not reach beyond; None where it lies farther than the longest chunk."""
        place = first + 1
        while place < len(self._pieces):
            if self._length(first, place) > self._most:
                return None
            if self._is_border(place) and not self._both_tiny(first, place):
                return place
            place += 1
        return place if self._length(first, place) <= self._most else None

    def _is_border(self, place: int) -> bool:
        """Whether a section of level 1 or 2 begins there, not counting one right below another heading."""
        return self._pieces[place].cut == Cut.SECTION and self._pieces[place - 1].kind != "heading"

    def _both_tiny(self, first: int, border: int) -> bool:
        tiny = _TINY * self._target
        if self._length(first, border) > tiny:
            return False
        place = border + 1
        while place < len(self._pieces) and not self._is_border(place):
            if self._length(border, place) > tiny:
                return False
            place += 1
        return self._length(border, place) <= tiny

    def _worth(self, first: int, place: int, stop: int | None) -> float:
        far = abs(self._length(first, place) - self._target) / self._target
        if place == stop:
            return 1.0 - far
        if self._pieces[place - 1].kind == "heading":
            return _BELOW_HEADING - far
        little = stop is not None and self._length(place, stop) < _TINY * self._target
        return _WORTH[self._pieces[place].cut] - far + (_LEAVES_LITTLE if little else 0.0)

    def _below_headings(self, first: int, best: int) -> int:
        """`best`, or one farther where the chunk would be headings only and what follows is an over-long row."""
        only_headings = all(piece.kind == "heading" for piece in self._pieces[first:best])
        over_long_row = best < len(self._pieces) and self._pieces[best].kind == "row"
        return best + 1 if only_headings and over_long_row else best

    def _length(self, first: int, place: int) -> int:
        return self._measure.length(self._pieces[first].start, self._pieces[place - 1].end)
