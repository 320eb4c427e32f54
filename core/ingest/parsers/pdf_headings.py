"""Which paragraphs of a PDF are headings, told from outline, size, weight and numbering."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from core.ingest.parsers.pdf_blocks import LEADER_END, Piece, Typography
from core.ingest.parsers.pdf_words import is_cjk

_LARGER = 1.12
_LENGTH_MAX = 120
"""Characters of a heading; a CJK character counts 2."""
_LINES_MAX = 3
_LEVEL_MAX = 6
_TRUSTED = 5
"""So many headings found by the outline are all there are, but for those that look like them."""
_NUMBERED = re.compile(
    r"(?:(\d{1,2}(?:\.\d{1,3}){0,5})\.?(?=\s|[^\W\d_a-z])|[A-Z](?:\.\d{1,3}){1,5}\.?\s|第\w{1,4}[章节節部篇])\s*\S"
)
_NO_HEADING = re.compile(r"(?:table|figure|fig\.|tab\.|abbildung|tabelle|tableau|表|图|圖)\s*\d", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.,;。，；、…]$")
_LETTER = re.compile(r"[^\W\d_]")

_Look = tuple[float, bool]
"""Size in half points, and whether bold."""


def find_headings(pieces: Sequence[Piece], typography: Typography) -> None:
    """Make headings of the paragraphs that look like ones, and give each a level."""
    known = [piece for piece in pieces if piece.kind == "heading"]
    candidates = [piece for piece in pieces if piece.kind in ("paragraph", "list") and _looks(piece, typography)]
    if known:
        _by_outline(known, candidates, typography)
    else:
        _by_look(candidates)


def _by_outline(known: Sequence[Piece], candidates: Sequence[Piece], typography: Typography) -> None:
    """Those that look like headings of the outline are of their level; larger ones are titles; of the rest the large
    and bold ones, if the outline is short."""
    levels: dict[_Look, Counter[int]] = {}
    for piece in known:
        levels.setdefault(_look(piece), Counter())[piece.level] += 1
    largest = max(piece.size for piece in known)
    deepest = max(piece.level for piece in known)
    for piece in candidates:
        alike = levels.get(_look(piece))
        if alike:
            _make(piece, alike.most_common(1)[0][0])
        elif piece.size > largest + 0.5:
            _make(piece, 1)
        elif len(known) < _TRUSTED and piece.size >= _LARGER * typography.body:
            larger = [item.level for item in known if item.size > piece.size + 0.5]
            _make(piece, max(larger, default=0) + 1)
        elif len(known) < _TRUSTED:
            _make(piece, deepest + 1)


def _by_look(candidates: Sequence[Piece]) -> None:
    """Larger ones stand above smaller, bold above others of their size; numbers tell the level below each other."""
    looks = sorted({_look(piece) for piece in candidates}, reverse=True)
    ranks: dict[_Look, int] = {look: number for number, look in enumerate(looks, 1)}
    first = [ranks[_look(piece)] for piece in candidates if _depth(piece) == 1]
    base = min(first, default=0)
    for piece in candidates:
        depth = _depth(piece)
        _make(piece, base + depth - 1 if depth and base else ranks[_look(piece)])


def _make(piece: Piece, level: int) -> None:
    piece.kind, piece.level = "heading", max(1, min(level, _LEVEL_MAX))


def _look(piece: Piece) -> _Look:
    return round(2 * piece.size) / 2, piece.bold


def _looks(piece: Piece, typography: Typography) -> bool:
    text = " ".join(line.text for line in piece.lines).strip()
    length = sum(1 + is_cjk(character) for character in text)
    if len(piece.lines) > _LINES_MAX or length > _LENGTH_MAX or piece.lines[0].turned:
        return False
    if LEADER_END.search(text):
        return False
    if not _LETTER.search(text) or _NO_HEADING.match(text) or _SENTENCE_END.search(text):
        return False
    if piece.kind == "list" and not _NUMBERED.match(text):
        return False
    if piece.size >= _LARGER * typography.body:
        return True
    return piece.bold and not typography.bold and not piece.breaks and piece.size >= 0.95 * typography.body


def _depth(piece: Piece) -> int:
    """How deep the heading's number says it is; 0: it has none."""
    match = _NUMBERED.match(piece.lines[0].text)
    if match is None:
        return 0
    return (match[1] or "").count(".") + 1 if match[1] else max(match.group().count("."), 1)
