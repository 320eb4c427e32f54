"""PDF as a person reads it: columns in order, words whole, tables as rows, nothing that is not seen."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import UnreadableFile
from core.ingest.parsers.pdf_blocks import continued, pieces_of, typography_of
from core.ingest.parsers.pdf_furniture import PageLines, without_furniture
from core.ingest.parsers.pdf_headings import find_headings
from core.ingest.parsers.pdf_hidden import read_page
from core.ingest.parsers.pdf_join import vocabulary_of
from core.ingest.parsers.pdf_lines import Line, lines_of
from core.ingest.parsers.pdf_objects import load_page
from core.ingest.parsers.pdf_open import is_cut, label_of, open_pdf, title_in
from core.ingest.parsers.pdf_outline import Entry, marks_of, outline_of
from core.ingest.parsers.pdf_tables import PageGrids, grids_of, take_tables
from core.ingest.parsers.pdf_warnings import Notes
from core.ingest.parsers.pdf_write import written
from core.ingest.sections import locate
from core.ports import ParsedDocument

_LOCK = threading.Lock()  # PDFium bears no two threads


class PdfParser:
    name = "pdf/1"
    extensions: tuple[str, ...] = (".pdf",)

    def parse(self, path: Path, data: bytes) -> ParsedDocument:
        """Raises UnreadableFile, also for a file without text that is seen, such as a scan.

        A file can be made to crash the libraries used, so parse what is not trusted in a process of its own.
        """
        with _LOCK:
            return _parsed(self.name, path, data, with_tables=True)

    def parse_plain(self, path: Path, data: bytes) -> ParsedDocument:
        """The same by PDFium alone: tables come out as lines. Raises UnreadableFile."""
        with _LOCK:
            return _parsed(self.name, path, data, with_tables=False)


@dataclass(frozen=True, slots=True)
class _Read:
    """What was found in the file."""

    pages: tuple[PageLines, ...]
    entries: tuple[Entry, ...]
    title: str
    notes: Notes


def _parsed(parser: str, path: Path, data: bytes, *, with_tables: bool) -> ParsedDocument:
    found = _read(str(path), data, with_tables=with_tables)
    pages, found.notes.furniture = without_furniture(found.pages)
    typography = typography_of(pages)
    by_page: dict[int, list[Entry]] = {}
    for entry in found.entries:
        by_page.setdefault(entry.page, []).append(entry)
    pieces = [
        piece
        for page in pages
        for piece in pieces_of(page, marks_of(page.items, by_page.get(page.index, ())), typography)
    ]
    find_headings(pieces, typography)
    vocabulary = vocabulary_of(item.text for page in pages for item in page.items if isinstance(item, Line))
    builder = written(continued(pieces), vocabulary)
    if not builder.text:
        raise UnreadableFile(str(path), *_why_empty(found.notes))
    headings = [item for item in builder.found if item.kind == "heading"]
    title = found.title or (min(headings, key=lambda item: item.level).title if headings else "")
    return ParsedDocument(
        text=builder.text,
        blocks=locate(builder.text, builder.found),
        title=title or path.stem,
        parser=parser,
        metadata={},
        warnings=(*builder.warnings, *found.notes.warnings()),
    )


def _read(path: str, data: bytes, *, with_tables: bool) -> _Read:
    with open_pdf(path, data) as document:
        notes = Notes(cut=is_cut(data))
        outline = outline_of(document)
        # liteparse follows a looping outline until its stack is full.
        grids = _grids(data) if with_tables and not outline.broken else None
        notes.plain = grids is None
        pages = tuple(_page(document, index, grids or {}, notes) for index in range(len(document)))
        return _Read(pages, outline.entries, title_in(document), notes)


def _grids(data: bytes) -> Mapping[int, PageGrids] | None:
    """The tables' places; None where liteparse failed to tell them."""
    try:
        return grids_of(data)
    except MemoryError:
        raise
    except Exception:  # whatever liteparse stumbles over, the text is there without it
        return None


def _page(document: Any, index: int, grids: Mapping[int, PageGrids], notes: Notes) -> PageLines:
    label, name = label_of(document, index), str(index + 1)
    import pypdfium2

    try:
        page = load_page(document, index)
    except pypdfium2.PdfiumError:
        notes.unread.append(name)
        return PageLines(index, label, 0.0, ())
    try:
        found = read_page(page)
    finally:
        page.close()
    if found.hidden and not found.unchecked:
        notes.hidden[name] = found.hidden
    for flag, names in ((found.scan, notes.scans), (found.layer, notes.layers), (found.unchecked, notes.unchecked)):
        if flag:
            names.append(name)
    grid = grids.get(index)
    if grid is None or abs(grid.width - found.width) > 1 or abs(grid.height - found.height) > 1:
        return PageLines(index, label, found.height, lines_of(found.words))
    tables, words = take_tables(found.words, grid.grids)
    return PageLines(index, label, found.height, lines_of(words, tables))


def _why_empty(notes: Notes) -> tuple[str, str]:
    if notes.scans:
        return "no text in it: its pages look like scans", "run text recognition (OCR) over it first"
    if notes.unchecked:
        return "its pages are too large to tell what is seen", "save it with pages of a usual size"
    if notes.hidden:
        return "no visible text in it", "save it as it is displayed"
    if notes.unread:
        return "damaged: its pages cannot be read", "export it again"
    return "no text in it", "check what it shows"
