"""Markdown's inline marks taken off a line that is to be read, not rendered."""

from __future__ import annotations

import re

from core.answer.citations import parse_citations
from core.answer.code_spans import inline_spans

# Beside a letter or digit `**` may be a power and `__` part of a name; what they hold must not begin or end blank.
_STARS = re.compile(r"(?<![A-Za-z0-9*\\])\*\*(?=[^\s*])([^*]*[^\s*])\*\*(?![A-Za-z0-9*])")
_LINES = re.compile(r"(?<![\w\\])__(?=[^\s_])([^_]*[^\s_])__(?!\w)")
_NAME = re.compile(r"[A-Za-z0-9]+")


def without_markup(line: str) -> str:
    """`line` without pairs of `**` and `__` and without the backticks around code, whose inside stays as it is.

    Nothing else changes, so that the line is still found where it came from. Marks that stand alone stay, and so do
    those without which there would be a citation mark that was none before: `a[1]` keeps its backticks.
    """
    parts = []
    position = 0
    for start, end in inline_spans(line) if "`" in line else ():
        parts += [_plain(line[position:start]), _bare(line[start:end])]
        position = end
    result = "".join([*parts, _plain(line[position:])])
    return line if parse_citations(result, 0).marks else result


def _bare(span: str) -> str:
    code = span.strip("`")
    return span if parse_citations(code, 0).marks else code.strip(" ") or code


def _plain(text: str) -> str:
    if "**" in text:
        text = _STARS.sub(r"\1", text)
    return _LINES.sub(_unless_a_name, text) if "__" in text else text


def _unless_a_name(found: re.Match[str]) -> str:
    return found[0] if _NAME.fullmatch(found[1]) else found[1]
