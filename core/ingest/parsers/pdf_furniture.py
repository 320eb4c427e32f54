"""What stands on page after page of a PDF: running titles, page numbers, watermarks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.ingest.parsers.pdf_lines import Line, Table

PAGES_MIN = 4
_SHARE = 0.4
"""Of the pages: left and right pages may differ."""
_MARGIN = 0.12
_TITLE_MAX = 100
_NUMBER = re.compile(r"\d+|\b[ivxlcdm]+\b", re.IGNORECASE)
_BARE = re.compile(
    r"[\W_]*(?:page|seite|pagina|página|стр|第|p)?[\W_]*#(?:\W*(?:of|von|de|sur|共|页|頁)*\W*#)?[\W_页頁]*"
)


@dataclass(frozen=True, slots=True)
class PageLines:
    """Lines and tables of one page in reading order."""

    index: int
    label: str
    """The page's number as it is printed."""
    height: float
    items: tuple[Line | Table, ...]

    @property
    def number(self) -> str:
        """Its place among the pages, from 1: where a viewer jumps to, and unlike what is printed never two pages'."""
        return str(self.index + 1)


def without_furniture(pages: Sequence[PageLines]) -> tuple[tuple[PageLines, ...], int]:
    """The pages without lines in the margins that recur on most of them, and how many lines that were. With the page's
    number in it a line recurs whatever else it says.

    Of a document of few pages only the pages' own numbers go.
    """
    few = len(pages) < PAGES_MIN
    sizes = sorted(item.size for page in pages for item in page.items if isinstance(item, Line))
    usual = sizes[len(sizes) // 2] if sizes else 0.0
    keys = [_keys(page, usual, few) for page in pages]
    seen = Counter(key for page in keys for key in set().union(*page))
    filled = sum(bool(page.items) for page in pages)
    least = max(2.0 if few else 3.0, _SHARE * filled)
    recurring = {key for key, count in seen.items() if count >= least}
    removed = 0
    result = []
    for page, page_keys in zip(pages, keys, strict=True):
        kept = tuple(item for item, found in zip(page.items, page_keys, strict=True) if not found & recurring)
        removed += len(page.items) - len(kept)
        result.append(replace(page, items=kept))
    return tuple(result), removed


def _keys(page: PageLines, usual: float, few: bool) -> list[set[str]]:
    """For each item texts that are equal for lines that say the same, but for numbers, at the same height; none for
    what is no candidate. `usual` is the size of most lines; with `few` pages only bare page numbers are candidates."""
    upright = [item for item in page.items if isinstance(item, Table) or not item.turned]
    top = min((item.box[1] for item in upright), default=0.0)
    bottom = max((item.box[3] for item in upright), default=0.0)
    keys: list[set[str]] = []
    for item in page.items:
        found: set[str] = set()
        if isinstance(item, Line):
            middle = (item.box[1] + item.box[3]) / 2
            marginal = item.turned or not _MARGIN * page.height < middle < (1 - _MARGIN) * page.height
            outermost = item.box[1] <= top or item.box[3] >= bottom
            if (marginal or outermost) and _is_number(item.text, page):
                found = {_end_of(page, middle)}
            elif marginal and not few:
                found = _key(item, page, usual)
        keys.append(found)
    return keys


def _key(line: Line, page: PageLines, usual: float) -> set[str]:
    middle = (line.box[1] + line.box[3]) / 2
    found: set[str] = set()
    text = _numbers_out(line.text, page.label)
    number = re.escape(page.label.casefold())
    short = len(text) <= _TITLE_MAX and line.size <= 1.05 * usual
    if short and re.match(rf"{number}(?!\w)|.*(?<!\w){number}$", " ".join(line.text.split()).casefold()):
        found.add(_end_of(page, middle))
    text = re.sub(r"\W*#[\W_]*", " ", text).strip()
    if text:
        found.add(f"{'' if line.turned else round(middle / 12)} {text}")
    return found


def _is_number(text: str, page: PageLines) -> bool:
    """Whether it says nothing but which page this is."""
    if not _BARE.fullmatch(_numbers_out(text, page.label)):
        return False
    own = {page.label.casefold(), str(page.index + 1)}
    return any(number in own for number in re.findall(r"[\w-]*\w", text.casefold()))


def _end_of(page: PageLines, middle: float) -> str:
    return f"# {'top' if middle < page.height / 2 else 'bottom'}"


def _numbers_out(text: str, label: str) -> str:
    """Small letters, with `#` for numbers, the page's own among them."""
    text = " ".join(text.split()).casefold()
    text = re.sub(rf"(?<!\w){re.escape(label.casefold())}(?!\w)", "#", text)
    return _NUMBER.sub("#", text)
