"""Lines of PDF pages to paragraphs, lists, code and tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Literal

from core.ingest.parsers.pdf_furniture import PageLines
from core.ingest.parsers.pdf_join import goes_on
from core.ingest.parsers.pdf_lines import Line, Table
from core.ingest.parsers.pdf_outline import Mark
from core.ingest.parsers.pdf_words import BOLD, MONO, is_cjk

_BULLET = re.compile(r"[•‣◦▪▫●○■□◆◇▶►✓✔➢∙·\uf0b7\uf0a7\uf0d8](?:\s+|(?=\S))|[-–—*]\s+")
_ORDERED = re.compile(
    r"\(?\d{1,3}[.)]\s|\d{1,2}[、．]|[(（]\d{1,2}[)）]|\(?[a-zA-Z][.)]\s|\(?[ivx]{1,5}[.)]\s"
    r"|[(（][一二三四五六七八九十]{1,3}[)）]|[一二三四五六七八九十]{1,3}、|[①-⑳]"
)
_ENDS = re.compile(r"[.!?:;…。！？：；][\"'”’」』)）】]*$")
_STOPS = re.compile(r"[.!?:。！？：][\"'”’」』)）】]*$")
LEADER_END = re.compile(r"(?:[.…·․]\s*){4,}\s*\w{1,6}$")
_LEADING_SLACK = 0.3
_LEADING_MAX, _SAMPLES_MIN = 3.2, 3
_CODE_GAP = 4
"""Font sizes between two parts of one listing, at most."""
_NARROW = 0.75
"""Share of its column up to which text is narrow: its lines may end where they do for another reason than room."""
_LABELLED = re.compile(r"[^\W\d_a-z]|\d|.{1,12}[:：]")
_ASCII_SHARE = 0.6

Kind = Literal["heading", "paragraph", "list", "code", "table"]


@dataclass(slots=True)
class Piece:
    """Lines that belong together."""

    kind: Kind
    pages: list[str]
    """Labels of the pages it stands on."""
    lines: list[Line] = field(default_factory=list)
    breaks: set[int] = field(default_factory=set)
    """Numbers of lines before which a line break is meant."""
    level: int = 0
    """Of a heading, from 1; of a list's item, from 0."""
    table: Table | None = None
    right: float = 0.0
    """Where full lines end."""

    @property
    def size(self) -> float:
        return max(line.size for line in self.lines)

    @property
    def bold(self) -> bool:
        return all(line.style & BOLD for line in self.lines)


@dataclass(frozen=True, slots=True)
class Typography:
    """What is usual in a document."""

    body: float
    """Font size of most text, in points."""
    leading: Mapping[float, float]
    """Distance of lines in font sizes, by font size, as far as it is known."""
    mono: bool
    """Most of it is of fixed pitch, so that tells nothing."""
    bold: bool
    """Much of it is bold."""


