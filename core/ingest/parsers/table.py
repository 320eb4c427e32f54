"""Tables and records: one line a row, cells joined by ` | `; one record of a JSON file, one `key: value` line a field.

Rows are read in order and never cut. The first row of a table is taken for its header.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any, Literal

from core.errors import UnreadableFile
from core.ingest.builder import TextBuilder
from core.ingest.decode import decode
from core.ingest.json_fault import json_fault
from core.ingest.parsers.table_warnings import Row, mark_warnings, width_warnings
from core.ingest.sections import locate
from core.ports import ParsedDocument

FIELD_MAX = 1_000_000
"""Characters of one field."""
ROWS_MAX = 200_000
RECORD_AS_ROW_MAX = 1_200
"""Characters up to which a record stays whole; longer ones are text, to be divided like any other."""
_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50


class DelimitedParser:
    name = "delimited/1"
    extensions: tuple[str, ...] = (".csv", ".tsv", ".tab")

    def parse(self, path: Path, data: bytes) -> ParsedDocument:
        """Raises UnreadableFile."""
        decoded = decode(str(path), data)
        lines = decoded.text.lstrip("\n")
        tabs = path.suffix.lower() != ".csv"
        if lines.startswith("sep=") and lines[5:6] == "\n":  # written by Excel for Excel
            delimiter, lines = lines[4], lines[6:]
        else:
            delimiter = "\t" if tabs else _delimiter(lines)
        before = decoded.text[: len(decoded.text) - len(lines)].count("\n")
        rows, stray = _rows(str(path), lines, delimiter)
        warnings = (*decoded.warnings, *mark_warnings(lines, stray, before), *width_warnings(rows, before))
        return _document(self.name, path, [[line for _, row in rows if (line := _line(row))]], warnings)


class RecordsParser:
    name = "records/1"
    extensions: tuple[str, ...] = (".jsonl", ".ndjson", ".json")

    def parse(self, path: Path, data: bytes) -> ParsedDocument:
        """Raises UnreadableFile."""
        decoded = decode(str(path), data)
        values = _json(path, decoded.text) if path.suffix.lower() == ".json" else _json_lines(path, decoded.text)
        if len(values) > ROWS_MAX:
            raise _too_many(str(path))
        records = [list(_fields("", value)) for value in values]
        return _document(self.name, path, records, decoded.warnings)


def _document(parser: str, path: Path, groups: list[list[str]], warnings: tuple[str, ...]) -> ParsedDocument:
    """A table whose rows are the lines of a single group, else the groups."""
    builder = TextBuilder()
    records = ["\n".join(lines) for lines in groups]
    if parser == DelimitedParser.name:
        builder.add_rows(groups[0])
    elif all(len(record) <= RECORD_AS_ROW_MAX for record in records):
        builder.add_rows(records, gap="\n\n")
    else:
        for record in records:
            builder.add("list", record)
    if not builder.text:
        raise UnreadableFile(str(path), "empty: no value in it", "remove it, or fill it")
    blocks = locate(builder.text, builder.found)
    return ParsedDocument(builder.text, blocks, path.stem, parser, {}, warnings=(*warnings, *builder.warnings))


def _rows(path: str, text: str, delimiter: str) -> tuple[list[Row], int | None]:
    """The rows; and if its quotation marks make no sense, where the first such row begins. Then marks are characters
    like any other, for a stray one would swallow what follows."""
    rows, next_line, error = _read(path, text, delimiter, csv.QUOTE_MINIMAL)
    if error is None:
        return rows, None
    rows, _, error = _read(path, text, delimiter, csv.QUOTE_NONE)
    if error is not None:
        raise UnreadableFile(path, f"not readable as a table ({error})", "mend or divide it")
    return rows, next_line


def _read(path: str, text: str, delimiter: str, quoting: Literal[0, 3]) -> tuple[list[Row], int, csv.Error | None]:
    """The rows up to the first that cannot be read, the line after them, and why that row cannot be read."""
    csv.field_size_limit(FIELD_MAX)
    rows: list[Row] = []
    reader = csv.reader(StringIO(text, newline="\n"), delimiter=delimiter, quoting=quoting, strict=True)
    start = 1
    try:
        for cells in reader:
            if len(rows) == ROWS_MAX:
                raise _too_many(path)
            rows.append((start, cells))
            start = reader.line_num + 1
    except csv.Error as error:
        return rows, start, error
    return rows, start, None


def _too_many(path: str) -> UnreadableFile:
    return UnreadableFile(path, f"more than {ROWS_MAX:,} rows", "divide it into smaller files")


def _delimiter(text: str) -> str:
    """The one that cuts the first lines most evenly, then into most cells; the comma where none cuts at all."""
    sample = "\n".join(text.split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES])[:FIELD_MAX]

    def fit(delimiter: str) -> tuple[float, int]:
        csv.field_size_limit(FIELD_MAX)
        rows = [row for row in csv.reader(StringIO(sample, newline="\n"), delimiter=delimiter) if row]
        width, count = Counter(map(len, rows)).most_common(1)[0] if rows else (1, 0)
        return (count / len(rows), width) if width > 1 else (0.0, 1)

    return max(_DELIMITERS, key=fit)


def _line(row: list[str]) -> str:
    """`a | b | c`; empty cells at the end are left out."""
    cells = [" ".join(cell.split()) for cell in row]
    while cells and not cells[-1]:
        cells.pop()
    return " | ".join(cells)


def _json(path: Path, text: str) -> list[Any]:
    """The records of a list, also of a list that is the only value of an object; else the whole as one record."""
    try:
        value = _loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(str(path), f"not JSON: {json_fault(error)}", "mend it") from None
    if isinstance(value, dict) and len(value) == 1 and isinstance(only := next(iter(value.values())), list):
        value = only
    return value if isinstance(value, list) else [value]


def _json_lines(path: Path, text: str) -> list[Any]:
    values = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values.append(_loads(line))
            except (ValueError, RecursionError) as error:
                raise UnreadableFile(str(path), f"not JSON: {json_fault(error, number)}", "mend it") from None
    return values


def _loads(text: str) -> Any:
    """JSON with numbers as they are written. Raises ValueError, RecursionError."""
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)


def _fields(name: str, value: Any) -> Iterator[str]:
    """`key: value` lines; nested keys as `a.b`, lists of plain values joined by `; `, absent values left out."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _fields(f"{name}.{key}" if name else str(key), item)
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        for number, item in enumerate(value, 1):
            yield from _fields(f"{name}[{number}]", item)
    else:
        text = "; ".join(map(_scalar, value)) if isinstance(value, list) else _scalar(value)
        if text:
            yield f"{name}: {text}" if name else text


def _scalar(value: Any) -> str:
    """Line breaks stay, blank lines do not: they part records."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    return "\n".join(line for line in str(value).strip().split("\n") if line.strip())
