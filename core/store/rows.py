"""What a commit is made of: the check of what is written, and the rows that a collection's log holds.

The log has two kinds of rows. A *document* row is the state of one document as of one commit; a later one supersedes
it. A *chunk* row is live while it bears the commit number that its document's newest row names in `chunks_seq`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from core.errors import EmbedderMismatch, InputError, IntegrityFailure
from core.ports import DocumentWrite, Vectors, chunk_schema
from core.store.documents import digest, document_from_json, document_to_json, provenance_to_json
from core.types import Chunk, Document, text_hash

DOCUMENT_ROW, CHUNK_ROW = 0, 1
STATE_COLUMNS = ("seq", "document_id", "chunks_seq", "chunk_count", "removed")
DOCUMENT_COLUMNS = (*STATE_COLUMNS, "document", "digest")

_ID = re.compile(r"[0-9a-f]{32}")
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class State:
    """A document's newest row without its metadata."""

    seq: int
    chunks_seq: int
    """Commit that wrote its chunks."""
    chunk_count: int
    removed: bool


def is_id(value: str) -> bool:
    """32 hex digits: safe inside a filter."""
    return _ID.fullmatch(value) is not None


def is_hash(value: str) -> bool:
    """64 hex digits: safe inside a filter."""
    return _HASH.fullmatch(value) is not None


def log_schema(dimension: int) -> pa.Schema:
    fields = [pa.field("kind", pa.int8(), nullable=False)]
    for field in chunk_schema(dimension):
        fields.append(field if field.name in ("seq", "document_id") else field.with_nullable(True))
    fields += [
        pa.field("chunks_seq", pa.int64()),
        pa.field("chunk_count", pa.int64()),
        pa.field("removed", pa.bool_()),
        pa.field("document", pa.string()),
        pa.field("digest", pa.string()),
    ]
    return pa.schema(fields)


def text_schema() -> pa.Schema:
    return pa.schema(
        [pa.field("text_hash", pa.string(), nullable=False), pa.field("text", pa.string(), nullable=False)]
    )


def check_batch(writes: Sequence[DocumentWrite], removed: Sequence[str], dimension: int) -> None:
    """Raises InputError, and EmbedderMismatch for vectors of another dimension, before anything is written."""
    ids = [write.document.document_id for write in writes]
    if len({*ids, *removed}) != len(ids) + len(removed):
        raise InputError("one document is named twice in one commit", "commit one after the other")
    for identity in (*ids, *removed):
        if not is_id(identity):
            raise InputError(f"{identity!r} is no document id", "derive it with core.types.document_id")
    for write in writes:
        _check_text(write)
        _check_chunks(write)
        _check_vectors(write, dimension)


def _check_text(write: DocumentWrite) -> None:
    if not is_hash(write.document.text_hash):
        raise InputError(f"{write.document.text_hash!r} is no text hash", "derive it with core.types.text_hash")
    if write.text is not None:
        try:
            write.text.encode()
        except UnicodeEncodeError:
            raise InputError(f"the text of {write.document.path!r} is not valid Unicode", "convert the file") from None
        if text_hash(write.text) != write.document.text_hash:
            raise InputError(f"the text of {write.document.path!r} does not match its hash")


def _check_chunks(write: DocumentWrite) -> None:
    path = write.document.path
    seen: set[str] = set()
    for chunk in write.chunks or ():
        if not is_id(chunk.chunk_id):
            raise InputError(f"{chunk.chunk_id!r} is no chunk id", "derive it with core.types.chunk_id")
        if chunk.document_id != write.document.document_id:
            raise InputError(f"a chunk of {path!r} names another document")
        if chunk.chunk_id in seen:
            raise InputError(f"two chunks of {path!r} have one id", "two equal spans cannot be told apart")
        seen.add(chunk.chunk_id)


def _check_vectors(write: DocumentWrite, dimension: int) -> None:
    path, vectors = write.document.path, write.vectors
    if vectors is None:
        return
    if write.chunks is None or vectors.ndim != 2 or len(vectors) != len(write.chunks):
        raise InputError(f"{path!r} does not come with one vector a chunk")
    if vectors.shape[1] != dimension:
        remedy = "use the collection's embedder, or rebuild the collection with the new one"
        raise EmbedderMismatch(f"the collection has {dimension} dimensions, the vectors {vectors.shape[1]}", remedy)
    if not np.isfinite(vectors).all():
        raise InputError(f"a vector of {path!r} is not finite", "install the embedder's model again, or name another")


def chunk_table(seq: int, chunks: Sequence[Chunk], vectors: Vectors | None, dimension: int) -> pa.Table:
    """Rows of one document's chunks, columns of `chunk_schema`. Raises InputError."""
    schema = chunk_schema(dimension)
    columns: dict[str, Any] = {
        "seq": [seq] * len(chunks),
        "document_id": [chunk.document_id for chunk in chunks],
        "provenance": [provenance_to_json(chunk.provenance) for chunk in chunks],
        "vector": _vector_array(vectors, len(chunks), dimension),
    }
    for name in ("chunk_id", "ordinal", "start", "end", "indexed_text", "chunk_hash", "section_anchor"):
        columns[name] = [getattr(chunk, name) for chunk in chunks]
    try:
        return pa.table([columns[name] for name in schema.names], schema=schema)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
        raise InputError(f"a chunk cannot be stored ({error})") from None


