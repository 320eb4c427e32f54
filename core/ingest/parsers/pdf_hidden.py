"""Which words of a PDF page nobody sees: told from a picture of the page, and from how they are drawn."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.ingest.parsers.pdf_objects import drop_replacement_texts, picture_share
from core.ingest.parsers.pdf_words import Box, PageGeometry, Word, words_of

PIXELS_MAX = 4_000_000
_SCALE_MIN = 0.1
"""Pixels a point, below which no words can be told from the ground."""
_CONTRAST_MIN = 10
_COLOUR_CONTRAST_MIN = 60
"""Of words as bright as their ground but of another colour."""
_TINY = 1.5  # points
_SQUEEZED = 0.05  # of its height: the mean width of a character
_INVISIBLE_MODES = (3, 7)
_LAYER_SHARE = 0.8
_SCAN_CHARS = 40
_SCAN_SHARE = 0.5

Picture = npt.NDArray[np.uint8]
"""Shape (height, width) in grey, (height, width, 3) in colour; a margin of one pixel at the right and the bottom."""


@dataclass(frozen=True, slots=True)
class PageWords:
    """What is read on a page, and what stands there unseen."""

    width: float
    height: float
    words: tuple[Word, ...]
    hidden: int
    """Number of words left out."""
    layer: bool
    """Its words are an invisible layer over a picture, as text recognition makes it."""
    scan: bool
    """It shows a picture in place of text."""
    unchecked: bool = False
    """It is too large to tell what is seen, so all its words are left out."""


def read_page(page: Any) -> PageWords:
    """The words of a PDFium page as it is displayed, forms filled in. Changes the page in memory, not the file."""
    drop_replacement_texts(page)
    geometry = PageGeometry(page)
    words = tuple(words_of(page, geometry))
    shown = _within(words, geometry)
    area = _extent(shown, geometry)
    scale = min(1.0, (PIXELS_MAX / max((area[2] - area[0]) * (area[3] - area[1]), 1.0)) ** 0.5)
    size = geometry.width, geometry.height
    if shown and scale < _SCALE_MIN:
        return PageWords(*size, (), len(words), layer=False, scan=False, unchecked=True)
    view = _View(page, geometry, area, scale)
    contrasting = [word for word in shown if _is_legible(word) and view.contrasts(word)]
    visible = tuple(word for word in contrasting if word.mode not in _INVISIBLE_MODES)
    share = picture_share(page, geometry) if len(visible) < len(words) or _chars(visible) < _SCAN_CHARS else 0.0
    unpainted = [word for word in words if word.mode in _INVISIBLE_MODES]
    layered = tuple(word for word in contrasting if word.mode in _INVISIBLE_MODES)
    if _is_layer(len(visible), len(unpainted), len(layered), share):
        kept = tuple(word for word in contrasting if word.alpha)
        return PageWords(*size, kept, len(words) - len(kept), layer=True, scan=False)
    scan = view.drawn if not visible else (_chars(visible) < _SCAN_CHARS and share >= _SCAN_SHARE)
    return PageWords(*size, visible, len(words) - len(visible), layer=False, scan=scan)


def _is_layer(visible: int, unpainted: int, layered: int, picture_share: float) -> bool:
    """Whether the invisible words of a page say what its picture shows: most of it is picture, and most text is
    invisible and lies where something is to be seen."""
    enough = unpainted > 0 and layered >= _LAYER_SHARE * unpainted
    return enough and picture_share >= _LAYER_SHARE and layered > visible


def _within(words: Sequence[Word], geometry: PageGeometry) -> list[Word]:
    """Those whose middle lies on the page."""

    def inside(word: Word) -> bool:
        left, top, right, bottom = word.ink
        return 0 <= (left + right) / 2 <= geometry.width and 0 <= (top + bottom) / 2 <= geometry.height

    return [word for word in words if inside(word)]


def _is_legible(word: Word) -> bool:
    left, top, right, bottom = word.box
    ink_left, ink_top, ink_right, ink_bottom = word.ink
    across, along = (bottom - top, right - left) if word.turns % 2 == 0 else (right - left, bottom - top)
    ink_across = ink_bottom - ink_top if word.turns % 2 == 0 else ink_right - ink_left
    if max(across, ink_across) < _TINY:
        return False
    return word.alpha > 0 and along > _SQUEEZED * across * len(word.text)


def _extent(words: Sequence[Word], geometry: PageGeometry) -> Box:
    """The part of the page to be looked at: all of it if it is not too large, else where the words are."""
    whole = (0.0, 0.0, geometry.width, geometry.height)
    if not words or geometry.width * geometry.height <= PIXELS_MAX:
        return whole
    lefts, tops, rights, bottoms = zip(*(word.ink for word in words), strict=True)
    box = max(min(lefts) - 4, 0), max(min(tops) - 4, 0), max(rights) + 4, max(bottoms) + 4
    return *box[:2], min(box[2], geometry.width), min(box[3], geometry.height)


class _View:
    """The page as a picture."""

    def __init__(self, page: Any, geometry: PageGeometry, area: Box, scale: float) -> None:
        self._page = page
        self._size = geometry.width * scale, geometry.height * scale
        self._area = area
        self._scale = scale
        self._grey = self._render(colour=False)
        self._colour: Picture | None = None

    @property
    def drawn(self) -> bool:
        """Whether anything is to be seen at all."""
        return bool(np.ptp(self._grey) >= _CONTRAST_MIN)

    def contrasts(self, word: Word) -> bool:
        """Whether anything in the word's place differs from its ground."""
        place = self._place(word.ink)
        part = self._grey[place]
        if not part.size:
            return False
        if int(part.max()) - int(part.min()) >= _CONTRAST_MIN:
            return True
        if self._colour is None:
            self._colour = self._render(colour=True)
        coloured = self._colour[place]
        return bool(np.ptp(coloured.reshape(-1, 3), axis=0).max() >= _COLOUR_CONTRAST_MIN)

    def _place(self, ink: Box) -> tuple[slice, slice]:
        """Its pixels with one more on each side, as strokes may fill it all."""
        left, top, right, bottom = (
            (value - start) * self._scale for value, start in zip(ink, (*self._area[:2], *self._area[:2]), strict=True)
        )
        return slice(max(int(top) - 1, 0), int(bottom) + 2), slice(max(int(left) - 1, 0), int(right) + 2)

    def _render(self, *, colour: bool) -> Picture:
        from pypdfium2 import raw

        left, top, right, bottom = (value * self._scale for value in self._area)
        width, height = max(int(right - left), 1), max(int(bottom - top), 1)
        bitmap = raw.FPDFBitmap_CreateEx(width, height, raw.FPDFBitmap_BGR if colour else raw.FPDFBitmap_Gray, None, 0)
        if not bitmap:
            raise MemoryError
        try:
            raw.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
            flags = raw.FPDF_ANNOT | (0 if colour else raw.FPDF_GRAYSCALE)
            whole = max(int(self._size[0]), 1), max(int(self._size[1]), 1)
            raw.FPDF_RenderPageBitmap(bitmap, self._page, -int(left), -int(top), *whole, 0, flags)
            stride = raw.FPDFBitmap_GetStride(bitmap)
            pointer = raw.FPDFBitmap_GetBuffer(bitmap)
            pixels = _bytes_at(pointer, stride * height).reshape(height, stride)
            return pixels[:, : 3 * width].reshape(height, width, 3) if colour else pixels[:, :width]
        finally:
            raw.FPDFBitmap_Destroy(bitmap)


def _bytes_at(pointer: Any, count: int) -> Picture:
    return np.frombuffer(ctypes.string_at(pointer, count), dtype=np.uint8)


def _chars(words: Sequence[Word]) -> int:
    return sum(len(word.text) for word in words)
