"""Files that hold metadata: the sidecar beside a document, and the table given with `--metadata`."""

from __future__ import annotations

import csv
import json
import os
import unicodedata
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from core.errors import MetadataError, UnreadableFile
from core.ingest.decode import decode
from core.ingest.json_fault import json_fault
from core.ingest.metadata import KEYS, DocumentMetadata, read_mapping
from core.ingest.sidecars import SIDECARS
from core.ingest.yaml_strict import load_yaml

_FILE_MAX_BYTES = 50_000_000
_TABLE_ENDINGS = (".csv", ".jsonl", ".yaml", ".yml", ".json")


def read_sidecar(document: Path) -> DocumentMetadata | None:
    """Metadata from `<document>.meta.yaml` or `<document>.meta.json`; None where there is neither.

    Raises MetadataError, also where both exist.
    """
    there = [path for ending in SIDECARS if os.path.lexists(path := document.with_name(document.name + ending))]
    if len(there) > 1:
        raise MetadataError(f"{document.name} has two sidecars: {there[0].name} and {there[1].name}", "keep one")
    if not there:
        return None
    text = _text(there[0])
    found = _json(text, there[0]) if there[0].suffix == ".json" else _yaml(text, there[0])
    if not isinstance(found, Mapping):
        raise MetadataError(f"{there[0]}: holds no keys and values", "write it as `key: value` lines")
    return read_mapping(found, str(there[0]))


def read_table(file: Path) -> dict[str, DocumentMetadata]:
    """Metadata by relative path (NFC, `/`), from a file given with `--metadata`.

    CSV with a column `path` (an empty cell states nothing; lists divided by `;` or `,`), JSONL of objects with
    `path`, YAML or JSON of either such objects or `path: {…}` pairs. Raises MetadataError, also for a path that
    stands twice.
    """
    ending = file.suffix.lower()
    if ending not in _TABLE_ENDINGS:
        raise MetadataError(f"{file}: no kind of metadata file", f"use one of {' '.join(_TABLE_ENDINGS)}")
    text = _text(file)
    if ending == ".csv":
        records = _csv_records(text, file)
    elif ending == ".jsonl":
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        records = [(f"{file}, line {number}", _json(line, file, number)) for number, line in lines]
    else:
        records = _records(_json(text, file) if ending == ".json" else _yaml(text, file), file)
    return _by_path(records)


def _by_path(records: Iterable[tuple[str, Any]]) -> dict[str, DocumentMetadata]:
    found: dict[str, DocumentMetadata] = {}
    for origin, record in records:
        if not isinstance(record, Mapping) or not isinstance(record.get("path"), str) or not record["path"].strip():
            raise MetadataError(f"{origin}: no path", "name the document in `path`, as it is ingested")
        path = unicodedata.normalize("NFC", record["path"].strip()).removeprefix("./")
        if path in found:
            raise MetadataError(f"{origin}: {path!r} stands twice", "keep one entry for each document")
        found[path] = read_mapping({key: value for key, value in record.items() if key != "path"}, origin)
    return found


def _csv_records(text: str, file: Path) -> list[tuple[str, Any]]:
    head = text.lstrip("\n").split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(StringIO(text.lstrip("\n"), newline="\n"), delimiter=delimiter, strict=True)
    records: list[tuple[str, Any]] = []
    try:
        header = [name.strip() for name in next(reader)]
        _check_header(header, file)
        for row in reader:
            origin = f"{file}, line {reader.line_num}"
            if len(row) > len(header):
                raise MetadataError(f"{origin}: more cells than columns", "put quotation marks around lists")
            cells = dict(zip(header, row, strict=False))
            if any(cell.strip() for cell in row):
                records.append((origin, {key: cell for key, cell in cells.items() if cell.strip()}))
    except csv.Error as error:
        raise MetadataError(f"{file}, line {reader.line_num}: {error}", "mend the file") from None
    return records


def _check_header(header: list[str], file: Path) -> None:
    for name in header:
        if name not in ("path", *KEYS):
            raise MetadataError(f"{file}: unknown column {name!r}", f"columns: path, {', '.join(KEYS)}")
        if header.count(name) > 1:
            raise MetadataError(f"{file}: column {name!r} stands twice", "keep one")
    if "path" not in header:
        raise MetadataError(f"{file}: no column `path`", "name the documents in it, as they are ingested")


def _records(found: Any, file: Path) -> list[tuple[str, Any]]:
    if isinstance(found, list):
        return [(f"{file}, entry {number}", record) for number, record in enumerate(found, 1)]
    if isinstance(found, Mapping) and all(isinstance(record, Mapping) for record in found.values()):
        records = []
        for path, record in found.items():
            if "path" in record:
                raise MetadataError(f"{file}: {path!r} has a path of its own", "name the document once")
            records.append((f"{file}, {path}", {**record, "path": path}))
        return records
    raise MetadataError(f"{file}: no table of documents", "write `path: {key: value}` pairs, or a list with `path`")


def _text(file: Path) -> str:
    try:
        if file.exists() and not file.is_file():  # reading a pipe would wait for ever
            raise MetadataError(f"{file}: not a regular file", "leave it out")
        if file.stat().st_size > _FILE_MAX_BYTES:
            raise MetadataError(f"{file}: larger than {_FILE_MAX_BYTES:,} bytes", "divide it")
        return decode(str(file), file.read_bytes()).text
    except UnreadableFile as error:
        raise MetadataError(error.message, error.remedy) from None
    except OSError as error:
        raise MetadataError(f"{file}: {error.strerror or type(error).__name__}", "check the path") from None


def _yaml(text: str, file: Path) -> Any:
    try:
        return load_yaml(text)
    except ValueError as error:
        raise MetadataError(f"{file}: not readable as YAML: {error}", "mend the file") from None


def _json(text: str, file: Path, line: int | None = None) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise MetadataError(f"{file}: not readable as JSON: {json_fault(error, line)}", "mend the file") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands twice")
    return found
