"""Files beside documents that hold their metadata: how they are named, and which are named so that none would be read.

A sidecar that nobody reads must not go unnoticed: its labels would not be obeyed. It is refused, and so are the
documents that it may have been written for.
"""

from __future__ import annotations

from collections.abc import Iterable

SIDECARS: tuple[str, ...] = (".meta.yaml", ".meta.json")
"""Endings of the file beside a document that holds its metadata: `a.md.meta.yaml`."""
_ALIKE = (*SIDECARS, ".meta.yml")


def is_sidecar(name: str) -> bool:
    """Also where its ending is not spelt as one that is read."""
    return name.lower().endswith(_ALIKE)


def astray(names: Iterable[str]) -> dict[str, str]:
    """The sidecars among the file names of one folder that belong to none of them, and how each should be named."""
    there = set(names)
    found = {}
    for name in filter(is_sidecar, there):
        document = _document_of(name)
        if not (name.endswith(SIDECARS) and document in there):
            found[name] = f"{_meant(document, there) or 'FILE'}{_ending(name)}"
    return found


def left_without(document: str, strays: Iterable[str]) -> str | None:
    """Of the sidecars gone astray the first that may have been meant for a document of this name."""
    stem = _stem(document)
    return next((name for name in sorted(strays) if _stem(_document_of(name)) == stem), None)


def _document_of(sidecar: str) -> str:
    return sidecar[: sidecar.lower().rindex(".meta.")]


def _meant(document: str, names: set[str]) -> str | None:
    alike = sorted(name for name in names if not is_sidecar(name) and _stem(name) == _stem(document))
    return alike[0] if len(alike) == 1 else None


def _stem(name: str) -> str:
    """`plan` of `Plan.HTML`, `plan.htm` and `plan`."""
    stem = name.lower()
    return stem.rpartition(".")[0] or stem


def _ending(sidecar: str) -> str:
    return ".meta.json" if sidecar.lower().endswith(".json") else ".meta.yaml"
