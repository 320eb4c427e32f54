"""What there is to choose from before a search: collections and their example questions."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from core.home import Workbench

DEMO = "demo"


@dataclass(frozen=True, slots=True)
class Choice:
    """The collections that a page works on."""

    known: tuple[str, ...]
    chosen: tuple[str, ...]
    unknown: tuple[str, ...]
    """Named, but not there."""


def choose(workbench: Workbench, named: Sequence[str]) -> Choice:
    """Those of `named` that exist; where none is named, the demo collection, else the first."""
    known = tuple(collection.name for collection in workbench.collections())
    chosen = tuple(name for name in named if name in known)
    unknown = tuple(name for name in named if name not in known)
    if not named and known:
        chosen = (DEMO,) if DEMO in known else known[:1]
    return Choice(known, chosen, unknown)


def examples(collections: Sequence[str]) -> tuple[str, ...]:
    """Questions to begin with; only the demo collection brings some."""
    if DEMO not in collections:
        return ()
    content = resources.files("workbench").joinpath("demo", "collection.toml").read_text("utf-8")
    return tuple(str(question) for question in tomllib.loads(content).get("examples", ()))
