"""From what a parser found to blocks that know their section and their lines."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from core.ports import Block
from core.types import Provenance

Kind = Literal["heading", "paragraph", "list", "table", "row", "code"]
_TITLE_MAX = 200
_SLUG_MAX = 80


@dataclass(frozen=True, slots=True)
class Found:
    """A block before its place in the document is known. Headings carry level, title and, if they have one, an id."""

    start: int
    end: int
    kind: Kind
    level: int = 0
    title: str = ""
    anchor: str = ""
    place: Provenance = field(default_factory=dict)
    """Where it stands in the file, beyond section and lines: `pages`, `sheet`, `slide`."""


class LineIndex:
    """Line numbers, from 1, of offsets in one text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    @property
    def count(self) -> int:
        return len(self._starts)

    def line(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def pair(self, start: int, end: int) -> tuple[int, int]:
        """First and last line of `[start, end)`."""
        return self.line(start), self.line(max(start, end - 1))

    def start(self, line: int) -> int:
        """Offset of the first character of a line."""
        return self._starts[line - 1]


def slug(title: str) -> str:
    """A heading as GitHub writes it in links: letters, marks and digits of any script, `-`, `_`; lower case.

    `section` for a title without any of these.
    """
    kept = [c if c.isalnum() or c in "-_" or unicodedata.category(c)[0] == "M" else "-" * c.isspace() for c in title]
    return "".join(kept).lower().strip("-")[:_SLUG_MAX].rstrip("-") or "section"


def locate(text: str, found: Sequence[Found]) -> tuple[Block, ...]:
    """`found`, in reading order, with provenance and section anchors.

    A heading belongs to its own section. An anchor is the path of slugs (or ids) of the headings above, joined by
    `/`; of two equal ones in a document the later gets `-1`, `-2`, …
    """
    lines = LineIndex(text)
    stack: list[tuple[int, str, str]] = []
    used: dict[str, int] = {}
    blocks = []
    for item in found:
        if item.kind == "heading":
            while stack and stack[-1][0] >= item.level:
                stack.pop()
            above = f"{stack[-1][2]}/" if stack else ""
            own = re.sub(r"[\s/]+", "-", item.anchor)[:_SLUG_MAX] or slug(item.title)
            anchor = _unused(above + own, used)
            stack.append((item.level, item.title[:_TITLE_MAX], anchor))
        provenance = {**item.place, "lines": (lines.pair(item.start, item.end),)}
        if stack:
            provenance["section"] = (" > ".join(title for _, title, _ in stack),)
        blocks.append(_block(item, provenance, stack[-1][2] if stack else ""))
    return tuple(blocks)


def _block(item: Found, provenance: Provenance, anchor: str) -> Block:
    return Block(item.start, item.end, item.kind, provenance, anchor, item.level)


def _unused(anchor: str, used: dict[str, int]) -> str:
    """`anchor`, or with the next free number; `used` holds for each taken anchor the last number given to it."""
    result = anchor
    while result in used:
        used[anchor] += 1
        result = f"{anchor}-{used[anchor]}"
    used[result] = 0
    return result
