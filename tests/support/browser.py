"""Chromium and a running app for the end-to-end tests: a plugin that `tests/conftest.py` loads.

Tests that ask for `browser` or `page` get the marker `browser`; where no Chromium is found they are skipped, and one
line at the end says so.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.support import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
START_S = 120.0
"""Seconds a server may take to answer: the first start of a home loads the demo collection."""

_NO_CHROMIUM = "no Chromium: install it, or name its executable in WORKBENCH_CHROMIUM"
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def find_chromium() -> str | None:
    """The executable that WORKBENCH_CHROMIUM names, else the first of `NAMES` on the path."""
    named = os.environ.get("WORKBENCH_CHROMIUM")
    candidates = (named,) if named else NAMES
    return next((found for name in candidates if (found := shutil.which(name))), None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    found = find_chromium()
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
            if found is None:
                item.add_marker(pytest.mark.skip(reason=_NO_CHROMIUM))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.getreports("skipped")
    skipped = sum(1 for report in reports if _NO_CHROMIUM in str(report.longrepr))
    if skipped:
        terminalreporter.write_line(f"{skipped} browser tests skipped: {_NO_CHROMIUM}")


@dataclass(frozen=True, slots=True)
class AppServer:
    """A running app. `url` has no slash at its end; `log` holds what the server printed."""

    url: str
    home: Path
    log: Path


@contextmanager
def serve(home: Path, log: Path) -> Iterator[AppServer]:
    """`workbench serve` on a free port over `home`; on leaving, it and what it started end, and nothing else.

    Raises RuntimeError with the server's last lines when it ends or stays silent instead of answering.
    """
    port = _free_port()
    command = [sys.executable, "-m", "workbench.cli", "serve", "--no-browser", "--port", str(port)]
    environment = {**os.environ, "WORKBENCH_HOME": str(home), "PYTHONUNBUFFERED": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            server = AppServer(f"http://127.0.0.1:{port}", home, log)
            _wait_until_healthy(process, server)
            yield server
        finally:
            _end(process)


@pytest.fixture
def app_server(home: Path, tmp_path: Path) -> Iterator[AppServer]:
    """The app over this test's own home."""
    with serve(home, tmp_path / "server.log") as server:
        yield server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all tests."""
    from playwright.sync_api import sync_playwright

    executable = find_chromium()
    if executable is None:
        pytest.skip(_NO_CHROMIUM)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page, 1440 × 900. It reaches this machine only, and a page that asks for more fails its test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    remote: list[str] = []

    def local_only(route: Route) -> None:
        if urlsplit(route.request.url).hostname in ("127.0.0.1", "localhost", None):
            route.continue_()
        else:
            remote.append(route.request.url)
            route.abort()

    context.route("**/*", local_only)
    yield context.new_page()
    context.close()
    assert not remote, f"the page asked for remote assets: {remote}"


def wait_until_settled(page: Page, timeout_s: float = 60.0) -> None:
    """Returns when the app has connected and its script has run to its end. Raises playwright's TimeoutError."""
    page.wait_for_selector(
        '[data-testid="stApp"][data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]',
        timeout=timeout_s * 1000,
    )


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_until_healthy(process: subprocess.Popen[bytes], server: AppServer) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}:\n{_tail(server.log)}")
        try:
            with _direct.open(f"{server.url}/_stcore/health", timeout=5) as response:
                if response.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the server did not answer within {START_S:g} s:\n{_tail(server.log)}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the process group that `serve` created. Streamlit may run below the command line that started it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            continue
    process.wait(timeout=10)


def _tail(log: Path) -> str:
    return "\n".join(log.read_text("utf-8", "replace").splitlines()[-30:])
