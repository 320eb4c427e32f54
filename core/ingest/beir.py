"""A BEIR folder (corpus.jsonl, queries.jsonl, qrels.tsv) as a collection and an eval set of the same name.

Each document is one chunk, its text `title + newline + text`, labelled public and for everyone.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from core.errors import InputError, UnknownCollection
from core.ports import DocumentWrite
from core.types import Chunk, Document, Labels, Principal, chunk_hash, chunk_id, document_id, text_hash

if TYPE_CHECKING:
    from core.home import Workbench

PER_COMMIT = 2_000
LABELS = Labels("public", ("*",))
PARSER = "beir 1"
_GRADE = re.compile("-?[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class BeirReport:
    collection: str
    documents: int
    chunks: int
    questions: int
    judgments: int
    eval_set: Path


@dataclass(frozen=True, slots=True)
class _Vectors:
    embedder: str
    passages: Mapping[str, Any]
    queries: Mapping[str, Any]


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
    documents = _documents(folder / "corpus.jsonl")
    queries = _queries(folder / "queries.jsonl")
    judgments = _judgments(folder / "qrels.tsv", queries, documents)
    given = None if vectors is None else _read_vectors(vectors)
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
    eval_set = _write_eval_set(workbench.home, collection, queries, judgments)
    return BeirReport(collection, len(documents), chunks, len(queries), sum(map(len, judgments.values())), eval_set)


def _documents(file: Path) -> dict[str, tuple[str, str]]:
    """Title and whole text by id."""
    found: dict[str, tuple[str, str]] = {}
    for line, record in _lines(file):
        identity, title = _field(record, "_id", file, line), str(record.get("title") or "")
        if identity in found:
            raise InputError(f"{file.name} line {line}: the id {identity!r} occurs twice", "make ids unique")
        body = _field(record, "text", file, line, empty=True)
        text = f"{title}\n{body}" if title else body
        if text.strip():
            found[identity] = (title, text)
    if not found:
        raise InputError(f"{file} holds no documents", "expected one JSON object a line with _id, title, text")
    return found


def _queries(file: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for line, record in _lines(file):
        _field(record, "text", file, line)
        found[_field(record, "_id", file, line)] = dict(record)
    return found


def _judgments(file: Path, queries: Mapping[str, Any], documents: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Grade by query and document; those of unknown queries or documents are left out."""
    found: dict[str, dict[str, int]] = {}
    try:
        with open(file, encoding="utf-8-sig", newline="") as lines:
            for number, row in enumerate(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE), start=1):
                if not row or (number == 1 and not _GRADE.fullmatch(row[-1])):
                    continue
                if len(row) not in (3, 4) or not _GRADE.fullmatch(row[-1]):
                    raise InputError(f"{file.name} line {number} is no judgment", "expected: query, 0, document, grade")
                query, document = row[0], row[-2]
                if query in queries and document in documents:
                    found.setdefault(query, {})[document] = int(row[-1])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file} cannot be read ({error})", "check the path") from None
    return found


def _lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with open(file, encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, _record(line, f"{file.name} line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read ({error})", "check the path, and that it is UTF-8") from None


def _record(line: str, place: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
        if "\\u" in line:
            json.dumps(record, ensure_ascii=False).encode()  # half of a surrogate pair could not be stored
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is not readable as JSON ({error})", "expected one JSON object a line") from None
    if not isinstance(record, dict):
        raise InputError(f"{place} is no JSON object", "expected one JSON object a line")
    return record


def _field(record: Mapping[str, Any], key: str, file: Path, line: int, empty: bool = False) -> str:
    value = record.get(key)
    if not isinstance(value, str) or not (value.strip() or empty):
        raise InputError(f"{file.name} line {line} has no {key}", "give it as text")
    return value


def _read_vectors(file: Path) -> _Vectors:
    try:
        with open(file, "rb") as content, np.load(content, allow_pickle=False) as found:
            name = str(found["embedder"])
            passages = dict(zip(found["corpus_ids"].tolist(), found["corpus"].astype(np.float32), strict=True))
            queries = dict(zip(found["query_ids"].tolist(), found["queries"].astype(np.float32), strict=True))
    except (OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile) as error:
        raise InputError(f"{file} holds no vectors ({error})", "expected an .npz as described in docs/cli.md") from None
    prefix, slash, rest = name.partition("/")
    return _Vectors(f"{prefix}:{rest}" if slash and prefix == "sentence-transformers" else name, passages, queries)


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
    given: _Vectors,
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
