"""A library without files: collections in memory stores, snapshots refreshed as the real one refreshes them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from core.access import PermissionSet
from core.candidates import CandidateSet, restrict
from core.ports import DocumentWrite
from core.snapshot import Snapshot, empty, join, refresh
from core.store.memory import MemoryStore
from core.types import Chunk, Document, Labels, chunk_hash, chunk_id, document_id, text_hash

DIMENSION = 24


class MemoryLibrary:
    """Implements `pipeline.Library`. `refreshes` at each commit where `eager`, else when a search asks."""

    def __init__(self, default: Labels | None = None, eager: bool = False) -> None:
        self.stores: dict[str, MemoryStore] = {}
        self.snapshots: dict[str, Snapshot] = {}
        self.default, self.eager = default, eager
        self.storage_calls = 0

    def commit(self, collection: str, writes: Sequence[DocumentWrite], removed: Sequence[str] = ()) -> None:
        store = self.stores.setdefault(collection, MemoryStore(DIMENSION))
        store.commit(writes, removed)
        if self.eager:
            self.snapshot(collection)

    def snapshot(self, collection: str) -> Snapshot:
        held = self.snapshots.get(collection) or empty(collection, DIMENSION)
        store = self.stores.setdefault(collection, MemoryStore(DIMENSION))
        self.snapshots[collection] = refresh(held, store.since(held.versions[collection]), self.default)
        return self.snapshots[collection]

    def candidates(self, collections: Sequence[str], permission: PermissionSet, as_of: int) -> CandidateSet:
        self.storage_calls += 1
        return restrict(join([self.snapshot(name) for name in collections]), permission, as_of)

    def embed_query(self, collections: Sequence[str], query: str, fingerprint: str) -> npt.NDArray[np.float32]:
        return near_duplicate_vector(query)

    def texts(self, collection: str, text_hashes: Sequence[str]) -> Mapping[str, str]:
        self.storage_calls += 1
        return {name: self.stores[collection].text(name) for name in text_hashes}


def near_duplicate_vector(text: str) -> npt.NDArray[np.float32]:
    """A unit vector that depends on the text's first word, but for noise of a few 1e-8: a matrix product cannot tell
    texts with one first word apart, and orders them differently with every batch and subset."""
    first = text.split(maxsplit=1)[0] if text.split() else ""
    base = np.random.default_rng(_seed(first)).normal(size=DIMENSION)
    noise = np.random.default_rng(_seed(text)).normal(size=DIMENSION) * 3e-8
    vector = base / np.linalg.norm(base) + noise
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def document_write(
    collection: str,
    path: str,
    paragraphs: Sequence[str],
    *,
    labels: Labels = Labels("public", ("*",)),
    **metadata: object,
) -> DocumentWrite:
    """A document whose chunks are its paragraphs."""
    identity = document_id(collection, path)
    text = "\n".join(paragraphs)
    chunks, vectors, start = [], [], 0
    for ordinal, paragraph in enumerate(paragraphs):
        end = start + len(paragraph)
        name = chunk_id(identity, start, end, paragraph)
        chunks.append(Chunk(name, identity, ordinal, start, end, paragraph, chunk_hash(paragraph), f"s{ordinal}"))
        vectors.append(near_duplicate_vector(paragraph))
        start = end + 1
    document = Document(
        document_id=identity,
        path=path,
        title=path,
        text_hash=text_hash(text),
        source_hash=text_hash(text),
        parser="test 1",
        labels=labels,
        **{"knowledge_id": identity, "revision": "1", **metadata},  # type: ignore[arg-type]
    )
    return DocumentWrite(document, text, tuple(chunks), np.array(vectors, np.float32).reshape(len(chunks), DIMENSION))


def _seed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "little")
