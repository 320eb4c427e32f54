"""Names of groups and persons, in the one form that is compared.

Canonical once, where a name enters (metadata, principals); from then on names match exactly, case and script included.
"""

from __future__ import annotations

import unicodedata

EVERYONE = "*"
PERSON = "user:"

_BAD_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters and marks that render as nothing: they would let two names look alike that do not match.
_MARKS = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_INVISIBLE = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0}.union(*_MARKS))


def canonical_name(name: object) -> str:
    """A group's or person's name in the one form that is compared: NFC, without white space around it.

    Case and script stay as they are. Raises ValueError, saying why, for anything but a string, for an empty name,
    for `*` and `user:…`, and for names with control, format (zero-width, bidi, tag) or other invisible characters.
    """
    text = _clean(name)
    if text == EVERYONE or text.startswith(PERSON):
        raise ValueError(f"the name {text!r} is reserved")
    return text


def acl_token(entry: object) -> str:
    """An entry of an access list: a group's name, `*`, or `user:NAME`. Raises ValueError like `canonical_name`."""
    text = _clean(entry)
    if text == EVERYONE:
        return text
    if text.startswith(PERSON):
        return PERSON + canonical_name(text.removeprefix(PERSON))
    return canonical_name(text)


def _clean(name: object) -> str:
    if not isinstance(name, str):
        raise ValueError(f"{name!r} is no name")
    text = unicodedata.normalize("NFC", name)
    for character in text:
        if unicodedata.category(character) in _BAD_CATEGORIES or ord(character) in _INVISIBLE:
            raise ValueError(f"the name {name!a} holds the invisible character U+{ord(character):04X}")
    text = text.strip()
    if not text:
        raise ValueError("a name is empty")
    return text
