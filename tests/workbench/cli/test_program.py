"""Usage errors, exit codes and what becomes of an exception."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.errors import AuditUnavailable, InputError, PermissionUnavailable, RoleMissing
from tests.support import ROOT
from workbench.cli import main


@pytest.mark.parametrize(
    ("arguments", "prog", "says"),
    [
        ("", "workbench", "VERB"),
        ("nonsense", "workbench", "invalid choice: 'nonsense'"),
        ("search q", "workbench search", "the following arguments are required: --collection"),
        ("search --collection kb", "workbench search", "required: QUERY"),
        ("search q r --collection kb", "workbench search", "unrecognized arguments: r"),
        ("search q --collection kb --nonsense", "workbench search", "unrecognized arguments: --nonsense"),
        ("search q --coll kb", "workbench search", "required: --collection"),
        ("search q --collection kb --top-k many", "workbench search", "argument --top-k"),
        ("search q --collection kb --as-of yesterday", "workbench search", "write 2026-01-31"),
        ("search q --collection kb --min-classification secret", "workbench search", "public, internal"),
        ("collections", "workbench collections", "VERB"),
        ("collections create", "workbench collections create", "required: NAME"),
        ("collections create kb --classification secret", "workbench collections create", "public, internal"),
        ("collections set", "workbench collections set", "required: NAME"),
        ("ingest --collection kb", "workbench ingest", "required: PATH"),
        ("documents list", "workbench documents list", "required: --collection"),
        ("documents show --collection kb", "workbench documents show", "required: NAME_OR_ID"),
        ("documents remove --collection kb", "workbench documents remove", "required: NAME_OR_ID"),
        ("import beir", "workbench import beir", "required: DIR, --collection"),
        ("import csv x", "workbench import", "invalid choice: 'csv'"),
        ("rebuild", "workbench rebuild", "required: --collection"),
        ("serve --port 0", "workbench serve", "1 to 65535"),
        ("serve --port http", "workbench serve", "1 to 65535"),
    ],
)
def test_a_usage_error_is_one_line_that_names_verb_and_help(cli: Any, arguments: str, prog: str, says: str) -> None:
    ran = cli(*arguments.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"{prog}: ")
    assert ran.err.endswith(f"see '{prog} --help'\n")
    assert says in ran.err


@pytest.mark.parametrize("verb", ["", "search", "collections set", "import beir"])
def test_help_is_printed_and_done(cli: Any, verb: str) -> None:
    ran = cli(*verb.split(), "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"usage: {f'workbench {verb}'.strip()}")


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("the a\nis b", "make it c"), 2, "the a is b: make it c"),
        (PermissionUnavailable("who?", "say who"), 4, "who?: say who"),
        (RoleMissing("bo", "owner", "kb"), 4, "'bo' lacks the role 'owner' on 'kb'"),
        (AuditUnavailable("the disk is full", "make room"), 1, "the disk is full: make room"),
        (ZeroDivisionError("by\n\x1b[31mzero"), 1, "ZeroDivisionError: by zero; WORKBENCH_DEBUG=1 shows the traceback"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_an_error_becomes_a_line_and_a_code(
    cli: Any, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, line: str
) -> None:
    def fail(_: object) -> Path:
        raise error

    monkeypatch.setattr("workbench.cli.settings.home_of", fail)
    ran = cli("settings", "show")
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith(f"workbench settings show: {line}")


def test_the_traceback_is_shown_on_demand(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(_: object) -> Path:
        raise ZeroDivisionError("by zero")

    monkeypatch.setenv("WORKBENCH_DEBUG", "1")
    monkeypatch.setattr("workbench.cli.settings.home_of", fail)
    assert main(["settings", "show"]) == 1
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert shown.endswith("ZeroDivisionError: by zero\n")


def test_home_may_stand_before_and_after_the_verb(cli: Any, tmp_path: Path) -> None:
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "settings.toml").write_text(f"[server]\nport = {len(place) + 8000}\n", "utf-8")
    (tmp_path / "two" / "settings.toml").write_text("[server]\nport = 8002\n", "utf-8")
    before = cli("--home", tmp_path / "two", "settings", "show")
    after = cli("settings", "show", "--home", tmp_path / "two")
    both = cli("--home", tmp_path / "one", "settings", "show", "--home", tmp_path / "two")
    assert "8002" in before.out
    assert before.out == after.out == both.out


def test_the_module_runs_as_a_program() -> None:
    ran = subprocess.run([sys.executable, "-m", "workbench.cli", "--help"], capture_output=True, text=True, cwd=ROOT)
    assert (ran.returncode, ran.stderr) == (0, "")
    for verb in ("serve", "demo", "collections", "ingest", "documents", "import", "rebuild", "search", "settings"):
        assert f"\n    {verb} " in ran.stdout


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from workbench.cli import main; main(['search', '--help']);"
        "print(sorted({'numpy', 'pyarrow', 'lancedb', 'streamlit', 'core.home', 'yaml'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ran.stdout.endswith("[]\n")


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "workbench.cli", "--home", str(tmp_path), "settings", "show", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


@pytest.mark.parametrize(
    "arguments", ["collections list", "demo", "search q --collection kb", "documents list --collection kb"]
)
def test_a_home_that_is_a_file_is_an_input_error(cli: Any, tmp_path: Path, arguments: str) -> None:
    (tmp_path / "file").write_text("x")
    ran = cli(*arguments.split(), "--home", str(tmp_path / "file"))
    assert (ran.code, ran.out) == (2, "")
    assert "is not a folder" in ran.err


def test_a_failure_of_the_disk_is_one_line_that_says_what_to_check(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, says in (
        (errno.EACCES, "no entry: check the disk and the rights there"),
        (errno.ENOSPC, "the disk is full: free space on it"),
    ):

        def failing(*args: Any, number: int = number) -> None:
            raise OSError(number, "no entry", "/home/demo.json")

        monkeypatch.setattr("workbench.cli.collections.home_of", failing)
        ran = cli("collections", "list")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.endswith(f"/home/demo.json: {says}\n")
