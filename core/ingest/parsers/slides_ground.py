"""What lies behind a text on a slide, to tell whether a viewer can see it.

Only colours that runs and fills state themselves are compared; where anything else is painted behind (a picture, a
gradient, a shape filled by a style), a text counts as seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lxml import etree

from core.errors import UnreadableFile
from core.ingest.parsers.docx_xml import whole
from core.ingest.parsers.sheets_styles import is_same
from core.ingest.parsers.sheets_xml import local
from core.ingest.parsers.slides_shapes import Box, Shape, overlap, painted

CHECKS_MAX = 20_000_000
"""Pairs of a text and a shape below it, of one presentation."""
_WHITE = "FFFFFF"
_TINY = 150  # hundredths of a point

Palette = Mapping[str, str]
"""RRGGBB of the names of a theme's colours."""


def palette(master: etree._Element, theme: etree._Element | None) -> Palette:
    scheme = theme.find("{*}themeElements/{*}clrScheme") if theme is not None else None
    colours: dict[str, str] = {}
    for item in scheme if scheme is not None else ():
        value = next(iter(item), None)
        if value is not None:
            colours[local(item)] = str(value.get("lastClr") or value.get("val") or "")
    mapping = master.find("{*}clrMap")
    for name, to in mapping.attrib.items() if mapping is not None else ():
        colours.setdefault(str(name), colours.get(str(to), ""))
    return colours


def colour(fill: etree._Element | None, names: Palette) -> str:
    """RRGGBB of a `solidFill`, `none` where it is clear; empty: not known."""
    value = next(iter(fill), None) if fill is not None and local(fill) == "solidFill" else None
    if value is None:
        return ""
    alpha = value.find("{*}alpha")
    if alpha is not None and whole(alpha.get("val")) == 0:
        return "none"
    if len(value):
        return ""
    kind, name = local(value), value.get("val", "")
    if kind == "srgbClr":
        return name.upper()
    return value.get("lastClr", "").upper() if kind == "sysClr" else names.get(name, "").upper()


def background(roots: Sequence[etree._Element], names: Palette) -> str:
    """Colour of the first background stated: of a slide, its layout, its master. White where none is."""
    for root in roots:
        found = root.find("{*}cSld/{*}bg")
        if found is None:
            continue
        reference = found.find("{*}bgRef")
        if reference is not None:
            value = next(iter(reference), None)
            plain = reference.get("idx") == "1001" and value is not None and not len(value)
            return names.get(value.get("val", ""), "").upper() if plain and value is not None else ""
        properties = found.find("{*}bgPr")
        return colour(next(iter(properties), None), names) if properties is not None else ""
    return _WHITE


@dataclass(slots=True)
class Checks:
    """Spent over a presentation."""

    path: str
    spent: int = 0

    def spend(self, number: int) -> None:
        self.spent += number
        if self.spent > CHECKS_MAX:
            raise UnreadableFile(self.path, "more shapes than can be compared", "divide it")


class Ground:
    """Of one slide: what lies behind each of its shapes."""

    def __init__(
        self, found: Sequence[Shape], below: Sequence[Box | None], back: str, names: Palette, checks: Checks
    ) -> None:
        """`below`: boxes that layout and master fill; `back`: colour of the background."""
        self._painted = list(painted(found))
        self._place = {id(shape.element): place for place, shape in enumerate(self._painted)}
        self._below = below
        self._back = back
        self._names = names
        self._checks = checks
        self._known: dict[int, str] = {}

    def of(self, shape: Shape) -> str:
        """RRGGBB; empty: not known."""
        key = id(shape.element)
        if key not in self._known:
            self._known[key] = self._of(shape)
        return self._known[key]

    def _of(self, shape: Shape) -> str:
        if shape.kind == "sp" and not shape.is_see_through:
            own = colour(shape.fill, self._names)
            if own != "none":
                return own
        place = self._place.get(id(shape.element), 0)
        self._checks.spend(place + len(self._below))
        if any(not other.is_see_through and overlap(shape.box, other.box) for other in self._painted[:place]):
            return ""
        return "" if any(overlap(shape.box, box) for box in self._below) else self._back

    def hides(self, run: etree._Element, shape: Shape) -> bool:
        """Whether a run of a shape's text cannot be seen."""
        return self._hides(run, shape, None)

    def hides_in_cell(self, cell: etree._Element, run: etree._Element, shape: Shape) -> bool:
        """The same for a run in a cell of a table."""
        return self._hides(run, shape, cell)

    def _hides(self, run: etree._Element, shape: Shape, cell: etree._Element | None) -> bool:
        properties = run.find("{*}rPr")
        if properties is None:
            return False
        size = whole(properties.get("sz"))
        if size is not None and size < _TINY:
            return True
        fill = next((child for child in properties if local(child) in ("solidFill", "noFill")), None)
        if fill is None:
            return False
        text = "none" if local(fill) == "noFill" else colour(fill, self._names)
        if text == "none":
            return properties.find("{*}ln") is None
        if not text or properties.find("{*}highlight") is not None:
            return False
        return is_same(text, self.of(shape) if cell is None else self._of_cell(cell, shape))

    def _of_cell(self, cell: etree._Element, shape: Shape) -> str:
        properties = cell.find("{*}tcPr")
        fill = None
        if properties is not None:
            fill = next((child for child in properties if local(child).endswith("Fill")), None)
        if fill is not None and local(fill) != "noFill":
            return colour(fill, self._names)
        style = next(shape.element.iter("{*}tableStyleId"), None)
        return self.of(shape) if fill is not None or style is None else ""
