"""Workbooks made for tests: XLSX with XlsxWriter, parts replaced by hand, ODS and XLS written from nothing."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xlsxwriter import Workbook

_ODS = "urn:oasis:names:tc:opendocument:xmlns"


def xlsx(fill: Callable[[Workbook], object], **options: Any) -> bytes:
    """The workbook that `fill` writes into."""
    target = io.BytesIO()
    book = Workbook(target, {"in_memory": True, **options})
    fill(book)
    book.close()
    return target.getvalue()


def rows_xlsx(rows: Sequence[Sequence[Any]], sheet: str = "Prices") -> bytes:
    def fill(book: Workbook) -> None:
        page = book.add_worksheet(sheet)
        for number, row in enumerate(rows):
            page.write_row(number, 0, row)

    return xlsx(fill)


def with_parts(data: bytes, parts: Mapping[str, bytes | Callable[[bytes], bytes]]) -> bytes:
    """The archive with parts replaced, changed or added."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in dict.fromkeys([*old.namelist(), *parts]):
            change = parts.get(name)
            if change is None:
                new.writestr(name, old.read(name))
            else:
                new.writestr(name, change(old.read(name)) if callable(change) else change)
    return target.getvalue()


def sheet_xml(content: str, before: str = "", after: str = "") -> bytes:
    """A worksheet part around the rows `content`."""
    name = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f'<worksheet xmlns="{name}">{before}<sheetData>{content}</sheetData>{after}</worksheet>'.encode()


def ods(content: str, styles: str = "") -> bytes:
    """An ODS workbook around the sheets `content`."""
    names = " ".join(f'xmlns:{name}="{_ODS}:{name}:1.0"' for name in ("office", "table", "text", "style"))
    names += f' xmlns:fo="{_ODS}:xsl-fo-compatible:1.0"'
    body = f"<office:body><office:spreadsheet>{content}</office:spreadsheet></office:body>"
    automatic = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    document = f"<office:document-content {names}>{automatic}{body}</office:document-content>"
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", document)
    return target.getvalue()


def xls(sheets: Mapping[str, Sequence[Sequence[str | float]]], hidden: Sequence[str] = ()) -> bytes:
    """A workbook of Excel 97: BIFF8 records in a compound file."""
    bodies = [_biff_sheet(rows) for rows in sheets.values()]
    bounds_size = sum(4 + 8 + len(name) for name in sheets)
    place = len(_record(0x809, bytes(16))) + bounds_size + len(_record(0x0A))
    bounds = b""
    for name, body in zip(sheets, bodies, strict=True):
        state = 1 if name in hidden else 0
        bounds += _record(0x85, struct.pack("<IBBBB", place, state, 0, len(name), 0) + name.encode("latin-1"))
        place += len(body)
    return compound_file("Workbook", _record(0x809, _bof(0x05)) + bounds + _record(0x0A) + b"".join(bodies))


def _biff_sheet(rows: Sequence[Sequence[str | float]]) -> bytes:
    cells = b""
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            if isinstance(value, str):
                text = struct.pack("<HB", len(value), 1) + value.encode("utf-16-le")
                cells += _record(0x204, struct.pack("<HHH", row, column, 0) + text)
            else:
                cells += _record(0x203, struct.pack("<HHHd", row, column, 0, value))
    return _record(0x809, _bof(0x10)) + cells + _record(0x0A)


def _bof(kind: int) -> bytes:
    return struct.pack("<HHHHII", 0x0600, kind, 0x0DBB, 0x07CC, 0, 0x0600)


def _record(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def compound_file(stream: str, content: bytes) -> bytes:
    """An OLE file (MS-CFB, version 3) of one stream: a sector of allocations, one of the directory, the stream."""
    content = content.ljust(max(4096, -(-len(content) // 512) * 512), b"\0")
    count = len(content) // 512
    end, free, table = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
    allocations = [table, end, *range(3, count + 2), end]
    assert len(allocations) <= 128
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, end, 0, end, 0) + struct.pack("<I", 0)
    header += struct.pack("<I", free) * 108
    entries = _entry("Root Entry", 5, 1, end, 0) + _entry(stream, 2, free, 2, len(content)) + bytes(256)
    return header + struct.pack("<128I", *allocations, *[free] * (128 - len(allocations))) + entries + content


def _entry(name: str, kind: int, child: int, first: int, size: int) -> bytes:
    text = name.encode("utf-16-le") + b"\0\0"
    links = struct.pack("<HBBIII", len(text), kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, child)
    return text.ljust(64, b"\0") + links + bytes(36) + struct.pack("<IQ", first, size)
