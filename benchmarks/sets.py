"""Test sets on disk as snapshots: a folder with corpus.jsonl, queries.jsonl, qrels.tsv and vectors.npz.

A document's text is its title, a newline and its text, and it is one chunk; one without text is left out. Everybody
may see it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.access import permission_set
from core.candidates import CandidateSet, restrict
from core.ports import Delta, chunk_schema
from core.ranking import Ranking
from core.settings import Limits
from core.snapshot import Snapshot, empty, refresh
from core.types import Document, Labels, Principal, chunk_hash, chunk_id, document_id, text_hash

Array = npt.NDArray[Any]

ROOT = Path(__file__).resolve().parents[1]
LABELS = Labels("public", ("*",))
FAR_FUTURE = 2**62


@dataclass(frozen=True, slots=True)
class SetName:
    """A set to measure on; several may share a folder."""

    name: str
    folder: str
    chinese: bool
    judgments: str = "qrels.tsv"
    first: int | None = None
    """Only that many of its queries."""


SETS = (
    SetName("cranfield-en", "cranfield-en", False),
    SetName("rgb-en", "rgb-en", False),
    SetName("stard-zh", "stard-zh", True),
    SetName("stard-zh (400)", "stard-zh", True, first=400),
    SetName("cmrc2018-zh", "cmrc2018-zh", True),
    SetName("xquad mono", "xquad-en-zh", True, "qrels.mono.tsv"),
    SetName("xquad cross", "xquad-en-zh", True, "qrels.cross.tsv"),
)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents of one folder, in the order of the file, and what ranking makes of them."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    vectors: Array
    """float32 (n, d), unit length"""
    queries: Mapping[str, str]
    """Those that have a vector, in the order of the file."""
    query_vectors: Array
    """float32 (queries, d), unit length"""
    candidates: CandidateSet

    def documents_of(self, ranking: Ranking) -> list[str]:
        """Document ids in the order of a ranking: passages, then the tail; each text with all its twins at its place.

        A ranking names one chunk for all that have the same text. The twins follow each other by chunk id.
        """
        rows = np.array([ranking.rows[key] for keys in ranking.order for key in keys], np.int64)
        twins = self.candidates.twins_of(rows)
        snapshot = self.candidates.snapshot
        numbers = [int(snapshot.document[row]) for at in rows.tolist() for row in twins.get(at, (at,))]
        return list(dict.fromkeys(self.ids[number] for number in numbers))


def shared_data() -> Path:
    """The folder of data sets: `data` in WORKBENCH_SHARED, else in `shared` beside the project."""
    return Path(os.environ.get("WORKBENCH_SHARED") or ROOT.parent / "shared") / "data"


def read_corpus(folder: Path) -> Corpus:
    """Raises OSError or KeyError where a file, or a document's vector, is missing."""
    documents = {entry["_id"]: _text(entry) for entry in _lines(folder / "corpus.jsonl")}
    documents = {identity: text for identity, text in documents.items() if text.strip()}
    texts = {entry["_id"]: entry["text"] for entry in _lines(folder / "queries.jsonl")}
    with np.load(folder / "vectors.npz", allow_pickle=False) as held:
        vectors = _pick(held["corpus_ids"], held["corpus"], list(documents))
        asked = set(held["query_ids"].tolist())
        queries = {identity: text for identity, text in texts.items() if identity in asked}
        query_vectors = _pick(held["query_ids"], held["queries"], list(queries))
    snapshot = build(list(documents), list(documents.values()), vectors)
    permission = permission_set(Principal("benchmark"), None, Limits())
    return Corpus(
        ids=tuple(documents),
        texts=tuple(documents.values()),
        vectors=vectors,
        queries=queries,
        query_vectors=query_vectors,
        candidates=restrict(snapshot, permission, FAR_FUTURE),
    )


def read_judgments(file: Path, corpus: Corpus, first: int | None = None) -> dict[str, dict[str, int]]:
    """Grade by query and document, of the first queries that have a relevant document in the corpus."""
    found: dict[str, dict[str, int]] = {}
    known = set(corpus.ids)
    for line in file.read_text("utf-8").splitlines():
        query, _, document, grade = line.split("\t")
        if query in corpus.queries and document in known:
            found.setdefault(query, {})[document] = int(grade)
    kept = [query for query in corpus.queries if any(grade > 0 for grade in found.get(query, {}).values())]
    return {query: found[query] for query in kept[:first]}


def build(ids: Sequence[str], texts: Sequence[str], vectors: Array) -> Snapshot:
    """A snapshot of one-chunk documents. `vectors`: float32 (n, d). Document numbers follow the order given."""
    documents = [_document(identity, text) for identity, text in zip(ids, texts, strict=True)]
    names = [document.document_id for document in documents]
    table = pa.table(
        {
            "seq": np.ones(len(ids), np.int64),
            "document_id": names,
            "chunk_id": [chunk_id(name, 0, len(text), text) for name, text in zip(names, texts, strict=True)],
            "ordinal": np.zeros(len(ids), np.int32),
            "start": np.zeros(len(ids), np.int32),
            "end": np.array([len(text) for text in texts], np.int32),
            "indexed_text": list(texts),
            "chunk_hash": [chunk_hash(text) for text in texts],
            "section_anchor": [""] * len(ids),
            "provenance": ["{}"] * len(ids),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1]),
        },
        schema=chunk_schema(vectors.shape[1]),
    )
    commits = dict.fromkeys(names, 1)
    return refresh(empty("benchmark", vectors.shape[1]), Delta(1, tuple(documents), (), commits, commits, table), None)


def _document(path: str, text: str) -> Document:
    name, digest = document_id("benchmark", path), text_hash(text)
    return Document(name, path, path, digest, digest, "benchmark", LABELS, name, digest[:12])


def _text(entry: Mapping[str, Any]) -> str:
    title = entry.get("title") or ""
    return f"{title}\n{entry['text']}" if title else str(entry["text"])


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with open(file, encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _pick(ids: Array, vectors: Array, wanted: Sequence[str]) -> Array:
    """float32 rows of `wanted`, scaled to unit length, which rounding to 16 bits has disturbed."""
    at = {identity: row for row, identity in enumerate(ids.tolist())}
    found = vectors[[at[identity] for identity in wanted]].astype(np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)
