"""The collections of a home as a search sees them: newest snapshots, scopes, query vectors and canonical texts.

Shared by all users of a process. What is kept here is keyed by everything it depends on, permission included.
"""

from __future__ import annotations

import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from core.access import PermissionSet
from core.candidates import CandidateSet, restrict
from core.errors import EmbedderMismatch, StoreFailure
from core.models.embedders import make_embedder
from core.models.vector_cache import CachedEmbedder, VectorCache
from core.ports import ChunkStore
from core.scope import boundary_index
from core.settings import Settings
from core.snapshot import Snapshot, empty, join, refresh
from core.snapshot_cache import SnapshotCache
from core.store.files import locked
from core.store.lance import open_store
from core.store.registry import Collection, collection_folder, list_collections, read_collection, store_folder
from core.store.sources import FOLDER as SOURCES
from core.store.sources import SourceFiles
from core.text_cache import TextCache

Result = TypeVar("Result")

SCOPES_KEPT = 64
JOINS_KEPT = 4
TEXTS_KEPT_CHARS = 20_000_000


class Library:
    """Thread-safe. One per home and process."""

    def __init__(self, home: Path, settings: Settings) -> None:
        self._home, self._settings = home, settings
        self._lock = threading.Lock()
        self._opened: dict[str, _Opened] = {}
        self._joins: OrderedDict[tuple[int, ...], Snapshot] = OrderedDict()
        self._texts = _Texts(TEXTS_KEPT_CHARS)
        self._embedders: dict[str, CachedEmbedder] = {}
        self._vectors = VectorCache(home / "vectors.sqlite")

    def collection(self, name: str) -> Collection:
        """Raises UnknownCollection."""
        return read_collection(self._home, name)

    def collections(self) -> list[Collection]:
        return list(list_collections(self._home))

    def store(self, name: str) -> ChunkStore:
        return self._open(self.collection(name)).store

    def head(self, name: str) -> int:
        """Number of the newest commit of a collection. Raises UnknownCollection, StoreFailure."""
        return self.store(name).head()

    @contextmanager
    def writing(self, name: str) -> Iterator[tuple[Collection, ChunkStore]]:
        """The collection and its store as they are now, while no other process writes to or rebuilds it.

        Raises UnknownCollection, StoreFailure.
        """
        folder = collection_folder(self._home, self.collection(name).name)
        with locked(folder / "ingest.lock", self._settings.store.lock_timeout_s, f"collection {name!r}"):
            collection = self.collection(name)
            yield collection, self._open(collection).store

    def snapshot(self, names: Sequence[str]) -> Snapshot:
        """The newest state of the collections, as one. Raises UnknownCollection, EmbedderMismatch."""
        # By the collection's own name: one that is named in two spellings is still one.
        found = list({collection.name: collection for collection in map(self.collection, names)}.values())
        if len({collection.fingerprint for collection in found}) > 1:
            raise EmbedderMismatch(
                f"collections {', '.join(names)} have vectors of different embedders",
                "search them one by one, or rebuild one with the other's embedder",
            )
        parts = [self._reading(collection, _Opened.newest) for collection in found]
        if len(parts) == 1:
            return parts[0]
        key = tuple(map(id, parts))
        with self._lock:
            joined = self._joins.get(key)
            if joined is None:
                joined = self._joins[key] = join(parts)
                joined.__dict__["_parts"] = parts  # keeps their ids from being given to others
                while len(self._joins) > JOINS_KEPT:
                    self._joins.popitem(last=False)
        return joined

    def candidates(self, collections: Sequence[str], permission: PermissionSet, as_of: int) -> CandidateSet:
        snapshot = self.snapshot(collections)
        sees = bytes(permission.sees(labels) for labels in snapshot.classes)
        key = (sees, boundary_index(snapshot.boundaries, as_of))
        scopes: OrderedDict[Any, CandidateSet] = snapshot.__dict__.setdefault("_scopes", OrderedDict())
        found = scopes.get(key)
        if found is None:
            found = restrict(snapshot, permission, as_of)
            with self._lock:
                scopes[key] = found
                while len(scopes) > SCOPES_KEPT:
                    scopes.popitem(last=False)
        return found

    def everything(self, collection: str) -> CandidateSet:
        """All documents of a collection, for its owner's housekeeping; never for a search."""
        snapshot = self.snapshot([collection])
        return CandidateSet(snapshot, snapshot.documents.present, snapshot.alive)

    def embedder(self, spec: str) -> CachedEmbedder:
        with self._lock:
            if spec not in self._embedders:
                batch = self._settings.embedding.batch
                self._embedders[spec] = CachedEmbedder(make_embedder(spec), self._vectors, batch)
            return self._embedders[spec]

    def embedder_of(self, collection: Collection) -> CachedEmbedder:
        """Raises EmbedderMismatch where the embedder is no longer the one that made the collection's vectors."""
        embedder = self.embedder(collection.embedder)
        if embedder.fingerprint != collection.fingerprint:
            raise EmbedderMismatch(
                f"collection {collection.name!r} was embedded by {collection.fingerprint},"
                f" but {collection.embedder} is now {embedder.fingerprint}",
                f"run `workbench rebuild --collection {collection.name}`",
            )
        return embedder

    def embed_query(self, collections: Sequence[str], query: str, fingerprint: str) -> npt.NDArray[np.float32]:
        embedder = self.embedder_of(self.collection(collections[0]))
        if embedder.fingerprint != fingerprint:
            raise StoreFailure("the collection was given another embedder meanwhile", "search again")
        return embedder.query(query)

    def texts(self, collection: str, text_hashes: Sequence[str]) -> Mapping[str, str]:
        def fetch(hashes: Sequence[str]) -> Mapping[str, str]:
            return self._reading(self.collection(collection), lambda opened, _: opened.texts(hashes))

        return self._texts.get(text_hashes, fetch)

    def sources(self, collection: str) -> SourceFiles:
        """The kept files of a collection. Raises UnknownCollection."""
        return SourceFiles(collection_folder(self._home, self.collection(collection).name) / SOURCES)

    def forget_vectors(self, text_hashes: Sequence[str]) -> None:
        """Remove texts' vectors, of any embedder, from the home's cache. Raises StoreFailure."""
        self._vectors.forget(text_hashes)

    def forget(self, name: str) -> None:
        """Drop what is kept of a collection in this process."""
        with self._lock:
            self._opened.pop(name, None)
            self._joins.clear()
        self._texts.clear()

    def forget_snapshot(self, name: str) -> None:
        """Drop a collection's snapshot here and on disk; the next search builds it from the store."""
        collection = self.collection(name)
        shutil.rmtree(store_folder(self._home, name, collection.generation) / "snapshot", ignore_errors=True)
        self.forget(name)

    def _reading(self, collection: Collection, read: Callable[[_Opened, Collection], Result]) -> Result:
        """What `read` gives; once more where the collection has got other tables while it was at it."""
        try:
            return read(self._open(collection), collection)
        except StoreFailure:
            now = self.collection(collection.name)
            if now.identity == collection.identity:
                raise
            return read(self._open(now), now)

    def _open(self, collection: Collection) -> _Opened:
        with self._lock:
            opened = self._opened.get(collection.name)
            if opened is None or opened.identity != collection.identity:
                opened = self._opened[collection.name] = _Opened(self._home, collection, self._settings)
            return opened


