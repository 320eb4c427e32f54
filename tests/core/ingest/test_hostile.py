"""A folder of hostile files, by the way that every file takes: each is refused or contained, the good one goes in."""

from __future__ import annotations

import resource
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.audit import MemoryAudit
from core.home import Workbench
from core.settings import load
from core.types import Labels, Principal
from tests.support import hostile_files

GUEST = Principal("guest")
MEMORY_MB = 600


@pytest.fixture
def listener() -> Iterator[tuple[int, list[str]]]:
    """A port of this machine, and who has called it."""
    calls: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                try:
                    connection, address = server.accept()
                except OSError:
                    return
                calls.append(str(address))
                connection.close()

        threading.Thread(target=listen, daemon=True).start()
        yield server.getsockname()[1], calls


@pytest.mark.timeout(900)
def test_hostile_files_are_refused_or_contained(home: Path, tmp_path: Path, listener: tuple[int, list[str]]) -> None:
    port, calls = listener
    outside = tmp_path / "outside" / "secret.txt"
    outside.parent.mkdir()
    outside.write_text(f"the word is {hostile_files.CANARY_WORD}\n", "utf-8")
    names = hostile_files.write(tmp_path / "files", outside, port)
    assert len(names) >= 60
    limits = {"WORKBENCH_LIMITS__PARSE_SECONDS": "4", "WORKBENCH_LIMITS__PARSE_MEMORY_MB": str(MEMORY_MB)}
    workbench = Workbench(home, load([], limits), MemoryAudit())
    operator = workbench.operator()
    workbench.create_collection("c", operator, defaults=Labels("public", ("*",)), embedder="hash:64")

    report = workbench.ingest([tmp_path / "files"], "c", operator)

    outcomes = {Path(file.path).name: file for file in report.files}
    assert {name for name in names if name.isprintable()} <= outcomes.keys(), "every file is accounted for"
    assert outcomes["good.md"].outcome == "added"
    for name, file in outcomes.items():
        assert file.outcome in ("added", "refused"), name
        if file.outcome == "refused":
            assert file.reason.strip() and "\n" not in file.reason and len(file.reason) < 500, (name, file.reason)
            assert "Traceback" not in file.reason
    useless = [name for name in names if name.startswith(("empty.", "cut.", "bomb-text", "bomb-size", "really-a-"))]
    assert [name for name in useless if outcomes[name].outcome != "refused"] == []
    for row in workbench.documents("c", GUEST):  # contained: what went in is no more than the file itself held
        text = workbench.document("c", row.document.path, GUEST).text
        assert len(text) <= max(10_000, (tmp_path / "files" / row.document.path).stat().st_size), row.document.path
    assert calls == [], "nothing was fetched"
    for path in home.rglob("*"):
        if path.is_file():
            assert hostile_files.CANARY_WORD.encode() not in path.read_bytes(), path
    assert not any(row.document.path.startswith(("link.txt", "linked")) for row in workbench.documents("c", GUEST))
    found = workbench.search("the good file goes in", collections=["c"], principal=GUEST)
    assert "good.md" in {passage.path for passage in found.passages}, "the service lives on"
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    assert largest < 2.5 * MEMORY_MB + 500, "megabytes of the largest child"
    assert not (Path("/tmp") / "escaped.txt").exists()
