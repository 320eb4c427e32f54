"""Text for a terminal: harmless whatever a document holds, wrapped by the width of its characters; and JSON."""

from __future__ import annotations

import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, screen
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS and their like
    r"|\x1b[ -/]*[0-~]"  # the rest
)
_LINE_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_BAD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_BAD_IN_JSON = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_HAN, _CLOSING = "⺀-鿿가-힯豈-﫿︰-\uff9f", "，。、；：？！」』）】》”’…"
_PIECES = re.compile(rf"\s+|[{_HAN}][{_CLOSING}]*|[^\s{_HAN}]+")

WIDTH_MIN, WIDTH_MAX = 40, 100


def harmless(text: str) -> str:
    """The text without escape sequences, control characters and those that turn the direction of writing.

    Line feeds and tabs stay; other line breaks become line feeds.
    """
    return _BAD.sub("", _LINE_BREAKS.sub("\n", _ESCAPES.sub("", text)))


def one_line(text: str) -> str:
    """Harmless, and with runs of white space as one space."""
    return " ".join(harmless(text).split())


def complain(line: str, code: int) -> int:
    """The line on stderr, then `code`."""
    print(one_line(line), file=sys.stderr)
    return code


def say(text: str = "") -> None:
    print(_encodable(harmless(text)))


def print_json(value: Any) -> None:
    """The value, dataclasses, times and tuples in it too, as readable JSON.

    No character in it can steer a terminal: such ones are written as escapes.
    """
    from core.types import to_json

    value = to_json(value)
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    if _encodable(text) != text:
        text = json.dumps(value, ensure_ascii=True, indent=2, allow_nan=False)
    print(_BAD_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns side by side, each as wide as its widest cell."""
    lines = [tuple(header), *(tuple(one_line(cell) for cell in row) for row in rows)]
    widths = [max(width(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(cell + " " * (size - width(cell)) for cell, size in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def wrapped(text: str, indent: str, columns: int | None = None) -> str:
    """The text in lines of at most `columns` (default: the terminal's), each after `indent`; its own lines stay."""
    space = (columns or terminal_width()) - width(indent)
    lines = [part for line in harmless(text).expandtabs(4).split("\n") for part in _fill(line, space)]
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def terminal_width() -> int:
    return max(WIDTH_MIN, min(WIDTH_MAX, shutil.get_terminal_size().columns))


def width(text: str) -> int:
    """Columns that the text takes in a terminal: two for wide characters, none for combining ones."""
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _fill(line: str, space: int) -> list[str]:
    """One line in parts that fit: broken at spaces and between Han characters, else inside a word."""
    filled, present, used = [], "", 0
    for piece in _PIECES.findall(line.rstrip()):
        size = width(piece)
        if used + size > space and present.strip():
            filled.append(present.rstrip())
            present, used = "", 0
            if piece.isspace():
                continue
        while size > space:
            head = _prefix(piece, space)
            filled.append(head)
            piece = piece[len(head) :]
            size = width(piece)
        present, used = present + piece, used + size
    return [*filled, present] if present or not filled else filled


def _prefix(text: str, space: int) -> str:
    used = 0
    for position, character in enumerate(text):
        used += _character_width(character)
        if used > space and position:
            return text[:position]
    return text


def _encodable(text: str) -> str:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)
