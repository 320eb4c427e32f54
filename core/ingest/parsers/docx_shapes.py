"""Drawings of Word: the text boxes in them, and whether anything colours the ground of their text."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from core.ingest.parsers.docx_styles import UNKNOWN, WHITE
from core.ingest.parsers.docx_xml import ALTERNATIVES, BOX, chosen

_SHAPES = frozenset("wsp shape rect roundrect wgp group".split())
_FILLS = frozenset("gradFill blipFill pattFill grpFill".split())
_WHITES = frozenset({"white", "#ffffff", "#fff"})


def boxes_with_grounds(drawing: etree._Element) -> list[tuple[etree._Element, str]]:
    """The text boxes of a drawing, and the colour of the ground they give their text: white where nothing fills the
    shape or the group it is in, else UNKNOWN."""
    filled: dict[etree._Element, bool] = {}
    return [(box, _ground(box, drawing, filled)) for box in _boxes(drawing)]


def _boxes(element: etree._Element) -> Iterator[etree._Element]:
    """The text boxes of a drawing, not those inside them; hidden drawings have none."""
    stack = [element]
    while stack:
        node = stack.pop()
        if node.tag == BOX:
            yield node
        elif node.tag == ALTERNATIVES + "AlternateContent":
            branch = chosen(node)
            stack += [branch] if branch is not None else []
        else:
            stack += [child for child in reversed(node) if not _is_hidden_drawing(child)]


def _is_hidden_drawing(element: etree._Element) -> bool:
    properties = element if element.tag.endswith("}cNvPr") else element.find("{*}docPr")
    if properties is None:
        properties = element.find("{*}cNvPr")
    if properties is not None and properties.get("hidden") in ("1", "true"):
        return True
    return "visibility:hidden" in (element.get("style") or "").replace(" ", "")


def _ground(box: etree._Element, drawing: etree._Element, filled: dict[etree._Element, bool]) -> str:
    for parent in box.iterancestors():
        if etree.QName(parent).localname in _SHAPES:
            if parent not in filled:
                filled[parent] = _is_filled(parent)
            if filled[parent]:
                return UNKNOWN
        if parent is drawing:
            break
    return WHITE


def _is_filled(shape: etree._Element) -> bool:
    """Itself, or for a group any shape or picture of it."""
    stack = [shape]
    while stack:
        node = stack.pop()
        name = etree.QName(node).localname
        if name == "pic" or (name in _SHAPES and _has_fill(node)):
            return True
        stack += [child for child in node if child.tag != BOX]
    return False


def _has_fill(shape: etree._Element) -> bool:
    colour = (shape.get("fillcolor") or "white").lower().split()[0]
    if colour not in _WHITES:
        return shape.get("filled", "t") not in ("f", "false")
    own = shape.find("{*}spPr")
    for fill in own if own is not None else ():
        name = etree.QName(fill).localname
        if name == "noFill":
            return False
        if name == "solidFill":
            white = ("{*}srgbClr[@val='FFFFFF']", "{*}schemeClr[@val='bg1']")
            return not any(fill.find(path) is not None for path in white)
        if name in _FILLS:
            return True
    style = shape.find("{*}style/{*}fillRef")
    return style is not None and style.get("idx") != "0"
