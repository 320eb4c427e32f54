"""A PDF's outline, and which lines of its pages are the headings it names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.ingest.parsers.pdf_lines import Line, Table

DEPTH_MAX = 8
ENTRIES_MAX = 20_000
_LINES_MAX = 4
_NUMBERING = re.compile(
    r"^(?:(?:chapter|part|section|appendix|annex)?(?:\d+|[a-z](?=[.\d]))(?:\.\d+)*[.:、．)]?"
    r"|第[\d一二三四五六七八九十百]+[章节節部篇编編回])"
)
_CHAPTER = re.compile(
    r"(?:chapter|part|appendix|annex|kapitel|chapitre)\s+\w{1,5}|第\s*\w{1,4}\s*[章部篇编編]", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Entry:
    title: str
    level: int
    """From 1."""
    page: int
    """From 0."""


@dataclass(frozen=True, slots=True)
class Outline:
    entries: tuple[Entry, ...]
    broken: bool
    """It leads back to itself, or on and on."""


def outline_of(document: Any) -> Outline:
    """The outline of a pypdfium2 document, as far as its entries lead to pages."""
    from pypdfium2 import raw

    entries: list[Entry] = []
    seen: set[int] = set()
    # First children and next siblings, not by recursion: the outline may be made to exhaust it.
    pending: list[tuple[Any, int]] = [(raw.FPDFBookmark_GetFirstChild(document, None), 1)]
    broken = False
    while pending:
        bookmark, level = pending.pop()
        if not bookmark:
            continue
        address = _address(bookmark)
        if address in seen or len(seen) >= ENTRIES_MAX:
            broken = True
            continue
        seen.add(address)
        target = raw.FPDFBookmark_GetDest(document, bookmark)
        page = raw.FPDFDest_GetDestPageIndex(document, target) if target else -1
        title = _title(bookmark)
        if page >= 0 and title:
            entries.append(Entry(title, level, page))
        pending.append((raw.FPDFBookmark_GetNextSibling(document, bookmark), level))
        child = raw.FPDFBookmark_GetFirstChild(document, bookmark)
        if level < DEPTH_MAX:
            pending.append((child, level + 1))
    return Outline(tuple(entries), broken)


def _address(bookmark: Any) -> int:
    import ctypes

    return ctypes.addressof(bookmark.contents)


def _title(bookmark: Any) -> str:
    import ctypes

    from pypdfium2 import raw

    size = min(raw.FPDFBookmark_GetTitle(bookmark, None, 0), 4096)
    buffer = ctypes.create_string_buffer(max(size, 2))
    raw.FPDFBookmark_GetTitle(bookmark, buffer, size)
    return " ".join(buffer.raw[: max(size - 2, 0)].decode("utf-16-le", "replace").split())


@dataclass(frozen=True, slots=True)
class Mark:
    """A heading found on a page: so many lines from a place on."""

    start: int
    count: int
    level: int


def marks_of(items: Sequence[Line | Table], entries: Sequence[Entry]) -> list[Mark]:
    """Which of a page's lines are the headings that lead to this page."""
    keys = [_key(item.text) if isinstance(item, Line) else "" for item in items]
    taken: set[int] = set()
    marks = []
    place = 0
    for entry in entries:
        wanted = _key(entry.title)
        found = _find(keys, wanted, place, taken) or _find(keys, wanted, 0, taken)
        if found is None:
            continue
        start, count = found
        place = start + count
        taken.update(range(start, place))
        before = items[start - 1] if start else None
        if isinstance(before, Line) and start - 1 not in taken and _CHAPTER.fullmatch(before.text.strip()):
            start, count = start - 1, count + 1
            taken.add(start)
        marks.append(Mark(start, count, entry.level))
    return sorted(marks, key=lambda mark: mark.start)


def _find(keys: Sequence[str], wanted: str, first: int, taken: set[int]) -> tuple[int, int] | None:
    """Lines, from `first` on, that together say what is wanted, but for its number."""
    bare = _NUMBERING.sub("", wanted) or wanted
    for count in range(1, _LINES_MAX + 1):
        for start in range(first, len(keys) - count + 1):
            lines = range(start, start + count)
            if taken.isdisjoint(lines) and all(keys[line] for line in lines):
                text = "".join(keys[line] for line in lines)
                if text == wanted or (_NUMBERING.sub("", text) or text) == bare:
                    return start, count
    return None


def _key(text: str) -> str:
    """Letters and digits as they compare: without white space, case and width."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).casefold().replace("\ufffe", "-")
