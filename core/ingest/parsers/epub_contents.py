"""The table of contents of a book, from its navigation document or its NCX file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from core.ingest.clean import clean
from core.ingest.decode import decode
from core.ingest.parsers.html_guard import BYTES_MAX, why_refused

_TITLE_MAX = 200
_DEPTH_MAX = 6
_STEPS_MAX = 40


@dataclass(frozen=True, slots=True)
class Entry:
    target: str
    """Address as it stands in the file."""
    title: str
    depth: int
    """From 1."""


def entries(path: str, data: bytes) -> Iterator[Entry]:
    """Entries in order, those without a title or target left out; none where the file cannot be read in time.

    Raises UnreadableFile for a file that is no text.
    """
    if len(data) > BYTES_MAX or not data.strip():
        return
    source = decode(path, data).text
    if why_refused(source):
        return
    tree = LexborHTMLParser(source)
    points = tree.css("navpoint")
    yield from (_of_points(points) if points else _of_navigation(tree))


def _of_points(points: list[LexborNode]) -> Iterator[Entry]:
    for point in points:
        label, content = point.css_first("navlabel"), point.css_first("content")
        if label is not None and content is not None:
            yield from _entry(content.attributes.get("src"), label.text(), 1 + _ancestors(point, "navpoint"))


def _of_navigation(tree: LexborHTMLParser) -> Iterator[Entry]:
    for nav in tree.css("nav"):
        if "toc" in (nav.attributes.get("epub:type") or nav.attributes.get("role") or ""):
            for link in nav.css("a[href]"):
                yield from _entry(link.attributes.get("href"), link.text(), _ancestors(link, "ol"))
            return


def _entry(target: str | None, title: str, depth: int) -> Iterator[Entry]:
    title = " ".join(clean(title)[0].split())[:_TITLE_MAX]
    if target and title:
        yield Entry(target, title, max(1, min(depth, _DEPTH_MAX)))


def _ancestors(node: LexborNode, tag: str) -> int:
    """How many elements of a tag are above `node`, not far from it."""
    count, parent = 0, node.parent
    for _ in range(_STEPS_MAX):
        if parent is None:
            break
        count += parent.tag == tag
        parent = parent.parent
    return count
