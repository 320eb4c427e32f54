"""A parser process against parsers that crash, flood, pry and lie."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import CoreError, UnreadableFile
from core.ingest import sandbox_wire as wire
from core.ingest.parse import parse_file
from core.ingest.parsers import known_extensions
from core.ingest.read import RawFile
from core.ingest.sandbox import Budget, ParserProcess
from core.ports import Block, ParsedDocument
from core.settings import Limits
from tests.support import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="parser processes need a POSIX system")

STAND_IN = "tests.support.sandbox_parsers:parse"
SMALL = Budget(memory_bytes=500_000_000)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's layers are Linux's")


def raw(data: bytes | str, name: str = "a.md") -> RawFile:
    return RawFile(name, data.encode() if isinstance(data, str) else data, "")


def stand_in(budget: Budget = SMALL, layers: tuple[str, ...] = ("kernel", "hook")) -> ParserProcess:
    return ParserProcess(Limits(), budget, parse=STAND_IN, layers=layers)


@pytest.fixture(scope="module")
def real() -> Iterator[ParserProcess]:
    with ParserProcess(Limits()) as parser:
        yield parser


@pytest.fixture(scope="module")
def hostile() -> Iterator[ParserProcess]:
    """With all layers that this system has."""
    with stand_in() as parser:
        yield parser


@pytest.fixture(scope="module")
def hooked() -> Iterator[ParserProcess]:
    """As where the kernel lends no help."""
    with stand_in(layers=("hook",)) as parser:
        yield parser


@pytest.fixture(scope="module")
def bound() -> Iterator[ParserProcess]:
    """With the kernel's layers alone."""
    with stand_in(layers=("kernel",)) as parser:
        yield parser


def said(parser: ParserProcess, command: str, argument: object = "") -> str:
    return parser.parse(raw(f"{command}: {argument}")).text


def refusal(parser: ParserProcess, command: str, argument: object = "") -> UnreadableFile:
    with pytest.raises(UnreadableFile) as caught:
        said(parser, command, argument)
    assert caught.value.path == "a.md" and caught.value.remedy and "\n" not in caught.value.message
    return caught.value


def is_running(process_id: int) -> bool:
    """And not only waiting for its parent to take note of its end."""
    if sys.platform != "linux":
        told = subprocess.run(["ps", "-o", "stat=", "-p", str(process_id)], capture_output=True, text=True).stdout
        return bool(told.strip()) and not told.strip().startswith("Z")
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for_end(process_id: int) -> None:
    until = time.monotonic() + 30
    while is_running(process_id):
        assert time.monotonic() < until, "still running"
        time.sleep(0.02)


# The same results as in this process


SAMPLES = {
    "a.md": "---\ntitle: T\nrevised_at: !!timestamp 2026-01-31\nacl_allow: [a, b]\n~: x\n---\n"
    "# H\n\ntext\n\n|a|\n|-|\n|1|\n",
    "b.csv": "name,price\nx,1\ny,2\n",
    "c.jsonl": '{"a": [1, {"b": null}]}\n{"a": "\\ud800"}\n',
    "d.html": "<title>T</title><h1>H</h1><p>text<table><tr><th>a<tr><td>1</table>",
    "e.txt": "one\n\ntwo 中文 🎉\n",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_is_parsed_as_it_is_here(real: ParserProcess, name: str) -> None:
    file = raw(SAMPLES[name], name)
    parsed = real.parse(file)
    assert parsed == parse_file(file) and parsed.blocks


DATA = st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))


@given(st.sampled_from(known_extensions()), DATA)
def test_any_bytes_are_parsed_or_refused_as_here(real: ParserProcess, extension: str, data: bytes) -> None:
    file = raw(data, f"folder/a{extension}")
    try:
        here: Any = parse_file(file)
    except UnreadableFile as error:
        here = error.path, " ".join(error.reason.split()), error.remedy
    try:
        there: Any = real.parse(file)
    except UnreadableFile as error:
        there = error.path, error.reason, error.remedy
    assert there == here


def test_a_file_without_a_parser_is_refused_as_here(real: ParserProcess) -> None:
    with pytest.raises(UnreadableFile, match=r"no parser for \.exe") as caught:
        real.parse(raw(b"x", "a.exe"))
    assert ".md" in caught.value.remedy


