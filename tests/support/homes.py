"""Homes on disk for tests: real stores, and an embedder that needs no model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from core.home import Workbench
from core.types import Labels, Principal

EMBEDDER = "hash:64"
OPEN = Labels("public", ("*",))
OWNER = Principal("olga", frozenset({"staff"}), "internal", (("*", ("owner",)),))
GUEST = Principal("guest")


def opened(home: Path, collection: str | None = "c", defaults: Labels | None = OPEN) -> Workbench:
    """The home, with `collection` made where it is not there."""
    workbench = Workbench.open(home)
    if collection is not None and collection not in [held.name for held in workbench.collections()]:
        workbench.create_collection(collection, OWNER, defaults=defaults, embedder=EMBEDDER)
    return workbench


def files(folder: Path, contents: Mapping[str, str | bytes]) -> Path:
    """A folder with these files in it, made or added to."""
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder
