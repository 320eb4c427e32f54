"""Sentences and lines of a text, as spans."""

from __future__ import annotations

import re

from core.tokens import UNSPACED

_BREAK = re.compile(
    r"\n(?=[^\S\n]*(?:\n|[-*+•‣▪◦–]\s|\d{1,3}[.)、．]|[(（]\d{1,3}[)）]|\||#{1,6}\s|>))"  # what follows is a new item
    r"|(?m:^[^\S\n]*(?:#{1,6}\s|\|)[^\n]*)\n"  # a heading or a table row ends with its line
)
_CLOSING = "\"'”’»)\\]）】」』》〉"
_END = re.compile(
    rf"[。！？；｡][。！？；｡…{_CLOSING}]*"
    rf"|…+[。！？；{_CLOSING}]*"
    rf"|(?<![.!?])[.!?]++[{_CLOSING}]*+(?=\s|\Z|[{UNSPACED}])"
)
_BEFORE = re.compile(r"[^\s(\[（「『“\"']*\Z")
_MARKER = re.compile(r"(?:[-*+•‣▪◦–]\s+)?[(（]?(?:\d{1,3}|[A-Za-z])\Z")
_NEVER_LAST = frozenset(
    """mr mrs ms dr prof rev hon st jr sr gen col capt lt sgt gov sen rep pres e.g i.e cf vs viz approx ca fig figs eq
    eqs no nos vol vols pp ed eds ref refs sec sect ch art al op""".split()
)
_SELDOM_LAST = frozenset(
    "etc inc ltd co corp dept est jan feb mar apr jun jul aug sep sept oct nov dec p a.m p.m u.s u.k u.n e.u".split()
)
_LOOK_BACK = 40


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of `text`, in order; together they hold every character that is not white space.

    A sentence ends at 。！？；… and at `.!?` before white space (not after an abbreviation, an initial or a list
    number), at a blank line, and before and after list items, table rows and headings; other line ends are spaces.
    """
    cuts = {match.end() for match in _BREAK.finditer(text)}
    blocks = sorted(cuts)
    block = 0
    begin = 0
    for match in _END.finditer(text):
        while block < len(blocks) and blocks[block] <= match.start():
            begin = blocks[block]
            block += 1
        if _ends(text, begin, match):
            cuts.add(match.end())
            begin = match.end()
    return _trimmed(text, sorted(cuts))


def lines_of(text: str, start: int, end: int) -> tuple[int, int]:
    """First and last line, from 1, that `[start, end)` of `text` touches."""
    first = text.count("\n", 0, start) + 1
    return first, first + text.count("\n", start, max(start, end - 1))


def _ends(text: str, begin: int, match: re.Match[str]) -> bool:
    mark = match[0][0]
    if mark not in ".…":
        return True
    following = text[match.end() : match.end() + _LOOK_BACK].lstrip()
    if following[:1].islower():
        return False
    if mark == "…" or match[0].startswith(".."):
        return True
    before = text[max(begin, match.start() - _LOOK_BACK) : match.start()].lstrip()
    if match.start() - begin <= _LOOK_BACK and _MARKER.fullmatch(before):
        return False
    glued = match.end() < len(text) and not text[match.end()].isspace()
    if glued and before[-1:].isdigit():
        return False
    return not _abbreviation(before, following)


def _abbreviation(before: str, following: str) -> bool:
    found = _BEFORE.search(before)
    word = found[0] if found else ""
    if not following:
        return False
    if word.lower() in _NEVER_LAST:
        # "No." before anything but a number is the word no.
        return word.lower() not in ("no", "nos", "art", "op", "st") or following[0].isdigit() or word == "St"
    if word.lower() in _SELDOM_LAST:
        return not following[0].isupper() or word[0].isupper()
    return len(word) == 1 and word.isupper() and word.isascii() and word != "I"


def _trimmed(text: str, cuts: list[int]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        piece = text[start:end]
        body = piece.strip()
        if body:
            first = start + len(piece) - len(piece.lstrip())
            spans.append((first, first + len(body)))
    return spans