# Crashes and floods


@pytest.mark.parametrize(
    ("command", "argument", "reason"),
    [
        ("allocate", "", "needs more memory than allowed"),
        ("raise", "MemoryError", "needs more memory than allowed"),
        ("signal", "SIGSEGV", "the parser crashed on it (SIGSEGV)"),
        ("exit", "0", "the parser crashed on it (exit status 0)"),
        ("huge", 70_000_000, "its text takes more than 64,000,0"),
        ("title", 70_000_000, "its structure takes more than"),
        ("garbage", "00" * 100, "its parser gave back what is no document"),
        ("garbage", "00" * 7 + "04" + "00" * 16 + "6e756c6c", "its parser gave back what is no document"),
        ("garbage", "ff" * 100, "its structure takes more than"),
        ("garbage", "00" * 7 + "02" + "00" * 16 + "7b7d", "its parser gave back what is no document"),
        ("garbage", "00" * 7 + "04" + "ff" * 16 + "6e756c6c", "its text takes more than"),
    ],
)
def test_a_process_that_fails_is_ended(hostile: ParserProcess, command: str, argument: object, reason: str) -> None:
    # The process of the test before is closed first: a used one would be given a second try.
    hostile.close()
    assert reason in refusal(hostile, command, argument).reason
    assert hostile.process_id is None


def test_the_next_file_goes_on_in_a_new_process(hostile: ParserProcess) -> None:
    said(hostile, "say", "x")
    before = hostile.process_id
    assert "crashed" in refusal(hostile, "signal", "SIGSEGV").reason
    assert said(hostile, "say", "next") == "next"
    assert before is not None and hostile.process_id != before and not is_running(before)


def test_memory_filled_bit_by_bit_runs_out() -> None:
    with stand_in(Budget(memory_bytes=100_000_000)) as parser:
        assert "needs more memory than allowed" in refusal(parser, "allocate slowly").reason


def test_memory_is_watched_where_it_has_no_limit() -> None:
    with stand_in(Budget(memory_bytes=100_000_000), ("kernel", "hook", "watch")) as parser:
        assert said(parser, "say", "x") == "x"
        assert "watch" in parser.protection and "memory" not in parser.protection
        assert "needs more memory than allowed" in refusal(parser, "keep and wait", 200_000_000).reason


@pytest.mark.parametrize(
    ("command", "seconds", "patience", "reason"),
    [("spin", 0.1, 1_000, "takes longer than 1 s"), ("sleep", 10, 0.02, "takes longer than 1 s")],
)
def test_a_process_that_takes_too_long_is_ended(command: str, seconds: float, patience: float, reason: str) -> None:
    with stand_in(Budget(seconds=seconds, patience=patience)) as parser, pytest.raises(UnreadableFile, match=reason):
        said(parser, command)


@pytest.mark.parametrize(
    ("command", "argument", "reason"),
    [
        ("recurse", "", "RecursionError"),
        ("raise", "KeyError", "KeyError"),
        ("raise", "SystemExit", "SystemExit"),
        ("nothing", "", "NoneType"),
        ("wrong", '{"text": 5}', "int"),
        ("wrong", '{"text": "\\ud800"}', "UnicodeEncodeError"),
        ("wrong", '{"blocks": [1]}', "int"),
        ("wrong", '{"blocks": null}', "NoneType"),
        ("strange", "", "date is not JSON serializable"),
    ],
)
def test_an_error_in_a_parser_is_a_refusal(hostile: ParserProcess, command: str, argument: str, reason: str) -> None:
    said(hostile, "say", "x")
    before = hostile.process_id
    assert reason in refusal(hostile, command, argument).reason
    assert said(hostile, "say", "next") == "next"
    assert hostile.process_id == before


