"""The files of a data set in BEIR's format, read and checked. Everything raises InputError naming file and line."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from core.errors import InputError
from core.ingest.json_fault import json_fault

QRELS = ("qrels.tsv", "qrels/test.tsv")
"""Where judgments are looked for, in this order."""
_GRADE = re.compile("-?[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Judgments:
    grades: Mapping[str, Mapping[str, int]]
    """By query, then document."""
    unknown_queries: int
    unknown_documents: int


@dataclass(frozen=True, slots=True)
class Vectors:
    embedder: str
    passages: Mapping[str, Any]
    queries: Mapping[str, Any]


def read_documents(file: Path) -> dict[str, tuple[str, str]]:
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


def read_queries(file: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for line, record in _lines(file):
        _field(record, "text", file, line)
        found[_field(record, "_id", file, line)] = dict(record)
    return found


def qrels_of(folder: Path) -> Path:
    for name in QRELS:
        if (folder / name).exists():
            return folder / name
    raise InputError(f"{folder} has neither {' nor '.join(QRELS)}", "put the judgments there")


def read_judgments(file: Path, queries: Mapping[str, Any], documents: Mapping[str, Any]) -> Judgments:
    """Judgments of unknown queries or documents are left out and counted."""
    found: dict[str, dict[str, int]] = {}
    unknown_queries = unknown_documents = 0
    try:
        with open(file, encoding="utf-8-sig", newline="") as lines:
            for number, row in enumerate(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE), start=1):
                if not row or (number == 1 and not _GRADE.fullmatch(row[-1])):
                    continue
                if len(row) not in (3, 4) or not _GRADE.fullmatch(row[-1]):
                    raise InputError(f"{file.name} line {number} is no judgment", "expected: query, 0, document, grade")
                query, document = row[0], row[-2]
                if query not in queries:
                    unknown_queries += 1
                elif document not in documents:
                    unknown_documents += 1
                else:
                    found.setdefault(query, {})[document] = int(row[-1])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file} cannot be read ({error})", "check the path") from None
    return Judgments(found, unknown_queries, unknown_documents)


def _lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with open(file, encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, _record(line, file.name, number)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read ({error})", "check the path, and that it is UTF-8") from None


def _record(line: str, name: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
        if "\\u" in line:
            json.dumps(record, ensure_ascii=False).encode()  # half of a surrogate pair could not be stored
    except (ValueError, RecursionError) as error:
        problem = f"{name} {json_fault(error, number)}"
        raise InputError(f"not readable as JSON: {problem}", "expected one JSON object a line") from None
    if not isinstance(record, dict):
        raise InputError(f"{name} line {number} is no JSON object", "expected one JSON object a line")
    return record


def _field(record: Mapping[str, Any], key: str, file: Path, line: int, empty: bool = False) -> str:
    value = record.get(key)
    if not isinstance(value, str) or not (value.strip() or empty):
        raise InputError(f"{file.name} line {line} has no {key}", "give it as text")
    return value


def read_vectors(file: Path) -> Vectors:
    try:
        with open(file, "rb") as content, np.load(content, allow_pickle=False) as found:
            name = str(found["embedder"])
            passages = dict(zip(found["corpus_ids"].tolist(), found["corpus"].astype(np.float32), strict=True))
            queries = dict(zip(found["query_ids"].tolist(), found["queries"].astype(np.float32), strict=True))
    except (OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile) as error:
        raise InputError(f"{file} holds no vectors ({error})", "expected an .npz as described in docs/cli.md") from None
    prefix, slash, rest = name.partition("/")
    return Vectors(f"{prefix}:{rest}" if slash and prefix == "sentence-transformers" else name, passages, queries)
