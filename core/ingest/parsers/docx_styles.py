"""What the styles of a Word document say: which text is hidden, which paragraph is a heading or a list item."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

from lxml import etree

from core.ingest.parsers.docx_xml import WORD, WORD_2010, is_on, value, whole

WHITE = "FFFFFF"
UNKNOWN = "?"
"""A ground whose colour cannot be told: on it no colour counts as hidden."""
_CHAIN_MAX = 30
_SIZE_MAX = 4  # half-points: 2 pt
_CONTRAST_MIN = 10.0  # of 255
# Word writes the English name whatever language it shows; other programs write their own.
_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|rubrik|overskrift|kop|otsikko|nagłówek|nadpis|заголовок|标题|標題|"
    r"見出し|제목) ?([1-9])",
    re.IGNORECASE,
)
_HEX = re.compile(r"[0-9A-Fa-f]{6}")
_HIGHLIGHTS = {
    "black": "000000", "blue": "0000FF", "cyan": "00FFFF", "green": "00FF00", "magenta": "FF00FF", "red": "FF0000",
    "yellow": "FFFF00", "white": WHITE, "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000",
    "darkMagenta": "800080", "darkRed": "800000", "darkYellow": "808000", "darkGray": "808080", "lightGray": "C0C0C0",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """What makes text visible, as far as it is stated; None: it is not."""

    hidden: bool | None = None
    colour: str | None = None
    """RRGGBB or `auto`."""
    half_points: int | None = None
    ground: str | None = None
    """RRGGBB or UNKNOWN."""
    unfilled: bool | None = None

    def over(self, below: Look) -> Look:
        """This look, and where it is silent that of `below`."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(below, **{name: stated for name, stated in own.items() if stated is not None})


@dataclass(frozen=True, slots=True)
class Style:
    """A style with all that it inherits."""

    look: Look = Look()
    """Of its text; `ground` is that of the run."""
    ground: str | None = None
    """Of the paragraph."""
    outline: int | None = None
    """Level of a heading from 0; 9: body text."""
    list_id: str | None = None
    list_level: int | None = None
    list_style: str | None = None
    """The style of the chain that names the list."""
    shaded_table: bool = False


class Styles:
    def __init__(self, root: etree._Element | None) -> None:
        """`root` of styles.xml; None: the document has none."""
        elements = root.findall(WORD + "style") if root is not None else []
        self._elements = {element.get(WORD + "styleId", ""): element for element in elements}
        self._styles: dict[str, Style] = {"": Style()}
        defaults = root.find(f"{WORD}docDefaults/{WORD}rPrDefault/{WORD}rPr") if root is not None else None
        self._base = look_of(defaults)
        standard = [e for e in elements if e.get(WORD + "default") in ("1", "true", "on")]
        self._standard = {e.get(WORD + "type"): e.get(WORD + "styleId", "") for e in standard}
        self._looks: dict[tuple[str, str], Look] = {}

    def paragraph(self, name: str | None) -> Style:
        """A paragraph style by id; without one the document's standard style."""
        return self.named(name if name is not None else self._standard.get("paragraph", ""))

    def named(self, name: str) -> Style:
        if name not in self._styles:
            self._styles[name] = self._resolved(name)
        return self._styles[name]

    def lists(self) -> dict[str, str]:
        """List id by style."""
        found = {name: self.named(name).list_id for name in self._elements}
        return {name: list_id for name, list_id in found.items() if list_id}

    def look(self, paragraph: str | None, properties: etree._Element | None) -> Look:
        """Of a run with these `w:rPr` in a paragraph of this style."""
        character = value(properties, "rStyle") or ""
        key = (paragraph if paragraph is not None else "\0", character)
        if key not in self._looks:
            above, below = self.named(character).look, self.paragraph(paragraph).look
            # Of two styles that both switch hiding on, each takes back the other.
            both = bool(above.hidden) != bool(below.hidden) or bool(self._base.hidden)
            self._looks[key] = replace(above.over(below).over(self._base), hidden=both)
        styled = self._looks[key]
        return styled if properties is None else look_of(properties).over(styled)

    def _resolved(self, name: str) -> Style:
        chain: list[etree._Element] = []
        seen: set[str] = set()
        following: str | None = name
        while following and following in self._elements and following not in seen and len(chain) < _CHAIN_MAX:
            seen.add(following)
            chain.append(self._elements[following])
            following = value(chain[-1], "basedOn")
        result = Style()
        for element in reversed(chain):
            result = _with_own(result, element)
        return result


