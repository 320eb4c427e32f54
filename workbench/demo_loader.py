"""Loads the demo collection: its documents, its people, and the vectors that spare embedding them.

What was loaded is noted in the home, so that loading it again costs nothing and undoes no change made since.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import UnknownCollection
from core.principals import FILE as PRINCIPALS
from core.principals import load_principals
from core.store.registry import read_collection
from core.types import Principal
from workbench.demo_vectors import give_vectors

if TYPE_CHECKING:
    from core.home import Workbench
    from core.ingest.report import IngestReport

COLLECTION = "demo"
DEMO = Path(__file__).resolve().parent / "demo"
DOCUMENTS = DEMO / "documents"
NOTE = "demo.json"


@dataclass(frozen=True, slots=True)
class DemoReport:
    people_copied: bool
    """The home had no principals.toml and now has the demo's."""
    people_missing: tuple[str, ...]
    """Of the demo's, those whom the home's own principals.toml does not name."""
    vectors_shipped: bool
    """False: the embedder is another than that of the shipped vectors, so texts were embedded here."""
    ingest: IngestReport


def is_loaded(home: Path) -> bool:
    """Whether the demo as it is shipped was loaded into the collection as it is. Opens no table."""
    try:
        note = json.loads((home / NOTE).read_text("utf-8"))
        return bool(note == _note(home))
    except (OSError, ValueError, UnknownCollection):
        return False


def load_demo(
    workbench: Workbench, principal: Principal, *, reset: bool = False, progress: Callable[[str], None] | None = None
) -> DemoReport:
    """Load the demo collection; with `reset`, drop it before. Nothing else in the home is changed.

    Raises PermissionUnavailable (principals.toml is there and cannot be read), RoleMissing, EmbedderUnavailable,
    StoreFailure.
    """
    home = workbench.home
    copied = copy_people(home)
    missing = people_missing(home)
    (home / NOTE).unlink(missing_ok=True)
    present = any(collection.name == COLLECTION for collection in workbench.collections())
    if present and reset:
        workbench.drop_collection(COLLECTION, principal)
    if reset or not present:
        workbench.create_collection(COLLECTION, principal)
    embedder = workbench.library.embedder_of(workbench.library.collection(COLLECTION))
    shipped = give_vectors(home, embedder.fingerprint)
    report = workbench.ingest([DOCUMENTS], COLLECTION, principal, progress=progress)
    (home / NOTE).write_text(json.dumps(_note(home)), "utf-8")
    return DemoReport(copied, missing, shipped, report)


def copy_people(home: Path) -> bool:
    """The demo's principals.toml into a home that has none; a file that is there is never touched."""
    content = (DEMO / PRINCIPALS).read_bytes()
    try:
        with open(home / PRINCIPALS, "xb") as file:
            file.write(content)
    except FileExistsError:
        return False
    return True


def people_missing(home: Path) -> tuple[str, ...]:
    """The demo's people whom the home's principals.toml does not name. Raises PermissionUnavailable."""
    known = load_principals(home).names()
    return tuple(name for name in load_principals(DEMO).names() if name not in known)


def _note(home: Path) -> dict[str, str]:
    """What is shipped, and into which collection it goes. Raises UnknownCollection."""
    return {"content": _content(), "collection": read_collection(home, COLLECTION).identity}


def _content() -> str:
    """SHA-256 over names and bytes of all shipped documents."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(DOCUMENTS):
        folders.sort()
        for name in sorted(files):
            path = Path(folder, name)
            for part in (path.relative_to(DOCUMENTS).as_posix().encode(), path.read_bytes()):
                digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
