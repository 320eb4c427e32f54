"""What a person types for pages and moments, read strictly: a value that cannot be meant is a usage error."""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime

PAGES_MAX = 10_000
"""Most pages of one range."""

_RANGE = re.compile(r"([0-9]{1,9})\s*[-–]\s*([0-9]{1,9})")
_HALF_A_RANGE = re.compile(r"[0-9]+\s*[-–].*|[-–].*")


def page_labels(text: str) -> tuple[str, ...]:
    """Labels as printed on the pages, from `iv`, `7`, `3-5` or several of them with commas; ranges expanded.

    Raises ArgumentTypeError.
    """
    labels: list[str] = []
    for part in text.split(","):
        part = part.strip()
        found = _RANGE.fullmatch(part)
        if found is not None:
            first, last = int(found[1]), int(found[2])
            if not first <= last < first + PAGES_MAX:
                raise argparse.ArgumentTypeError(f"{part!r} is no range of at most {PAGES_MAX} pages; write 3-5")
            labels += map(str, range(first, last + 1))
        elif not part or _HALF_A_RANGE.fullmatch(part):
            raise argparse.ArgumentTypeError(f"{part!r} names no page; write 7, 3-5, iv or 1,3-5")
        else:
            labels.append(part)
    return tuple(dict.fromkeys(labels))


def moment(text: str) -> datetime:
    """An ISO 8601 date or time, read as in documents' metadata: a date is 00:00 UTC, a time without zone is UTC.

    Raises ArgumentTypeError.
    """
    try:
        parsed = datetime.fromisoformat(text.strip())
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        problem = f"{text!r} is no date or time; write 2026-01-31 or 2026-01-31T09:00:00Z"
        raise argparse.ArgumentTypeError(problem) from None