def _vector_array(vectors: Vectors | None, count: int, dimension: int) -> pa.Array:
    if vectors is None:
        return pa.nulls(count, pa.list_(pa.float32(), dimension))
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(vectors, np.float32).ravel()), dimension)


def log_rows(
    seq: int,
    writes: Sequence[DocumentWrite],
    removed: Sequence[str],
    kept: Mapping[str, State],
    dimension: int,
) -> pa.Table:
    """The rows of one commit. `kept` holds the state of each document whose chunks stay. Raises InputError."""
    schema = log_schema(dimension)
    tables, documents = [], []
    for write in writes:
        identity = write.document.document_id
        if write.chunks is None:
            state = State(seq, kept[identity].chunks_seq, kept[identity].chunk_count, removed=False)
        else:
            state = State(seq, seq, len(write.chunks), removed=False)
            tables.append(_as_log(chunk_table(seq, write.chunks, write.vectors, dimension), schema))
        documents.append(_document_row(identity, state, document_to_json(write.document)))
    documents += [_document_row(identity, State(seq, seq, 0, removed=True), None) for identity in removed]
    return pa.concat_tables([*tables, _documents_as_log(documents, schema)])


def _as_log(chunks: pa.Table, schema: pa.Schema) -> pa.Table:
    count = chunks.num_rows
    columns = []
    for field in schema:
        if field.name == "kind":
            columns.append(pa.array([CHUNK_ROW] * count, pa.int8()))
        elif field.name in chunks.column_names:
            columns.append(chunks[field.name])
        else:
            columns.append(pa.nulls(count, field.type))
    return pa.table(columns, schema=schema)


def _documents_as_log(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    return pa.table(
        [pa.array([row.get(field.name) for row in rows], field.type) for field in schema],
        schema=schema,
    )


def _document_row(identity: str, state: State, document: str | None) -> dict[str, Any]:
    row = {
        "seq": state.seq,
        "document_id": identity,
        "chunks_seq": state.chunks_seq,
        "chunk_count": state.chunk_count,
        "removed": state.removed,
        "document": document,
    }
    return {**row, "kind": DOCUMENT_ROW, "digest": digest(row)}


def read_state(row: Mapping[str, Any]) -> State:
    """From the STATE_COLUMNS of a document row. Raises IntegrityFailure."""
    if any(row[name] is None for name in STATE_COLUMNS):
        raise damaged(row["document_id"])
    return State(row["seq"], row["chunks_seq"], row["chunk_count"], row["removed"])


def read_document(row: Mapping[str, Any]) -> tuple[State, Document | None]:
    """From the DOCUMENT_COLUMNS of a document row, checked against its digest; None: removed.

    Raises IntegrityFailure naming the document.
    """
    content = {name: row[name] for name in DOCUMENT_COLUMNS if name != "digest"}
    if digest(content) != row["digest"]:
        raise damaged(row["document_id"])
    state = read_state(row)
    if state.removed:
        return state, None
    document = document_from_json(row["document"])
    if document.document_id != row["document_id"]:
        raise damaged(row["document_id"])
    return state, document


def damaged(identity: str) -> IntegrityFailure:
    return IntegrityFailure(f"the stored rows of document {identity} are damaged", "re-ingest it or restore a backup")


def as_chunks(rows: pa.Table, dimension: int) -> pa.Table:
    """Log rows of chunks as exactly `chunk_schema`. Raises IntegrityFailure where a value is missing."""
    schema = chunk_schema(dimension)
    columns = []
    for field in schema:
        column = rows[field.name]
        if not field.nullable and column.null_count:
            place = column.is_null().to_pylist().index(True)
            raise damaged(str(rows["document_id"][place].as_py()))
        columns.append(column)
    return pa.table(columns, schema=schema)


def live_mask(rows: pa.Table, states: Mapping[str, State]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which chunk rows belong to the newest state of their document; shape (rows,)."""
    if not rows.num_rows:
        return np.zeros(0, np.bool_)
    coded = rows["document_id"].combine_chunks().dictionary_encode()
    wanted = [_live_seq(states.get(identity)) for identity in coded.dictionary.to_pylist()]
    codes = coded.indices.to_numpy(zero_copy_only=False)
    mask: np.ndarray[Any, np.dtype[np.bool_]] = np.asarray(wanted, np.int64)[codes] == rows["seq"].to_numpy()
    return mask


def _live_seq(state: State | None) -> int:
    return -1 if state is None or state.removed else state.chunks_seq


def check_counts(chunks: pa.Table, expected: Mapping[str, int]) -> None:
    """Every document has all of its chunks. `expected`: their number by document. Raises IntegrityFailure."""
    found = {item["values"]: item["counts"] for item in chunks["document_id"].value_counts().to_pylist()}
    for identity, count in expected.items():
        if found.get(identity, 0) != count:
            raise damaged(identity)
