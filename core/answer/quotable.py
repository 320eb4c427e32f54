"""The sentences of a passage that can be quoted, each with the headings that say what it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.text import UNSPACED, sentences

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)[\s#]*$")
_RULE = re.compile(r"^(?=.*[-=_*]{3})[\s|:+=_*-]+$")
_UNDERLINE = re.compile(r"^(=+|-+)$")
_ROW = re.compile(r"^\|.*\|$")
_MARKER = re.compile(r"^(?:>\s?)*(?:(?:[-*+•·▪◦●]|\(?[0-9]{1,3}[.)、]|[a-z][.)])\s+)?(?:\[[ xX]\]\s+)?")
_ITEM = re.compile(r"^(?:>\s?)*(?:[-*+•·▪◦●]|\(?[0-9]{1,3}[.)、]|[a-z][.)])\s+")
_QUESTION = re.compile(r"[?？][\"'”’」』)）]*$")
_WRAP = re.compile(rf"(?<=[{UNSPACED}，。、；：！？）】」』])\s*\n\s*(?=[{UNSPACED}，。、；：！？（【「『])")


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    """As in the passage, white space collapsed, without list marker or outer cell borders."""
    context: str
    """Heading, table header or question right above; empty where there is none."""


def quotable(passage: str) -> list[Sentence]:
    """Sentences, list items and table rows in text order; headings, rules, code and questions only give context.

    A passage is canonical text: Markdown, or plain text in lines.
    """
    found = []
    heading = ""
    for kind, text in _units(passage):
        if kind == "heading":
            heading = text
            continue
        question = ""
        pieces = [text] if kind == "row" else [text[start:end] for start, end in sentences(text)]
        for piece in map(_collapsed, pieces):
            if _QUESTION.search(piece):
                question = heading = piece
            elif piece:
                found.append(Sentence(piece, question or heading))
                question = ""
    return found


def _units(passage: str) -> Iterator[tuple[str, str]]:
    """Blocks as (kind, text), kind being heading, row or prose."""
    prose: list[str] = []
    lines = _lines_outside_code(passage)
    for position, line in enumerate(lines):
        following = lines[position + 1] if position + 1 < len(lines) else ""
        heading = _HEADING.match(line)
        row = _ROW.match(line)
        starts_anew = not line or heading or row or _RULE.match(line) or _ITEM.match(line)
        underlined = bool(line) and not starts_anew and bool(_UNDERLINE.match(following))
        if (starts_anew or underlined) and prose:
            yield "prose", "\n".join(prose)
            prose = []
        if heading or underlined:
            yield "heading", _collapsed(heading.group(1) if heading else line)
        elif not line or _RULE.match(line) or _UNDERLINE.match(line):
            continue
        elif row:
            text = _collapsed(line.strip("| \t"))
            yield ("heading" if _is_table_rule(following) else "row"), text
        else:
            prose.append(_MARKER.sub("", line, count=1))
    if prose:
        yield "prose", "\n".join(prose)


def _lines_outside_code(passage: str) -> list[str]:
    lines = []
    fence = ""
    for line in passage.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark.group(1).startswith(fence):
                fence = ""
        elif mark:
            fence = mark.group(1)
            lines.append("")
        else:
            lines.append(line.strip())
    return lines


def _is_table_rule(line: str) -> bool:
    return bool(_RULE.match(line)) and "|" in line


def _collapsed(text: str) -> str:
    return " ".join(_WRAP.sub("", text).split())
