"""Rebuilding: every derived structure anew from what is stored: vectors, snapshots, and the table's layout."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from core.ingest.generations import replace_tables, stored_writes
from core.library import Library
from core.ports import ChunkStore, DocumentWrite
from core.settings import Settings
from core.store.registry import Collection


@dataclass(frozen=True, slots=True)
class RebuildReport:
    collection: str
    documents: int
    chunks: int
    embedder: str
    index_version: int


def rebuild(
    home: Path, collection: Collection, library: Library, settings: Settings, embedder: str | None = None
) -> RebuildReport:
    """Rebuild a collection, with another embedder where one is given. Searches go on meanwhile, on the old state.

    With the same embedder, missing vectors are made and the table is compacted. With another one (or one whose
    vectors have changed), a second table is filled beside the first and takes its place in one step.
    Raises EmbedderUnavailable, StoreFailure.
    """
    chosen = library.embedder(embedder or collection.embedder)
    texts = library.store(collection.name).since(0).chunks["indexed_text"].to_pylist()
    chosen.passages(texts)
    with library.writing(collection.name) as (current, store):
        delta = store.since(0)
        vectors = chosen.passages(delta.chunks["indexed_text"].to_pylist())
        writes = stored_writes(delta.documents, delta.chunks, vectors)
        if chosen.fingerprint == current.fingerprint and chosen.dimension == current.dimension:
            _mend(store, writes, delta.chunks)
            store.compact()
        else:
            replace_tables(
                home,
                current,
                store,
                writes,
                settings,
                embedder=chosen.spec,
                fingerprint=chosen.fingerprint,
                dimension=chosen.dimension,
            )
        library.forget_snapshot(collection.name)
    head = library.head(collection.name)
    return RebuildReport(collection.name, len(delta.documents), len(delta.chunks), chosen.spec, head)


def _mend(store: ChunkStore, writes: list[DocumentWrite], chunks: pa.Table) -> None:
    """Commit the documents whose stored vectors are not those of the cache, all at once."""
    stored = dict(zip(chunks["chunk_id"].to_pylist(), chunks["vector"].to_pylist(), strict=True))
    stale = []
    for write in writes:
        assert write.chunks is not None
        assert write.vectors is not None
        held = [stored[chunk.chunk_id] for chunk in write.chunks]
        if not held:
            continue
        if any(vector is None for vector in held) or not np.array_equal(np.array(held, np.float32), write.vectors):
            stale.append(write)
    if stale:
        store.commit(stale)
