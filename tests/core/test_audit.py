import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from core.audit import RECORD_MAX_BYTES, TEXT_MAX_CHARS, JsonlAudit, MemoryAudit, read
from core.errors import AuditUnavailable, IntegrityFailure
from core.ports import AuditSink
from core.types import text_hash

ROOT = Path(__file__).parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX limits and modes")


def python(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}", *map(str, arguments)]


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(python(code, *arguments), capture_output=True, text=True, timeout=60, check=False)


def segment(folder: Path, number: int = 1) -> Path:
    return folder / f"segment-{number:06d}.jsonl"


def seqs(folder: Path) -> list[int]:
    return [record["seq"] for record in read(folder)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / "audit"


def test_one_record_a_line(folder: Path) -> None:
    log: AuditSink = JsonlAudit(folder, clock=lambda: datetime(2025, 1, 1, tzinfo=UTC))
    log.record("search", {"query": "où?", "ids": ("a", "b")})
    assert segment(folder).read_bytes() == (
        b'{"v":1,"seq":1,"ts":"2025-01-01T00:00:00.000000Z","kind":"search",'
        b'"payload":{"query":"o\\u00f9?","ids":["a","b"]}}\n'
    )


@posix
def test_only_the_owner_reads_it(folder: Path) -> None:
    JsonlAudit(folder).record("search", {})
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_reading_nothing(folder: Path) -> None:
    assert list(read(folder)) == []


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), plain, max_size=3))
def test_whatever_is_recorded_is_one_line_and_comes_back(payload: dict[str, Any]) -> None:
    """Threat 52."""
    with tempfile.TemporaryDirectory() as place:
        log = JsonlAudit(Path(place))
        log.record("search", payload)
        log.record("search", {})
        raw = segment(Path(place)).read_bytes()
        assert raw.count(b"\n") == 2
        assert all(byte == 10 or 32 <= byte < 127 for byte in raw)
        first, _ = read(Path(place))
        assert first["payload"] == json.loads(json.dumps(payload))


@pytest.mark.parametrize("text", ['x\n{"v":1,"seq":9}', "\r\x00\x1b[2J\u2028\x85", "\ud800", "#torn\n"], ids=ascii)
def test_text_cannot_break_out_of_its_line(folder: Path, text: str) -> None:
    log = JsonlAudit(folder)
    log.record("search", {"query": text})
    log.record("search", {})
    first, _ = read(folder)
    assert first["payload"] == {"query": text}


def test_long_text_is_cut_and_named_by_its_hash(folder: Path) -> None:
    text = "文" * (TEXT_MAX_CHARS + 1)
    JsonlAudit(folder).record("search", {"query": text, "deep": [{"short": text[:-1]}]})
    (record,) = read(folder)
    assert record["payload"]["query"] == {"text": text[:-1], "chars": TEXT_MAX_CHARS + 1, "sha256": text_hash(text)}
    assert record["payload"]["deep"] == [{"short": text[:-1]}]


