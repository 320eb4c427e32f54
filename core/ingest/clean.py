"""Text as a person reads it: one kind of newline, no hidden characters.

What is invisible can carry instructions or break a word in two, so it is removed and reported, but for the joiners
and variation selectors that a script or an emoji needs to look right.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_NEWLINES = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_SUSPECT = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef]"
)
_JOINERS = "\u200c\u200d"
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Scripts whose letters change shape at a joiner: Arabic to Nko, Indic to Sinhala, Myanmar, Khmer, Mongolian.
_JOINING = re.compile("[\u0600-\u07ff\u08a0-\u0dff\u1000-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc]")
# Scripts written without spaces, where U+200B marks the words: Thai, Lao, Tibetan, Myanmar, Khmer.
_SPACELESS = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]")
_HAN = re.compile("[\u2e80-\u2fdf\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def clean(text: str) -> tuple[str, Counter[str]]:
    """`text` with newlines as `\\n` and hidden characters removed, and how many of each kind were.

    Lone surrogates, which no encoding can store, become U+FFFD. Soft hyphens and byte order marks go uncounted.
    """
    text = _NEWLINES.sub("\n", text)
    removed: Counter[str] = Counter()

    def keep(match: re.Match[str]) -> str:
        character, start = match.group(), match.start()
        if "\ud800" <= character <= "\udfff":
            removed["lone surrogates"] += 1
            return "\ufffd"
        before, after = text[start - 1 : start], text[start + 1 : start + 2]
        if _is_needed(character, before, after):
            return character
        removed[_kind(character)] += 1
        return ""

    result = _SUSPECT.sub(keep, text)
    del removed[""]
    return result, removed


def warnings_of(removed: Counter[str]) -> tuple[str, ...]:
    return tuple(f"removed hidden characters: {count} {kind}" for kind, count in sorted(removed.items()))


def _is_needed(character: str, before: str, after: str) -> bool:
    if character in _JOINERS:
        emoji = _is_symbol(before.replace("\ufe0f", "☺")) and _is_symbol(after)
        return bool(_JOINING.match(before)) or (character == "\u200d" and emoji)
    if character == "\u200b":
        return bool(_SPACELESS.match(before) and _SPACELESS.match(after))
    if "\ufe00" <= character <= "\ufe0f":
        return bool(before) and (_is_symbol(before) or before in "0123456789#*" or bool(_HAN.match(before)))
    return "\U000e0100" <= character <= "\U000e01ef" and bool(_HAN.match(before))


def _is_symbol(character: str) -> bool:
    return not character.isascii() and unicodedata.category(character) in ("So", "Sm", "Sk")


def _kind(character: str) -> str:
    if character in "\xad\ufeff":
        return ""
    if character in _BIDI:
        return "bidirectional controls"
    if "\U000e0000" <= character <= "\U000e007f":
        return "tag characters"
    if "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef":
        return "variation selectors"
    if unicodedata.category(character) == "Cc":
        return "control characters"
    return "zero-width characters"