@pytest.mark.parametrize(
    "changed",
    [
        *('{"title": 5}', '{"title": null}', '{"parser": ""}', '{"parser": "a\\u001b[2J"}', '{"metadata": []}'),
        *('{"language": 1}', '{"warnings": [1]}', '{"metadata": "x"}'),
        *('{"block": {"start": -1}}', '{"block": {"end": 5}}', '{"block": {"end": 0}}', '{"block": {"start": true}}'),
        *('{"block": {"kind": "row"}}', '{"block": {"kind": "list", "level": "1"}}', '{"block": {"kind": ["list"]}}'),
        *('{"block": {"kind": "list", "provenance": {"page": 1}}}', '{"block": {"section_anchor": null}}'),
    ],
)
def test_what_no_parser_may_return_is_refused(changed: str) -> None:
    from tests.support.sandbox_parsers import wrong

    header, blob = wire.document_out(wrong(changed))
    with pytest.raises(ValueError):  # noqa: PT011 - any will do
        wire.document_in(json.loads(json.dumps(header)), blob)


def test_a_false_result_is_refused_and_its_process_ended(hostile: ParserProcess) -> None:
    hostile.close()
    assert "no document" in refusal(hostile, "wrong", '{"block": {"kind": "list", "end": 9}}').reason
    assert hostile.process_id is None
    assert said(hostile, "wrong", '{"block": {"kind": "list"}}') == "text"


def test_what_libraries_print_goes_nowhere(hostile: ParserProcess, capfd: pytest.CaptureFixture[str]) -> None:
    assert said(hostile, "shout") == "quiet"
    assert capfd.readouterr() == ("", "")


# Prying


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


PRYING = [
    *[
        ("connect", "PORT"),
        ("resolve", "localhost"),
        ("fetch", "http://127.0.0.1:PORT/"),
        ("fetch", "file:///etc/passwd"),
    ],
    *[
        ("read", "/etc/passwd"),
        ("read", "FOLDER/secret"),
        ("read", f"{ROOT}/pyproject.toml"),
        ("read", "/proc/self/maps"),
    ],
    *[
        ("list", "/etc"),
        ("list", "FOLDER"),
        ("write", "FOLDER/new"),
        ("write", "FOLDER/secret"),
        ("remove", "FOLDER/secret"),
    ],
    *[("read", f"{ROOT}/core/../pyproject.toml"), ("read", "FOLDER/link"), ("list", f"{ROOT}/core/..")],
    *[("run", "/bin/true"), ("system", "true"), ("fork", ""), ("kill parent", "")],
]


def places(argument: str, port: int, folder: Path) -> str:
    (folder / "secret").write_text("secret")
    if not (folder / "link").exists():
        (folder / "link").symlink_to("secret")
    return argument.replace("PORT", str(port)).replace("FOLDER", str(folder))


@pytest.mark.parametrize(("command", "argument"), PRYING)
def test_without_the_kernel_python_refuses(
    hooked: ParserProcess, command: str, argument: str, port: int, tmp_path: Path
) -> None:
    assert "PermissionError: a parser may not" in refusal(hooked, command, places(argument, port, tmp_path)).reason
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "secret"]
    assert (tmp_path / "secret").read_text() == "secret"