def typography_of(pages: Sequence[PageLines]) -> Typography:
    sizes: Counter[float] = Counter()
    styles: Counter[int] = Counter()
    ratios: dict[float, list[float]] = {}
    for page in pages:
        before: Line | None = None
        for item in page.items:
            line = item if isinstance(item, Line) else None
            if line is not None:
                sizes[line.size] += len(line.text)
                styles[line.style] += len(line.text)
            if line is not None and before is not None and (line.region, line.size) == (before.region, before.size):
                ratios.setdefault(line.size, []).append((_middle(line) - _middle(before)) / max(line.size, 0.1))
            before = line
    total = max(sum(sizes.values()), 1)
    # Of the smaller distances: the larger ones part paragraphs.
    near = {size: sorted(ratio for ratio in found if ratio < _LEADING_MAX) for size, found in ratios.items()}
    leading = {size: found[len(found) // 4] for size, found in near.items() if len(found) >= _SAMPLES_MIN}
    mono = sum(count for style, count in styles.items() if style & MONO) > 0.5 * total
    bold = sum(count for style, count in styles.items() if style & BOLD) > 0.25 * total
    body = max(sizes, key=lambda size: (sizes[size], -size), default=10.0)
    return Typography(body, leading, mono, bold)


def pieces_of(page: PageLines, marks: Sequence[Mark], typography: Typography) -> Iterator[Piece]:
    """What a page consists of, in reading order; `marks` are the headings that are known."""
    starts = {mark.start: mark for mark in marks}
    run: list[Line] = []
    place = 0
    while place < len(page.items):
        item = page.items[place]
        mark = starts.get(place)
        if mark is not None or isinstance(item, Table) or (run and not _is_run(run[-1], item, typography)):
            yield from _divided(run, page, typography)
            run = []
        if mark is not None:
            lines = [item for item in page.items[place : place + mark.count] if isinstance(item, Line)]
            yield Piece("heading", [page.number], lines, level=mark.level)
            place += mark.count
            continue
        if isinstance(item, Table):
            yield Piece("table", [page.number], table=item)
        else:
            run.append(item)
        place += 1
    yield from _divided(run, page, typography)


def continued(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, paragraphs made whole that go on in the next column or on the next page."""
    result: list[Piece] = []
    for piece in pieces:
        before = result[-1] if result else piece
        if result and (_goes_on(before, piece) or _is_next_of_kind(before, piece)):
            if before.kind == "code" or LEADER_END.search(before.lines[-1].text):
                before.breaks.add(len(before.lines))
            before.breaks |= {number + len(before.lines) for number in piece.breaks}
            before.lines += piece.lines
            before.right = piece.right
            before.pages += [number for number in piece.pages if number not in before.pages]
        else:
            result.append(piece)
    return result


def _goes_on(before: Piece, piece: Piece) -> bool:
    if piece.kind != "paragraph" or before.kind not in ("paragraph", "list") or not piece.lines:
        return False
    last, first = before.lines[-1], piece.lines[0]
    elsewhere = last.region != first.region or before.pages[-1] != piece.pages[0]
    alike = abs(last.size - first.size) < 0.5 and last.style == first.style and not (last.turned or first.turned)
    full = not _is_short(last, first, before.right)
    if not (elsewhere and alike and (full or goes_on(last.text))) or _STOPS.search(last.text):
        return False
    return first.text[0].islower() or (is_cjk(first.text[0]) and is_cjk(last.text[-1]))


def _is_next_of_kind(before: Piece, piece: Piece) -> bool:
    """Whether both are code below each other, or lines of a table of contents."""
    if before.kind == piece.kind == "code":
        last, first = before.lines[-1], piece.lines[0]
        near = 0 < _middle(first) - _middle(last) <= _CODE_GAP * first.size
        return near and last.region == first.region and before.pages[-1] == piece.pages[0]
    if before.kind == piece.kind == "paragraph":
        return all(LEADER_END.search(line.text) for line in (before.lines[-1], piece.lines[-1]))
    return False


def _middle(line: Line) -> float:
    return (line.box[1] + line.box[3]) / 2


def _is_run(before: Line, line: Line, typography: Typography) -> bool:
    """Whether the lines may belong to one paragraph: alike and as close as lines are."""
    if before.region != line.region or abs(before.size - line.size) > 0.08 * max(before.size, line.size):
        return False
    if _is_code(before, typography) != _is_code(line, typography):
        return False
    distance = (_middle(line) - _middle(before)) / max(line.size, 0.1)
    usual = max(typography.leading.get(typography.body, 1.25) * 1.1, 1.4)
    return -0.2 < distance <= min(max(typography.leading.get(line.size, 1.25), 1.0), usual) + _LEADING_SLACK


def _is_code(line: Line, typography: Typography) -> bool:
    if _BULLET.match(line.text) and line.text[0] not in "-*":
        return False
    plain = sum(character.isascii() for character in line.text)
    return bool(line.style & MONO) and not typography.mono and plain >= _ASCII_SHARE * len(line.text)


def _divided(run: Sequence[Line], page: PageLines, typography: Typography) -> Iterator[Piece]:
    """Paragraphs and list items of lines that follow closely."""
    if not run:
        return
    number, right = page.number, max(line.box[2] for line in run)
    column = max(item.box[2] for item in page.items if item.region == run[0].region)
    if _is_code(run[0], typography):
        yield Piece("code", [page.number], list(run), right=right)
        return
    left = min(line.box[0] for line in run)
    apart = _are_apart(run, left, right, column)
    piece = _opened(run[0], number, right, begins=True)
    for before, line in pairwise(run):
        short = _is_short(before, line, right)
        if _begins(piece, before, line, left, short):
            yield piece
            piece = _opened(
                line, number, right, begins=short or piece.kind == "list" or bool(_ENDS.search(before.text))
            )
            continue
        if short or apart or (before.gapped and line.gapped) or LEADER_END.search(before.text):
            piece.breaks.add(len(piece.lines))
        piece.lines.append(line)
    yield piece


def _are_apart(run: Sequence[Line], left: float, right: float, column: float) -> bool:
    """Whether the lines are each one for itself, as in an address: all narrow, and none goes on in the next."""
    if right - left >= _NARROW * (column - left) or any(is_cjk(line.text[0]) for line in run):
        return False
    return all(_LABELLED.match(line.text) for line in run) and not any(goes_on(line.text) for line in run)


def _opened(line: Line, number: str, right: float, *, begins: bool) -> Piece:
    kind: Kind = "list" if marker_of(line.text) and begins else "paragraph"
    return Piece(kind, [number], [line], right=right)


def marker_of(text: str) -> str:
    """The bullet or number with which an item of a list begins; empty: it is none."""
    match = _BULLET.match(text) or _ORDERED.match(text)
    return match.group() if match and match.end() < len(text.rstrip()) else ""


def _is_short(before: Line, line: Line, right: float) -> bool:
    """Whether the first word of a line would have fitted on the one before, so that its end is meant."""
    return before.box[2] + line.first + 1.2 * line.size <= right


def _begins(piece: Piece, before: Line, line: Line, left: float, short: bool) -> bool:
    """Whether a paragraph or an item begins with `line`."""
    size = line.size
    if LEADER_END.search(before.text):
        return False
    ended = short or bool(_ENDS.search(before.text))
    if marker_of(line.text) and (ended or piece.kind == "list"):
        return True
    if (before.style ^ line.style) & BOLD and short:
        return True
    if piece.kind == "list":
        return line.box[0] <= piece.lines[0].box[0] + 0.3 * size and short
    centred = abs((before.box[0] + before.box[2]) - (line.box[0] + line.box[2])) < 2 * size
    indented = line.box[0] - left > 0.9 * size and before.box[0] - left <= 0.9 * size
    return (indented and not centred) or (short and bool(_ENDS.search(before.text)))


def code_lines(lines: Sequence[Line]) -> list[str]:
    """Code with its indentation."""
    left = min(line.box[0] for line in lines)
    widths = [(line.box[2] - line.box[0]) / max(len(line.text), 1) for line in lines]
    width = max(median(widths), 0.1)
    return [" " * min(round((line.box[0] - left) / width), 80) + line.text for line in lines]
