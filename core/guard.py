"""Channels that may fail or be late without taking the search with them.

Only recall is guarded. What decides who may see what, and what is written down, never is.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TypeVar

from core.errors import CoreError, EmbedderUnavailable
from core.settings import Budget

Result = TypeVar("Result")
_logger = logging.getLogger(__name__)

DOWN, LATE = "channel_down", "channel_late"


class Guard:
    """Runs the parts of one search, and keeps a flag for each that fails or takes longer than its budget."""

    def __init__(self, budget: Budget, trace_id: str) -> None:
        self._budget, self._trace_id = budget, trace_id
        self.flags: list[str] = []
        self.causes: list[str] = []

    def embed(self, work: Callable[[], Result]) -> Result | None:
        return self._run("vector", work, self._budget.embed_ms)

    def channel(self, name: str, work: Callable[[], Result]) -> Result | None:
        return self._run("vector" if name == "dense" else name, work, self._budget.channel_ms)

    def _run(self, name: str, work: Callable[[], Result], limit_ms: float) -> Result | None:
        try:
            return work() if limit_ms <= 0 else _within(work, limit_ms / 1000)
        except TimeoutError:
            self._lost(name, f"it took longer than {limit_ms:g} ms", LATE)
        except EmbedderUnavailable as error:
            self._lost(name, f"{type(error).__name__}: {error.line()}")
        except CoreError:
            raise  # a wrong request, or a store that must not be believed: no channel's own trouble
        except Exception as error:  # its message may hold words of query or documents: they stay out of the log
            self._lost(name, type(error).__name__)
        return None

    def _lost(self, name: str, why: str, how: str = DOWN) -> None:
        self.flags.append(f"{name}_{how}")
        self.causes.append(f"{name}: {why}")
        _logger.warning("search %s without %s: %s", self._trace_id, name, why)


def _within(work: Callable[[], Result], seconds: float) -> Result:
    """What `work` gives or raises. Raises TimeoutError; then it runs on in its thread, and nobody waits for it."""
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError
    return results[0]
