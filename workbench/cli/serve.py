"""`workbench serve`"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InputError
from workbench.cli.context import home_of, opened
from workbench.cli.output import say
from workbench.cli.parser import Verbs, verb

if TYPE_CHECKING:
    from core.settings import Server

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "workbench" / "app.py"


def add(verbs: Verbs) -> None:
    description = "Open the app; a home without any collection gets the demo first."
    parser = verb(verbs, "serve", run, "open the app in a browser", description)
    parser.add_argument("--port", type=port, metavar="N", help="port to listen on (default: server.port)")
    parser.add_argument("--no-browser", action="store_true", help="only listen")


def run(args: argparse.Namespace) -> int:
    from core.store.registry import list_collections
    from workbench.services.effective_settings import effective

    home = home_of(args)
    server = effective(home)[0].server
    chosen = args.port or server.port
    check_free(server.host, chosen)
    if not list_collections(home):
        load_demo(args)
    home.mkdir(parents=True, exist_ok=True)
    say(f"http://{address(server.host)}:{chosen} (Ctrl-C ends it)")
    sys.stdout.flush()
    return hand_over(command(server, chosen, args.no_browser), environment(home))


def load_demo(args: argparse.Namespace) -> None:
    from workbench.cli import demo

    say("loading the demo collection …")
    workbench = opened(args)
    demo.load(workbench, workbench.operator(), reset=False)


def port(text: str) -> int:
    """Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= 65_535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; give a number from 1 to 65535")
    return int(text)


def check_free(host: str, number: int) -> None:
    """Raises InputError where something listens there already, or the address is none of this machine."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            if os.name == "posix":  # as the server does: a port that was in use a moment ago is free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except OSError as error:
        problem = f"cannot listen on port {number} of {host} ({error.strerror})"
        raise InputError(problem, f"choose another with --port, as in --port {number % 65_535 + 1}") from None


def command(server: Server, number: int, no_browser: bool) -> list[str]:
    options = {
        "server.address": server.host,
        "server.port": str(number),
        "server.headless": str(no_browser).lower(),
        "browser.gatherUsageStats": "false",
    }
    flags = [part for name, value in options.items() for part in (f"--{name}", value)]
    return [sys.executable, "-m", "streamlit", "run", str(APP), *flags]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "WORKBENCH_HOME": str(home)}


def hand_over(arguments: Sequence[str], variables: Mapping[str, str]) -> int:
    """Let the server take this process's place, so that every signal reaches it. Returns on Windows alone."""
    os.chdir(ROOT)  # where .streamlit/config.toml is found
    if os.name == "posix":
        os.execve(arguments[0], list(arguments), dict(variables))
    return subprocess.call(list(arguments), env=dict(variables))


def address(host: str) -> str:
    return f"[{host}]" if ":" in host else host
