"""Large XML of spreadsheets read piece by piece, so that memory stays small whatever their size."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from lxml import etree

from core.errors import UnreadableFile

TAGS_PER_ROW_MAX = 1_000_000
"""`<` between the beginnings of two rows: that much is in memory at once."""
_LOOK_ABOVE_BYTES = 2_000_000
_ROW = re.compile(rb"<(?:[\w.-]+:)?(?:table-)?row[\s/>]|<(?:[\w.-]+:)?si[\s/>]")
_DECLARATION = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<(?!\?xml\b[^>]*?encoding\s*=\s*[\"'](?!utf-8|us-ascii|iso-8859-1))", re.I
)
_DOCTYPE = re.compile(rb"<!\s*DOCTYPE", re.IGNORECASE)
_SAVE_ANEW = "open it in the program that made it and save it anew"


def pieces(path: str, name: str, data: bytes, *tags: str) -> Iterator[etree._Element]:
    """Every element of the local names `tags` as it ends; it is emptied when the next one is asked for.

    Raises UnreadableFile: not well-formed, a document type declaration, an unusual encoding, one row of too much.
    """
    if not _DECLARATION.match(data[:400]):
        raise UnreadableFile(path, f"{name} is not XML in UTF-8", _SAVE_ANEW)
    if _DOCTYPE.search(data):
        raise UnreadableFile(path, f"{name} declares a document type, which may hide or fetch content", _SAVE_ANEW)
    _refuse_wide(path, name, data)
    walk = etree.iterparse(
        io.BytesIO(data),
        tag=[f"{{*}}{tag}" for tag in tags],
        remove_comments=True,
        remove_pis=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
    )
    try:
        for _, element in walk:
            yield element
            element.clear()
            parent = element.getparent()
            while parent is not None and element.getprevious() is not None:
                del parent[0]
    except etree.XMLSyntaxError as error:
        reason = " ".join(str(error).split())[:200]
        raise UnreadableFile(path, f"{name} is not well-formed ({reason})", _SAVE_ANEW) from None


def local(element: etree._Element) -> str:
    """Its name without the namespace."""
    return str(element.tag).rpartition("}")[2]


def _refuse_wide(path: str, name: str, data: bytes) -> None:
    last = 0
    for match in _ROW.finditer(data):
        if match.start() - last > _LOOK_ABOVE_BYTES:
            _refuse_between(path, name, data, last, match.start())
        last = match.start()
    _refuse_between(path, name, data, last, len(data))


def _refuse_between(path: str, name: str, data: bytes, start: int, end: int) -> None:
    if data.count(b"<", start, end) > TAGS_PER_ROW_MAX:
        raise UnreadableFile(path, f"{name} has a row of more than {TAGS_PER_ROW_MAX:,} tags", "divide it")
