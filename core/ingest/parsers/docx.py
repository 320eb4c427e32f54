"""Word documents: the text that is on the page, with headings, numbers, lists, tables and notes."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from lxml import etree

from core.errors import UnreadableFile
from core.ingest.clean import clean
from core.ingest.parsers.docx_body import Body
from core.ingest.parsers.docx_numbers import Numbers
from core.ingest.parsers.docx_styles import Styles
from core.ingest.parsers.docx_xml import WORD
from core.ingest.parsers.html import read_html
from core.ingest.parsers.zip_guard import Container, open_container, parse_xml
from core.ingest.sections import Found, locate
from core.ports import ParsedDocument

_BOM = b"\xef\xbb\xbf"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
# ISO "strict" documents name the same elements otherwise.
_STRICT = (
    (b"http://purl.oclc.org/ooxml/wordprocessingml/main", WORD[1:-1].encode()),
    (
        b"http://purl.oclc.org/ooxml/officeDocument/math",
        b"http://schemas.openxmlformats.org/officeDocument/2006/math",
    ),
)
_NOTES = {"footnotes": "footnote", "endnotes": "endnote"}


class DocxParser:
    name = "docx/1"
    extensions: tuple[str, ...] = (".docx", ".docm")

    def parse(self, path: Path, data: bytes) -> ParsedDocument:
        """Raises UnreadableFile: no Word document, protected, damaged, beyond a limit, or without visible text."""
        parts = _read_parts(str(path), data)
        styles = Styles(parts.styles)
        body = Body(styles, Numbers(parts.numbering, styles.lists()), parts.notes)
        html = body.write(parts.body)
        if not html:
            raise UnreadableFile(str(path), "no visible text in it", "remove it, or fill it")
        try:
            page = read_html(str(path), _BOM + html.encode())
        except UnreadableFile as error:
            raise UnreadableFile(str(path), error.reason, "divide it, or remove what is not needed") from None
        if not page.text:
            raise UnreadableFile(str(path), "no visible text in it", "remove it, or fill it")
        return ParsedDocument(
            text=page.text,
            blocks=locate(page.text, page.found),
            title=parts.title or _first_heading(page.found) or path.stem,
            parser=self.name,
            metadata={},
            warnings=(*page.warnings, *_warnings(body)),
        )


@dataclass(frozen=True, slots=True)
class _Parts:
    body: etree._Element
    styles: etree._Element | None
    numbering: etree._Element | None
    notes: Mapping[tuple[str, str], etree._Element]
    title: str


def _read_parts(path: str, data: bytes) -> _Parts:
    container = open_container(path, data)
    main = _targets(container, "").get("officeDocument", "word/document.xml")
    remedy = "rename it to what it is, or save it anew as .docx"
    if main not in container.names:
        raise UnreadableFile(path, "not a Word document: it has no main text", remedy)
    root = _xml(container, path, main)
    body = root.find(WORD + "body")
    if root.tag != WORD + "document" or body is None:
        raise UnreadableFile(path, "not a Word document, but another Office document", remedy)
    related = _targets(container, main)
    parts = {
        kind: _xml(container, path, related[kind])
        for kind in ("styles", "numbering", *_NOTES)
        if related.get(kind) in container.names
    }
    notes = {
        (kind, note.get(WORD + "id", "")): note
        for part, kind in _NOTES.items()
        if part in parts
        for note in parts[part].findall(WORD + kind)
    }
    return _Parts(body, parts.get("styles"), parts.get("numbering"), notes, _core_title(container))


def _xml(container: Container, path: str, name: str) -> etree._Element:
    data = container.read(name)
    for strict, usual in _STRICT:
        data = data.replace(strict, usual)
    return parse_xml(data, path, name)


def _targets(container: Container, source: str) -> dict[str, str]:
    """Parts that a part (or, for "", the file) refers to, the first of each kind, by the last word of the kind."""
    folder, name = posixpath.split(source)
    listing = posixpath.join(folder, "_rels", f"{name}.rels")
    found: dict[str, str] = {}
    if listing in container.names:
        for element in container.xml(listing).iter("{*}Relationship"):
            if element.get("TargetMode") != "External":
                target = posixpath.join("/", folder, unquote(element.get("Target", "")))
                kind = element.get("Type", "").rsplit("/", 1)[-1]
                found.setdefault(kind, posixpath.normpath(target).lstrip("/"))
    return found


def _core_title(container: Container) -> str:
    name = "docProps/core.xml"
    text = container.xml(name).findtext(_TITLE) if name in container.names else None
    return " ".join(clean(text or "")[0].split())


def _first_heading(found: tuple[Found, ...]) -> str:
    headings = [item for item in found if item.kind == "heading"]
    return min(headings, key=lambda item: item.level).title if headings else ""


def _warnings(body: Body) -> tuple[str, ...]:
    found = [f"left out {body.hidden} hidden or deleted passages"] if body.hidden else []
    if body.unread:
        found.append(f"left out {body.unread} embedded files of other formats")
    return tuple(found)
