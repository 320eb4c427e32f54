"""What the core writes to its log while a verb runs, for the operator at the terminal."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def logged(name: str) -> Iterator[list[str]]:
    """Warnings and errors of the logger `name`, a line each, as they come."""
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(" ".join(record.getMessage().split()))

    logger, handler = logging.getLogger(name), Keep(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
