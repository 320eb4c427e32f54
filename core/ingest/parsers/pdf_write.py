"""Pieces of a PDF to canonical text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.ingest.builder import TextBuilder
from core.ingest.parsers.pdf_blocks import Piece, code_lines, marker_of
from core.ingest.parsers.pdf_join import Vocabulary, join_lines

_BULLETS = "•‣◦▪▫●○■□◆◇▶►✓✔➢∙·\uf0b7\uf0a7\uf0d8–—*-"
_SAME_EDGE = 3.0
"""Points within which items of a list stand below each other."""


def written(pieces: Iterable[Piece], vocabulary: Vocabulary) -> TextBuilder:
    """All of them in order, each with the numbers of its pages as `pages`."""
    builder = TextBuilder()
    edges: list[float] = []
    for piece in pieces:
        builder.place = {"pages": tuple(piece.pages)}
        if piece.kind == "list":
            _write_item(builder, piece, vocabulary, edges)
            continue
        edges.clear()
        if piece.table is not None:
            builder.add_rows([_row(row) for row in piece.table.rows])
        elif piece.kind == "code":
            builder.add("code", "\n".join(code_lines(piece.lines)))
        elif piece.kind == "heading":
            builder.add("heading", _text(piece, vocabulary).replace("\n", " "), level=piece.level)
        else:
            builder.add("paragraph", _text(piece, vocabulary))
    return builder


def _write_item(builder: TextBuilder, piece: Piece, vocabulary: Vocabulary, edges: list[float]) -> None:
    """An item of a list; `edges` are the left edges of the items it may stand below, one a level."""
    left = piece.lines[0].box[0]
    opened = bool(edges) and bool(builder.found) and builder.found[-1].kind == "list"
    while edges and left < edges[-1] - _SAME_EDGE:
        edges.pop()
    if not edges or left > edges[-1] + _SAME_EDGE:
        edges.append(left)
    text = _text(piece, vocabulary)
    marker = marker_of(text)
    rest = text[len(marker) :].lstrip()
    shown = "-" if marker[:1] in _BULLETS else marker.strip()
    indent = "  " * (len(edges) - 1)
    line = f"{indent}{shown} {rest}".replace("\n", f"\n{indent}{' ' * (len(shown) + 1)}")
    if opened:
        builder.extend(line)
    else:
        builder.add("list", line)


def _text(piece: Piece, vocabulary: Vocabulary) -> str:
    return join_lines([line.text for line in piece.lines], vocabulary, piece.breaks)


def _row(cells: Sequence[str]) -> str:
    """`a | b | c`; empty cells keep their place, but for those at the end."""
    texts = [" ".join(cell.split()) for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    return " | ".join(texts)
