"""A process of its own on a home, told by JSON lines what to do: `[command, argument]` in, the answer out.

Run as `python -m tests.support.worker HOME`. Each answer is written only when the work is durable.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EMBEDDER = "hash:32"


class Worker(AbstractContextManager["Worker"]):
    """The parent's end."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.worker", str(home)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.answer() == "ready"

    def tell(self, command: str, argument: Any = None) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([command, argument]) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        """The next answer; None once the process has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line.endswith("\n") else None

    def ask(self, command: str, argument: Any = None) -> Any:
        self.tell(command, argument)
        return self.answer()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.communicate()


def _serve(home: Path) -> None:
    import dataclasses

    from core.audit import MemoryAudit
    from core.home import Workbench
    from core.settings import Store, load

    settings = dataclasses.replace(load([], {}), store=Store(compact_after=8, retention_s=0.5))
    workbench = Workbench(home, settings, MemoryAudit())
    _say("ready")
    for line in sys.stdin:
        command, argument = json.loads(line)
        _say(COMMANDS[command](workbench, argument))


def _ingest(workbench: Any, path: str) -> list[str]:
    report = workbench.ingest([Path(path)], "c", workbench.operator())
    return [file.outcome for file in report.files]


def _ingest_for_ever(workbench: Any, folder: str) -> None:
    """Each file of the folder anew with every round's number, one acknowledgement a file."""
    files = sorted(Path(folder).glob("*.md"))
    number = int(files[0].read_text().split()[1])
    while True:
        number += 1
        for file in files:
            file.write_text(versioned(file.stem, number))
            outcomes = _ingest(workbench, str(file))
            _say([file.stem, number, outcomes[0]])


def _search(workbench: Any, query: str) -> dict[str, Any]:
    from core.types import Principal

    found = workbench.search(query, collections=["c"], principal=Principal("ann"), top_k=20)
    return {"paths": [passage.path for passage in found.passages], "refusal": found.refusal and found.refusal.code}


def _read_while(workbench: Any, seconds: float) -> dict[str, Any]:
    """Search and list as fast as it goes; what was seen, for the parent to judge."""
    import time

    from core.types import Principal

    counts, refusals, searches = [], [], 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        rows = workbench.documents("c", Principal("ann"))
        counts.append(len(rows))
        found = _search(workbench, "common words")
        searches += 1
        if found["refusal"] or len(found["paths"]) < min(20, counts[-1]):
            refusals.append([found["refusal"], len(found["paths"]), counts[-1]])
    return {"counts": counts, "wrong": refusals, "searches": searches}


def _rebuild(workbench: Any, embedder: str | None) -> int:
    return int(workbench.rebuild("c", workbench.operator(), embedder).documents)


COMMANDS = {
    "ingest": _ingest,
    "ingest for ever": _ingest_for_ever,
    "search": _search,
    "read while": _read_while,
    "rebuild": _rebuild,
}


def versioned(name: str, number: int) -> str:
    """A document of several chunks that says in each of them which version it is."""
    sections = [
        f"## Part {part}\n\n{name} version {number} " + f"common words of part {part}. " * 40 for part in range(4)
    ]
    return f"Version {number} of {name}\n\n" + "\n\n".join(sections) + "\n"


def _say(answer: Any) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
