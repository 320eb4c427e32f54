"""Jobs as they are stored: no worker runs here."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from core.audit import MemoryAudit
from core.errors import (
    InputError,
    IntegrityFailure,
    PermissionUnavailable,
    RoleMissing,
    StoreFailure,
    UnknownCollection,
)
from core.home import Workbench
from core.jobs import records
from core.jobs.queue import End, Queue
from core.jobs.records import Progress, jobs_folder
from core.jobs.store import Jobs, may_see
from core.types import Principal, to_json
from tests.support import ROOT

ANN = Principal("ann", roles=(("c", ("owner",)),))
BO = Principal("bo", roles=(("*", ("owner",)),))
GUEST = Principal("guest")


def states(jobs: Jobs) -> list[str]:
    return [job.state for job in jobs.list()]


def test_a_submitted_job_is_there_for_every_process(jobs: Jobs, folder: Path) -> None:
    job = jobs.submit("ingest", "c", ANN, {"paths": [folder], "metadata": None})
    assert (job.kind, job.collection, job.actor, job.state) == ("ingest", "c", "ann", "queued")
    assert job.arguments == {"paths": [str(folder)]}
    assert (job.done, job.total, job.current, job.rate, job.remaining_s, job.report) == (0, None, "", None, None, None)
    assert job.created_at is not None and job.started_at is None and job.ended_at is None
    elsewhere = Jobs(folder.parent / "home")
    assert elsewhere.get(job.id) == job
    assert elsewhere.list() == [job]
    json.dumps(to_json(job), allow_nan=False)


def test_the_newest_is_first_also_when_the_clock_was_set_back(jobs: Jobs, folder: Path, home: Path) -> None:
    first = jobs.submit("ingest", "c", ANN, {"paths": [folder]}).id
    ahead = jobs_folder(home) / f"2999{first[4:]}"
    (jobs_folder(home) / first).rename(ahead)
    later = [jobs.submit("rebuild", "c", ANN, {}).id for _ in range(3)]
    assert [job.id for job in jobs.list()] == [*reversed(later), ahead.name]
    assert [Queue(home).take()[0] for _ in range(4)][1:] == later  # type: ignore[index]


def test_relative_paths_count_from_where_it_was_submitted(
    jobs: Jobs, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    job = jobs.submit("ingest", "c", ANN, {"paths": ["alpha.md", Path("..") / "files"], "metadata": "labels.csv"})
    assert job.arguments["paths"] == [str(folder / "alpha.md"), str(folder)]
    assert job.arguments["metadata"] == str(folder / "labels.csv")


@pytest.mark.parametrize("name", ["退款 政策.md", "a\nb.md", "x\udcff.md", "e\u0301\u200d😀.md", "\x1b[31m.md"])
def test_odd_names_come_back_as_they_were(jobs: Jobs, name: str) -> None:
    job = jobs.submit("ingest", "c", ANN, {"paths": [f"/files/{name}"]})
    assert jobs.get(job.id).arguments == {"paths": [f"/files/{name}"]}
    records.append_log(jobs_folder(jobs._home) / job.id, [f"reading {name}"])
    assert len(jobs.log(job.id)) == 1


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("ingest", {}),
        ("ingest", {"paths": "/a"}),
        ("ingest", {"paths": [3]}),
        ("ingest", {"paths": ["/a"], "colour": "red"}),
        ("ingest", {"paths": ["/a"], "retain": "yes"}),
        ("purge", {"names": "a.md"}),
        ("purge", {"names": [1]}),
        ("rebuild", {"embedder": 3}),
        ("rebuild", {"paths": ["/a"]}),
        ("dance", {}),
        ("evaluate", {}),
    ],
)
def test_arguments_that_cannot_be_meant_are_refused_at_once(jobs: Jobs, kind: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        jobs.submit(kind, "c", BO, arguments)
    assert jobs.list() == []


def test_who_may_not_does_not(jobs: Jobs, workbench: Workbench, folder: Path) -> None:
    arguments = {"paths": [folder]}
    for principal, error in [
        (GUEST, RoleMissing),
        (Principal("stranger", roles=(("*", ("owner",)),)), PermissionUnavailable),
        (Principal("ann", clearance="odd", roles=ANN.roles), PermissionUnavailable),
    ]:
        with pytest.raises(error):
            jobs.submit("ingest", "c", principal, arguments)
    with pytest.raises(UnknownCollection):
        jobs.submit("ingest", "absent", BO, arguments)
    job = jobs.submit("ingest", "c", workbench.operator(), arguments)
    for act in (jobs.cancel, jobs.resume, jobs.remove):
        with pytest.raises(RoleMissing):
            act(job.id, GUEST)
    assert states(jobs) == ["queued"]
    assert may_see(job, ANN) and may_see(job, workbench.operator()) and not may_see(job, GUEST)


def test_all_is_written_down_before_it_is_done(workbench: Workbench, folder: Path) -> None:
    audit = MemoryAudit()
    jobs = Jobs(workbench.home, audit)
    job = jobs.submit("ingest", "c", Principal("ann", roles=ANN.roles, agent="helper"), {"paths": [folder]})
    jobs.cancel(job.id, BO)
    jobs.resume(job.id, BO)
    jobs.remove(job.id, BO)
    kinds = [(record["kind"], record["payload"]["actor"]) for record in audit.records]
    assert kinds == [("job.submit", "ann"), ("job.cancel", "bo"), ("job.resume", "bo"), ("job.remove", "bo")]
    assert audit.records[0]["payload"]["agent"] == "helper"
    assert audit.records[0]["payload"]["arguments"] == {"paths": [str(folder)]}
    audit.failing = True
    with pytest.raises(Exception, match="audit"):
        jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    assert jobs.list() == []


def test_a_queued_job_is_cancelled_at_once_and_resumed_in_the_name_of_who_does(jobs: Jobs, folder: Path) -> None:
    job = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    with pytest.raises(InputError, match="is queued"):
        jobs.resume(job.id, BO)
    cancelled = jobs.cancel(job.id, BO)
    assert (cancelled.state, cancelled.message) == ("cancelled", "cancelled before it began")
    assert Queue(jobs._home).take() is None
    with pytest.raises(InputError, match="cancelled already"):
        jobs.cancel(job.id, BO)
    resumed = jobs.resume(job.id, BO)
    assert (resumed.state, resumed.actor, resumed.message) == ("queued", "bo", "")


def test_what_is_resumed_waits_behind_the_others(jobs: Jobs, home: Path, folder: Path) -> None:
    ids = [jobs.submit("ingest", "c", ANN, {"paths": [folder]}).id for _ in range(3)]
    jobs.cancel(ids[0], ANN)
    jobs.resume(ids[0], ANN)
    assert [Queue(home).take()[0] for _ in range(3)] == [ids[1], ids[2], ids[0]]  # type: ignore[index]


def test_a_job_whose_worker_died_is_interrupted_then_tried_three_times(jobs: Jobs, home: Path, folder: Path) -> None:
    job = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    other = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    for start in (1, 2, 3):
        queue = Queue(home)
        taken = queue.take()
        assert taken is not None and (taken[0], taken[1].starts) == (job.id, start)
        records.write_progress(jobs_folder(home) / job.id, Progress(1, 3, "beta.md", 2.0, 1.0))
        found = jobs.get(job.id)
        assert (found.state, found.done, found.total, found.rate) == ("interrupted", 1, 3, None)
        assert jobs.list()[1] == found
        Queue(home).recover()
        assert jobs.get(job.id).state == ("queued" if start < 3 else "failed")
    failed = jobs.get(job.id)
    assert "3 times" in failed.message and "resume" in failed.message and (failed.done, failed.total) == (1, 3)
    assert Queue(home).take()[0] == other.id  # type: ignore[index]
    assert jobs.resume(job.id, ANN).starts == 0


def test_an_interrupted_job_can_be_cancelled_and_one_being_cancelled_is_not_taken_up(
    jobs: Jobs, home: Path, folder: Path
) -> None:
    first, second = (jobs.submit("ingest", "c", ANN, {"paths": [folder]}).id for _ in range(2))
    queue = Queue(home)
    assert queue.take() is not None
    assert jobs.cancel(first, ANN).state == "cancelled"
    taken = queue.take()
    assert taken is not None
    records.write_record(jobs_folder(home) / second, _cancelling(taken[1]))
    Queue(home).recover()
    assert jobs.get(second).state == "cancelled"
    assert Queue(home).take() is None


def _cancelling(record: records.Record) -> records.Record:
    import dataclasses

    return dataclasses.replace(record, cancelling=True)


def test_an_interrupted_job_can_be_resumed_and_removed(jobs: Jobs, home: Path, folder: Path) -> None:
    job = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    Queue(home).take()
    assert jobs.resume(job.id, BO).state == "queued"
    Queue(home).take()
    jobs.remove(job.id)
    assert jobs.list() == []
    assert [entry for entry in os.listdir(jobs_folder(home)) if not entry.startswith(("worker", ".lock"))] == []
    for act in (jobs.get, jobs.log, jobs.remove):
        with pytest.raises(InputError, match="no job"):
            act(job.id)


@pytest.mark.parametrize("identity", ["", ".", "..", "worker.log", "../collections", "20250101-000000-000000-0000"])
def test_no_other_file_is_taken_for_a_job(jobs: Jobs, identity: str) -> None:
    with pytest.raises(InputError, match="no job"):
        jobs.get(identity)
    with pytest.raises(InputError, match="no job"):
        jobs.remove(identity)


DAMAGE = [
    b"",
    b"{",
    b"[]",
    b'{"state": "queued"}',
    b"\xff\xfe",
    b"null",
    b'{"state": "odd", "actor": ""}',
    b"[" * 9_999,
]


@pytest.mark.parametrize("content", DAMAGE)
def test_a_damaged_state_is_told_and_harms_no_other_job(jobs: Jobs, home: Path, folder: Path, content: bytes) -> None:
    damaged = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    sound = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    (jobs_folder(home) / damaged.id / "job.json").write_bytes(content)
    found = jobs.get(damaged.id)
    assert (found.state, found.collection, found.kind) == ("failed", "c", "ingest")
    assert "job.json of the job is damaged" in found.message and "resume the job, or remove it" in found.message
    assert "\n" not in found.message
    assert jobs.list() == [sound, found]
    queue = Queue(home)
    queue.recover()
    assert queue.take()[0] == sound.id  # type: ignore[index]
    assert queue.take() is None
    jobs.resume(damaged.id, ANN)
    assert queue.take()[0] == damaged.id  # type: ignore[index]


def test_a_damaged_request_can_only_be_removed(jobs: Jobs, home: Path, folder: Path) -> None:
    job = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    (jobs_folder(home) / job.id / "request.json").write_bytes(b"{}")
    found = jobs.get(job.id)
    assert found.state == "failed" and "remove the job and submit it anew" in found.message
    with pytest.raises(RoleMissing):  # whose collection it was cannot be told
        jobs.resume(job.id, ANN)
    with pytest.raises(IntegrityFailure):
        jobs.resume(job.id, BO)
    jobs.remove(job.id, BO)
    assert jobs.list() == []


def test_a_report_is_kept_until_the_job_is_run_again(jobs: Jobs, home: Path, folder: Path) -> None:
    job = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    queue = Queue(home)
    taken = queue.take()
    assert taken is not None
    queue.end(*taken, End("done", "two\nlines", 0, {"files": []}), Progress(3, 3))
    found = jobs.get(job.id)
    assert (found.state, found.message, found.report, found.done) == ("done", "two lines", {"files": []}, 3)
    assert found.ended_at is not None
    with pytest.raises(InputError, match="is done"):
        jobs.resume(job.id, ANN)


def test_a_log_is_capped_and_keeps_the_newest(jobs: Jobs, home: Path, folder: Path) -> None:
    job = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    at = jobs_folder(home) / job.id
    lines = [f"reading 文件{number} " + "x" * 80 for number in range(2_000)]
    for start in range(0, 40_000, 2_000):
        records.append_log(at, [f"{start} {line}" for line in lines])
        assert (at / "log.txt").stat().st_size <= 1.5 * records.LOG_MAX_BYTES
    found = jobs.log(job.id, 10**9)
    assert found[0] == records.LOG_DROPPED
    assert [line.split(" ", 1)[1].strip() for line in found[-3:]] == [f"38000 {line}" for line in lines[-3:]]
    assert jobs.log(job.id, 3) == found[-3:]
    assert len(jobs.log(job.id)) == 200 and jobs.log(job.id, 0) == []


def test_a_log_line_stays_one(jobs: Jobs, home: Path, folder: Path) -> None:
    job = jobs.submit("ingest", "c", ANN, {"paths": [folder]})
    records.append_log(jobs_folder(home) / job.id, ["a\nb\r\x1b[31mc\u2028d\x85e", "y" * 100_000])
    first, second = jobs.log(job.id)
    assert first.endswith("Z a b [31mc d e") and len(second) < 3_000


def test_uploads_are_kept_with_the_job(jobs: Jobs, home: Path) -> None:
    uploads: dict[str, Any] = {
        "policies/退款.md": io.BytesIO(b"# Refunds"),
        "b.md": b"B",
        "b.md.meta.yaml": b"title: B",
    }
    uploads["policies/退款.md"].read()  # where an earlier reader has left it
    job = jobs.submit("ingest", "c", ANN, {}, uploads=uploads)
    at = jobs_folder(home) / job.id / "uploads"
    assert (at / "policies" / "退款.md").read_bytes() == b"# Refunds"
    assert (at / "b.md").read_bytes() == b"B"
    queue = Queue(home)
    taken = queue.take()
    assert taken is not None
    queue.end(*taken, End("failed", "why", 1), Progress())
    assert at.is_dir(), "to be resumed"
    jobs.resume(job.id, ANN)
    taken = queue.take()
    assert taken is not None
    queue.end(*taken, End("done", "", 0), Progress())
    assert not at.exists()


@pytest.mark.parametrize(
    "uploads",
    [
        {"../a.md": b""},
        {"/a.md": b""},
        {".hidden.md": b""},
        {"é.md": b"", "e\u0301.md": b""},
        {"a": b"", "a/b.md": b""},
        {"a.md.meta.yaml": b""},
        {"a\x00.md": b""},
    ],
)
def test_uploads_with_bad_names_are_refused_whole(jobs: Jobs, home: Path, uploads: dict[str, bytes]) -> None:
    with pytest.raises(InputError):
        jobs.submit("ingest", "c", ANN, {}, uploads={"good.md": b"", **uploads} if len(uploads) > 1 else uploads)
    assert not jobs_folder(home).exists() or {*os.listdir(jobs_folder(home))} <= {".lock"}


class Full(io.RawIOBase):
    def read(self, size: int = -1) -> bytes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def seek(self, offset: int, whence: int = 0) -> int:
        return 0


def test_a_full_disk_is_one_clear_error(jobs: Jobs, home: Path) -> None:
    with pytest.raises(StoreFailure) as caught:
        jobs.submit("ingest", "c", ANN, {}, uploads={"a.md": Full()})  # type: ignore[dict-item]
    assert "the disk is full: free space on it" in caught.value.line()
    assert jobs.list() == []
    assert {*os.listdir(jobs_folder(home))} <= {".lock"}


LIMITED = """
import resource, signal, sys
from pathlib import Path
from core.audit import MemoryAudit
from core.errors import CoreError
from core.jobs.store import Jobs
from core.types import Principal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
try:
    Jobs(Path(sys.argv[1]), MemoryAudit()).submit("rebuild", "c", Principal("bo", roles=(("*", ("owner",)),)), {})
