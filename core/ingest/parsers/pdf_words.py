"""The words of a PDF page: where they stand as the page is displayed, and how each is drawn.

Places are in points from the top left corner of the displayed page.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

BOLD, MONO = 1, 2
HYPHEN = "\ufffe"
"""What PDFium writes for a hyphen at the end of a line."""
CJK = "\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff"
DIAGONAL = 4
CHARS_MAX = 100_000
"""Of one page."""
_IS_CJK = re.compile(f"[{CJK}]")
_RUN = 8  # CJK characters of one word: covered or clipped text is found word by word
_FIXED_PITCH, _FORCE_BOLD = 1, 1 << 18
_BOLD_NAME = re.compile(r"bold|black|heavy|semibold|demi(?!lune)|cmbx", re.IGNORECASE)
_MONO_NAME = re.compile(r"mono|courier|consol|typewriter|cmtt|menlo", re.IGNORECASE)
_BOLD_WEIGHT = 600
_UPRIGHT = (1, 0, 0, -1)
_WIDE, _NARROW = 0.7, 0.1
"""Gaps in font sizes: the one parts words, the other does not part what PDFium writes a space for."""
_FILLED = (0, 2, 4, 6)
_TOKEN = re.compile("[^\\s\ufffe\x02]+[\ufffe\x02]?|[\ufffe\x02]")
_NO_CHARACTER = re.compile("[\0-\x1f\uffff]")
_LIGATURES = dict(zip("ﬀﬁﬂﬃﬄﬅﬆ", "ff fi fl ffi ffl st st".split(), strict=True))
_ODD = re.compile("[\0-\x1f\uffff\ud800-\udfffﬀ-ﬆ]")
_LIGATURE = re.compile("[ﬀ-ﬆ]")

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True, slots=True)
class Word:
    """Characters without white space between them."""

    text: str
    box: Box
    """Of the line's height, whatever the characters."""
    ink: Box
    """Around the glyphs."""
    size: float
    """Of the font as displayed, in points."""
    turns: int
    """Quarter turns clockwise in which it reads; DIAGONAL: none of them."""
    style: int
    """BOLD and MONO."""
    glued: bool
    """Nothing stands between it and the word before."""
    mode: int
    """Text rendering mode: 3 and 7 paint nothing."""
    alpha: int
    """Of the fill, 0–255."""


def is_cjk(text: str) -> bool:
    """Whether a character is of a script written without spaces, or its punctuation."""
    return bool(_IS_CJK.match(text))


class PageGeometry:
    """From a page's own coordinates to displayed ones: the crop box and rotation are applied."""

    def __init__(self, page: Any) -> None:
        from pypdfium2 import raw

        size: tuple[float, float] = page.get_size()
        self.width, self.height = size
        self._turns = page.get_rotation() // 90 % 4
        # PDFium maps to whole pixels, so a fine grid is laid over the page; three points tell the map.
        fine = max(1, int(1_000_000 / max(self.width, self.height, 1)))
        size = int(self.width * fine), int(self.height * fine)

        def device(x: float, y: float) -> tuple[float, float]:
            column, row = ctypes.c_int(), ctypes.c_int()
            raw.FPDF_PageToDevice(page, 0, 0, *size, 0, x, y, column, row)
            return column.value / fine, row.value / fine

        span = max(self.width, self.height, 1.0)
        self._x0, self._y0 = device(0, 0)
        (ax, ay), (bx, by) = device(span, 0), device(0, span)
        self._matrix = (
            round((ax - self._x0) / span),
            round((ay - self._y0) / span),
            round((bx - self._x0) / span),
            round((by - self._y0) / span),
        )

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """A rectangle as displayed."""
        if self._matrix == _UPRIGHT:
            return self._x0 + left, self._y0 - top, self._x0 + right, self._y0 - bottom
        xx, xy, yx, yy = self._matrix
        x0, x1 = sorted((self._x0 + xx * left + yx * bottom, self._x0 + xx * right + yx * top))
        y0, y1 = sorted((self._y0 + xy * left + yy * bottom, self._y0 + xy * right + yy * top))
        return x0, y0, x1, y1

    def turns(self, a: float, b: float) -> int:
        """Quarter turns of text whose baseline has the direction (a, b) on the page."""
        degrees = -math.degrees(math.atan2(b, a)) + 90 * self._turns
        nearest = round(degrees / 90)
        return nearest % 4 if abs(degrees - 90 * nearest) <= 10 else DIAGONAL


def words_of(page: Any, geometry: PageGeometry) -> Iterator[Word]:
    """All words of a page, hidden ones too, in the order in which PDFium reads them."""
    from pypdfium2 import raw

    text_page = raw.FPDFText_LoadPage(page)
    if not text_page:
        return
    try:
        yield from _Reader(text_page, geometry).words()
    finally:
        raw.FPDFText_ClosePage(text_page)


