"""What a person types for moments, read strictly: a value that cannot be meant is a usage error."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime


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
