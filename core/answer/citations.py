"""Citation marks in an answer: `[1]`, `［1］`, `【1】` and their lists and ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from core.answer.code_spans import without_code

_BRACKET = re.compile(r"[\[［【]([^\[\]［］【】]*)[\]］】]")
_SEPARATOR = re.compile(r"[,，、;；]")
_PART = re.compile(r"\s*([0-9０-９]{1,3})(?:\s*[-–—‐‑−－]\s*([0-9０-９]{1,3}))?\s*")

_ROUND = str.maketrans("[]［］【】", "()（）（）")


class Mark(NamedTuple):
    start: int
    end: int
    """`[start, end)` of the answer, brackets included."""
    numbers: tuple[int, ...]
    """Every number it names, shown or not, in order."""


@dataclass(frozen=True, slots=True)
class ParsedCitations:
    cited: tuple[int, ...]
    """Numbers of passages, from 1, in order of first appearance."""
    unknown: tuple[int, ...]
    """Numbers that no passage has, in order of first appearance."""
    marks: tuple[Mark, ...]


def parse_citations(answer: str, passages: int) -> ParsedCitations:
    """The marks of `answer`, where passages 1 … `passages` were shown. Time is linear in its length.

    A mark holds numbers and ranges, parted by commas or semicolons, and perhaps a suffix from `†` on; brackets and
    digits may be full-width. A range is clipped to the passages shown; one that begins beyond them counts as its
    first number, unknown. Brackets with anything else in them are no mark: words, 0, numbers of four or more digits
    (years), ranges that run backwards. Nothing inside code counts.
    """
    marks = tuple(_marks(answer, passages))
    numbers = dict.fromkeys(number for mark in marks for number in mark.numbers)
    return ParsedCitations(
        cited=tuple(number for number in numbers if number <= passages),
        unknown=tuple(number for number in numbers if number > passages),
        marks=marks,
    )


def without_marks(text: str) -> str:
    """`text` with no mark of any number left: marks go, with the white space before them.

    Where taking one out would leave another (`[[2]1]`), the other brackets become round.
    """
    parts = []
    position = 0
    for mark in parse_citations(text, 0).marks:
        parts.append(text[position : mark.start].rstrip())
        position = mark.end
    text = "".join([*parts, text[position:]])
    return text.translate(_ROUND) if parts and parse_citations(text, 0).marks else text


def _marks(answer: str, passages: int) -> Iterator[Mark]:
    for match in _BRACKET.finditer(without_code(answer)):
        numbers = _numbers(match.group(1).partition("†")[0], passages)
        if numbers:
            yield Mark(match.start(), match.end(), numbers)


def _numbers(body: str, passages: int) -> tuple[int, ...]:
    """The numbers that the inside of brackets names; none if it is no mark."""
    found: dict[int, None] = {}
    for text in _SEPARATOR.split(body):
        part = _PART.fullmatch(text)
        if part is None:
            return ()
        first = int(part.group(1))
        last = int(part.group(2)) if part.group(2) else first
        if first < 1 or last < first:
            return ()
        found.update(dict.fromkeys(range(first, max(first, min(last, passages)) + 1)))
    return tuple(found)