class _Opened:
    """An open collection and its newest snapshot."""

    def __init__(self, home: Path, collection: Collection, settings: Settings) -> None:
        folder = store_folder(home, collection.name, collection.generation)
        self.identity = collection.identity
        self.store: ChunkStore = open_store(folder, collection.dimension, settings.store)
        self._cache = SnapshotCache.at(folder / "snapshot")
        self._texts = TextCache(folder / "snapshot" / "texts.sqlite")
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._revision = -1

    def newest(self, collection: Collection) -> Snapshot:
        with self._lock:
            head = self.store.head()  # read outside, it could lie behind what another thread has put here since
            held = self._snapshot
            default = collection.default_labels
            if held is None:
                held = self._cache.load(collection.name, collection.dimension, default)
                held = replace(held, embedder=collection.fingerprint) if held else self._empty(collection)
                self._revision = collection.revision
            if held.versions[collection.name] > head:  # a cache from a store that was rolled back or replaced
                held = self._empty(collection)
            if held.versions[collection.name] < head or self._revision != collection.revision or self._snapshot is None:
                held = refresh(held, self.store.since(held.versions[collection.name]), default)
                if self._cache.worth_saving(held):
                    self._cache.save(held)
                    documents = held.documents
                    living = {documents[number].text_hash for number in np.flatnonzero(documents.present).tolist()}
                    self._texts.hold(living, self.store.texts)
                self._snapshot, self._revision = held, collection.revision
            return held

    @staticmethod
    def _empty(collection: Collection) -> Snapshot:
        return empty(collection.name, collection.dimension, collection.fingerprint)

    def texts(self, text_hashes: Sequence[str]) -> Mapping[str, str]:
        return self._texts.get(text_hashes, self.store.texts)


class _Texts:
    """Canonical texts by hash, the least recently used ones dropped beyond `limit` characters."""

    def __init__(self, limit: int) -> None:
        self._limit, self._held, self._chars = limit, OrderedDict[str, str](), 0
        self._lock = threading.Lock()

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
            self._chars = 0

    def get(self, hashes: Sequence[str], fetch: Callable[[Sequence[str]], Mapping[str, str]]) -> dict[str, str]:
        with self._lock:
            found = {name: self._held[name] for name in hashes if name in self._held}
            for name in found:
                self._held.move_to_end(name)
        missing = [name for name in hashes if name not in found]
        if missing:
            fetched = fetch(missing)
            found.update(fetched)
            with self._lock:
                for name, text in fetched.items():
                    if name not in self._held:
                        self._held[name] = text
                        self._chars += len(text)
                while self._chars > self._limit and len(self._held) > 1:
                    self._chars -= len(self._held.popitem(last=False)[1])
        return found
