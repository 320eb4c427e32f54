"""Parsing in a process of its own, so that a file that crashes, floods or subverts its parser harms itself alone.

The process has no network, reads nothing but code, writes nothing, and has a share of memory and time
(`core.ingest.sandbox_guard`). It parses many files in a row, as its start takes longer than most files do; it is
replaced after anything out of the ordinary. What it sends back is data, checked as such (`core.ingest.sandbox_wire`).
"""

from __future__ import annotations

import math
import signal
import threading
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import Any

from core.errors import UnreadableFile
from core.ingest.read import RawFile
from core.ingest.sandbox_guard import MEMORY_STATUS
from core.ingest.sandbox_process import Child, Ended, Late, Malformed, one_line
from core.ingest.sandbox_wire import document_in, header_out, message
from core.ports import ParsedDocument
from core.settings import Limits


@dataclass(frozen=True, slots=True)
class Budget:
    """What one file, and one process, may use."""

    memory_bytes: int = 1_500_000_000
    """Address space on top of what Python and the parsers take up when idle."""
    seconds: float = 20.0
    """Processor time of a file, beside its share by size."""
    seconds_per_mb: float = 5.0
    patience: float = 3.0
    """Seconds on the clock for each second of processor time, as other processes want their turn too."""
    files: int = 200
    """After so many the process is replaced."""
    grown_share: float = 0.1
    """Share of `memory_bytes` that a process may keep from earlier files: what is left must suffice for any file."""

    @staticmethod
    def of(limits: Limits) -> Budget:
        return Budget(memory_bytes=limits.parse_memory_mb * 1_000_000, seconds=limits.parse_seconds)


LAYERS: tuple[str, ...] = ("kernel", "hook")
PARSE = "core.ingest.parse:parse_file"
_SLACK_BYTES = 64_000_000
_REMEDY = "leave it out, divide it, or raise limits.parse_memory_mb or limits.parse_seconds"


class ParserProcess:
    """Parses files, one at a time, in another process, which starts with the first one.

    To be closed, best by `with`; when collected as garbage or at exit it ends the process too. `budget` None: that of
    `limits`. `layers` and `parse` (`module:function`) are for tests.
    """

    def __init__(
        self, limits: Limits, budget: Budget | None = None, *, parse: str = PARSE, layers: tuple[str, ...] = LAYERS
    ) -> None:
        budget = budget or Budget.of(limits)
        self._text_max = 4 * limits.file_max_bytes
        self._budget = budget
        self._config = {"parse": parse, "memory_bytes": budget.memory_bytes, "layers": layers}
        self._child: Child | None = None
        self._files = 0
        self._lock = threading.Lock()

    def __enter__(self) -> ParserProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the process. A later `parse` starts a new one."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    @property
    def protection(self) -> tuple[str, ...]:
        """What holds in the running process: of namespaces, landlock, memory or watch, hook. Empty when none runs."""
        return self._child.layers if self._child else ()

    @property
    def process_id(self) -> int | None:
        return self._child.process.pid if self._child else None

    def parse(self, raw: RawFile) -> ParsedDocument:
        """The same as `parse_file(raw)` for any file within the budget.

        Raises UnreadableFile for what is wrong with the file or happens on its account, CoreError where the process
        cannot be started at all.
        """
        with self._lock:
            try:
                return self._parse(raw)
            except UnreadableFile:
                raise
            except BaseException:  # an interrupt: the process is in the middle of a file
                self.close()
                raise

    def _parse(self, raw: RawFile) -> ParsedDocument:
        while True:
            if self._child is None:
                self._child, self._files = Child(self._config), 0
            child, unused = self._child, self._files == 0
            self._files += 1
            try:
                parsed = _parsed(raw, *self._ask(child, raw))
            except _Failure as failure:
                self.close()
                # Earlier files may be to blame: what becomes of one must not depend on those before it.
                if unused or not failure.again:
                    raise UnreadableFile(raw.relative_path, failure.reason, _REMEDY) from None
                continue
            finally:
                self._retire()
            return parsed

    def _ask(self, child: Child, raw: RawFile) -> tuple[Any, bytes]:
        """The answer's header and text. Raises _Failure."""
        seconds = self._budget.seconds + self._budget.seconds_per_mb * len(raw.data) / 1e6
        request = {"path": raw.relative_path, "source_hash": raw.source_hash, "seconds": seconds}
        patience = seconds * self._budget.patience
        deadline = monotonic() + patience
        text_max = min(self._text_max, _SLACK_BYTES + 4 * len(raw.data))
        try:
            child.send(message(header_out(request), raw.data), deadline)
            return child.receive(text_max, deadline)
        except Late:
            raise _Failure(f"takes longer than {math.ceil(patience)} s", again=False) from None
        except Malformed as error:
            raise _Failure(str(error), again=False) from None
        except Ended:
            raise _why_ended(child.end(wait=True), seconds) from None

    def _retire(self) -> None:
        """Replace a process that has served its time."""
        child = self._child
        if child is not None:
            grown = child.resident - child.resident_at_start
            if self._files >= self._budget.files or grown > self._budget.grown_share * self._budget.memory_bytes:
                self.close()


class _Failure(Exception):
    """A file that got no answer worth the name. `again`: a process without a past might give one."""

    def __init__(self, reason: str, *, again: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again


def _parsed(raw: RawFile, answer: Any, blob: bytes) -> ParsedDocument:
    """Raises UnreadableFile for a file that the parser refused, _Failure for an answer that is none."""
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    if outcome == "memory":
        raise _Failure("needs more memory than allowed", again=True)
    if outcome == "refused":
        raise UnreadableFile(raw.relative_path, one_line(answer.get("reason")), one_line(answer.get("remedy")))
    try:
        if outcome == "parsed":
            return document_in(answer.get("document"), blob)
    except ValueError:
        pass
    raise _Failure("its parser gave back what is no document", again=True)


def _why_ended(status: int, seconds: float) -> _Failure:
    if -status == signal.SIGXCPU:
        return _Failure(f"takes longer than {math.ceil(seconds)} s", again=False)
    if status == MEMORY_STATUS:
        return _Failure("needs more memory than allowed", again=True)
    if -status == signal.SIGKILL:
        return _Failure("needs more memory than there is, or its parser was ended from outside", again=True)
    how = signal.Signals(-status).name if -status in set(signal.Signals) else f"exit status {status}"
    return _Failure(f"the parser crashed on it ({how})", again=True)