def endless() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("", {}),
        ("recovery", {}),
        (None, {}),
        ("search", {"score": float("nan")}),
        ("search", {"x": object()}),
        ("search", {"x": b"bytes"}),
        ("search", {"x": endless()}),
        ("search", {"ids": ["0" * 32] * (RECORD_MAX_BYTES // 32)}),
    ],
    ids=["no kind", "reserved", "None", "nan", "object", "bytes", "endless", "too long"],
)
def test_what_cannot_be_recorded_whole_is_refused(folder: Path, kind: Any, payload: dict[str, Any]) -> None:
    for log in (JsonlAudit(folder), MemoryAudit()):
        with pytest.raises(AuditUnavailable):
            log.record(kind, payload)
    assert list(read(folder)) == []


def test_a_clock_that_runs_back_changes_no_order(folder: Path) -> None:
    times = iter([datetime(2025, 1, 2, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)])
    log = JsonlAudit(folder, clock=lambda: next(times))
    log.record("search", {"n": 1})
    log.record("search", {"n": 2})
    assert [record["payload"]["n"] for record in read(folder)] == [1, 2]


def test_numbers_go_on_in_the_next_process_and_the_next_segment(folder: Path) -> None:
    for _ in range(3):
        log = JsonlAudit(folder, segment_max_bytes=200)
        other = JsonlAudit(folder, segment_max_bytes=200)
        for sink in (log, other, log, log):
            sink.record("search", {"query": "how many"})
    assert seqs(folder) == list(range(1, 13))
    assert len(list(folder.glob("segment-*"))) > 2
    assert all(path.stat().st_size < 400 for path in folder.glob("segment-*"))


WRITER = """
from pathlib import Path
from core.audit import JsonlAudit
log = JsonlAudit(Path(sys.argv[1]), segment_max_bytes=int(sys.argv[3]))
for number in range(int(sys.argv[4])):
    log.record("search", {"writer": sys.argv[2], "n": number})
    print(number, flush=True)
"""


@pytest.mark.parametrize("segment_max_bytes", [1 << 26, 2_000])
def test_four_processes(folder: Path, segment_max_bytes: int) -> None:
    writers = [
        subprocess.Popen(python(WRITER, folder, name, segment_max_bytes, 50), stdout=subprocess.DEVNULL)
        for name in "abcd"
    ]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    records = list(read(folder))
    assert [record["seq"] for record in records] == list(range(1, 201))
    for name in "abcd":
        assert [r["payload"]["n"] for r in records if r["payload"]["writer"] == name] == list(range(50))


def test_threads_share_one_sink(folder: Path) -> None:
    log = JsonlAudit(folder)

    def write() -> None:
        for number in range(10):
            log.record("search", {"n": number})

    threads = [threading.Thread(target=write) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seqs(folder) == list(range(1, 61))


@posix
def test_killed_writers_lose_nothing_they_acknowledged(folder: Path) -> None:
    """Threat 51, with real kills."""
    acknowledged = 0
    for turn in range(4):
        writer = subprocess.Popen(python(WRITER, folder, turn, 1 << 26, 100_000), stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        for _ in range(5 + turn):
            assert writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        acknowledged += 5 + turn + len(writer.stdout.readlines())
        writer.wait()
        writer.stdout.close()
    JsonlAudit(folder).record("search", {})
    records = list(read(folder))
    assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
    assert len([r for r in records if r["kind"] == "search"]) > acknowledged


def test_a_tail_torn_anywhere_is_sealed(folder: Path) -> None:
    """Threat 51: whatever part of a line a crash left, a recovery record explains it; every other record stays."""
    log = JsonlAudit(folder)
    log.record("search", {"query": "one"})
    first = segment(folder).read_bytes()
    log.record("search", {"query": "two"})
    whole = segment(folder).read_bytes()
    for keep in range(len(first) + 1, len(whole)):
        segment(folder).write_bytes(whole[:keep])
        assert seqs(folder) == [1]  # not yet sealed, and never acknowledged
        JsonlAudit(folder).record("search", {"query": "three"})
        one, recovery, three = read(folder)
        assert (one["payload"]["query"], three["payload"]["query"]) == ("one", "three")
        assert (recovery["kind"], recovery["seq"], three["seq"]) == ("recovery", 2, 3)
        assert recovery["payload"]["offset"] == len(first)
        assert recovery["payload"]["bytes"] == keep - len(first)
        assert segment(folder).read_bytes().startswith(whole[:keep])  # appended to, never rewritten


def test_a_torn_sealing_is_sealed_in_turn(folder: Path) -> None:
    log = JsonlAudit(folder)
    log.record("search", {"query": "one"})
    start = segment(folder).stat().st_size
    with segment(folder).open("ab") as file:
        file.write(b'{"v":1,"seq":2')
    JsonlAudit(folder).record("search", {"query": "two"})
    whole = segment(folder).read_bytes()
    for keep in range(start + 1, len(whole)):
        segment(folder).write_bytes(whole[:keep])
        JsonlAudit(folder).record("search", {"query": "three"})
        records = list(read(folder))
        assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
        searches = [r["payload"]["query"] for r in records if r["kind"] == "search"]
        assert searches[0] == "one"
        assert searches[-1] == "three"


@pytest.mark.parametrize("tail", [b"\n", b"\0" * 5000, b"{}\n", b"x" * 300_000, b"\xff\xfe\n\n[1]\n", b"[" * 5000])
def test_any_rubbish_at_the_end_is_sealed(folder: Path, tail: bytes) -> None:
    JsonlAudit(folder).record("search", {"n": 1})
    with segment(folder).open("ab") as file:
        file.write(tail)
    JsonlAudit(folder).record("search", {"n": 2})
    assert [record["kind"] for record in read(folder)] == ["search", "recovery", "search"]


def test_a_first_record_torn_in_a_new_segment(folder: Path) -> None:
    log = JsonlAudit(folder, segment_max_bytes=10)
    log.record("search", {"n": 1})
    log.record("search", {"n": 2})
    os.truncate(segment(folder, 2), 20)
    JsonlAudit(folder, segment_max_bytes=10).record("search", {"n": 3})
    os.truncate(segment(folder, 2), 0)
    JsonlAudit(folder, segment_max_bytes=10).record("search", {"n": 4})
    assert [record["payload"] for record in read(folder)] == [{"n": 1}, {"n": 4}]
    assert seqs(folder) == [1, 2]


def test_a_running_sink_seals_what_another_left(folder: Path) -> None:
    log = JsonlAudit(folder)
    log.record("search", {"n": 1})
    with segment(folder).open("ab") as file:
        file.write(b'{"v":1,')
    log.record("search", {"n": 2})
    log.record("search", {"n": 3})
    assert [record["kind"] for record in read(folder)] == ["search", "recovery", "search", "search"]


def test_acknowledged_records_that_vanish_stop_the_log(folder: Path) -> None:
    log = JsonlAudit(folder)
    log.record("search", {"n": 1})
    size = segment(folder).stat().st_size
    log.record("search", {"n": 2})
    os.truncate(segment(folder), size)
    for _ in range(2):
        with pytest.raises(AuditUnavailable, match="lost records"):
            log.record("search", {"n": 3})
    segment(folder).unlink()
    for _ in range(2):
        with pytest.raises(AuditUnavailable):
            log.record("search", {"n": 3})
    assert not segment(folder).exists()


def drop_line(lines: list[bytes]) -> list[bytes]:
    return lines[:1] + lines[2:]


def repeat_line(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], lines[1], *lines[2:]]


def swap_lines(lines: list[bytes]) -> list[bytes]:
    return [lines[1], lines[0], *lines[2:]]


def break_line(lines: list[bytes]) -> list[bytes]:
    return [lines[0], b"x" + lines[1][1:], *lines[2:]]


def drop_first(lines: list[bytes]) -> list[bytes]:
    return lines[1:]


def edit_sealed(lines: list[bytes]) -> list[bytes]:
    return [line.replace(b"half", b"hulf") for line in lines]


@pytest.mark.parametrize("change", [drop_line, repeat_line, swap_lines, break_line, drop_first, edit_sealed])
def test_reading_stops_where_a_line_is_missing_or_broken(
    folder: Path, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    log = JsonlAudit(folder)
    for number in range(3):
        log.record("search", {"n": number})
    with segment(folder).open("ab") as file:
        file.write(b"half")
    log.record("search", {"n": 3})
    assert seqs(folder) == [1, 2, 3, 4, 5]
    lines = segment(folder).read_bytes().splitlines(keepends=True)
    segment(folder).write_bytes(b"".join(change(lines)))
    with pytest.raises(IntegrityFailure):
        list(read(folder))


def test_a_missing_segment_is_noticed(folder: Path) -> None:
    log = JsonlAudit(folder, segment_max_bytes=10)
    for number in range(3):
        log.record("search", {"n": number})
    segment(folder, 2).unlink()
    with pytest.raises(IntegrityFailure):
        list(read(folder))


def test_a_file_in_the_folders_place(folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_text("not a folder")
    with pytest.raises(AuditUnavailable) as caught:
        JsonlAudit(folder).record("search", {})
    assert caught.value.remedy
    assert "\n" not in caught.value.line()
    folder.unlink()
    folder.parent.rmdir()
    folder.parent.write_text("not even the home is a folder")
    with pytest.raises(AuditUnavailable):
        JsonlAudit(folder).record("search", {})


def test_a_folder_in_the_segments_place(folder: Path) -> None:
    segment(folder).mkdir(parents=True)
    with pytest.raises(AuditUnavailable):
        JsonlAudit(folder).record("search", {})


REFUSED = """
import os
from pathlib import Path
from core.audit import JsonlAudit
from core.errors import AuditUnavailable
log = JsonlAudit(Path(sys.argv[1]))
if sys.argv[2] == "used":
    log.record("search", {"n": 1})
os.chmod(sys.argv[1], 0o500) if os.path.isdir(sys.argv[1]) else os.chmod(os.path.dirname(sys.argv[1]), 0o500)
if os.geteuid() == 0:  # whom no mode stops
    os.seteuid(65534)
try:
    log.record("search", {"n": 2})
except AuditUnavailable as error:
    print("refused", error.message)
"""


@posix
@pytest.mark.parametrize("state", ["used", "empty", "absent"])
def test_a_read_only_folder(state: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        home.chmod(0o755)
        if state != "absent":
            (home / "audit").mkdir()
        done = run(REFUSED, home / "audit", state)
        home.chmod(0o755)
        if (home / "audit").exists():
            (home / "audit").chmod(0o700)
        assert done.stdout.startswith("refused"), done.stderr
        assert seqs(home / "audit") == ([1] if state == "used" else [])


LIMITED = """
import resource
from pathlib import Path
from core.audit import JsonlAudit
from core.errors import AuditUnavailable
folder = Path(sys.argv[1])
log = JsonlAudit(folder)
log.record("search", {"n": 1})
size = (folder / "segment-000001.jsonl").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + int(sys.argv[2]), resource.RLIM_INFINITY))
for _ in range(2):
    try:
        log.record("search", {"n": 2})
    except AuditUnavailable as error:
        print("refused")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.record("search", {"n": 3})
"""


@posix
@pytest.mark.parametrize("room", [0, 1, 20])
def test_a_file_that_cannot_grow(folder: Path, room: int) -> None:
    """A short write is never taken for a whole one, and the log goes on once there is room."""
    done = run(LIMITED, folder, room)
    assert done.stdout.split() == ["refused", "refused"], done.stderr
    records = [(record["kind"], record["payload"].get("n")) for record in read(folder)]
    between = [("recovery", None)] if room else []
    assert records == [("search", 1), *between, ("search", 3)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(folder: Path) -> None:
    folder.mkdir(parents=True)
    segment(folder).symlink_to("/dev/full")
    with pytest.raises(AuditUnavailable, match="No space left"):
        JsonlAudit(folder).record("search", {})


def test_a_lock_that_is_never_released(folder: Path) -> None:
    log = JsonlAudit(folder, lock_timeout_s=0.05)
    log.record("search", {})
    with FileLock(folder / ".lock"), pytest.raises(AuditUnavailable):
        log.record("search", {})
    log.record("search", {})
    assert seqs(folder) == [1, 2]


def test_the_double_records_and_fails_when_told() -> None:
    sink = MemoryAudit()
    log: AuditSink = sink
    log.record("search", {"ids": ("a",), "at": datetime(2025, 1, 1, tzinfo=UTC) + timedelta(hours=1)})
    sink.failing = True
    with pytest.raises(AuditUnavailable):
        log.record("search", {})
    sink.failing = False
    log.record("answer", {})
    assert [(record["seq"], record["kind"]) for record in sink.records] == [(1, "search"), (2, "answer")]
    assert sink.records[0]["payload"] == {"ids": ["a"], "at": "2025-01-01T01:00:00Z"}
