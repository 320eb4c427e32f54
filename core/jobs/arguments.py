"""What each kind of job is told to do, as JSON that means the same in the worker's process."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from core.errors import InputError
from core.ingest.read import safe_relative
from core.ingest.sidecars import is_sidecar
from core.jobs.records import Kind, jobs_failure
from core.store.files import sync_file
from core.types import Role

ROLES: Mapping[Kind, Role] = {"ingest": "owner", "rebuild": "owner", "purge": "owner", "evaluate": "evaluator"}
"""What whoever submits, cancels or resumes a job must hold on its collection."""

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "ingest": ("paths", "metadata", "retain"),
    "rebuild": ("embedder",),
    "purge": ("names",),
}
_COPY_BYTES = 1 << 20


def checked(kind: Kind, arguments: Mapping[str, Any], with_uploads: bool) -> dict[str, Any]:
    """The arguments as JSON, paths absolute. Raises InputError."""
    if kind not in ARGUMENTS:
        raise InputError(f"there are no background jobs of the kind {kind!r}", f"kinds: {', '.join(ARGUMENTS)}")
    unknown = sorted(set(arguments) - set(ARGUMENTS[kind]))
    if unknown:
        raise InputError(f"{unknown[0]!r} says nothing to a job of the kind {kind!r}", _allowed(kind))
    if with_uploads and kind != "ingest":
        raise InputError(f"a job of the kind {kind!r} takes no files", "submit them for ingestion")
    given = {key: value for key, value in arguments.items() if value is not None}
    if kind == "ingest":
        return _of_ingestion(given, with_uploads)
    if kind == "purge":
        names = _several(given.get("names", ()), "names")
        if not all(isinstance(name, str) for name in names):
            raise InputError("names of documents are texts", "name them by id, path or file name")
        given["names"] = list(names)
    elif not isinstance(given.get("embedder", ""), str):
        raise InputError("an embedder is named by a text", "name it as the settings do")
    return given


def _of_ingestion(given: dict[str, Any], with_uploads: bool) -> dict[str, Any]:
    paths = [_absolute(path) for path in _several(given.get("paths", ()), "paths")]
    if not paths and not with_uploads:
        raise InputError("there is nothing to ingest", "name files or folders")
    if not isinstance(given.get("retain", False), bool):
        raise InputError("retain is yes or no", "give it as true or false")
    metadata = {"metadata": _absolute(given["metadata"])} if "metadata" in given else {}
    return {**given, "paths": paths, **metadata}


def check_uploads(uploads: Mapping[str, bytes | IO[bytes]]) -> dict[str, bytes | IO[bytes]]:
    """By the names as documents will have them. Raises InputError where one cannot be a document's."""
    named: dict[str, bytes | IO[bytes]] = {}
    for given, content in uploads.items():
        name = safe_relative(given)
        if any(part.startswith(".") for part in name.split("/")):
            raise InputError(f"{name}: hidden files are not ingested", "rename it, or leave it out")
        if name in named:
            raise InputError(f"two files are named {name!r}", "rename one")
        named[name] = content
    if named and all(is_sidecar(name) for name in named):
        raise InputError("there is nothing to ingest but metadata", "send the documents they belong to as well")
    return named


def save_uploads(folder: Path, uploads: Mapping[str, bytes | IO[bytes]]) -> None:
    """Durable on return. Raises StoreFailure."""
    try:
        for name, content in uploads.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    content.seek(0)
                    while block := content.read(_COPY_BYTES):
                        file.write(block)
                file.flush()
                os.fsync(file.fileno())
        for made, _, _ in os.walk(folder):
            sync_file(Path(made))
    except (FileExistsError, IsADirectoryError, NotADirectoryError):
        raise InputError("a file and a folder among the files have one name", "rename one") from None
    except OSError as error:
        raise jobs_failure(folder.parent, error) from None


def _absolute(path: Any) -> str:
    if not isinstance(path, str | Path):
        raise InputError(f"{path!r} is no path", "give paths as text")
    return os.path.abspath(os.path.expanduser(path))


def _several(value: Any, key: str) -> Sequence[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InputError(f"{key} is no list", "give it as a list")
    return value


def _allowed(kind: Kind) -> str:
    return f"it knows {', '.join(ARGUMENTS[kind])}"
