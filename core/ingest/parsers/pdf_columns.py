"""Columns of a PDF page: found by the white between them, read from left to right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from core.ingest.parsers.pdf_words import MONO, Box, Word, is_cjk

_SEGMENT_GAP = 0.7
"""Widest gap within a segment, in font sizes: a column may begin after it."""
_GUTTER_LINES = 4
"""Fewest lines on either side of a gutter."""
_FULL = 0.55
"""Least mean length of a text column's lines, as a share of the longest."""
_CHARS = 12
"""Least mean number of characters of a text column's lines; a CJK character counts 2."""
_COLUMNS_DEPTH = 6
_SCANS = 50
"""Places tried for a gutter in one region."""


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Words next to each other; without words it is something that is not divided, such as a table."""

    box: Box
    words: tuple[Word, ...] = ()

    @property
    def weight(self) -> int:
        return sum(1 + is_cjk(character) for word in self.words for character in word.text)


def segments_of(words: Sequence[Word]) -> list[Segment]:
    """Words, in the order in which PDFium reads them, put together as far as no column can begin between them."""
    runs: list[list[Word]] = []
    for word in words:
        if runs and _continues(runs[-1][-1], word):
            runs[-1].append(word)
        else:
            runs.append([word])
    return [Segment(around(run), tuple(run)) for run in runs]


def _continues(before: Word, word: Word) -> bool:
    _, top, right, bottom = before.box
    level = min(bottom, word.box[3]) - max(top, word.box[1]) >= 0.5 * min(bottom - top, word.box[3] - word.box[1])
    size = max(before.size, word.size)
    return level and -0.5 * size <= word.box[0] - right <= _SEGMENT_GAP * size


def around(words: Sequence[Word]) -> Box:
    """The smallest box that holds them."""
    boxes = [word.box for word in words]
    return min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes)


def regions(segments: list[Segment], depth: int = _COLUMNS_DEPTH) -> Iterator[list[Segment]]:
    """Parts of the page in reading order: what stands above two columns, the left one, the right one, what follows."""
    segments.sort(key=lambda item: item.box[1])
    gutter = _gutter(segments) if depth else None
    if gutter is None:
        if segments:
            yield segments
        return
    left_edge, top, right_edge, bottom = gutter
    middle = (left_edge + right_edge) / 2
    above: list[Segment] = []
    left: list[Segment] = []
    right: list[Segment] = []
    below: list[Segment] = []
    for item in segments:
        height = (item.box[1] + item.box[3]) / 2
        column = left if (item.box[0] + item.box[2]) / 2 < middle else right
        (above if height < top else below if height > bottom else column).append(item)
    for part in (above, left, right, below):
        yield from regions(part, depth - 1)


def _gutter(segments: Sequence[Segment]) -> Box | None:
    """The longest strip of white with text columns on both sides."""
    sizes = [word.size for item in segments for word in item.words]
    if len(segments) < 2 * _GUTTER_LINES or not sizes:
        return None
    narrowest = _SEGMENT_GAP * median(sizes)
    best: Box | None = None
    tried: list[Box] = []
    for left, top, right, bottom in _gaps(segments, narrowest):
        height = (top + bottom) / 2
        if len(tried) >= _SCANS or any(t[0] < right and left < t[2] and t[1] <= height <= t[3] for t in tried):
            continue
        grown = _grown(segments, (left, top, right, bottom), narrowest)
        tried.append(grown)
        gutter = _trimmed(segments, grown, median(sizes))
        if (best is None or gutter[3] - gutter[1] > best[3] - best[1]) and _parts_columns(segments, gutter):
            best = gutter
    return best


def _gaps(segments: Sequence[Segment], narrowest: float) -> Iterator[Box]:
    """White between two segments side by side. `segments` are sorted by their tops."""
    for number, item in enumerate(segments):
        _, top, right, bottom = item.box
        nearest: Segment | None = None
        for other in segments[max(number - 40, 0) : number + 40]:
            level = min(bottom, other.box[3]) - max(top, other.box[1]) > 0.3 * (bottom - top)
            if level and other.box[0] >= right and (nearest is None or other.box[0] < nearest.box[0]):
                nearest = other
        if nearest is not None and nearest.box[0] - right >= narrowest:
            yield right, top, nearest.box[0], bottom


def _grown(segments: Sequence[Segment], gap: Box, narrowest: float) -> Box:
    """The gap up and down as far as it stays wide enough."""
    left, top, right, bottom = gap
    start, end = segments[0].box[1], max(item.box[3] for item in segments)
    middle = (top + bottom) / 2

    def reach(items: Sequence[Segment], down: bool) -> float:
        nonlocal left, right
        for item in items:
            if item.box[2] <= left or item.box[0] >= right:
                continue
            narrowed = (max(left, item.box[2]), right) if item.box[0] <= left else (left, min(right, item.box[0]))
            if (item.box[0] <= left and item.box[2] >= right) or narrowed[1] - narrowed[0] < narrowest:
                return item.box[1] if down else item.box[3]
            left, right = narrowed
        return end if down else start

    below = reach([item for item in segments if (item.box[1] + item.box[3]) / 2 > middle], down=True)
    over = sorted((i for i in segments if (i.box[1] + i.box[3]) / 2 <= middle), key=lambda i: -i.box[3])
    above = reach(over, down=False)
    return left, above, right, below


def _trimmed(segments: Sequence[Segment], gutter: Box, size: float) -> Box:
    """The gutter without what stands apart above and below and is no column text: a heading, a small table."""
    left, top, right, bottom = gutter
    within = [item for item in segments if top <= (item.box[1] + item.box[3]) / 2 <= bottom]
    bands = _bands(within, size)
    widest = [
        max((item.box[2] - item.box[0] for item in side), default=0.0)
        for side in ([i for i in within if i.box[2] <= left + 1], [i for i in within if i.box[0] >= right - 1])
    ]

    def is_text(band: Sequence[Segment]) -> bool:
        sides = [i for i in band if i.box[2] <= left + 1], [i for i in band if i.box[0] >= right - 1]
        if any(not item.words for item in band):
            return True
        return sum(map(len, sides)) > 1 and all(
            sum(item.box[2] - item.box[0] for item in side) >= _FULL * width * len(side)
            and sum(item.weight for item in side) >= _CHARS * len(side)
            for side, width in zip(sides, widest, strict=True)
        )

    text = [number for number, band in enumerate(bands) if is_text(band)]
    if not text:
        return gutter
    if text[0] > 0:
        top = min(item.box[1] for item in bands[text[0]])
    if text[-1] < len(bands) - 1:
        bottom = max(item.box[3] for item in bands[text[-1]])
    return left, top, right, bottom


def _bands(segments: Sequence[Segment], size: float) -> list[list[Segment]]:
    """What is parted by more white, all across, than there is between lines. `segments` are sorted by their tops."""
    gaps = [0.0]
    top = reached = segments[0].box[1] if segments else 0.0
    for item in segments:
        if item.box[1] > top + 0.5 * size:
            gaps.append(max(item.box[1] - reached, 0.0))
            top = item.box[1]
        reached = max(reached, item.box[3])
    wide = max(0.8 * size, 1.6 * median(gaps))
    bands: list[list[Segment]] = []
    reached = float("-inf")
    for item in segments:
        if item.box[1] - reached > wide:
            bands.append([])
        bands[-1].append(item)
        reached = max(reached, item.box[3])
    return bands


def _parts_columns(segments: Sequence[Segment], gutter: Box) -> bool:
    left, top, right, bottom = gutter
    within = [item for item in segments if top <= (item.box[1] + item.box[3]) / 2 <= bottom]
    if all(word.style & MONO for item in within for word in item.words):
        return False  # a listing
    return _is_column([i for i in within if i.box[2] <= left + 1]) and _is_column(
        [i for i in within if i.box[0] >= right - 1]
    )


def _is_column(segments: Sequence[Segment]) -> bool:
    """Whether lines are long and many enough to be text rather than cells of a table."""
    texts = [item for item in segments if item.words]
    if len(texts) < _GUTTER_LINES:
        return any(not item.words for item in segments)
    widths = [item.box[2] - item.box[0] for item in texts]
    full = sum(widths) / len(widths) >= _FULL * sorted(widths)[-1 - len(widths) // 20]
    return full and sum(item.weight for item in texts) / len(texts) >= _CHARS
