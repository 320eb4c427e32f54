"""Formulas of Word written in one line."""

from __future__ import annotations

from lxml import etree

from core.ingest.parsers.docx_xml import MATH, WORD

_PROPERTIES_END = "Pr"


def linear(element: etree._Element) -> str:
    """`a/b`, `x^2`, `x_i`, `√(x)`, sums with their limits; the rest in reading order."""
    name = etree.QName(element).localname
    if element.tag in (MATH + "t", WORD + "t"):
        return element.text or ""
    if name == "f":
        return f"{_held(element, 'num')}/{_held(element, 'den')}"
    if name in ("sSup", "sSub", "sSubSup"):
        return _part(element, "e") + _mark("_", element, "sub") + _mark("^", element, "sup")
    if name == "rad":
        return f"{_part(element, 'deg')}√{_held(element, 'e')}"
    if name == "nary":
        symbol = element.find(f"{MATH}naryPr/{MATH}chr")
        sign = symbol.get(MATH + "val", "") if symbol is not None else "∫"
        return f"{sign}{_mark('_', element, 'sub')}{_mark('^', element, 'sup')} {_part(element, 'e')}"
    if name == "d":
        return f"({', '.join(linear(part) for part in element.findall(MATH + 'e'))})"
    if name == "m":
        rows = [", ".join(linear(cell) for cell in row.findall(MATH + "e")) for row in element.findall(MATH + "mr")]
        return f"[{'; '.join(rows)}]"
    if name.endswith(_PROPERTIES_END) or element.tag in (WORD + "del", WORD + "moveFrom"):
        return ""
    return "".join(linear(child) for child in element)


def _part(element: etree._Element, name: str) -> str:
    part = element.find(MATH + name)
    return linear(part).strip() if part is not None else ""


def _held(element: etree._Element, name: str) -> str:
    """In brackets unless it is one symbol, number or word."""
    text = _part(element, name)
    return text if text.isalnum() else f"({text})"


def _mark(sign: str, element: etree._Element, name: str) -> str:
    return sign + _held(element, name) if _part(element, name) else ""