except CoreError as error:
    print(type(error).__name__, error.line())
"""


def test_a_folder_that_takes_no_byte_is_one_clear_error(jobs: Jobs, home: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(home)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.stdout.startswith(f"StoreFailure the jobs folder {jobs_folder(home)} cannot be written")
    assert (ran.stdout.count("\n"), ran.stderr) == (1, "")
    assert jobs.list() == []
    assert {*os.listdir(jobs_folder(home))} <= {".lock"}


def test_a_file_in_the_place_of_the_folder_is_one_clear_error(jobs: Jobs, home: Path, folder: Path) -> None:
    jobs_folder(home).write_text("")
    assert jobs.list() == []
    for act in (lambda: jobs.submit("ingest", "c", ANN, {"paths": [folder]}), jobs.ensure_worker):
        with pytest.raises(StoreFailure, match="cannot be written") as caught:
            act()
        assert "check that it is a folder and writable" in caught.value.line()


READ_ONLY = """
import encodings.utf_8_sig, fcntl, filelock, getpass, os, subprocess, sys  # some are needed only after setuid
from pathlib import Path
from core.audit import MemoryAudit
from core.errors import CoreError
from core.jobs.store import Jobs
from core.types import Principal
home, identity = Path(sys.argv[1]), sys.argv[2]
bo, jobs = Principal("bo", roles=(("*", ("owner",)),)), Jobs(home, MemoryAudit())
if os.geteuid() == 0:  # who may write anywhere
    os.setuid(65534)
