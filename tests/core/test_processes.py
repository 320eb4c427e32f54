"""Several processes on one home: kills at random moments, readers beside writers, rights that change."""

from __future__ import annotations

import os
import random
import re
import threading
from pathlib import Path

import pytest

from core.audit import MemoryAudit
from core.home import Workbench
from core.settings import load
from core.types import Labels, Principal
from tests.support.worker import EMBEDDER, Worker, versioned

KILLS = int(os.environ.get("WORKBENCH_TEST_KILLS", "3"))
REVOCATIONS = int(os.environ.get("WORKBENCH_TEST_REVOCATIONS", "20"))
READING_S = float(os.environ.get("WORKBENCH_TEST_READING_S", "4"))
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")
ANN = Principal("ann")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.md").write_text(versioned(name, 0))
    return folder


@pytest.fixture
def workbench(home: Path, folder: Path) -> Workbench:
    workbench = Workbench(home, load([], {}), MemoryAudit())
    workbench.create_collection("c", workbench.operator(), defaults=Labels("public", ("*",)), embedder=EMBEDDER)
    workbench.ingest([folder], "c", workbench.operator())
    return workbench


@pytest.mark.timeout(3600)
def test_a_kill_at_any_moment_of_ingestion_loses_and_doubles_nothing(workbench: Workbench, folder: Path) -> None:
    moment = random.Random(7)
    acknowledged = dict.fromkeys(NAMES, 0)
    for _ in range(KILLS):
        with Worker(workbench.home) as worker:
            timer = threading.Timer(moment.uniform(0.0, 1.5), worker.process.kill)
            timer.start()
            worker.tell("ingest for ever", str(folder))
            while (done := worker.answer()) is not None:
                assert done[2] == "updated"
                acknowledged[done[0]] = done[1]
            timer.join()
        acknowledged = _versions_whole(workbench, acknowledged)
        for name in NAMES:  # a torn file on disk would be the test's own fault, not the store's
            (folder / f"{name}.md").write_text(versioned(name, max(acknowledged.values())))


def _versions_whole(workbench: Workbench, acknowledged: dict[str, int]) -> dict[str, int]:
    """Every document is there once, whole, in the acknowledged version or the one that was being written."""
    rows = workbench.documents("c", ANN)
    assert [row.document.path for row in rows] == sorted(f"{name}.md" for name in NAMES)
    found = {}
    for name in NAMES:
        view = workbench.document("c", f"{name}.md", ANN)
        versions = {int(number) for number in re.findall(r"ersion (\d+)", view.text)}
        assert len(versions) == 1, "a document holds text of two versions"
        (found[name],) = versions
        assert view.text.strip() == versioned(name, found[name]).strip()
        assert found[name] >= acknowledged[name], "an acknowledged document is lost"
        assert len({chunk.chunk_id for chunk in view.chunks}) == len(view.chunks)
        assert view.chunks[0].start == 0
        assert view.chunks[-1].end == len(view.text)
        assert all(one.end == other.start for one, other in zip(view.chunks, view.chunks[1:], strict=False))
    return found


@pytest.mark.timeout(600)
def test_readers_beside_a_writer_and_rebuilds_see_no_failure_and_no_wrong_count(
    workbench: Workbench, tmp_path: Path
) -> None:
    more = tmp_path / "more"
    more.mkdir()
    with (
        Worker(workbench.home) as a,
        Worker(workbench.home) as b,
        Worker(workbench.home) as c,
        Worker(workbench.home) as d,
    ):
        readers = (a, b, c, d)
        for reader in readers:
            reader.tell("read while", READING_S)
        added = 0
        answers = [None] * len(readers)
        waiting = [threading.Thread(target=_collect, args=(reader, answers, at)) for at, reader in enumerate(readers)]
        for thread in waiting:
            thread.start()
        while any(thread.is_alive() for thread in waiting):
            (more / f"n{added}.md").write_text(versioned(f"n{added}", 1))
            workbench.ingest([more / f"n{added}.md"], "c", workbench.operator())
            added += 1
            if added % 10 == 5:
                workbench.rebuild("c", workbench.operator())
            if added % 40 == 20:
                workbench.rebuild("c", workbench.operator(), "hash:48" if added % 80 == 20 else EMBEDDER)
        for answer in answers:
            assert answer is not None
            assert answer["searches"] > 0
            assert answer["wrong"] == []
            assert answer["counts"] == sorted(answer["counts"]), "a document that was there is gone"
            assert len(NAMES) <= answer["counts"][0]
            assert answer["counts"][-1] <= len(NAMES) + added
    assert added > 0
    assert len(workbench.documents("c", ANN)) == len(NAMES) + added


def _collect(reader: Worker, answers: list[object], at: int) -> None:
    answers[at] = reader.answer()


@pytest.mark.timeout(600)
def test_a_revocation_in_another_process_counts_from_the_next_query(workbench: Workbench, folder: Path) -> None:
    file = folder / "alpha.md"
    text = file.read_text()
    with Worker(workbench.home) as other:
        for turn in range(REVOCATIONS):
            file.write_text(f'---\nacl_deny: ["user:ann"]\nrevision: "{turn}"\n---\n{text}')
            assert other.ask("ingest", str(file)) == ["relabelled"]
            assert "alpha.md" not in _paths(workbench, "alpha version")
            file.write_text(f'---\nrevision: "{turn}"\n---\n{text}')
            assert other.ask("ingest", str(file)) == ["relabelled"]
            assert "alpha.md" in _paths(workbench, "alpha version")


@pytest.mark.timeout(600)
def test_default_labels_changed_in_another_place_count_from_the_next_query(workbench: Workbench, home: Path) -> None:
    elsewhere = Workbench(home, load([], {}), MemoryAudit())
    assert _paths(workbench, "alpha version")
    elsewhere.set_defaults("c", elsewhere.operator(), Labels("restricted", ("*",)))
    assert _paths(workbench, "alpha version") == []
    elsewhere.set_defaults("c", elsewhere.operator(), Labels("public", ("*",)))
    assert _paths(workbench, "alpha version")


def _paths(workbench: Workbench, query: str) -> list[str]:
    found = workbench.search(query, collections=["c"], principal=ANN, top_k=20)
    assert found.refusal is None or found.refusal.code == "no_evidence"
    return [passage.path for passage in found.passages]