def _with_own(below: Style, element: etree._Element) -> Style:
    paragraph = element.find(WORD + "pPr")
    numbering = paragraph.find(WORD + "numPr") if paragraph is not None else None
    ground, outline = ground_of(paragraph), whole(value(paragraph, "outlineLvl"))
    list_id, level = value(numbering, "numId"), whole(value(numbering, "ilvl"))
    if outline is None and element.get(WORD + "type") == "paragraph":
        title = value(element, "name") or ""
        heading = _HEADING.fullmatch(title)
        outline = int(heading[1]) - 1 if heading else (0 if title.lower() == "title" else None)
    return Style(
        look=look_of(element.find(WORD + "rPr")).over(below.look),
        ground=below.ground if ground is None else ground,
        outline=below.outline if outline is None else outline,
        list_id=below.list_id if list_id is None else list_id,
        list_level=below.list_level if level is None else level,
        list_style=below.list_style if list_id is None else element.get(WORD + "styleId"),
        shaded_table=below.shaded_table
        or (element.get(WORD + "type") == "table" and next(element.iter(WORD + "shd"), None) is not None),
    )


def look_of(properties: etree._Element | None) -> Look:
    """What `w:rPr` itself states."""
    if properties is None or not len(properties):
        return _SILENT
    hidden = is_on(properties, "vanish")
    special = is_on(properties, "specVanish")
    highlight = _HIGHLIGHTS.get(value(properties, "highlight") or "")
    filled = properties.find(f"{WORD_2010}textFill")
    unfilled = None
    if filled is not None:
        outlined = properties.find(f"{WORD_2010}textOutline/{WORD_2010}solidFill") is not None
        unfilled = filled.find(WORD_2010 + "noFill") is not None and not outlined
    return Look(
        hidden=special if hidden is None or special else hidden,
        colour=_colour(properties.find(WORD + "color")),
        half_points=whole(value(properties, "sz")),
        ground=highlight or ground_of(properties),
        unfilled=unfilled,
    )


def ground_of(properties: etree._Element | None) -> str | None:
    """The colour that the `w:shd` of a run, paragraph or cell gives; None: none."""
    shading = properties.find(WORD + "shd") if properties is not None else None
    if shading is None:
        return None
    pattern = shading.get(WORD + "val", "clear")
    if pattern not in ("clear", "nil", "solid"):
        return UNKNOWN
    name = "color" if pattern == "solid" else "fill"
    colour = shading.get(WORD + name, "auto")
    if _HEX.fullmatch(colour):
        return colour
    if pattern == "solid":
        return "000000"
    theme = shading.get(WORD + "themeFill")
    return UNKNOWN if theme and theme not in ("background1", "light1") else None


def is_invisible(look: Look, ground: str) -> bool:
    """Whether text of this look cannot be seen on `ground`: hidden, at most 2 pt, without fill, or in its colour."""
    if look.hidden or look.unfilled or (look.half_points is not None and look.half_points <= _SIZE_MAX):
        return True
    below = look.ground or ground
    if look.colour in (None, "auto") or below == UNKNOWN:
        return False
    return abs(_grey(look.colour or "") - _grey(below)) < _CONTRAST_MIN and _is_near(look.colour or "", below)


def _colour(element: etree._Element | None) -> str | None:
    if element is None:
        return None
    colour = element.get(WORD + "val", "auto")
    if _HEX.fullmatch(colour):
        return colour
    return WHITE if element.get(WORD + "themeColor") in ("background1", "light1") else "auto"


def _grey(colour: str) -> float:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (0, 2, 4))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def _is_near(one: str, other: str) -> bool:
    """Also in hue: red on a green of the same grey is seen."""
    return all(abs(int(one[place : place + 2], 16) - int(other[place : place + 2], 16)) < 32 for place in (0, 2, 4))


_SILENT = Look()
