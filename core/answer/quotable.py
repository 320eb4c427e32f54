"""The sentences of a passage that can be quoted, each with what stands above it and says what it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from core.answer.citations import without_marks
from core.answer.markup import without_markup
from core.text import UNSPACED, sentences

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})")
_HEADING = re.compile(r"^#{1,6}\s")
_RULE = re.compile(r"^(?=.*[-=_*]{2})[\s|:+=_*-]+$")
_UNDERLINE = re.compile(r"^(?:={2,}|-{2,})$")
_ROW = re.compile(r"^\|.*\|$")
_QUOTE = re.compile(r"^(?:>\s?)+")
_ITEM = re.compile(r"^(?:[-*+•·▪◦●]\s+|\(?[0-9]{1,3}[.)]\s+|[0-9]{1,3}、\s*|[a-z][.)]\s+)(?:\[[ xX]\]\s+)?")
_LEADS = re.compile(r"[?？:：][\"'”’」』)）]*$")
_NO_TITLE = re.compile(r"[0-9０-９.。!！?？:：;；,，、|]")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_WRAP = re.compile(rf"(?<=[{UNSPACED}，。、；：！？）】」』])\s*\n\s*(?=[{UNSPACED}，。、；：！？（【「『])")
_WRAP_WIDTH = 40
"""A line at least this wide (Han and the like count double) may go on in the next; a shorter one ends a statement,
unless the next begins with a small letter."""
_TITLE_WIDTH = 60

_DIGIT = re.compile(r"[0-9０-９]")

Kind = Literal["heading", "lead", "header", "row", "prose"]
"""`lead`: a question or introduction, which is no unit of its own but the end of one."""


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    """As in the passage, white space collapsed, without list marker, outer cell borders and pairs of inline marks."""
    context: str
    """The heading above it, and the question or introduction it belongs to; may be empty."""
    header: str = ""
    """Of a table row, the names of its columns, where they are known."""


def quotable(passage: str) -> list[Sentence]:
    """Sentences, list items and table rows in text order; headings, questions, introductions only give context.

    A passage is canonical text, Markdown or plain lines. Rules, fenced code and the text's own marks like `[1]` are
    left out.
    """
    found: list[Sentence] = []
    heading = lead = header = ""
    last: Kind = "prose"
    for kind, marked in _units(passage):
        text = without_markup(without_marks(marked))
        if kind == "heading":
            heading, lead = text, ""
        elif kind == "header":
            # What stands right above a table introduces it; what stands further up does not.
            header, lead = text, lead if last == "lead" else ""
        elif kind == "prose" and last in ("row", "header"):
            lead = ""
        last = kind
        for piece in {"row": [text], "prose": _split(text)}.get(kind, []):
            if _LEADS.search(piece):
                lead, last = piece, "lead"
            else:
                found.append(Sentence(piece, f"{heading} {lead}".strip(), header if kind == "row" else ""))
                last = kind
    return found


def _split(text: str) -> list[str]:
    pieces = (" ".join(text[start:end].split()) for start, end in sentences(text))
    return [piece for piece in pieces if piece]


def _units(passage: str) -> Iterator[tuple[Kind, str]]:
    """Blocks in text order. A short line by itself, without punctuation or digits, is a heading if text follows."""
    blocks = [block for block in _blocks(_lines(passage)) if block[1]]
    for position, (kind, text, single) in enumerate(blocks):
        followed = position + 1 < len(blocks) and blocks[position + 1][0] in ("prose", "row")
        title = kind == "prose" and single and followed and not _NO_TITLE.search(text) and _width(text) <= _TITLE_WIDTH
        yield ("heading" if title else kind), text


def _blocks(lines: list[str]) -> Iterator[tuple[Kind, str, bool]]:
    """Kind, text, and whether it is one line of prose that is no list item."""
    prose: list[str] = []
    item = False
    for line, kind in zip(lines, _kinds(lines), strict=True):
        marker = _ITEM.match(line) if kind == "prose" else None
        ended = prose and _width(prose[-1]) < _WRAP_WIDTH and not line[:1].islower()
        if prose and (kind != "prose" or marker or ended):
            yield "prose", _collapsed("\n".join(prose)), len(prose) == 1 and not item
            prose = []
        if kind == "prose":
            item = bool(marker) if not prose else item
            prose.append(line[marker.end() :] if marker else line)
        elif kind is not None:
            yield kind, _collapsed(line.strip("# \t" if kind == "heading" else "| \t")), False
    if prose:
        yield "prose", _collapsed("\n".join(prose)), len(prose) == 1 and not item


def _kinds(lines: list[str]) -> list[Kind | None]:
    kinds = [_kind(line, following) for line, following in zip(lines, [*lines[1:], ""], strict=False)]
    first = 0
    while first < len(lines):
        last = first
        while last < len(lines) and kinds[last] == "prose" and f" {lines[last]} ".count(" | "):
            last += 1
        if last - first > 1:  # a bar in a single line may be anything
            kinds[first:last] = _table(lines[first:last])
        first = max(last, first + 1)
    return kinds


def _table(rows: list[str]) -> list[Kind | None]:
    """Of rows without outer borders: the first one names the columns if it alone holds no number."""
    header = not _DIGIT.search(rows[0]) and all(map(_DIGIT.search, rows[1:]))
    return ["header" if header and not number else "row" for number in range(len(rows))]


def _kind(line: str, following: str) -> Kind | None:
    """None for an empty line or a rule."""
    if not line or _RULE.match(line):
        return None
    if _ROW.match(line):
        return "header" if _RULE.match(following) and "|" in following else "row"
    if _HEADING.match(line) or (_UNDERLINE.match(following) and not _ITEM.match(line)):
        return "heading"
    return "prose"


def _lines(passage: str) -> list[str]:
    """Lines without indentation and quotation marks; those inside code fences empty."""
    lines = []
    fence = ""
    for line in passage.splitlines():
        mark = _FENCE.match(line)
        lines.append("" if fence or mark else _QUOTE.sub("", line.strip()).strip())
        if mark:
            if not fence:
                fence = mark.group(1)
            elif mark.group(1).startswith(fence):
                fence = ""
    return lines


def _width(text: str) -> int:
    return len(text) + len(_UNSPACED.findall(text))


def _collapsed(text: str) -> str:
    return " ".join(_WRAP.sub("", text).split())
