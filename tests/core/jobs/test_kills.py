"""Whoever is at work is killed at random moments: the worker, who submitted the job, or all of them at once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from core.home import Workbench
from core.jobs.records import job_ids
from core.jobs.store import Jobs
from core.types import Principal
from tests.core.jobs.processes import end_worker, ended, kill_worker
from tests.support import ROOT

KILLS = int(os.environ.get("WORKBENCH_TEST_KILLS", "3"))
VICTIMS = ("worker", "submitter", "group")
FILES = 6
GUEST = Principal("guest")


def text_of(batch: int, number: int) -> str:
    sections = "\n\n".join(f"## Part {part}\n\nWords of part {part}." for part in range(12))
    return f"# Batch {batch}, file {number}\n\n{sections}\n"


def first_line(output: IO[str] | None) -> str:
    assert output is not None
    return output.readline().strip()


@pytest.mark.timeout(3600)
def test_a_kill_at_any_moment_loses_and_doubles_nothing(
    workbench: Workbench, jobs: Jobs, home: Path, tmp_path: Path
) -> None:
    moment = random.Random(11)
    expected: dict[str, str] = {}
    for batch in range(KILLS):
        victim = VICTIMS[batch % len(VICTIMS)]
        folder = tmp_path / f"batch{batch}"
        folder.mkdir()
        for number in range(FILES):
            (folder / f"b{batch}-{number}.md").write_text(text_of(batch, number), "utf-8")
        command = [sys.executable, "-m", "tests.core.jobs.submitter", str(home), str(folder)]
        known = set(job_ids(home))
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as submitter:
            assert first_line(submitter.stdout) == "ready"
            if victim == "submitter":
                time.sleep(moment.uniform(0.0, 0.05))  # the moment is what is drawn, not something waited for
                submitter.kill()
            else:
                assert first_line(submitter.stdout) and first_line(submitter.stdout) == "started"
                time.sleep(moment.uniform(0.0, 1.5))
                if victim == "group":
                    submitter.send_signal(signal.SIGKILL)
                kill_worker(home, group=victim == "group")
        submitted = sorted(set(job_ids(home)) - known)
        assert len(submitted) == 1 or (victim == "submitter" and not submitted), "a job is there whole or not at all"
        for identity in submitted:
            jobs.ensure_worker(0.2)
            job = ended(jobs, identity)
            assert job.state == "done", job.message
            expected |= {f"b{batch}-{number}.md": text_of(batch, number) for number in range(FILES)}
        check(workbench, expected)
    end_worker(home)
    undisturbed = Workbench.open(tmp_path / "undisturbed")
    owner, kept = undisturbed.operator(), workbench.library.collection("c")
    undisturbed.create_collection("c", owner, defaults=kept.default_labels, embedder=kept.embedder)
    undisturbed.ingest(sorted(path for path in tmp_path.glob("batch*") if names(path) & expected.keys()), "c", owner)
    assert chunks(undisturbed) == chunks(workbench)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def check(workbench: Workbench, expected: dict[str, str]) -> None:
    rows = workbench.documents("c", GUEST)
    assert sorted(row.document.path for row in rows) == sorted(expected), "lost or doubled"
    for row in rows:
        view = workbench.document("c", row.document.path, GUEST)
        assert view.text.strip() == expected[row.document.path].strip()
        assert row.waiting == 0
        assert view.chunks[0].start == 0 and view.chunks[-1].end == len(view.text)


def chunks(workbench: Workbench) -> dict[str, list[str]]:
    rows = workbench.documents("c", GUEST)
    return {
        row.document.path: [chunk.chunk_id for chunk in workbench.document("c", row.document.path, GUEST).chunks]
        for row in rows
    }
