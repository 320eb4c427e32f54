"""The parser process as its parent holds it: its start, the messages to and from it within a time, and its end."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import IO, Any

from core.errors import CoreError
from core.ingest.sandbox_wire import PREFIX

STRUCTURE_MAX = 64_000_000
"""Bytes of a header, which may take twenty times as many once decoded."""
_START_SECONDS = 60.0
_END_SECONDS = 5.0
_PIECE = 1 << 20
_LINE_MAX = 500


class Late(Exception):
    """The deadline has passed."""


class Ended(Exception):
    """The process has closed its end, mostly by ending."""


class Malformed(Exception):
    """What came is no message; says what is wrong with it."""


class Child:
    """A running parser process and the two pipes to it."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """`config`: that of `core.ingest.sandbox_child`. Raises CoreError when it does not start."""
        self.process = _start(config)
        self._end = weakref.finalize(self, _kill, self.process)
        try:
            ready, _ = self.receive(0, monotonic() + _START_SECONDS)
            self.layers = tuple(str(layer) for layer in ready["layers"])
            self.resident_at_start = self.resident
        except (Late, Ended, Malformed):
            _kill(self.process, close=False)
            assert self.process.stderr is not None
            said = one_line(self.process.stderr.read(_PIECE).decode(errors="replace").strip().rpartition("\n")[2])
            self.end()
            said = said or "it says nothing"
            raise CoreError(f"the parser process does not start: {said}", "mend that, or the installation") from None
        except BaseException:
            self.end()
            raise

    def end(self, wait: bool = False) -> int:
        """Exit status, negative for a signal. `wait`: it is ending, and is given the time to."""
        if wait:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_END_SECONDS)
        self._end()
        return self.process.returncode

    def send(self, parts: tuple[bytes, ...], deadline: float) -> None:
        """Raises Late, Ended."""
        import select

        handle = _handle(self.process.stdin)
        poll = select.poll()
        poll.register(handle, select.POLLOUT)
        for part in parts:
            left = memoryview(part)
            while left:
                _wait(poll, deadline)
                try:
                    left = left[os.write(handle, left[:_PIECE]) :]
                except BlockingIOError:
                    continue
                except BrokenPipeError:
                    raise Ended from None

    def receive(self, blob_max: int, deadline: float) -> tuple[Any, bytes]:
        """A message's header and blob, read no further than they may go. Raises Late, Ended, Malformed."""
        header_size, blob_size, resident = PREFIX.unpack(self._read(PREFIX.size, deadline))
        if header_size > STRUCTURE_MAX:
            raise Malformed(f"its structure takes more than {STRUCTURE_MAX:,} bytes")
        if blob_size > blob_max:
            raise Malformed(f"its text takes more than {blob_max:,} bytes")
        header, blob = self._read(header_size, deadline), self._read(blob_size, deadline)
        self.resident = int(resident)
        try:
            return json.loads(header), blob
        except (ValueError, RecursionError):
            raise Malformed("its parser gave back what is no document") from None

    def _read(self, size: int, deadline: float) -> bytes:
        import select

        handle = _handle(self.process.stdout)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        parts, missing = [], size
        while missing:
            _wait(poll, deadline)
            try:
                part = os.read(handle, min(missing, _PIECE))
            except BlockingIOError:
                continue
            if not part:
                raise Ended
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)


def _start(config: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    """Raises CoreError."""
    if os.name != "posix":
        raise CoreError("files cannot be parsed safely on this system", "use Linux, macOS or the WSL of Windows")
    # A checkout is to be found; where installed packages are, Python looks by itself, and in the right order.
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    checkout = "" if os.path.basename(root) in ("site-packages", "dist-packages") else root
    # No names, keys or settings of the user's; one thread, and memory taken in small pieces.
    environment = {
        "PYTHONPATH": os.pathsep.join(filter(None, [checkout, os.environ.get("PYTHONPATH", "")])),
        "LANG": "C.UTF-8",
        "PYTHONUTF8": "1",
        "MALLOC_ARENA_MAX": "2",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "RAYON_NUM_THREADS": "1",
    }
    environment |= {n: os.environ[n] for n in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if n in os.environ}
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "core.ingest.sandbox_child", json.dumps(config)],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=os.sep,
            close_fds=True,
            start_new_session=True,
        )
    except OSError as error:
        raise CoreError(
            f"the parser process cannot be started ({error.strerror})", "free memory or processes"
        ) from None
    os.set_blocking(_handle(process.stdin), False)
    os.set_blocking(_handle(process.stdout), False)
    return process


def _kill(process: subprocess.Popen[bytes], close: bool = True) -> None:
    """End the process and those it may have started, and wait for its end."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):  # it is dead, and only to be waited for
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr) if close else ():
        if pipe is not None:
            pipe.close()


def _wait(poll: Any, deadline: float) -> None:
    """Until the pipe is ready, or has no other end. Raises Late."""
    left = deadline - monotonic()
    if left <= 0 or not poll.poll(math.ceil(left * 1000)):
        raise Late


def _handle(pipe: IO[bytes] | None) -> int:
    assert pipe is not None
    return pipe.fileno()


def one_line(said: object) -> str:
    """What another process says, as one line that can be shown anywhere."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(said)[:_LINE_MAX]).split())
