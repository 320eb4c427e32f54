"""What a PDF page is drawn of, beyond its words: pictures, replacement texts, annotations."""

from __future__ import annotations

import ctypes
from typing import Any

from core.ingest.parsers.pdf_words import PageGeometry

_DEPTH_MAX = 3
_OBJECTS_MAX = 20_000
_ACTUAL_TEXT_MAX = 4
"""Characters of a replacement text that a ligature or a hyphen may need."""


def load_page(document: Any, index: int) -> Any:
    """A page with its annotations and form fields drawn into it, as far as they are shown.

    Raises pypdfium2.PdfiumError.
    """
    from pypdfium2 import raw

    page = document[index]
    if _has_drawn_annotations(page) and raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS:
        page.close()
        page = document[index]
    return page


def _has_drawn_annotations(page: Any) -> bool:
    from pypdfium2 import raw

    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _OBJECTS_MAX)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if annotation:
            subtype = raw.FPDFAnnot_GetSubtype(annotation)
            raw.FPDFPage_CloseAnnot(annotation)
            if subtype not in (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP):
                return True
    return False


def picture_share(page: Any, geometry: PageGeometry) -> float:
    """Share of the page that its largest picture covers, 0–1."""
    from pypdfium2 import raw

    largest = 0.0
    top = None
    for item, kind, depth in _objects(page):
        top = item if depth == 0 else top
        bounds = [ctypes.c_float() for _ in range(4)]
        # A picture within a form is placed by that form, so the form's bounds count.
        if kind == raw.FPDF_PAGEOBJ_IMAGE and raw.FPDFPageObj_GetBounds(top, *bounds):
            left, upper, right, lower = geometry.box(*(value.value for value in bounds))
            width = min(right, geometry.width) - max(left, 0)
            height = min(lower, geometry.height) - max(upper, 0)
            largest = max(largest, max(width, 0) * max(height, 0))
    return float(largest / max(geometry.width * geometry.height, 1.0))


def drop_replacement_texts(page: Any) -> None:
    """Forget `/ActualText`, which stands in for what is drawn and can say anything, but for the short ones that
    resolve ligatures and hyphens. Changes the page in memory only."""
    from pypdfium2 import raw

    length = ctypes.c_ulong()
    for item, kind, _ in _objects(page):
        if kind != raw.FPDF_PAGEOBJ_TEXT:
            continue
        for index in reversed(range(raw.FPDFPageObj_CountMarks(item))):
            mark = raw.FPDFPageObj_GetMark(item, index)
            found = raw.FPDFPageObjMark_GetParamStringValue(mark, b"ActualText", None, 0, length)
            if found and length.value // 2 - 1 > _ACTUAL_TEXT_MAX:
                raw.FPDFPageObj_RemoveMark(item, mark)


def _objects(page: Any) -> list[tuple[Any, int, int]]:
    """Object, kind and depth within forms of all that a page is drawn of; no more than `_OBJECTS_MAX`."""
    from pypdfium2 import raw

    found: list[tuple[Any, int, int]] = []

    def gather(count: int, get: Any, owner: Any, depth: int) -> None:
        for index in range(count):
            item = get(owner, index)
            if not item or len(found) >= _OBJECTS_MAX:
                return
            kind = raw.FPDFPageObj_GetType(item)
            found.append((item, kind, depth))
            if kind == raw.FPDF_PAGEOBJ_FORM and depth < _DEPTH_MAX:
                gather(raw.FPDFFormObj_CountObjects(item), raw.FPDFFormObj_GetObject, item, depth + 1)

    gather(raw.FPDFPage_CountObjects(page), raw.FPDFPage_GetObject, page, 0)
    return found
