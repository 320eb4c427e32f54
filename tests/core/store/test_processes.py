"""Several processes at one collection: killed writers, readers beside a writer that compacts, revocations."""

from __future__ import annotations

import json
import os
import random
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from core.store.lance import open_store
from core.types import Labels
from tests.core.store import builders as make
from tests.support import ROOT

KILLS = int(os.environ.get("WORKBENCH_TEST_KILLS", "8"))
REVOCATIONS = int(os.environ.get("WORKBENCH_TEST_REVOCATIONS", "20"))
READING_S = float(os.environ.get("WORKBENCH_TEST_READING_S", "6"))


@contextmanager
def process(module: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", f"tests.core.store.{module}", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.kill()


def writers(place: Path, draw: random.Random, count: int) -> Iterator[subprocess.Popen[str]]:
    """One after the other, each started while the one before is at work: they take seconds to import LanceDB."""
    with ExitStack() as stack:
        upcoming = [stack.enter_context(process("kill_writer", str(place), str(draw.randrange(10**6)))) for _ in "12"]
        for left in range(count, 0, -1):
            if left > 2:
                upcoming.append(stack.enter_context(process("kill_writer", str(place), str(draw.randrange(10**6)))))
            yield upcoming.pop(0)


def pipes(child: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert child.stdin is not None
    assert child.stdout is not None
    return child.stdin, child.stdout


def ask(child: subprocess.Popen[str], question: str) -> dict[str, Any]:
    into, out = pipes(child)
    into.write(f"{question}\n")
    into.flush()
    answer: dict[str, Any] = json.loads(out.readline())
    assert "error" not in answer, answer["error"]
    return answer


def kill_after(child: subprocess.Popen[str], lines: int, then_s: float) -> list[str]:
    """Let the writer go, kill it some time after so many acknowledgements, and give all it has acknowledged."""
    into, out = pipes(child)
    assert out.readline() == "ready\n"
    into.write("go\n")
    into.flush()
    said = [out.readline() for _ in range(lines)]
    select.select([], [], [], then_s)
    child.kill()
    said += out.readlines()
    return [line.strip() for line in said if line.endswith("\n")]


@pytest.mark.timeout(120 + 10 * KILLS)
def test_a_killed_writer_leaves_whole_documents_and_what_it_acknowledged(tmp_path: Path) -> None:
    place = make.folder(tmp_path)
    draw = random.Random(20261130)
    witness = open_store(place, make.DIMENSION, make.settings())
    expected: dict[str, int] = {}
    commits = 0
    for child in writers(place, draw, KILLS):
        acknowledged = kill_after(child, draw.randrange(1, 12), draw.random() * 0.15)
        for line in acknowledged:
            kind, version, path = line.split(" ", 2)
            expected[path] = -1 if kind == "remove" else int(version)
        commits += len(acknowledged)
        for store in (witness, open_store(place, make.DIMENSION, make.settings())):
            held = make.check_whole(store)
            # One commit may have come after the last acknowledgement: it touches at most two documents.
            differing = {path for path in expected if held.get(path, -1) != expected[path]} | (held.keys() - expected)
            assert len(differing) <= 2, f"acknowledged and lost: {differing}"
            later = [held[path] for path in differing if path in held]
            assert all(version > max(expected.values()) for version in later)
            assert len(set(later)) <= 1
        expected = held
    assert commits >= KILLS
    assert witness.commit([make.write("after", 1)]) == witness.head()
    assert make.check_whole(open_store(place, make.DIMENSION, make.settings()))["after"] == 1


@pytest.mark.timeout(120 + 2 * READING_S)
def test_readers_beside_a_writer_that_compacts(tmp_path: Path) -> None:
    place = str(make.folder(tmp_path))
    open_store(Path(place), make.DIMENSION, make.settings())
    with (
        process("kill_writer", place, "1", "--pairs") as writer,
        process("reader", place) as one,
        process("reader", place) as two,
        process("reader", place) as three,
        process("reader", place) as four,
    ):
        readers = [one, two, three, four]
        for child in readers:
            assert json.loads(pipes(child)[1].readline()) == {"ready": True}
        into, out = pipes(writer)
        assert out.readline() == "ready\n"
        into.write("go\n")
        into.flush()
        until, answers = time.monotonic() + READING_S, []
        while not answers or time.monotonic() < until:
            for child in readers:
                pipes(child)[0].write("check\n")
                pipes(child)[0].flush()
            answers = [json.loads(pipes(child)[1].readline()) for child in readers]
            assert [answer.get("error") for answer in answers] == [None] * 4, answers
            while select.select([out], [], [], 0)[0]:
                assert os.read(out.fileno(), 65_536), "the writer ended"
    assert all(answer["rounds"] >= 1 and answer["seq"] >= 4 for answer in answers)


def test_a_revocation_counts_from_the_next_look_of_another_process(tmp_path: Path) -> None:
    place = make.folder(tmp_path)
    store = open_store(place, make.DIMENSION, make.settings(compact_after=8, retention_s=0.0))
    store.commit([make.write("a", 1), make.write("b", 1)])
    with process("reader", str(place)) as child:
        assert json.loads(pipes(child)[1].readline()) == {"ready": True}
        for turn in range(REVOCATIONS):
            allowed = [f"group {turn}"] if turn % 2 else []
            store.commit([make.relabel("a", 1, Labels("internal", tuple(allowed)))])
            assert ask(child, "labels") == {"a": allowed, "b": ["*"]}
