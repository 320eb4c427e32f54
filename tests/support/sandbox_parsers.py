"""Stand-ins for parsers, run in a parser process: the file's bytes say what to do."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from core.ingest.read import RawFile
from core.ports import Block, ParsedDocument

served = 0


def document(text: str, blocks: tuple[Block, ...] = ()) -> ParsedDocument:
    return ParsedDocument(text, blocks, "Title", "stand-in/1", {})


def parse(raw: RawFile) -> Any:
    global served
    served += 1
    command, _, argument = raw.data.decode().partition(": ")
    result = COMMANDS[command](argument)
    return document(result) if isinstance(result, str) else result


def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def native(result: int, what: str) -> str:
    """The outcome of a call that went past Python."""
    return what if result >= 0 else f"refused: {os.strerror(ctypes.get_errno())}"


def allocate_slowly(_: str) -> str:
    held = []
    while True:
        held.append(bytearray(1 << 20))


def spin(_: str) -> str:
    while True:
        pass


def native_connect(port: str) -> str:
    handle = libc().socket(2, 1, 0)
    address = (2).to_bytes(2, sys.byteorder) + int(port).to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8)
    return native(libc().connect(handle, address, 16) if handle >= 0 else -1, "connected")


def native_read(path: str) -> str:
    return native(libc().open(path.encode(), os.O_RDONLY), "opened")


def native_write(path: str) -> str:
    return native(libc().open(path.encode(), os.O_WRONLY | os.O_CREAT, 0o600), "opened")


def native_kill_parent(_: str) -> str:
    return native(libc().kill(os.getppid(), 0), "can be signalled")


def open_write(path: str) -> str:
    with open(path, "w") as file:
        file.write("x")
    return "written"


def write_beneath_hook(handle: str) -> str:
    """To a file that is open already: the limit on file size alone stands in the way."""
    os.write(int(handle), b"x")
    return "written"


def pipes() -> Iterator[int]:
    for handle in range(3, 64):
        with suppress(OSError):
            os.fstat(handle)
            yield handle


def garbage(what: str) -> str:
    for handle in pipes():
        with suppress(OSError):
            os.write(handle, bytes.fromhex(what))
    return "written"


def shout(_: str) -> str:
    print("x" * 100_000, flush=True)
    os.write(1, b"y" * 100_000)
    print("z" * 100_000, file=sys.stderr, flush=True)
    libc().puts(b"native")
    libc().fflush(None)
    return sys.stdin.read() + "quiet"


def crash_when_second(_: str) -> str:
    if served > 1:
        signal.raise_signal(signal.SIGSEGV)
    return "first"


def interrupt_parent(_: str) -> str:
    os.kill(os.getppid(), signal.SIGINT)
    return spin("")


def raise_(what: str) -> str:
    raise {"KeyError": KeyError("two\nlines"), "SystemExit": SystemExit(0), "MemoryError": MemoryError()}[what]


def wrong(what: str) -> Any:
    fields: dict[str, Any] = {"blocks": (), "title": "t", "parser": "p/1", "metadata": {}, "language": None}
    fields |= {"text": "text", "warnings": ()}
    block = {"start": 0, "end": 4, "kind": "row", "provenance": {}, "section_anchor": "", "level": 0}
    changed = json.loads(what)
    if "block" in changed:
        changed = {"blocks": [SimpleNamespace(**(block | changed["block"]))]}
    return SimpleNamespace(**(fields | changed))


COMMANDS: dict[str, Callable[[str], Any]] = {
    "say": str,
    "nothing": lambda _: None,
    "allocate": lambda _: str(len(bytearray(4 << 30))),
    "allocate slowly": allocate_slowly,
    "keep": lambda size: _KEPT.append(b"x" * int(size)) or "kept",  # type: ignore[func-returns-value]
    "keep and wait": lambda size: COMMANDS["sleep"](COMMANDS["keep"](size)),
    "spin": spin,
    "sleep": lambda _: time.sleep(3600) or "slept",  # type: ignore[func-returns-value]
    "signal": lambda name: signal.raise_signal(signal.Signals[name]) or "survived",  # type: ignore[func-returns-value]
    "exit": lambda status: os._exit(int(status)),
    "recurse": lambda _: COMMANDS["recurse"](""),
    "raise": raise_,
    "connect": lambda port: str(socket.create_connection(("127.0.0.1", int(port)), 5)),
    "resolve": lambda name: str(socket.getaddrinfo(name, 80)),
    "fetch": lambda url: urllib.request.urlopen(url).read().decode(),
    "read": lambda path: Path(path).read_text(),
    "list": lambda path: " ".join(os.listdir(path)),
    "write": open_write,
    "append to": write_beneath_hook,
    "remove": lambda path: os.remove(path) or "removed",  # type: ignore[func-returns-value]
    "run": lambda program: subprocess.check_output([program]).decode(),
    "system": lambda program: str(os.system(program)),
    "fork": lambda _: str(os.fork()),
    "kill parent": lambda _: os.kill(os.getppid(), 0) or "signalled",  # type: ignore[func-returns-value]
    "native connect": native_connect,
    "native read": native_read,
    "native write": native_write,
    "native kill parent": native_kill_parent,
    "shout": shout,
    "huge": lambda size: "x" * int(size),
    "title": lambda size: ParsedDocument("x", (), "x" * int(size), "stand-in/1", {}),
    "garbage": garbage,
    "wrong": wrong,
    "strange": lambda _: document("text", (Block(0, 4, "list", {"when": (date(2026, 1, 31),)}),)),
    "second": crash_when_second,
    "interrupt": interrupt_parent,
    "environment": lambda _: json.dumps(dict(os.environ)),
    "handles": lambda _: json.dumps(list(pipes())),
    "folder": lambda _: os.getcwd(),
}
_KEPT: list[bytes] = []
