"""From page ranges as people write them to page labels."""

from __future__ import annotations

import re
import unicodedata

from core.errors import InputError

PAGES_MAX = 2_000
"""Most labels that one text may stand for."""

_RANGE = re.compile(r"([0-9]{1,6})\s*[-–—~−]\s*([0-9]{1,6})")
_LABEL = re.compile(r"[^\s,;]{1,20}")


def expand_pages(text: str) -> tuple[str, ...]:
    """`3-5, 7, iv` as `("3", "4", "5", "7", "iv")`: each label once, in order; empty text gives none.

    Full-width digits and signs count like plain ones. Raises InputError for a part that is neither a label nor a
    range of numbers that runs forwards, and for more than PAGES_MAX pages.
    """
    labels: dict[str, None] = {}
    for part in re.split(r"[,;、]", unicodedata.normalize("NFKC", text)):
        part = part.strip()
        if part:
            labels.update(dict.fromkeys(_labels(part)))
        if len(labels) > PAGES_MAX:
            raise InputError(f"the pages {text!r} are more than {PAGES_MAX}", "name fewer")
    return tuple(labels)


def _labels(part: str) -> list[str]:
    found = _RANGE.fullmatch(part)
    if found:
        first, last = int(found.group(1)), int(found.group(2))
        if first <= last <= first + PAGES_MAX:
            return [str(number) for number in range(first, last + 1)]
    elif _LABEL.fullmatch(part) and part.strip("-–—~−") and not re.search(r"^[-–—~−]|[-–—~−]$", part):
        return [part]
    raise InputError(f"{part!r} names no pages", "write pages as 3-5 or 3, 7")
