"""Opening a PDF: what is wrong with it, its page labels, its title."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from core.errors import UnreadableFile
from core.ingest.clean import clean

PAGES_MAX = 5_000
_HEAD, _TAIL = 1024, 4096
_PASSWORD, _SECURITY = 4, 5
_NO_TITLE = re.compile(
    r"\W*(?:untitled|anonymous|unknown|unspecified)\b.*|(?:microsoft\s)?(?:power\s?point|word|excel)\b.*|(?:presentation|document|slide|page|title)\s?\d*"
    r"|.*\.(?:docx?|pptx?|xlsx?|dvi|tex|indd|qxd|odt|rtf|pdf|ps|html?|txt|p65|fm|eps)|无标题.*|文档\d*|(?:https?|file):.*",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_TITLE_MIN, _TITLE_MAX = 2, 200
_LABEL_MAX = 20


@contextmanager
def open_pdf(path: str, data: bytes) -> Iterator[Any]:
    """A pypdfium2 document, closed in the end. Raises UnreadableFile for what cannot be read or is too long."""
    import pypdfium2

    if not data:
        raise UnreadableFile(path, "empty: no bytes in it", "remove it, or export it again")
    if b"%PDF-" not in data[:_HEAD]:
        raise UnreadableFile(path, "not a PDF, whatever its name says", "export it again")
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(path, *_why(error.err_code, data)) from None
    try:
        pages = len(document)
        if not pages:
            raise UnreadableFile(path, "no pages in it", "export it again")
        if pages > PAGES_MAX:
            raise UnreadableFile(path, f"{pages:,} pages, more than {PAGES_MAX:,}", "divide it")
        yield document
    finally:
        document.close()


def is_cut(data: bytes) -> bool:
    """Whether the end of the file is missing."""
    return b"%%EOF" not in data[-_TAIL:]


def label_of(document: Any, index: int) -> str:
    """The number of a page, from 0, as it is printed or a reader shows it; else counted from 1."""
    from pypdfium2 import raw

    size = raw.FPDF_GetPageLabel(document, index, None, 0)
    if not 2 < size <= 2 * _LABEL_MAX + 2:
        return str(index + 1)
    buffer = ctypes.create_string_buffer(size)
    raw.FPDF_GetPageLabel(document, index, buffer, size)
    label = clean(buffer.raw[: size - 2].decode("utf-16-le", "replace"))[0]
    return " ".join(label.split()) or str(index + 1)


def title_in(document: Any) -> str:
    """The title that the file states for itself; empty where it is missing or but a file's name."""
    title = " ".join(clean(document.get_metadata_value("Title"))[0].split())
    sensible = _TITLE_MIN <= len(title) <= _TITLE_MAX and _LETTER.search(title) and not _NO_TITLE.fullmatch(title)
    return title if sensible and "\ufffd" not in title else ""


def _why(code: int | None, data: bytes) -> tuple[str, str]:
    if code == _PASSWORD:
        return "protected by a password", "save it without one"
    if code == _SECURITY:
        return "encrypted in a way that cannot be read", "save it without encryption"
    if is_cut(data):
        return "damaged: its end is missing", "copy or export it again"
    return "damaged: not readable as a PDF", "export it again"
