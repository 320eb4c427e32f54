"""The normal form in which words are compared, and the way back to the text it came from.

Folding serves matching only; what is stored and shown keeps its own form. A character folds by itself, so that a
query and a text always agree whatever stands around it; only Hangul letters and kana with a separate voicing mark
are composed with their neighbours afterwards.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_MARKS = re.compile("[\u0300-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
"""Accents of the Latin, Greek and Cyrillic scripts. The marks of other scripts make other words and stay."""

_IGNORED = re.compile("[\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]")
"""Variation selectors and fillers: characters without a look of their own that are not of category Cf."""

_REPLACED = {
    # One hyphen, one apostrophe and one quotation mark for their typographic forms.
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe58\ufe63", "-"),
    **dict.fromkeys("\u2018\u2019\u201b\u02bc\u2032\uff07", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\uff02", '"'),
    # Compatibility forms would glue them to the word before.
    **dict.fromkeys("\u2122\u2120\u00ae\u00a9", " "),
    "Æ": "AE",
    "æ": "ae",
    "Œ": "OE",
    "œ": "oe",
    "ı": "i",
}

_STROKE = re.compile(r"LATIN (SMALL|CAPITAL) LETTER ([A-Z]) WITH ")

_HAN = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0x20000, 0x323B0))


class _FoldTable(dict[int, str]):
    """A `str.translate` table that fills itself: code point → what the character folds to."""

    def __init__(self, *, casefold: bool) -> None:
        self.casefold = casefold

    def __missing__(self, code: int) -> str:
        folded = _fold_character(chr(code), self.casefold)
        self[code] = folded
        return folded


def fold(text: str) -> str:
    """The form for matching: NFKC, casefold, accents, width, invisible characters and Traditional Han folded.

    Idempotent. Simplified forms replace Traditional ones character by character, so the length of Han text stays.
    """
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.translate(_table(casefold=True)))


def fold_keeping_case(text: str) -> str:
    """As `fold`, but upper case stays; `fold(fold_keeping_case(text)) == fold(text)`."""
    return text if text.isascii() else unicodedata.normalize("NFC", text.translate(_table(casefold=False)))


def fold_with_offsets(text: str, *, keep_case: bool = False) -> tuple[str, list[int]]:
    """`fold(text)` (or `fold_keeping_case`) and, for each of its characters, the index of its source character.

    The indices never fall. `source_span` turns a match into a span of `text`.
    """
    if text.isascii():
        return (text if keep_case else text.lower()), list(range(len(text)))
    table = _table(casefold=not keep_case)
    pieces = [table[ord(character)] for character in text]
    offsets = [index for index, piece in enumerate(pieces) for _ in piece]
    joined = "".join(pieces)
    if unicodedata.is_normalized("NFC", joined):
        return joined, offsets
    return _composed(joined, offsets)


def source_span(text: str, offsets: list[int], start: int, end: int) -> tuple[int, int]:
    """The span of `text` that `[start, end)` of its folded form came from; `start < end`, marks included."""
    last = offsets[end - 1]
    stop = max(last + 1, offsets[end] if end < len(offsets) else len(text))
    while stop - 1 > last and unicodedata.category(text[stop - 1]) == "Cf":
        stop -= 1
    return offsets[start], stop


def glossary_key(text: str) -> str:
    """NFKC, casefold, white space collapsed: two names with one key are the same name."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


@lru_cache(maxsize=2)
def _table(*, casefold: bool) -> _FoldTable:
    return _FoldTable(casefold=casefold)


def _fold_character(character: str, casefold: bool) -> str:
    text, before = _REPLACED.get(character, character), ""
    while text != before:
        before = text
        parts = (_fold_part(part, casefold) for part in unicodedata.normalize("NFKD", text))
        text = "".join(parts)
    return unicodedata.normalize("NFC", text).translate(_simplified())


def _fold_part(part: str, casefold: bool) -> str:
    if unicodedata.category(part) == "Cf" or _MARKS.match(part) or _IGNORED.match(part):
        return ""
    if part in _REPLACED:
        part = _REPLACED[part]
    elif unicodedata.category(part) == "Nd":
        part = str(unicodedata.decimal(part))
    elif stroke := _STROKE.match(unicodedata.name(part, "")):
        part = stroke[2].lower() if stroke[1] == "SMALL" else stroke[2]
    return part.casefold() if casefold else part


@lru_cache(maxsize=1)
def _simplified() -> dict[int, str]:
    """OpenCC's t2s on each Han character alone, followed to its end (苧 stands for 薴 and is itself folded to 苎)."""
    import opencc

    converter = opencc.OpenCC("t2s")
    single: dict[str, str] = {}
    for first, end in _HAN:
        han = [chr(code) for code in range(first, end)]
        converted = converter.convert("\n".join(han)).split("\n")
        single.update((a, b) for a, b in zip(han, converted, strict=True) if a != b and len(b) == 1)
    table: dict[int, str] = {}
    for character in single:
        seen, last = {character}, single[character]
        while last in single and single[last] not in seen:
            seen.add(last)
            last = single[last]
        table[ord(character)] = last
    return table


def _composed(joined: str, offsets: list[int]) -> tuple[str, list[int]]:
    """NFC of `joined`, cluster by cluster; what a cluster gives counts from its characters in order."""
    result: list[str] = []
    sources: list[int] = []
    start = 0
    for end in range(1, len(joined) + 1):
        if end < len(joined) and _may_compose(joined[end]):
            continue
        cluster = unicodedata.normalize("NFC", joined[start:end])
        result.append(cluster)
        sources += offsets[start:end][: len(cluster)]
        sources += [offsets[end - 1]] * (len(cluster) - (end - start))
        start = end
    return "".join(result), sources


def _may_compose(character: str) -> bool:
    """Marks, and Hangul vowels and finals, can become one with what stands before them."""
    medial = "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7fb"
    return medial or unicodedata.category(character)[0] == "M"
