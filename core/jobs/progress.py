"""How far a running job is, how fast it goes, and how long it will still take."""

from __future__ import annotations

import threading
import time
from collections import deque
from pathlib import Path
from types import TracebackType

from core.jobs.records import Progress, write_progress

EVERY_S = 0.2
"""What is shown lies no further behind than this."""
RATE_ITEMS = 20


class Reporter:
    """Writes `progress.json` while it is open, whenever something has changed, at most every EVERY_S seconds.

    A thread does it, so that the item that takes long is the one that is shown.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._total: int | None = None
        self._done = 0
        self._current = ""
        self._begun: deque[float] = deque(maxlen=RATE_ITEMS + 1)
        self._changed, self._closed = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._write_on, name="progress", daemon=True)

    def __enter__(self) -> Reporter:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closed.set()
        self._changed.set()
        self._thread.join()

    def expect(self, total: int) -> None:
        """How many items there are."""
        with self._lock:
            self._total = total
        self._changed.set()

    def begin(self, item: str) -> None:
        """The next item."""
        with self._lock:
            self._current = item
            self._begun.append(time.monotonic())
        self._changed.set()

    def end(self) -> None:
        """The item begun last is done; nothing where none has been begun."""
        with self._lock:
            self._done += bool(self._current)
            self._current = ""

    def finish(self) -> None:
        """All items are done."""
        with self._lock:
            self._done, self._current = self._total or 0, ""
        self._changed.set()

    def now(self) -> Progress:
        with self._lock:
            rate = rate_of(list(self._begun))
            left = None if self._total is None else max(0, self._total - self._done)
            remaining_s = left / rate if rate and left is not None else None
            return Progress(self._done, self._total, self._current, rate, remaining_s)

    def _write_on(self) -> None:
        while not self._closed.is_set():
            self._changed.wait()
            self._changed.clear()
            write_progress(self._folder, self.now())
            self._closed.wait(EVERY_S)


def rate_of(begun: list[float]) -> float | None:
    """Items per second, from the moments (seconds) at which successive items began; None: not known yet."""
    seconds = begun[-1] - begun[0] if len(begun) > 1 else 0.0
    return (len(begun) - 1) / seconds if seconds > 0 else None
