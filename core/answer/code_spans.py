"""Code in Markdown: fenced blocks and inline spans, found in linear time."""

from __future__ import annotations

import re
from bisect import bisect_left

FILLER = "`"
"""Stands for each character of code: it is no white space, no bracket and no digit."""

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
# An inline span ends with its block: at an empty line, a heading, a quotation or a list item.
_BLOCK_EDGE = re.compile(r"\n[ \t]*(?=\n|#|>|[-*+][ \t]|[0-9]{1,9}[.)][ \t])")
_TICKS = re.compile(r"`+")


def without_code(text: str) -> str:
    """`text` with every character inside code, its delimiters included, replaced by a backtick; length unchanged.

    CommonMark's rules: a fence closes at one of the same character that is no shorter, or at the end of the text; an
    inline span closes at a run of as many backticks within its block, else its backticks are text.
    """
    parts = []
    position = 0
    for start, end in _fenced(text):
        parts += [_without_spans(text[position:start]), FILLER * (end - start)]
        position = end
    parts.append(_without_spans(text[position:]))
    return "".join(parts)


def _fenced(text: str) -> list[tuple[int, int]]:
    blocks = []
    opened: tuple[int, str] | None = None
    for match in _FENCE.finditer(text):
        fence, info = match.groups()
        if opened is None:
            if fence[0] == "~" or "`" not in info:
                opened = match.start(), fence
        elif fence[0] == opened[1][0] and len(fence) >= len(opened[1]) and not info.strip():
            blocks.append((opened[0], match.end()))
            opened = None
    if opened is not None:
        blocks.append((opened[0], len(text)))
    return blocks


def _without_spans(text: str) -> str:
    parts = []
    position = 0
    for edge in [match.start() for match in _BLOCK_EDGE.finditer(text)] + [len(text)]:
        block = text[position:edge]
        parts.append(_fill(block, inline_spans(block)) if "`" in block else block)
        position = edge
    return "".join(parts)


def inline_spans(block: str) -> list[tuple[int, int]]:
    """Spans of inline code in one block of text, the backticks included."""
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(block)]
    closers: dict[int, list[int]] = {}
    for start, end in runs:
        closers.setdefault(end - start, []).append(start)
    spans: list[tuple[int, int]] = []
    for start, end in runs:
        if spans and start < spans[-1][1]:
            continue
        start += _escaped(block, start)
        same = closers.get(end - start, [])
        following = bisect_left(same, end)
        if end > start and following < len(same):
            spans.append((start, same[following] + end - start))
    return spans


def _escaped(block: str, position: int) -> bool:
    """Whether an odd number of backslashes stands before `position`."""
    before = position
    while before > 0 and block[before - 1] == "\\":
        before -= 1
    return (position - before) % 2 == 1


def _fill(block: str, spans: list[tuple[int, int]]) -> str:
    parts = []
    position = 0
    for start, end in spans:
        parts += [block[position:start], FILLER * (end - start)]
        position = end
    return "".join([*parts, block[position:]])
