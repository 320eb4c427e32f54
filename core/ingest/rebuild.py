"""Rebuilding: every derived structure anew from what is stored: vectors, snapshots, and the table's layout."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from core.library import Library
from core.ports import ChunkStore, DocumentWrite, Vectors
from core.settings import Settings
from core.store.documents import provenance_from_json
from core.store.lance import open_store
from core.store.registry import Collection, store_folder, update_collection
from core.types import Chunk, Document

PER_COMMIT = 1_000


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
        writes = _writes(delta.documents, delta.chunks, vectors)
        if chosen.fingerprint == current.fingerprint and chosen.dimension == current.dimension:
            _mend(store, writes, delta.chunks)
            store.compact()
        else:
            generation = current.generation + 1
            # What a rebuild that died left there would otherwise bring removed documents back.
            shutil.rmtree(store_folder(home, current.name, generation))
            target = open_store(store_folder(home, current.name, generation), chosen.dimension, settings.store)
            for first in range(0, len(writes), PER_COMMIT):
                part = writes[first : first + PER_COMMIT]
                held = store.texts(sorted({write.document.text_hash for write in part}))
                target.commit(
                    [DocumentWrite(w.document, held[w.document.text_hash], w.chunks, w.vectors) for w in part]
                )
            update_collection(
                home,
                current,
                embedder=chosen.spec,
                fingerprint=chosen.fingerprint,
                dimension=chosen.dimension,
                generation=generation,
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


def _writes(documents: tuple[Document, ...], chunks: pa.Table, vectors: Vectors) -> list[DocumentWrite]:
    rows: dict[str, list[tuple[Chunk, int]]] = {document.document_id: [] for document in documents}
    for at, row in enumerate(chunks.drop(["vector"]).to_pylist()):
        del row["seq"]
        provenance = provenance_from_json(row.pop("provenance"))
        rows[row["document_id"]].append((Chunk(**row, provenance=provenance), at))
    writes = []
    for document in documents:
        found = sorted(rows[document.document_id], key=lambda item: item[0].ordinal)
        places = np.array([at for _, at in found], np.int64)
        writes.append(DocumentWrite(document, None, tuple(chunk for chunk, _ in found), vectors[places]))
    return writes