print([job.id for job in jobs.list()] == [identity])
for act in (
    lambda: jobs.submit("rebuild", "c", bo, {}),
    lambda: jobs.cancel(identity, bo),
    lambda: jobs.remove(identity, bo),
    jobs.ensure_worker,
):
    try:
        act()
    except CoreError as error:
        print(type(error).__name__, error.line())
"""


def test_a_read_only_folder_is_one_clear_error_for_each_change(jobs: Jobs, home: Path) -> None:
    job = jobs.submit("rebuild", "c", BO, {})
    with tempfile.TemporaryDirectory() as place:  # unlike pytest's own, one that others may look into
        copied = Path(shutil.copytree(home, Path(place) / "home"))
        at = jobs_folder(copied)
        for path, mode in ((Path(place), 0o755), (copied, 0o755), (at / job.id, 0o555), (at, 0o555)):
            path.chmod(mode)
        command = [sys.executable, "-c", READ_ONLY, str(copied), job.id]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        at.chmod(0o755)
    lines = ran.stdout.splitlines()
    assert (lines[0], len(lines), ran.stderr) == ("True", 5, "")
    for line in lines[1:]:
        assert line.startswith("StoreFailure ") and "Permission denied" in line and "writable" in line


def test_forgetting_a_collection_leaves_what_has_not_ended_and_what_is_of_others(
    jobs: Jobs, workbench: Workbench, folder: Path
) -> None:
    workbench.create_collection("other", workbench.operator(), embedder="hash:64")
    ended, queued = (jobs.submit("ingest", "c", BO, {"paths": [folder]}).id for _ in range(2))
    other = jobs.submit("ingest", "other", BO, {"paths": [folder]}).id
    jobs.cancel(ended, BO)
    jobs.cancel(other, BO)
    jobs.forget("c")
    assert [job.id for job in jobs.list()] == [other, queued]


def test_a_purge_takes_the_uploads_of_ended_jobs_along(jobs: Jobs, workbench: Workbench, home: Path) -> None:
    (home.parent / "secret.md").write_text("# Secret\n\nThe word is xylophonic.\n", "utf-8")
    workbench.ingest([home.parent / "secret.md"], "c", BO)
    job = jobs.submit("ingest", "c", BO, {}, uploads={"secret.md": b"The word is xylophonic."})
    jobs.cancel(job.id, BO)
    workbench.purge_documents("c", ["secret.md"], BO)
    assert jobs.list() == []
    for file in (path for path in home.rglob("*") if path.is_file()):
        assert b"xylophonic" not in file.read_bytes(), file
