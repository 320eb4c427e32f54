"""The numbers that Word shows before list items and headings, which stand nowhere in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

from core.ingest.parsers.docx_number_forms import written
from core.ingest.parsers.docx_xml import WORD, is_on, value, whole

LEVELS = 9
_PLACE = re.compile(r"%([1-9])")
_LABEL_MAX = 60


@dataclass(frozen=True, slots=True)
class Level:
    start: int
    form: str
    text: str
    """With `%1` to `%9` for the numbers of the levels."""
    restart: int | None
    """The level, from 1, after which it begins anew; 0: never; None: after any higher one."""
    in_digits: bool
    glued: bool
    """Whether nothing parts label and text."""
    style: str | None


@dataclass(frozen=True, slots=True)
class _List:
    definition: str
    levels: dict[int, Level]
    starts: dict[int, int]
    """Where this list begins anew, by level."""

    def start(self, place: int) -> int:
        return self.starts.get(place, self.levels[place].start)


class Numbers:
    """The lists of a document, and how far each has been counted."""

    def __init__(self, root: etree._Element | None, style_lists: dict[str, str] | None = None) -> None:
        """`root` of numbering.xml; `style_lists`: list id by style, for definitions that name a style."""
        self._definitions: dict[str, dict[int, Level]] = {}
        self._links: dict[str, str] = {}
        self._elements: dict[str, etree._Element] = {}
        self._lists: dict[str, _List | None] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()
        self._style_lists = style_lists or {}
        for element in root if root is not None else ():
            if element.tag == WORD + "abstractNum":
                name = element.get(WORD + "abstractNumId", "")
                self._definitions[name] = _levels(element)
                link = value(element, "numStyleLink")
                if link:
                    self._links[name] = link
            elif element.tag == WORD + "num":
                self._elements[element.get(WORD + "numId", "")] = element

    def level_of_style(self, list_id: str, style: str) -> int:
        """The level, from 0, that a list keeps for a style."""
        found = self._list(list_id)
        return next((n for n, level in found.levels.items() if level.style == style), 0) if found else 0

    def label(self, list_id: str, depth: int) -> str:
        """Count one item at level `depth`, from 0, and write its label with what parts it from the text.

        Empty where the list or its level is unknown, or shows none.
        """
        found = self._list(list_id)
        level = found.levels.get(depth) if found else None
        if not found or not level:
            return ""
        counts = self._counts.setdefault(found.definition, {})
        if list_id not in self._begun:
            self._begun.add(list_id)
            for place in found.starts:
                counts.pop(place, None)
        counts[depth] = counts[depth] + 1 if depth in counts else found.start(depth)
        for deeper in [place for place in counts if place > depth]:
            restart = found.levels[deeper].restart if deeper in found.levels else None
            if restart is None or depth < restart:
                counts.pop(deeper)
        if level.form == "bullet":
            return "- " if level.text else ""
        text = _PLACE.sub(lambda match: self._number(found, level, int(match[1]) - 1, counts), level.text)
        text = text.strip()[:_LABEL_MAX]
        return text + ("" if level.glued or not text else " ")

    def _number(self, found: _List, level: Level, place: int, counts: dict[int, int]) -> str:
        other = found.levels.get(place)
        if other is None:
            return ""
        number = counts.get(place, found.start(place))
        return written(number, "decimal" if level.in_digits or other.form == "bullet" else other.form)

    def _list(self, list_id: str) -> _List | None:
        if list_id not in self._lists:
            self._lists[list_id] = self._read_list(list_id)
        return self._lists[list_id]

    def _read_list(self, list_id: str) -> _List | None:
        element = self._elements.get(list_id)
        definition = self._definition(list_id)
        if element is None or definition is None:
            return None
        levels, starts = dict(self._definitions[definition]), {}
        for override in element.findall(WORD + "lvlOverride"):
            place = whole(override.get(WORD + "ilvl"))
            if place is None or not 0 <= place < LEVELS:
                continue
            own = override.find(WORD + "lvl")
            start = whole(value(override, "startOverride"))
            if own is not None:
                levels[place] = _level(own)
            if start is not None:
                starts[place] = start
        return _List(definition, levels, starts)

    def _definition(self, list_id: str) -> str | None:
        """Through links to styles, of which there are one or two in practice."""
        for _ in range(4):
            element = self._elements.get(list_id)
            name = value(element, "abstractNumId") or ""
            if name not in self._definitions:
                return None
            list_id = self._style_lists.get(self._links.get(name, ""), "")
            if self._definitions[name] or not list_id:
                return name
        return None


def _levels(definition: etree._Element) -> dict[int, Level]:
    found = {}
    for element in definition.findall(WORD + "lvl"):
        place = whole(element.get(WORD + "ilvl"))
        if place is not None and 0 <= place < LEVELS:
            found[place] = _level(element)
    return found


def _level(element: etree._Element) -> Level:
    start = whole(value(element, "start"))
    return Level(
        start=0 if start is None else start,
        form=value(element, "numFmt") or "decimal",
        text=value(element, "lvlText") or "",
        restart=whole(value(element, "lvlRestart")),
        in_digits=bool(is_on(element, "isLgl")),
        glued=value(element, "suff") == "nothing",
        style=value(element, "pStyle"),
    )