class _Reader:
    def __init__(self, text_page: Any, geometry: PageGeometry) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._page = text_page
        self._geometry = geometry
        self._fonts: dict[int, int] = {}
        self._paints: dict[int, _Paint] = {}
        self._loose = raw.FS_RECTF()
        self._ink = [ctypes.c_double() for _ in range(4)]

    def words(self) -> Iterator[Word]:
        text = self._text()
        after, right = 0, 0.0
        for start, end, loose in self._near_tokens(text):
            shown = _readable(text[start:end])
            if not shown:
                continue
            # Three glyphs tell well enough where the ink is.
            ink = _around(self._ink_box(start, loose), self._ink_box(end - 1, loose))
            ink = _around(ink, self._ink_box((start + end) // 2, loose))
            paint = self._paint(start)
            glued = start == after > 0 and text[start - 1] != HYPHEN and loose[0] - right < _WIDE * paint.size
            if text[after:start] == " ":
                both_cjk = is_cjk(text[start]) and is_cjk(text[after - 1])
                glued = self._is_narrow(after, loose[0] - right, paint.size * (_WIDE if both_cjk else _NARROW))
            after, right = end, loose[2]
            box, ink_box = self._geometry.box(*loose), self._geometry.box(*ink)
            yield Word(shown, box, ink_box, paint.size, paint.turns, paint.style, glued, paint.mode, paint.alpha)

    def _text(self) -> str:
        """One character for each that PDFium counts."""
        raw, page = self._raw, self._page
        count = min(raw.FPDFText_CountChars(page), CHARS_MAX)
        buffer = (ctypes.c_ushort * (count + 1))()
        written = raw.FPDFText_GetText(page, 0, count, buffer) - 1
        if written == count:
            text = bytes(buffer)[: 2 * count].decode("utf-16-le", "surrogatepass")
            if len(text) == count and "\0" not in text:
                return text
        codes = [raw.FPDFText_GetUnicode(page, index) for index in range(count)]
        return "".join(chr(code) if code <= 0x10FFFF else "\0" for code in codes)

    def _near_tokens(self, text: str) -> Iterator[tuple[int, int, Box]]:
        """Tokens and where they stand, those divided that PDFium put together across a wide gap, as between cells."""
        for start, end in _tokens(text):
            first, last = self._loose_box(start), self._loose_box(end - 1)
            size = max(first[3] - first[1], 0.1)
            share = 1.1 if _IS_CJK.search(text, start, end) else 0.7
            if end - start > 1 and max(last[2] - first[0], last[3] - first[1]) > share * size * (end - start):
                before = first
                for index in range(start + 1, end):
                    box = self._loose_box(index)
                    if box[0] - before[2] > _WIDE * size:
                        yield start, index, _around(first, before)
                        start, first = index, box
                    before = box
            yield start, end, _around(first, last)

    def _is_narrow(self, index: int, gap: float, most: float) -> bool:
        """Whether the space at `index` is none that was written but PDFium's reading of a gap, and a small one."""
        return 0 <= gap < most and bool(self._raw.FPDFText_IsGenerated(self._page, index))

    def _loose_box(self, index: int) -> Box:
        loose = self._loose
        self._raw.FPDFText_GetLooseCharBox(self._page, index, loose)
        return loose.left, loose.bottom, loose.right, loose.top

    def _ink_box(self, index: int, default: Box) -> Box:
        left, right, bottom, top = self._ink
        self._raw.FPDFText_GetCharBox(self._page, index, left, right, bottom, top)
        found = (left.value, bottom.value, right.value, top.value)
        return found if right.value > left.value or top.value > bottom.value else default

    def _paint(self, index: int) -> _Paint:
        raw = self._raw
        item = raw.FPDFText_GetTextObject(self._page, index)
        address = ctypes.addressof(item.contents) if item else 0
        if address not in self._paints:
            matrix, channels = raw.FS_MATRIX(), [ctypes.c_uint() for _ in range(4)]
            raw.FPDFText_GetMatrix(self._page, index, matrix)
            size = raw.FPDFText_GetFontSize(self._page, index) * math.hypot(matrix.c, matrix.d)
            turns = self._geometry.turns(matrix.a, matrix.b)
            style, mode, alpha = 0, 0, 255
            if item:
                style, mode = self._style(item), raw.FPDFTextObj_GetTextRenderMode(item)
                if mode in _FILLED and raw.FPDFPageObj_GetFillColor(item, *channels):
                    alpha = channels[3].value
            self._paints[address] = _Paint(abs(size), turns, style, mode, alpha)
        return self._paints[address]

    def _style(self, item: Any) -> int:
        raw = self._raw
        font = raw.FPDFTextObj_GetFont(item)
        if not font:
            return 0
        address = ctypes.addressof(font.contents)
        if address not in self._fonts:
            buffer = ctypes.create_string_buffer(256)
            raw.FPDFFont_GetBaseFontName(font, buffer, len(buffer))
            name = buffer.value.decode("utf-8", "replace")
            flags = max(raw.FPDFFont_GetFlags(font), 0)
            heavy = raw.FPDFFont_GetWeight(font) >= _BOLD_WEIGHT or flags & _FORCE_BOLD
            bold = BOLD if heavy or _BOLD_NAME.search(name) else 0
            mono = MONO if flags & _FIXED_PITCH or _MONO_NAME.search(name) else 0
            self._fonts[address] = bold | mono
        return self._fonts[address]


@dataclass(frozen=True, slots=True)
class _Paint:
    """How a text object is drawn."""

    size: float
    turns: int
    style: int
    mode: int
    alpha: int


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    """Spans without white space; long ones of CJK text in pieces, as it has no words to tell one from another."""
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        while end - start > _RUN:
            cut = next((place for place in range(start + _RUN, end) if is_cjk(text[place])), end)
            yield start, cut
            start = cut
        if start < end:
            yield start, end


def _readable(token: str) -> str:
    """Without what is no character; ligatures apart, surrogates together, the hyphen at a line's end as HYPHEN."""
    if not _ODD.search(token):
        return token
    token = _NO_CHARACTER.sub("", token.replace("\x02", HYPHEN))
    token = _LIGATURE.sub(lambda match: _LIGATURES[match.group()], token)
    return token.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _around(one: Box, other: Box) -> Box:
    return (
        one[0] if one[0] < other[0] else other[0],
        one[1] if one[1] < other[1] else other[1],
        one[2] if one[2] > other[2] else other[2],
        one[3] if one[3] > other[3] else other[3],
    )
