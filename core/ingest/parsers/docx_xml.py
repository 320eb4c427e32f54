"""Names and small readings that the parts of a Word document share."""

from __future__ import annotations

from lxml import etree

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
WORD_2010 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
BOX = WORD + "txbxContent"
_OFF = frozenset({"0", "false", "off"})


def value(parent: etree._Element | None, name: str, attribute: str = "val") -> str | None:
    """Attribute of the child `w:name`; None: no such child or attribute."""
    child = parent.find(WORD + name) if parent is not None else None
    return child.get(WORD + attribute) if child is not None else None


def whole(text: str | None) -> int | None:
    """A decimal number of up to nine digits, perhaps with a minus; None: it is none."""
    digits = (text or "").removeprefix("-")
    return int(text or "") if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def is_on(parent: etree._Element | None, name: str) -> bool | None:
    """State of the switch `w:name`; None: it is not stated."""
    child = parent.find(WORD + name) if parent is not None else None
    return None if child is None else child.get(WORD + "val", "1").lower() not in _OFF


def text_of(element: etree._Element) -> str:
    """All letters below, also deleted ones; to tell whether there are any."""
    return "".join(t.text or "" for t in element.iter(WORD + "t", WORD + "delText", MATH + "t"))


def chosen(alternatives: etree._Element) -> etree._Element | None:
    """The reading of `mc:AlternateContent` to follow: the one with text boxes, else the fallback."""
    choices = alternatives.findall(ALTERNATIVES + "Choice")
    fallback = alternatives.find(ALTERNATIVES + "Fallback")
    for choice in choices:
        if next(choice.iter(BOX), None) is not None:
            return choice
    if fallback is not None and len(fallback):
        return fallback
    return choices[0] if choices else None
