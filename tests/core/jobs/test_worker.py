"""The worker as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from core.home import Workbench
from core.jobs.liveness import LOG, become_worker, worker_lives
from core.jobs.progress import rate_of
from core.jobs.records import jobs_folder
from core.jobs.store import Jobs
from core.types import Principal
from tests.core.jobs.conftest import PRINCIPALS
from tests.core.jobs.processes import ended, until, worker_pid
from tests.support import ROOT

ANN = Principal("ann", roles=(("c", ("owner",)),))
BO = Principal("bo", roles=(("*", ("owner",)),))
IDLE_S = 0.2


def paths(workbench: Workbench) -> list[str]:
    return [row.document.path for row in workbench.documents("c", ANN)]


def test_jobs_are_run_in_order_and_each_says_what_became_of_it(
    jobs: Jobs, workbench: Workbench, folder: Path, home: Path
) -> None:
    (folder / "退款\n政策.md").write_text("x", "utf-8")
    (folder / "退款 政策.md").write_text("# 退款\n\n三个工作日。", "utf-8")
    os.rename(folder / "gamma.md", os.fsencode(folder) + b"/odd\xff.md")
    first = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    uploaded = jobs.submit("ingest", "c", ANN, {}, uploads={"手册/a.md": b"# A\n\nText."})
    lost = jobs.submit("ingest", "c", ANN, {"paths": [folder / "absent"], "metadata": folder / "absent.csv"})
    rebuilt = jobs.submit("rebuild", "c", workbench.operator(), {"embedder": "hash:48"})
    assert jobs.ensure_worker(IDLE_S)
    done = ended(jobs, first.id)
    assert (done.state, done.exit_code, done.done, done.total, done.starts) == ("done", 1, 3, 3, 1)
    assert done.message.startswith("3 added, 2 refused (index version ")
    assert done.report is not None
    assert done.report["counts"] == {"added": 3, "updated": 0, "relabelled": 0, "unchanged": 0, "refused": 2}
    assert {file["path"] for file in done.report["files"] if file["outcome"] == "added"} == {
        "alpha.md",
        "beta.md",
        "退款 政策.md",
    }
    lines = [line.split(" ", 1)[1] for line in jobs.log(first.id)]
    assert lines[0] == "start 1, in the name of ann"
    assert "reading 退款 政策.md" in lines and "added 退款 政策.md: 1 chunk" in lines
    assert len([line for line in lines if line.startswith("refused ")]) == 2
    assert lines[-1] == f"done: {done.message}"

    found = ended(jobs, uploaded.id)
    assert (found.state, found.exit_code, found.message[:7]) == ("done", 0, "1 added")
    assert not (jobs_folder(home) / uploaded.id / "uploads").exists()
    found = ended(jobs, lost.id)
    assert (found.state, found.exit_code) == ("failed", 2) and "absent.csv" in found.message
    found = ended(jobs, rebuilt.id)
    assert found.state == "done" and found.message.startswith("rebuilt: 4 documents in 4 chunks, hash:48")
    starts = [job.started_at for job in reversed(jobs.list())]
    assert None not in starts and starts == sorted(starts)  # type: ignore[type-var]
    assert paths(workbench) == ["alpha.md", "beta.md", "手册/a.md", "退款 政策.md"]
    until(lambda: not worker_lives(home))
    assert (jobs_folder(home) / LOG).read_text() == ""


def test_two_who_want_a_worker_at_once_get_one(jobs: Jobs, home: Path, folder: Path) -> None:
    """It is given the lock before it runs, so that not even its slow start lets in a second."""
    barrier, started = threading.Barrier(8), []

    def start() -> None:
        barrier.wait()
        started.append(Jobs(home).ensure_worker(5.0))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    code = (
        "import sys, pathlib; from core.jobs.store import Jobs; print(Jobs(pathlib.Path(sys.argv[1])).ensure_worker())"
    )
    other = [sys.executable, "-c", code, str(home)]
    ran = subprocess.run(other, cwd=ROOT, capture_output=True, text=True, check=True)
    for thread in threads:
        thread.join()
    assert sorted(started) == [False] * 7 + [True]
    assert ran.stdout == "False\n"
    assert subprocess.run([sys.executable, "-m", "core.jobs.worker", str(home)], cwd=ROOT, check=True).returncode == 0
    pid = until(lambda: worker_pid(home))
    assert become_worker(home) is None
    assert os.getsid(pid) == pid, "it has a session of its own"
    files = {os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")}
    ours = {str(jobs_folder(home) / name) for name in ("worker.lock", "worker.log")} | {"/dev/null"}
    assert {file for file in files if not file.startswith((str(jobs_folder(home)), "/proc/"))} <= ours, (
        "it has more open"
    )
    assert jobs.submit("ingest", "c", ANN, {"paths": [folder]}).state == "queued"
    assert ended(jobs, jobs.list()[0].id).state == "done"


def test_looking_on_does_not_keep_a_worker_from_starting(jobs: Jobs, home: Path) -> None:
    handle = become_worker(home)
    assert handle is not None
    os.close(handle)
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            worker_lives(home)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(200):
            handle = become_worker(home)
            assert handle is not None
            assert worker_lives(home)
            os.close(handle)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_cancelling_leaves_whole_documents_and_resuming_does_the_rest(
    jobs: Jobs, workbench: Workbench, folder: Path
) -> None:
    job = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    with workbench.library.writing("c"):  # so that the first document cannot be committed yet
        jobs.ensure_worker(20.0)
        until(lambda: jobs.get(job.id).current == "alpha.md")
        running = jobs.get(job.id)
        assert (running.state, running.done, running.total) == ("running", 0, 3)
        with pytest.raises(Exception, match="is running"):
            jobs.remove(job.id)
        with pytest.raises(Exception, match="is running"):
            jobs.resume(job.id, ANN)
        cancelling = jobs.cancel(job.id, ANN)
        assert (cancelling.state, cancelling.cancelling) == ("running", True)
    cancelled = ended(jobs, job.id)
    assert (cancelled.state, cancelled.cancelling, cancelled.done, cancelled.total) == ("cancelled", False, 1, 3)
    assert cancelled.message == "cancelled after 1 of 3 files: what was finished stays"
    assert paths(workbench) == ["alpha.md"]
    assert workbench.document("c", "alpha.md", ANN).text.strip().endswith("Words of alpha.")
    jobs.resume(job.id, ANN)
    done = ended(jobs, job.id)
    assert (done.state, done.message[:20]) == ("done", "2 added, 1 unchanged")
    assert len(paths(workbench)) == 3


def test_a_killed_worker_leaves_its_job_interrupted_until_the_next_takes_it_up(
    jobs: Jobs, workbench: Workbench, folder: Path, home: Path
) -> None:
    job = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    with workbench.library.writing("c"):
        jobs.ensure_worker(IDLE_S)
        until(lambda: jobs.get(job.id).current == "alpha.md")
        pid = until(lambda: worker_pid(home))
        os.kill(pid, signal.SIGKILL)
        until(lambda: jobs.get(job.id).state == "interrupted")
        assert "next worker takes it up" in jobs.get(job.id).message
    assert jobs.ensure_worker(IDLE_S)
    done = ended(jobs, job.id)
    assert (done.state, done.starts) == ("done", 2)
    assert any("interrupted; to be started again" in line for line in jobs.log(job.id))
    assert len(paths(workbench)) == 3


def test_whoever_has_lost_the_role_or_is_gone_has_lost_the_job(
    jobs: Jobs, workbench: Workbench, folder: Path, home: Path
) -> None:
    of_ann = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    of_bo = jobs.submit("purge", "c", BO, {"names": ["alpha.md"]})
    dropped = jobs.submit("ingest", "c", workbench.operator(), {"paths": [folder]})
    (home / "principals.toml").write_text("[ann]\nroles = {c = ['reader']}\n", "utf-8")
    jobs.ensure_worker(5.0)
    failed = ended(jobs, of_ann.id)
    assert (failed.state, failed.exit_code) == ("failed", 4)
    assert "'ann' lacks the role 'owner' on 'c': an operator grants it in principals.toml" in failed.message
    gone = ended(jobs, of_bo.id)
    assert (gone.state, gone.exit_code) == ("failed", 4) and "no principal 'bo'" in gone.message
    assert ended(jobs, dropped.id).state == "done"  # the operator has the files in hand
    (home / "principals.toml").write_text(PRINCIPALS, "utf-8")
    workbench.remove_documents("c", ["alpha.md"], ANN)
    jobs.resume(of_ann.id, ANN)
    assert ended(jobs, of_ann.id).message.startswith("1 added, 2 unchanged")


def test_a_purge_finds_no_trace_in_what_is_kept_of_jobs(
    jobs: Jobs, workbench: Workbench, folder: Path, home: Path
) -> None:
    (folder / "incident-report-4711.md").write_text("# incident-report-4711.md\n\nThe secret word is xylophonic.\n")
    ingested = jobs.submit("ingest", "c", ANN, {"paths": [str(path) for path in sorted(folder.iterdir())]})
    purged = jobs.submit("purge", "c", ANN, {"names": ["incident-report-4711.md"]})
    failing = jobs.submit("purge", "c", ANN, {"names": ["absent.md"]})
    jobs.ensure_worker(IDLE_S)
    done = ended(jobs, purged.id)
    assert done.state == "done", done.message
    assert done.message.startswith("1 purged") and done.report is not None and done.report["documents"] == 1
    assert "incident" not in str(done)
    assert ingested.id not in [job.id for job in jobs.list()]
    found = ended(jobs, failing.id)
    assert (found.state, found.exit_code) == ("failed", 2) and "absent.md" in found.message
    assert paths(workbench) == ["alpha.md", "beta.md", "gamma.md"]
    until(lambda: not worker_lives(home))
    for file in (path for path in home.rglob("*") if path.is_file() and "audit" not in path.parts):
        assert b"incident-report" not in file.read_bytes() and b"xylophonic" not in file.read_bytes(), file


def test_a_worker_does_not_leave_while_a_job_waits(jobs: Jobs, home: Path, folder: Path) -> None:
    from core.jobs.queue import Queue

    handle = become_worker(home)
    assert handle is not None
    job = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    assert not Queue(home).leave(handle) and worker_lives(home)
    jobs.cancel(job.id, ANN)
    assert Queue(home).leave(handle) and not worker_lives(home)


def test_rates() -> None:
    assert rate_of([]) is None and rate_of([3.0]) is None and rate_of([3.0, 3.0]) is None
    assert rate_of([1.0, 1.5, 3.0]) == 1.0
