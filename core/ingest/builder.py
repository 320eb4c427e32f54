"""Canonical text put together piece by piece, for formats whose source is not what a person reads."""

from __future__ import annotations

from collections import Counter

from core.ingest.clean import clean, warnings_of
from core.ingest.sections import Found, Kind
from core.provenance import aggregate
from core.types import Provenance


class TextBuilder:
    """Text and blocks in reading order. Every piece is cleaned of hidden characters as it is added."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self.found: list[Found] = []
        self.place: Provenance = {}
        """Of the blocks that follow: the page, sheet or slide that is being read."""
        self._removed: Counter[str] = Counter()

    def add(
        self, kind: Kind, text: str, *, gap: str = "\n\n", level: int = 0, anchor: str = "", title: str = ""
    ) -> None:
        """A block of its own, `gap` after what stands before it. White text is left out."""
        text = self._clean(text)
        if not text:
            return
        start = self._append(text, gap)
        title = title or (text if level else "")
        self.found.append(Found(start, self._length, kind, level, title, anchor, self.place))

    def extend(self, text: str) -> None:
        """A further line of the last block."""
        text = self._clean(text)
        if text:
            self._append(text, "\n")
            last = self.found[-1]
            place = aggregate([last.place, self.place])
            self.found[-1] = Found(last.start, self._length, last.kind, place=place)

    def add_rows(self, rows: list[str], gap: str = "\n") -> None:
        """A table block and its row blocks."""
        place = len(self.found)
        for number, row in enumerate(rows):
            self.add("row", row, gap=gap if number else "\n\n")
        if len(self.found) > place:
            self.found.insert(place, Found(self.found[place].start, self._length, "table", place=self.place))

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def warnings(self) -> tuple[str, ...]:
        return warnings_of(self._removed)

    def _append(self, text: str, gap: str) -> int:
        if self._parts:
            self._parts.append(gap)
            self._length += len(gap)
        start = self._length
        self._parts.append(text)
        self._length += len(text)
        return start

    def _clean(self, text: str) -> str:
        text, removed = clean(text)
        self._removed += removed
        return text.strip("\n").rstrip()
