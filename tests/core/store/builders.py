"""Small documents whose every part follows from a path and a version, so that a reader can tell what it should see."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core.ports import ChunkStore, Delta, DocumentWrite, Vectors
from core.settings import Store
from core.types import Chunk, Document, Labels, chunk_hash, chunk_id, document_id, text_hash

DIMENSION = 4
PUBLIC = Labels("public", ("*",))


def identity(path: str) -> str:
    return document_id("c", path)


def text_of(path: str, version: int) -> str:
    return f"{path} 第{version}版。" * 40


def chunk_count(path: str, version: int) -> int:
    return (len(path) + 3 * version) % 5


def document(path: str, version: int, labels: Labels = PUBLIC, title: str = "") -> Document:
    text = text_of(path, version)
    return Document(
        document_id=identity(path),
        path=path,
        title=title or path,
        text_hash=text_hash(text),
        source_hash=text_hash(f"source {text}"),
        parser="test 1",
        labels=labels,
        knowledge_id=identity(path),
        revision=str(version),
    )


def chunks(path: str, version: int, count: int | None = None) -> tuple[Chunk, ...]:
    text = text_of(path, version)
    found = []
    for ordinal in range(chunk_count(path, version) if count is None else count):
        start, end = ordinal * 5, ordinal * 5 + 8
        indexed = f"{text[start:end]} {version}"
        provenance = {"lines": ((ordinal + 1, ordinal + 2),), "pages": ("iv", 3)}
        found.append(
            Chunk(
                chunk_id=chunk_id(identity(path), start, end, indexed),
                document_id=identity(path),
                ordinal=ordinal,
                start=start,
                end=end,
                indexed_text=indexed,
                chunk_hash=chunk_hash(text[start:end]),
                section_anchor="one/two",
                provenance=provenance,
            )
        )
    return tuple(found)


def vectors(count: int, seed: int = 0) -> Vectors:
    drawn = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return np.asarray(drawn, np.float32)


def write(path: str, version: int = 0, labels: Labels = PUBLIC, embedded: bool = True) -> DocumentWrite:
    parts = chunks(path, version)
    return DocumentWrite(
        document=document(path, version, labels),
        text=text_of(path, version),
        chunks=parts,
        vectors=vectors(len(parts), version) if embedded else None,
    )


def relabel(path: str, version: int, labels: Labels) -> DocumentWrite:
    return DocumentWrite(document(path, version, labels), None, None, None)


def folder(parent: Path, name: str = "collection") -> Path:
    made = parent / name
    made.mkdir(parents=True, exist_ok=True)
    return made


def settings(compact_after: int = 64, lock_timeout_s: float = 30.0, retention_s: float = 3600.0) -> Store:
    return Store(compact_after=compact_after, lock_timeout_s=lock_timeout_s, retention_s=retention_s)


def comparable(delta: Delta) -> tuple[object, ...]:
    """A delta as a value: rows in order of id."""
    rows = sorted(delta.chunks.to_pylist(), key=lambda row: (row["document_id"], row["chunk_id"]))
    return (
        delta.seq,
        delta.documents,
        delta.removed,
        dict(delta.document_seq),
        dict(delta.chunks_seq),
        [tuple(map(str, row.values())) for row in rows],
    )


def check_whole(store: ChunkStore, expected: Sequence[str] | None = None) -> dict[str, int]:
    """Every document complete, once, and with its text; gives versions by path."""
    delta = store.since(0)
    held: dict[str, list[str]] = {}
    for row in delta.chunks.to_pylist():
        held.setdefault(row["document_id"], []).append(row["chunk_id"])
    texts = store.texts([item.text_hash for item in delta.documents])
    versions = {}
    for item in delta.documents:
        version = int(item.revision)
        wanted = [chunk.chunk_id for chunk in chunks(item.path, version)]
        assert sorted(held.pop(item.document_id, [])) == sorted(wanted), f"{item.path} is not whole"
        assert texts[item.text_hash] == text_of(item.path, version)
        assert item.path not in versions
        versions[item.path] = version
    assert not held, "chunks of no document"
    if expected is not None:
        assert sorted(versions) == sorted(expected)
    return versions
