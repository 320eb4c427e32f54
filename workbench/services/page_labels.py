"""From page ranges as people write them to page labels, for the app and the command line alike."""

from __future__ import annotations

import re
import unicodedata

from core.errors import InputError

PAGES_MAX = 10_000
"""Most labels that one text may stand for."""

_RANGE = re.compile(r"([0-9]{1,9})\s*[-–—~−]\s*([0-9]{1,9})")
_LABEL = re.compile(r"[^\s,;]{1,20}")
_HALF_A_RANGE = re.compile(r"[0-9]*[-–—~−].*|.*[-–—~−]")
_REMEDY = "write pages as 7, 3-5, iv or 1, 3-5"


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
            raise _too_many(text)
    return tuple(labels)


def _labels(part: str) -> list[str]:
    found = _RANGE.fullmatch(part)
    if found:
        first, last = int(found.group(1)), int(found.group(2))
        if last - first >= PAGES_MAX:
            raise _too_many(part)
        if first <= last:
            return [str(number) for number in range(first, last + 1)]
    elif _LABEL.fullmatch(part) and not _HALF_A_RANGE.fullmatch(part):
        return [part]
    raise InputError(f"{part!r} names no pages", _REMEDY)


def _too_many(text: str) -> InputError:
    return InputError(f"the pages {text!r} are more than {PAGES_MAX}", "name fewer")
