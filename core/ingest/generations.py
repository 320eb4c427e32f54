"""Generations of a collection's tables: the next is filled beside the one in force and takes its place in one step."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.ports import ChunkStore, DocumentWrite
from core.settings import Settings
from core.store.documents import provenance_from_json
from core.store.lance import open_store
from core.store.registry import Collection, drop_other_generations, store_folder, update_collection
from core.types import Chunk, Document

if TYPE_CHECKING:
    import pyarrow as pa

    from core.ports import Vectors

PER_COMMIT = 1_000


def replace_tables(
    home: Path,
    current: Collection,
    store: ChunkStore,
    writes: Sequence[DocumentWrite],
    settings: Settings,
    *,
    embedder: str,
    fingerprint: str,
    dimension: int,
) -> Collection:
    """Fill the next generation with `writes`, whose texts `store` has, put it in force, and delete all others.

    The caller holds the collection (`Library.writing`). Whoever still reads the old tables learns of the new ones when
    they are gone. Raises StoreFailure, and InputError where the collection was changed meanwhile.
    """
    generation = current.generation + 1
    folder = store_folder(home, current.name, generation)
    shutil.rmtree(folder)  # what one that died left there would otherwise bring removed documents back
    target = open_store(store_folder(home, current.name, generation), dimension, settings.store)
    for first in range(0, len(writes), PER_COMMIT):
        part = writes[first : first + PER_COMMIT]
        held = store.texts(sorted({write.document.text_hash for write in part}))
        target.commit([DocumentWrite(w.document, held[w.document.text_hash], w.chunks, w.vectors) for w in part])
    changed = update_collection(
        home, current, embedder=embedder, fingerprint=fingerprint, dimension=dimension, generation=generation
    )
    drop_other_generations(home, changed)
    return changed


def stored_writes(documents: Sequence[Document], chunks: pa.Table, vectors: Vectors | None) -> list[DocumentWrite]:
    """Documents as they are stored, to be written again: with `vectors`, one row a chunk, or None: with their own."""
    rows: dict[str, list[tuple[Chunk, int]]] = {document.document_id: [] for document in documents}
    for at, row in enumerate(chunks.drop(["vector"]).to_pylist()):
        del row["seq"]
        provenance = provenance_from_json(row.pop("provenance"))
        rows[row["document_id"]].append((Chunk(**row, provenance=provenance), at))
    writes = []
    for document in documents:
        found = sorted(rows[document.document_id], key=lambda item: item[0].ordinal)
        places = np.array([at for _, at in found], np.int64)
        own = _stored(chunks, places) if vectors is None else vectors[places]
        writes.append(DocumentWrite(document, None, tuple(chunk for chunk, _ in found), own))
    return writes


def _stored(chunks: pa.Table, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Vectors | None:
    """The vectors of rows; None where one of them has none yet."""
    found = chunks["vector"].take(places)
    if found.null_count or not len(found):
        return None
    width = chunks.schema.field("vector").type.list_size
    return np.asarray(found.combine_chunks().flatten(), np.float32).reshape(len(places), width)
