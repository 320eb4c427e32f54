"""The collections of a home: a folder each, with a small file that says what every process needs to know of it.

    HOME/collections/<key>/collection.json    this
    HOME/collections/<key>/db/                its tables
    HOME/collections/<key>/write.lock         held while they change

Nothing is kept in memory: default labels, settings and drops count from the next query in every process.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import secrets
import shutil
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from core.errors import InputError, IntegrityFailure, UnknownCollection
from core.store.documents import canonical_json, digest, labels_from_json
from core.store.files import WRITE_LOCK, locked, sync_file, write_durably
from core.types import Labels, to_json

NAME_MAX_CHARS = 100
LOCK_TIMEOUT_S = 120.0
_FILE = "collection.json"
_DEBRIS = (".new-", ".dropped-")


@dataclass(frozen=True, slots=True)
class Collection:
    name: str
    default_labels: Labels | None
    """What holds where a document states no labels of its own; None: nothing does."""
    embedder: str
    """As settings name it."""
    fingerprint: str
    """Of the embedder that made its vectors."""
    dimension: int
    created_at: datetime
    revision: int = 1
    """Counts the changes of this value, not those of its documents."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Overrides, by `section.key`."""
    guidance: str = ""
    generation: int = 1
    """Which of its tables is in force; a rebuild with another embedder fills the next one."""

    @property
    def key(self) -> str:
        return collection_key(self.name)

    @property
    def identity(self) -> str:
        """Differs between a collection and one of the same name made later, or with other vectors."""
        return digest([self.name, self.created_at.isoformat(), self.fingerprint, self.dimension, self.generation])[:32]


class Keep:
    """Stands for: as it is."""


KEEP: Final = Keep()


def clean_name(name: str) -> str:
    """The name as it is stored: stripped, Unicode NFC. Raises InputError."""
    if not isinstance(name, str):
        raise InputError(f"{name!r} is no collection name", "give it as text")
    clean = unicodedata.normalize("NFC", name).strip()
    if not 1 <= len(clean) <= NAME_MAX_CHARS:
        raise InputError(f"a collection name has 1 to {NAME_MAX_CHARS} characters", "choose another")
    if clean in (".", "..", "*") or "/" in clean or "\\" in clean:
        raise InputError(f"{clean!r} is no collection name", "leave out slashes, and do not use `.`, `..` or `*`")
    if any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in clean):
        raise InputError("a collection name has no control or invisible characters", "type it anew")
    return clean


def collection_key(name: str) -> str:
    """32 hex digits, whatever the name's script. Raises InputError."""
    return hashlib.sha256(clean_name(name).encode()).hexdigest()[:32]


def collection_folder(home: Path, name: str) -> Path:
    """Where a collection of this name is, or would be. Raises InputError."""
    return home / "collections" / collection_key(name)


def store_folder(home: Path, name: str, generation: int) -> Path:
    """Where the tables of a generation are, made if need be: the first in the collection's folder, others below."""
    folder = collection_folder(home, name)
    if generation > 1:
        folder = folder / f"generation-{generation}"
        folder.mkdir(exist_ok=True)
    return folder


def drop_other_generations(home: Path, collection: Collection) -> None:
    """Delete the tables and snapshots of every generation but the one in force. The caller holds the collection."""
    folder = collection_folder(home, collection.name)
    keep = store_folder(home, collection.name, collection.generation)
    old = [path for path in folder.glob("generation-*") if path != keep]
    old += [folder / name for name in ("db", "snapshot")] if keep != folder else []
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
    sync_file(folder)


def list_collections(home: Path) -> list[Collection]:
    """By name. Raises IntegrityFailure."""
    found = [_read(home / "collections" / key) for key in _keys(home)]
    return sorted((collection for collection in found if collection is not None), key=lambda item: item.name)


def read_collection(home: Path, name: str) -> Collection:
    """One small file is read. Raises UnknownCollection, IntegrityFailure."""
    try:
        folder = collection_folder(home, name)
    except InputError:
        raise UnknownCollection(str(name), _names(home)) from None
    collection = _read(folder)
    if collection is None:
        raise UnknownCollection(clean_name(name), _names(home))
    return collection


