"""Whose home, who asks, and how far a long task has come."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InputError, PermissionUnavailable
from workbench.cli.output import one_line, terminal_width, width

if TYPE_CHECKING:
    from core.home import Workbench
    from core.types import Principal

HOME = ".workbench"


def home_of(args: argparse.Namespace) -> Path:
    """`--home`, else WORKBENCH_HOME, else `.workbench` in the working directory; absolute.

    Raises InputError where a file is in its place.
    """
    given = getattr(args, "home", None) or os.environ.get("WORKBENCH_HOME") or HOME
    home = Path(given).expanduser().resolve()
    if home.exists() and not home.is_dir():
        raise InputError(f"the home {home} is not a folder", "name one with --home or WORKBENCH_HOME")
    return home


def opened(args: argparse.Namespace, settings_file: str | None = None) -> Workbench:
    """The home, made where there is none. Raises SettingsError, InputError."""
    from core.home import Workbench

    return Workbench.open(home_of(args), settings_file)


def opened_to_read(args: argparse.Namespace, settings_file: str | None = None) -> Workbench:
    """The home, which must be there: where nothing was ever made, nobody is named either.

    Raises PermissionUnavailable, SettingsError.
    """
    home = home_of(args)
    if not home.is_dir():
        raise PermissionUnavailable(
            f"there is no home {home}", "name one with --home, or make one with `workbench demo`"
        )
    return opened(args, settings_file)


def manager(args: argparse.Namespace, workbench: Workbench) -> Principal:
    """`--as`, whose roles then count, else the operator. Raises PermissionUnavailable."""
    return workbench.operator() if args.principal is None else workbench.principal(args.principal)


class Progress:
    """One line on stderr that is written over again; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        self._shown = 0

    def __call__(self, text: str) -> None:
        if sys.stderr.isatty():
            line = one_line(text)[: terminal_width() // 2]
            sys.stderr.write("\r" + line + " " * max(0, self._shown - width(line)))
            sys.stderr.flush()
            self._shown = width(line)

    def done(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
            self._shown = 0