@LINUX
@pytest.mark.parametrize(
    ("command", "argument"),
    [
        *[("native connect", "PORT"), ("native read", "/etc/passwd"), ("native read", "FOLDER/secret")],
        *[
            ("native read", f"{ROOT}/pyproject.toml"),
            ("native write", "FOLDER/new"),
            ("native write", f"{ROOT}/core/new"),
        ],
        ("native kill parent", ""),
    ],
)
def test_the_kernel_refuses_native_code(
    bound: ParserProcess, command: str, argument: str, port: int, tmp_path: Path
) -> None:
    said(bound, "say", "x")
    needed = "namespaces" if "connect" in command else "landlock"
    if needed not in bound.protection:
        pytest.skip(f"no {needed} here")
    result = said(bound, command, places(argument, port, tmp_path))
    if command == "native kill parent" and result == "can be signalled":
        pytest.skip("this Landlock does not know signals")
    assert result.startswith("refused: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "secret"]


def test_the_stand_ins_do_what_they_say_without_a_guard(port: int, tmp_path: Path) -> None:
    """Else the tests above would prove nothing."""
    with stand_in(layers=()) as free:
        for command, argument, result in [
            *[("native connect", "PORT", "connected"), ("native read", "/etc/passwd", "opened")],
            *[("native write", "FOLDER/new", "opened"), ("native kill parent", "", "can be signalled")],
            *[("read", "FOLDER/secret", "secret"), ("kill parent", "", "signalled"), ("run", "pwd", "/")],
        ]:
            assert result in said(free, command, places(argument, port, tmp_path))
        assert "127.0.0.1" in said(free, "connect", port)
        assert free.protection in (("memory",), ("watch",))


def test_nothing_is_written_even_past_the_hook(tmp_path: Path) -> None:
    with stand_in(layers=()) as parser:
        assert "File too large" in refusal(parser, "write", tmp_path / "new").reason
    assert (tmp_path / "new").read_bytes() == b""


@LINUX
def test_the_guard_is_whole(real: ParserProcess) -> None:
    real.parse(raw("x"))
    assert {"memory", "hook"} <= set(real.protection) and "watch" not in real.protection


def test_the_parent_gives_nothing_away(hostile: ParserProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WORKBENCH_SECRET", "s3cret")
    with open(tmp_path / "inherited", "w") as file:
        os.set_inheritable(file.fileno(), True)
        hostile.close()
        environment = json.loads(said(hostile, "environment"))
        handles = json.loads(said(hostile, "handles"))
    assert "s3cret" not in environment.values() and "HOME" not in environment
    assert len(handles) <= 3, "requests, answers, and the gauge of memory"
    assert said(hostile, "folder") == "/"


# A process's life


def test_a_process_serves_many_files_and_then_makes_room() -> None:
    with stand_in(Budget(files=2)) as parser:
        assert parser.process_id is None and parser.protection == ()
        ids: list[int | None] = []
        for _ in range(5):
            said(parser, "say", "x")
            ids.append(parser.process_id)
    assert ids[1] is ids[3] is None and None not in (ids[0], ids[2], ids[4]) and len(set(ids)) == 4


def test_a_process_that_keeps_memory_is_replaced() -> None:
    with stand_in(Budget(memory_bytes=300_000_000, grown_share=0.1)) as parser:
        said(parser, "keep", 1_000)
        assert parser.process_id is not None
        said(parser, "keep", 60_000_000)
        assert parser.process_id is None


def test_what_earlier_files_did_is_not_held_against_a_file() -> None:
    with stand_in() as parser:
        said(parser, "say", "x")
        before = parser.process_id
        assert said(parser, "second") == "first"
        assert parser.process_id != before


def test_a_process_that_was_ended_from_outside_costs_no_file_and_the_end_of_with_ends_it() -> None:
    with stand_in() as parser:
        said(parser, "say", "x")
        assert parser.process_id is not None
        os.kill(parser.process_id, signal.SIGKILL)
        assert said(parser, "say", "next") == "next"
        running = parser.process_id
        assert is_running(running)
    assert parser.process_id is None and not is_running(running)


def test_garbage_collection_ends_the_process() -> None:
    parser = stand_in()
    said(parser, "say", "x")
    running = parser.process_id
    del parser
    gc.collect()
    assert running is not None and not is_running(running)


def test_an_interrupt_ends_the_process() -> None:
    with stand_in(Budget(), layers=()) as parser:
        said(parser, "say", "x")
        running = parser.process_id
        with pytest.raises(KeyboardInterrupt):
            said(parser, "interrupt")
        assert running is not None and not is_running(running)


PARENT = f"""
from core.ingest.read import RawFile
from core.ingest.sandbox import ParserProcess
from core.settings import Limits
import sys
parser = ParserProcess(Limits(), parse="{STAND_IN}", layers=tuple(sys.argv[1].split()))
parser.parse(RawFile("a.md", b"say: x", ""))
print(parser.process_id, flush=True)
if sys.argv[2] == "busy":
    parser.parse(RawFile("a.md", b"sleep: ", ""))
input()
"""


@pytest.mark.parametrize(
    ("layers", "state"), [("", "idle"), ("watch", "busy"), pytest.param("kernel hook", "busy", marks=LINUX)]
)
def test_a_killed_parent_takes_the_process_along(layers: str, state: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, layers, state], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.kill()
    wait_for_end(child)


@pytest.mark.parametrize(
    ("parse", "memory", "why"),
    [
        ("tests.support.nowhere:parse", 10**9, "nowhere"),
        ("tests.support.sandbox_parsers:nothing_such", 10**9, "nothing"),
    ],
)
def test_a_process_that_cannot_start_is_no_fault_of_the_file(parse: str, memory: int, why: str) -> None:
    with ParserProcess(Limits(), Budget(memory_bytes=memory), parse=parse) as parser:
        with pytest.raises(CoreError, match=why) as caught:
            parser.parse(raw("x"))
        assert not isinstance(caught.value, UnreadableFile) and parser.process_id is None


def test_importing_needs_no_posix() -> None:
    lacking = "import sys\nfor name in ('resource', 'fcntl', 'pwd'): sys.modules[name] = None\n"
    subprocess.run([sys.executable, "-c", f"{lacking}import core.ingest.sandbox"], cwd=ROOT, check=True)


# The wire


WORD = st.text(max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORD | st.binary(max_size=5)
    | st.dates() | st.datetimes(timezones=st.just(UTC) | st.none()),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.sets(WORD, max_size=3)
    | st.dictionaries(WORD | st.none(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
PLAIN = st.recursive(
    st.integers() | WORD | st.none(), lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=5
)


def through(parsed: ParsedDocument) -> ParsedDocument:
    header, blob = wire.document_out(parsed)
    return wire.document_in(json.loads(wire.header_out(header)), blob)


@given(
    st.dictionaries(WORD, VALUES, max_size=3),
    st.dictionaries(WORD, st.lists(PLAIN, max_size=3).map(tuple), max_size=2),
    WORD,
)
def test_a_document_comes_through_as_it_is(metadata: Any, provenance: Any, title: str) -> None:
    blocks = (Block(0, 2, "heading", provenance, "a", 1), Block(3, 9, "table", {}), Block(3, 5, "row", {}))
    parsed = ParsedDocument("中文 🎉 table", blocks, title, "p/1", metadata, "zh", ("w",))
    assert through(parsed) == parsed
    assert [type(value) for value in through(parsed).metadata.values()] == [type(v) for v in metadata.values()]


@pytest.mark.parametrize("value", [object(), 1j, [date(2026, 1, 31), datetime.now]])
def test_values_of_no_known_type_do_not_go_out(value: object) -> None:
    with pytest.raises(TypeError):
        wire.pack(value)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["map", "date", "row"]),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)
FIELDS = {"blocks": [[0, 1, "row", {}, "", 0]], "title": "t", "parser": "p", "metadata": ["map"], "language": None}


@given(st.sampled_from([*FIELDS, "warnings", "more"]), JSON, st.binary(max_size=8))
def test_lies_are_errors_and_nothing_worse(field: str, value: Any, blob: bytes) -> None:
    header = FIELDS | {"warnings": [], field: value}
    try:
        parsed = wire.document_in(header, blob)
    except ValueError:
        return
    assert through(parsed) == parsed or parsed.metadata != parsed.metadata  # NaN


@given(JSON)
def test_blocks_of_any_shape_are_errors(row: Any) -> None:
    for blocks in ([row], [[0, 1, "list", {"page": row}, "", 0]]):
        header = FIELDS | {"warnings": [], "blocks": blocks}
        try:
            parsed = wire.document_in(header, b"text")
        except ValueError:
            continue
        assert all(isinstance(v, tuple) for block in parsed.blocks for v in block.provenance.values())


@pytest.mark.parametrize(
    "blocks",
    [
        [(0, 4, "list"), (3, 5, "list")],
        [(0, 9, "table"), (0, 5, "row"), (4, 9, "row")],
        [(0, 5, "table"), (0, 6, "row")],
        [(0, 9, "table"), (0, 9, "table")],
        [(5, 9, "list"), (0, 5, "list")],
    ],
)
def test_blocks_do_not_overlap(blocks: list[tuple[int, int, str]]) -> None:
    header = FIELDS | {"warnings": [], "blocks": [[start, end, kind, {}, "", 0] for start, end, kind in blocks]}
    with pytest.raises(ValueError, match=r"a block|a row|a table"):
        wire.document_in(header, b"0123456789")
