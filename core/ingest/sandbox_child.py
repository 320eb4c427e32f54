"""The parser process: `python -m core.ingest.sandbox_child CONFIG`, started by `core.ingest.sandbox`.

CONFIG is JSON: `parse` (`module:function`), `memory_bytes`, `layers` (of `kernel` and `hook`; `watch`: memory is
watched, not limited). Requests come on standard input, answers go to what was standard output; what libraries print
goes nowhere.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import struct
import sys
from collections.abc import Callable, Mapping
from typing import IO, Any

from core.errors import CoreError, UnreadableFile
from core.ingest import sandbox_guard as guard
from core.ingest.read import RawFile

_COLLECT_ABOVE_BYTES = 1_000_000


def main(config: Mapping[str, Any]) -> None:
    """Answer requests until there are no more."""
    null = os.open(os.devnull, os.O_RDWR)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(null, 0)
    os.dup2(null, 1)
    memory = guard.MemoryGauge()
    module, _, function = config["parse"].partition(":")
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module {module}")
    readable = guard.readable_paths(os.path.dirname(spec.origin))
    layers = list(guard.isolate(readable)) if "kernel" in config["layers"] else []
    # Only now: libraries may start threads as they load, and those would keep what was not taken yet.
    from core.ingest import sandbox_wire as wire

    parse = getattr(importlib.import_module(module), function)
    guard.limit()
    if "watch" not in config["layers"] and guard.limit_memory(memory, config["memory_bytes"]):
        layers.append("memory")
    else:
        guard.watch(memory, config["memory_bytes"])
        layers.append("watch")
    if "hook" in config["layers"]:
        guard.refuse(readable)
        layers.append("hook")
    gc.freeze()  # what is loaded stays, and need not be gone through again and again
    _send(answers, wire.message(wire.header_out({"layers": layers}), b"", memory.resident()))
    os.dup2(null, 2)  # until here it tells the parent why there was no start
    os.close(null)
    while (request := _receive(requests, wire.PREFIX)) is not None:
        header, data = request
        answer, text = _answer(parse, header, data, wire)
        large = len(data) > _COLLECT_ABOVE_BYTES
        del request, data
        if large:
            gc.collect()
        _send(answers, wire.message(answer, text, memory.resident()))


def _answer(parse: Callable[[Any], Any], header: Mapping[str, Any], data: bytes, wire: Any) -> tuple[bytes, bytes]:
    guard.limit_processor(header["seconds"])
    try:
        document, text = wire.document_out(parse(RawFile(header["path"], data, header["source_hash"])))
        return wire.header_out({"outcome": "parsed", "document": document}), text
    except CoreError as error:
        if not isinstance(error.__cause__ or error.__context__, MemoryError):
            reason = error.reason if isinstance(error, UnreadableFile) else error.message
            return wire.header_out({"outcome": "refused", "reason": reason, "remedy": error.remedy}), b""
    except MemoryError:
        pass  # answered below, when the error has let go of the frames that hold the memory
    except BaseException as error:  # SystemExit too: the file is at fault, not this process
        reason = f"the parser failed: {type(error).__name__}: {error}"
        remedy = "check the file, or leave it out"
        return wire.header_out({"outcome": "refused", "reason": reason, "remedy": remedy}), b""
    return wire.header_out({"outcome": "memory"}), b""


def _receive(requests: IO[bytes], prefix: struct.Struct) -> tuple[Any, bytes] | None:
    start = requests.read(prefix.size)
    if len(start) < prefix.size:
        return None
    header_size, blob_size, _ = prefix.unpack(start)
    header = requests.read(header_size)
    blob = requests.read(blob_size)
    return (json.loads(header), blob) if len(blob) == blob_size else None


def _send(answers: IO[bytes], parts: tuple[bytes, ...]) -> None:
    for part in parts:
        answers.write(part)
    answers.flush()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
