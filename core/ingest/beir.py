"""A BEIR folder (corpus.jsonl, queries.jsonl, qrels.tsv) as a collection and an eval set of the same name.

Each document is one chunk, its text `title + newline + text`, labelled public and for everyone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InputError, UnknownCollection
from core.ingest.beir_files import Vectors, qrels_of, read_documents, read_judgments, read_queries, read_vectors
from core.models.embedders import check_named
from core.ports import DocumentWrite
from core.types import Chunk, Document, Labels, Principal, chunk_hash, chunk_id, document_id, text_hash

if TYPE_CHECKING:
    from core.home import Workbench

PER_COMMIT = 2_000
LABELS = Labels("public", ("*",))
PARSER = "beir 1"


@dataclass(frozen=True, slots=True)
class BeirReport:
    collection: str
    documents: int
    chunks: int
    questions: int
    judgments: int
    eval_set: Path
    unknown_queries: int = 0
    """Judgments left out because no such query is there, …"""
    unknown_documents: int = 0
    """… or because the query is there but no such document."""


def import_beir(
    folder: Path,
    collection: str,
    workbench: Workbench,
    principal: Principal,
    vectors: Path | None = None,
    embedder: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> BeirReport:
    """Import `folder`; everything is read and checked before anything is written.

    `vectors`: an .npz with corpus_ids, corpus, query_ids, queries and embedder; they go into the vector cache.
    `embedder`: of a new collection; else the one that made `vectors`, else the default.
    Raises InputError naming file and line, RoleMissing, EmbedderMismatch.
    """
    documents = read_documents(folder / "corpus.jsonl")
    queries = read_queries(folder / "queries.jsonl")
    judgments = read_judgments(qrels_of(folder), queries, documents)
    if embedder:
        check_named(embedder)
    given = None if vectors is None else read_vectors(vectors)
    if given and embedder and len({workbench.library.embedder(n).fingerprint for n in (embedder, given.embedder)}) > 1:
        raise _other_embedder(given.embedder, embedder)
    _ensure_collection(workbench, collection, principal, embedder or (given.embedder if given else None))
    held = workbench.library.collection(collection)
    if embedder and workbench.library.embedder(embedder).fingerprint != held.fingerprint:
        raise InputError(
            f"the collection {collection!r} has vectors of {held.embedder}, not of {embedder}",
            "import into a new collection, or leave --embedder out",
        )
    if given:
        _keep_vectors(workbench, collection, documents, queries, given)
    chunks = _write(workbench, collection, documents, progress)
    grades = judgments.grades
    return BeirReport(
        collection,
        len(documents),
        chunks,
        len(queries),
        sum(map(len, grades.values())),
        _write_eval_set(workbench.home, collection, queries, grades),
        judgments.unknown_queries,
        judgments.unknown_documents,
    )


def _ensure_collection(workbench: Workbench, name: str, principal: Principal, embedder: str | None) -> None:
    try:
        workbench.library.collection(name)
    except UnknownCollection:
        workbench.create_collection(name, principal, embedder=embedder)
    workbench.require_owner(principal, name, "import.beir")


def _keep_vectors(
    workbench: Workbench,
    collection: str,
    documents: Mapping[str, tuple[str, str]],
    queries: Mapping[str, Mapping[str, Any]],
    given: Vectors,
) -> None:
    held = workbench.library.collection(collection)
    embedder = workbench.library.embedder_of(held)
    if workbench.library.embedder(given.embedder).fingerprint != held.fingerprint:
        raise _other_embedder(given.embedder, held.embedder)
    known = [identity for identity in documents if identity in given.passages]
    if known:
        texts = [documents[identity][1] for identity in known]
        embedder.put_passages(texts, np.array([given.passages[identity] for identity in known]))
    asked = [identity for identity in queries if identity in given.queries]
    if asked:
        texts = [str(queries[identity]["text"]) for identity in asked]
        embedder.put_queries(texts, np.array([given.queries[identity] for identity in asked]))


def _other_embedder(given: str, held: str) -> InputError:
    return InputError(
        f"the vectors are of {given}, the collection's of {held}",
        "import into a new collection, or leave --vectors out",
    )


def _write(
    workbench: Workbench,
    collection: str,
    documents: Mapping[str, tuple[str, str]],
    progress: Callable[[str], None] | None,
) -> int:
    """Commit what is not there yet, many documents at once."""
    library = workbench.library
    snapshot = library.everything(collection).snapshot
    held = {
        snapshot.documents[number].document_id: snapshot.documents[number].text_hash
        for number in np.flatnonzero(snapshot.documents.present).tolist()
    }
    made = [_document(collection, identity, title, text) for identity, (title, text) in documents.items()]
    new = [
        (document, chunk, text)
        for document, chunk, text in made
        if held.get(document.document_id) != document.text_hash
    ]
    for first in range(0, len(new), PER_COMMIT):
        part = new[first : first + PER_COMMIT]
        texts = [text for _, _, text in part]
        embedder = library.embedder_of(library.collection(collection))
        embedder.passages(texts)
        with library.writing(collection) as (current, store):
            rows = library.embedder_of(current).passages(texts)
            store.commit(
                [
                    DocumentWrite(document, text, (chunk,), rows[at : at + 1])
                    for at, (document, chunk, text) in enumerate(part)
                ]
            )
        if progress:
            progress(f"{min(first + PER_COMMIT, len(new))} of {len(new)}")
    return len(made)


def _document(collection: str, path: str, title: str, text: str) -> tuple[Document, Chunk, str]:
    identity = document_id(collection, path)
    digest = text_hash(text)
    name = chunk_id(identity, 0, len(text), text)
    chunk = Chunk(name, identity, 0, 0, len(text), text, chunk_hash(text), "")
    document = Document(
        document_id=identity,
        path=path,
        title=title or path,
        text_hash=digest,
        source_hash=digest,
        parser=PARSER,
        labels=LABELS,
        knowledge_id=identity,
        revision=digest[:12],
    )
    return document, chunk, text


def _write_eval_set(
    home: Path, name: str, queries: Mapping[str, Mapping[str, Any]], judgments: Mapping[str, Mapping[str, int]]
) -> Path:
    folder = home / "eval_sets" / name
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for identity, query in queries.items():
        gold = [{"document": document, "grade": grade} for document, grade in judgments.get(identity, {}).items()]
        entry = {"id": identity, "question": query["text"], "kind": query.get("kind", "answerable"), "evidence": gold}
        if isinstance(query.get("answer"), str):
            entry["answer"] = query["answer"]
        lines.append(json.dumps(entry, ensure_ascii=False))
    _replace(folder / "questions.jsonl", lines)
    _replace(folder / "set.toml", [f"name = {json.dumps(name)}", 'description = "Imported from BEIR"', "tags = []"])
    return folder


def _replace(file: Path, lines: Sequence[str]) -> None:
    temporary = file.with_name(f".{file.name}.new")
    with open(temporary, "w", encoding="utf-8") as handle:
        handle.write("".join(f"{line}\n" for line in lines))
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(temporary, file)
