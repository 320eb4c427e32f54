"""The app is started for real, once; the rest stops where the server would take over."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.settings import Server
from tests.support import ROOT
from workbench.cli.serve import APP, address, command

Handed = list[tuple[list[str], dict[str, str]]]


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> Handed:
    """What would have been started."""
    calls: Handed = []

    def hand_over(arguments: Sequence[str], variables: Mapping[str, str]) -> int:
        calls.append((list(arguments), dict(variables)))
        return 0

    monkeypatch.setattr("workbench.cli.serve.hand_over", hand_over)
    return calls


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_first_start_loads_the_demo(cli: Any, home: Path, handed: Handed) -> None:
    port = free_port()
    ran = cli("serve", "--no-browser", "--port", port)
    assert ran.code == 0
    assert " added (index version" in ran.out
    assert f"http://127.0.0.1:{port} " in ran.out
    arguments, variables = handed[0]
    assert arguments == command(Server(), port, True)
    assert variables["WORKBENCH_HOME"] == str(home)
    assert cli("collections", "drop", "demo", "--yes").code == 0
    assert cli("collections", "create", "kb").code == 0
    assert "demo" not in cli("serve", "--port", port).out
    assert arguments != handed[1][0] == command(Server(), port, False)


def test_settings_say_where_to_listen(cli: Any, home: Path, handed: Handed) -> None:
    assert cli("collections", "create", "kb").code == 0
    port = free_port()
    (home / "settings.toml").write_text(f"[server]\nhost = 'localhost'\nport = {port}\n", "utf-8")
    assert cli("serve", "--no-browser").code == 0
    arguments = handed[0][0]
    assert arguments[:5] == [sys.executable, "-m", "streamlit", "run", str(APP)]
    flags = dict(zip(arguments[5::2], arguments[6::2], strict=True))
    assert flags == {
        "--server.address": "localhost",
        "--server.port": str(port),
        "--server.headless": "true",
        "--browser.gatherUsageStats": "false",
    }
    assert address("::1") == "[::1]"


def test_a_busy_port_is_named_before_anything_is_done(cli: Any, home: Path, handed: Handed) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        ran = cli("serve", "--port", busy.getsockname()[1])
    assert (ran.code, ran.out, handed) == (2, "", [])
    assert "--port" in ran.err
    assert list(home.iterdir()) == []
    (home / "settings.toml").write_text("[server]\nhost = '192.0.2.1'\n", "utf-8")
    assert cli("serve").code == 2


@pytest.mark.skipif(os.name != "posix" or not APP.exists(), reason="signals are those of POSIX")
def test_the_server_takes_the_process_over(cli: Any, home: Path, tmp_path: Path) -> None:
    assert cli("collections", "create", "kb").code == 0
    port = free_port()
    arguments = [sys.executable, "-m", "workbench.cli", "serve", "--no-browser", "--port", str(port)]
    # from elsewhere: the app's own configuration is found all the same
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        arguments, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        assert _answers(process, f"http://127.0.0.1:{port}/_stcore/health") == b"ok"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) in (0, -signal.SIGTERM)
    finally:
        process.kill()
        process.communicate()


def _answers(process: subprocess.Popen[bytes], url: str) -> bytes:
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return bytes(answer.read())
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    process.kill()
    raise AssertionError(f"the server did not answer: {process.communicate()[0]!r}")
