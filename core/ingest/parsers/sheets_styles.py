"""What the styles of an XLSX workbook say of a cell: its number format, and whether its text can be seen at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from lxml import etree

from core.ingest.parsers.docx_xml import whole
from core.ingest.parsers.number_format import BUILT_IN, GENERAL, NumberFormat, parse_format

_WHITE, _BLACK = "FFFFFF", "000000"
_THEME = {"0": _WHITE, "1": _BLACK}
_INDEXED = {"0": _BLACK, "1": _WHITE, "8": _BLACK, "9": _WHITE, "64": _BLACK, "65": _WHITE}
_NEAR_WHITE = 0xF6
_TINY_POINTS = 1.5


@dataclass(frozen=True, slots=True)
class CellStyle:
    form: NumberFormat = GENERAL
    is_unseen: bool = False
    """Written in the colour of its ground, or of no size."""
    is_on_white: bool = True
    """Nothing is filled behind it."""


PLAIN = CellStyle()
_Item = TypeVar("_Item")


def read_styles(root: etree._Element) -> tuple[CellStyle, ...]:
    """The styles that cells name by number."""
    codes = dict(BUILT_IN)
    for item in root.iterfind("{*}numFmts/{*}numFmt"):
        number = whole(item.get("numFmtId"))
        if number is not None:
            codes[number] = item.get("formatCode", "General")
    fonts = [_font(font) for font in root.iterfind("{*}fonts/{*}font")]
    fills = [_fill(fill) for fill in root.iterfind("{*}fills/{*}fill")]
    forms: dict[str, NumberFormat] = {}
    styles = []
    for item in root.iterfind("{*}cellXfs/{*}xf"):
        code = codes.get(whole(item.get("numFmtId")) or 0, "General")
        form = forms.setdefault(code, parse_format(code)) if code not in forms else forms[code]
        colour, tiny = _at(fonts, item.get("fontId"), ("", False))
        ground = _at(fills, item.get("fillId"), _WHITE)
        styles.append(CellStyle(form, tiny or is_same(colour, ground), ground == _WHITE))
    return tuple(styles)


def is_unseen_run(properties: etree._Element | None) -> bool:
    """Whether a run of rich text is white or of no size, where nothing is filled behind it."""
    if properties is None:
        return False
    colour, tiny = _font(properties)
    return tiny or is_same(colour, _WHITE)


def is_same(colour: str, ground: str) -> bool:
    """Whether a text of that colour cannot be told from its ground. Empty: not known, so it can."""
    return bool(colour) and (colour == ground or (_is_near_white(colour) and _is_near_white(ground)))


def _is_near_white(colour: str) -> bool:
    try:
        return len(colour) == 6 and all(byte >= _NEAR_WHITE for byte in bytes.fromhex(colour))
    except ValueError:
        return False


def _at(items: Sequence[_Item], index: str | None, default: _Item) -> _Item:
    number = whole(index)
    return items[number] if number is not None and 0 <= number < len(items) else default


def _font(font: etree._Element) -> tuple[str, bool]:
    """Its colour, empty where it is the default, and whether it is too small to be seen."""
    size = font.find("{*}sz")
    try:
        tiny = size is not None and float(size.get("val", "11")) < _TINY_POINTS
    except ValueError:
        tiny = False
    return _colour(font.find("{*}color")), tiny


def _fill(fill: etree._Element) -> str:
    """Colour of the ground; empty: a pattern or one that is not known."""
    pattern = fill.find("{*}patternFill")
    if pattern is None:
        return ""
    kind = pattern.get("patternType", "none")
    if kind == "none":
        return _WHITE
    return _colour(pattern.find("{*}fgColor")) if kind == "solid" else ""


def _colour(element: etree._Element | None) -> str:
    """RRGGBB, or how it is named otherwise; empty: none, or the default."""
    if element is None:
        return ""
    rgb, theme, indexed, tint = (element.get(name) for name in ("rgb", "theme", "indexed", "tint"))
    if tint and tint.strip("-0."):
        return f"{theme or rgb or indexed}~{tint}"
    if rgb:
        return rgb[-6:].upper()
    if theme is not None:
        return _THEME.get(theme, f"theme {theme}")
    return _INDEXED.get(indexed, f"indexed {indexed}") if indexed is not None else ""