def create_collection(
    home: Path,
    name: str,
    *,
    embedder: str,
    fingerprint: str,
    dimension: int,
    defaults: Labels | None = None,
    settings: Mapping[str, Any] | None = None,
    guidance: str = "",
) -> Collection:
    """Raises InputError where the name is taken or is none, StoreFailure."""
    if isinstance(dimension, bool) or not isinstance(dimension, int) or dimension < 1:
        raise InputError(f"{dimension!r} is no number of dimensions", "an embedder has at least one")
    collection = Collection(
        name=clean_name(name),
        default_labels=defaults,
        embedder=embedder,
        fingerprint=fingerprint,
        dimension=dimension,
        created_at=datetime.now(UTC),
        settings=dict(settings or {}),
        guidance=guidance,
    )
    content = _content(collection)
    with _registry(home) as root:
        folder = root / collection.key
        if (folder / _FILE).exists():
            raise InputError(f"a collection {collection.name!r} exists", "drop it first, or choose another name")
        if folder.exists():
            folder.rename(root / f".dropped-{secrets.token_hex(8)}")
        fresh = root / f".new-{secrets.token_hex(8)}"
        fresh.mkdir()
        write_durably(fresh / _FILE, content)
        fresh.rename(folder)
        sync_file(root)
    return collection


def update_collection(
    home: Path,
    collection: Collection,
    *,
    defaults: Labels | Keep | None = KEEP,
    embedder: str | Keep = KEEP,
    fingerprint: str | Keep = KEEP,
    dimension: int | Keep = KEEP,
    settings: Mapping[str, Any] | Keep = KEEP,
    guidance: str | Keep = KEEP,
    generation: int | Keep = KEEP,
) -> Collection:
    """Change `collection` as it was read; nothing is done if somebody else has changed it since.

    Raises InputError in that case, UnknownCollection, StoreFailure.
    """
    given = {
        "default_labels": defaults,
        "embedder": embedder,
        "fingerprint": fingerprint,
        "dimension": dimension,
        "settings": settings,
        "guidance": guidance,
        "generation": generation,
    }
    changes: dict[str, Any] = {key: value for key, value in given.items() if not isinstance(value, Keep)}
    with _registry(home) as root:
        present = read_collection(home, collection.name)
        if (present.revision, present.created_at) != (collection.revision, collection.created_at):
            raise InputError(f"collection {collection.name!r} was changed meanwhile", "look at it and try again")
        changed = dataclasses.replace(present, revision=present.revision + 1, **changes)
        write_durably(root / changed.key / _FILE, _content(changed))
    return changed


def drop_collection(home: Path, name: str, lock_timeout_s: float = LOCK_TIMEOUT_S) -> None:
    """Gone at once for every process, then deleted. Waits for a writer. Raises UnknownCollection, StoreFailure."""
    with _registry(home) as root:
        folder = collection_folder(home, name)
        if not (folder / _FILE).exists():
            raise UnknownCollection(name, _names(home))
        away = root / f".dropped-{secrets.token_hex(8)}"
        # A writer's unfinished commit would otherwise write into a folder that is no longer there.
        with locked(folder / WRITE_LOCK, lock_timeout_s, f"collection {name!r}"):
            folder.rename(away)
            sync_file(root)
        shutil.rmtree(away, ignore_errors=True)


@contextmanager
def _registry(home: Path) -> Iterator[Path]:
    """The folder of all collections, locked, and swept of what a process left that died at it."""
    root = home / "collections"
    root.mkdir(parents=True, exist_ok=True)
    with locked(root / ".lock", LOCK_TIMEOUT_S, "the list of collections"):
        for entry in os.scandir(root):
            if entry.name.startswith(_DEBRIS):
                shutil.rmtree(entry.path, ignore_errors=True)
        yield root


def _keys(home: Path) -> list[str]:
    try:
        with os.scandir(home / "collections") as entries:
            return [entry.name for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []


def _names(home: Path) -> list[str]:
    names = []
    for key in _keys(home):
        with suppress(IntegrityFailure):  # a damaged one does not hide the others
            collection = _read(home / "collections" / key)
            names += [collection.name] if collection is not None else []
    return sorted(names)


def _content(collection: Collection) -> bytes:
    value = to_json(collection)
    try:
        return canonical_json({**value, "digest": digest(value)}).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"collection {collection.name!r} cannot be stored ({error})", "correct its values") from None


def _read(folder: Path) -> Collection | None:
    try:
        content = (folder / _FILE).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        value = json.loads(content)
        if value.pop("digest") != digest(value):
            raise ValueError("it is not what was stored")
        labels = value.pop("default_labels")
        created_at = datetime.fromisoformat(value.pop("created_at"))
        defaults = None if labels is None else labels_from_json(labels)
        collection = Collection(default_labels=defaults, created_at=created_at, **value)
        if collection.key != folder.name:
            raise ValueError("its name is that of another")
    except (AttributeError, InputError, KeyError, TypeError, ValueError) as error:
        remedy = "restore a backup"
        raise IntegrityFailure(f"{folder.name}/{_FILE} is damaged ({error})", remedy) from None
    return collection
