"""Books in EPUB: the chapters in reading order, each read as a page."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import etree

from core.errors import UnreadableFile
from core.ingest.clean import clean
from core.ingest.parsers.epub_contents import Entry, entries
from core.ingest.parsers.html import HtmlPage, read_html
from core.ingest.parsers.zip_guard import Container, open_container, parse_xml
from core.ingest.sections import Found, locate
from core.ports import ParsedDocument

CHAPTERS_BYTES_MAX = 60_000_000
SHEETS_BYTES_MAX = 200_000_000
"""Of style sheets, counted for every chapter that links them."""
_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/x-dtbook+xml"})
# A declaration without a subset of its own declares nothing here, since nothing is fetched.
_PLAIN_DOCTYPE = re.compile(rb"<!DOCTYPE\s[^\[<>]*>", re.IGNORECASE)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_NUMBER = re.compile(r"\d+")
_LEVEL_MAX = 6
_DC = "{http://purl.org/dc/elements/1.1/}"


class EpubParser:
    name = "epub/1"
    extensions: tuple[str, ...] = (".epub",)

    def parse(self, path: Path, data: bytes) -> ParsedDocument:
        """Raises UnreadableFile: no book, protected, incomplete, beyond a limit, or without visible text."""
        container = open_container(str(path), data)
        book = _read_book(str(path), container)
        text, found, warnings = _joined(_chapters(str(path), container, book))
        if not text:
            raise UnreadableFile(str(path), "no visible text in it", "a book of pictures needs text recognition first")
        headings = [item for item in found if item.kind == "heading"]
        title = book.title or (min(headings, key=lambda item: item.level).title if headings else "")
        return ParsedDocument(
            text=text,
            blocks=locate(text, found),
            title=title or path.stem,
            parser=self.name,
            metadata={},
            language=book.language,
            warnings=warnings,
        )


@dataclass(frozen=True, slots=True)
class _Book:
    title: str
    language: str | None
    spine: tuple[str, ...]
    """Files in reading order."""
    skipped: int
    """Of the spine, those that are no pages of text."""
    contents: dict[str, Entry]
    """The first entry of the table of contents for each file."""


@dataclass(frozen=True, slots=True)
class _Chapter:
    text: str
    found: tuple[Found, ...]
    warnings: tuple[str, ...]


def _read_book(path: str, container: Container) -> _Book:
    root = _xml(container, path, _CONTAINER) if _CONTAINER in container.names else None
    rootfile = root.find(".//{*}rootfile") if root is not None else None
    package_name = _resolved("", rootfile.get("full-path", "")) if rootfile is not None else ""
    if package_name not in container.names:
        raise UnreadableFile(path, "not an EPUB book: it names no package", "rename it to what it is")
    package = _xml(container, path, package_name)
    items = {item.get("id", ""): item for item in package.iterfind("{*}manifest/{*}item")}
    names = {key: _resolved(package_name, item.get("href", "")) for key, item in items.items()}
    order = [ref.get("idref", "") for ref in package.iterfind("{*}spine/{*}itemref")]
    pages = [key for key in dict.fromkeys(order) if key in items and items[key].get("media-type") in _PAGES]
    if not pages:
        raise UnreadableFile(path, "an EPUB book without pages of text", "save it anew")
    spine = tuple(dict.fromkeys(names[key] for key in pages))
    _refuse_protected(path, container, spine)
    language = _LANGUAGE.match(_stated(package, "language"))
    return _Book(
        title=_stated(package, "title"),
        language=language.group() if language else None,
        spine=spine,
        skipped=len(set(order)) - len(pages),
        contents=_contents(path, container, items, names),
    )


def _contents(
    path: str, container: Container, items: dict[str, etree._Element], names: dict[str, str]
) -> dict[str, Entry]:
    """From the navigation document, else from the NCX file of older books."""
    navigation = [key for key, item in items.items() if "nav" in (item.get("properties") or "").split()]
    older = [key for key, item in items.items() if item.get("media-type") == "application/x-dtbncx+xml"]
    found: dict[str, Entry] = {}
    for key in navigation + older:
        if found or names[key] not in container.names:
            continue
        for entry in entries(path, container.read(names[key])):
            found.setdefault(_resolved(names[key], entry.target), entry)
    return found


def _refuse_protected(path: str, container: Container, spine: Sequence[str]) -> None:
    """Fonts alone are often scrambled, which hides no text."""
    if _ENCRYPTION not in container.names:
        return
    references = _xml(container, path, _ENCRYPTION).iterfind(".//{*}CipherReference")
    if {_resolved("", reference.get("URI", "")) for reference in references} & set(spine):
        raise UnreadableFile(path, "protected against copying (DRM)", "obtain a copy without protection")


def _chapters(path: str, container: Container, book: _Book) -> Iterator[_Chapter]:
    shift, size = 0, 0
    sheets = _Sheets(path, container)
    for name in book.spine:
        data = container.read(name)
        size += len(data)
        if size > CHAPTERS_BYTES_MAX:
            raise UnreadableFile(path, f"a book of more than {CHAPTERS_BYTES_MAX // 1_000_000} MB of text", "divide it")
        page = _page(path, name, data, sheets)
        if page is None:
            continue
        levels = [item.level for item in page.found if item.kind == "heading"]
        entry = book.contents.get(name)
        if entry and levels:
            shift = entry.depth - min(levels)
        yield _chapter(page, entry, shift)
    if book.skipped:
        yield _Chapter("", (), (f"left out {book.skipped} pages that are no text",))


class _Sheets:
    """The style sheets of a book, each read once."""

    def __init__(self, path: str, container: Container) -> None:
        self._path = path
        self._container = container
        self._texts: dict[str, str] = {}
        self._spent = 0

    def read(self, page: str, address: str) -> str:
        """What a page links; empty for what is not in the book."""
        name = _resolved(page, address)
        if name not in self._texts:
            known = name in self._container.names
            self._texts[name] = self._container.read(name).decode("utf-8", "replace") if known else ""
        self._spent += len(self._texts[name])
        if self._spent > SHEETS_BYTES_MAX:
            raise UnreadableFile(self._path, "its style sheets are too large", "save it anew without them")
        return self._texts[name]


def _page(path: str, name: str, data: bytes, sheets: _Sheets) -> HtmlPage | None:
    """None: nothing is written on it."""
    if not data.strip():
        return None
    try:
        page = read_html(path, data, lambda address: sheets.read(name, address))
    except UnreadableFile as error:
        raise UnreadableFile(path, f"{posixpath.basename(name)}: {error.reason}", error.remedy) from None
    return page if page.text else None


def _chapter(page: HtmlPage, entry: Entry | None, shift: int) -> _Chapter:
    """Headings at the levels of the table of contents; a chapter without one gets the title it has there."""
    text, found = page.text, page.found
    headings = [item for item in found if item.kind == "heading"]
    if entry and not headings:
        text, found = _with_heading(text, found, entry)
    elif headings:
        found = tuple(
            replace(item, level=max(1, min(item.level + shift, _LEVEL_MAX))) if item.kind == "heading" else item
            for item in found
        )
    first = min(headings, key=lambda item: item.level).title if headings else ""
    title = " ".join(clean((entry.title if entry else "") or first or page.title)[0].split())
    if title:
        found = tuple(replace(item, place={"chapter": (title,)}) for item in found)
    return _Chapter(text, found, page.warnings)


def _with_heading(text: str, found: tuple[Found, ...], entry: Entry) -> tuple[str, tuple[Found, ...]]:
    """The first block becomes the heading if it reads like it; else the title is put before it."""
    level = min(entry.depth, _LEVEL_MAX)
    first = found[0]
    if first.kind == "paragraph" and _same(text[first.start : first.end], entry.title):
        return text, (replace(first, kind="heading", level=level, title=entry.title), *found[1:])
    head = f"{entry.title}\n\n"
    moved = tuple(replace(item, start=item.start + len(head), end=item.end + len(head)) for item in found)
    return head + text, (Found(0, len(entry.title), "heading", level, entry.title), *moved)


def _same(one: str, other: str) -> bool:
    return "".join(one.split()).casefold() == "".join(other.split()).casefold()


def _joined(chapters: Iterable[_Chapter]) -> tuple[str, tuple[Found, ...], tuple[str, ...]]:
    parts: list[str] = []
    found: list[Found] = []
    warnings: list[str] = []
    length = 0
    for chapter in chapters:
        warnings += chapter.warnings
        if not chapter.text:
            continue
        length += 2 * bool(parts)
        found += [replace(item, start=item.start + length, end=item.end + length) for item in chapter.found]
        parts.append(chapter.text)
        length += len(chapter.text)
    return "\n\n".join(parts), tuple(found), _summed(warnings)


def _summed(warnings: Iterable[str]) -> tuple[str, ...]:
    """Warnings that differ in their number alone as one, with the sum."""
    sums: Counter[str] = Counter()
    plain: dict[str, None] = {}
    for warning in warnings:
        numbers = _NUMBER.findall(warning)
        form = _NUMBER.sub("{}", warning, count=1) if len(numbers) == 1 else warning
        plain[form] = None
        sums[form] += int(numbers[0]) if len(numbers) == 1 else 0
    return tuple(form.replace("{}", str(sums[form]), 1) for form in plain)


def _stated(package: etree._Element, name: str) -> str:
    """The first value of a Dublin Core element, also in the letter case of old books."""
    for element in package.iterfind("{*}metadata//*"):
        tag = element.tag
        if isinstance(tag, str) and tag.startswith("{http://purl.org/dc/") and tag.rsplit("}")[-1].lower() == name:
            text = " ".join(clean(str(element.xpath("string()")))[0].split())
            if text:
                return text
    return ""


def _xml(container: Container, path: str, name: str) -> etree._Element:
    return parse_xml(_PLAIN_DOCTYPE.sub(b"", container.read(name), count=1), path, name)


def _resolved(base: str, address: str) -> str:
    """The file that an address in the file `base` means, without its fragment; empty for one outside the book."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return ""
    if parts.scheme or parts.netloc or not parts.path:
        return ""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(base), unquote(parts.path))).lstrip("/")
