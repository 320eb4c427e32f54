"""What crosses the line between a parser process and its parent: JSON and text, never code.

A message is three numbers, a header (JSON) and a blob (bytes). What the parent decodes was written by a
process that a hostile file may have taken over, so every type, span and size is checked anew.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, get_args, get_type_hints

from core.ports import Block, ParsedDocument

PREFIX = struct.Struct(">QQQ")
"""Bytes of the header, bytes of the blob, bytes of memory that the sender holds."""
KINDS: frozenset[str] = frozenset(get_args(get_type_hints(Block)["kind"]))
_KEYS = frozenset({"blocks", "title", "parser", "metadata", "language", "warnings"})
_NAME_MAX = 200


def header_out(header: Mapping[str, Any]) -> bytes:
    """Raises TypeError, ValueError."""
    return json.dumps(header, separators=(",", ":")).encode("ascii")


def message(header: bytes, blob: bytes, resident: int = 0) -> tuple[bytes, bytes, bytes]:
    """What to send, piece by piece."""
    return PREFIX.pack(len(header), len(blob), resident), header, blob


def document_out(parsed: ParsedDocument) -> tuple[dict[str, Any], bytes]:
    """Header and blob of a parsed document. Raises TypeError, ValueError or AttributeError for what is none."""
    header = {
        "blocks": [
            (block.start, block.end, block.kind, dict(block.provenance), block.section_anchor, block.level)
            for block in parsed.blocks
        ],
        "title": parsed.title,
        "parser": parsed.parser,
        "metadata": pack(parsed.metadata),
        "language": parsed.language,
        "warnings": list(parsed.warnings),
    }
    return header, parsed.text.encode()


def document_in(header: Any, blob: bytes) -> ParsedDocument:
    """The inverse of `document_out`. Raises ValueError for anything that no parser may return."""
    try:
        return _document(header, blob.decode())
    except (TypeError, RecursionError, OverflowError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


def _document(header: Any, text: str) -> ParsedDocument:
    if type(header) is not dict or header.keys() != _KEYS:
        raise ValueError("its keys are not those of a parsed document")
    metadata, language = unpack(header["metadata"]), header["language"]
    if type(metadata) is not dict:
        raise ValueError("its metadata are no mapping")
    return ParsedDocument(
        text=text,
        blocks=_blocks(_list(header["blocks"]), len(text)),
        title=_text(header["title"]),
        parser=_name(header["parser"]),
        metadata=metadata,
        language=None if language is None else _name(language),
        warnings=tuple(_text(warning) for warning in _list(header["warnings"])),
    )


def _blocks(rows: list[Any], length: int) -> tuple[Block, ...]:
    """Blocks in order and apart, but for the rows of a table: else the work on them could exceed the text's size."""
    blocks, last_end, table_end = [], 0, 0
    for start, end, kind, provenance, anchor, level in rows:
        if not (type(start) is type(end) is type(level) is int and type(anchor) is str and type(provenance) is dict):
            raise ValueError("a block is not well-formed")
        if not last_end <= start < end <= length:
            raise ValueError("a block lies outside the text or over another")
        if kind not in KINDS or level < 0:
            raise ValueError("a block is of no known kind")
        if kind == "table":
            if start < table_end:
                raise ValueError("a table lies over another")
            table_end = end
        else:
            last_end = end
            if kind == "row" and end > table_end:
                raise ValueError("a row lies outside its table")
        blocks.append(Block(start, end, kind, {key: _frozen(provenance[key]) for key in provenance}, anchor, level))
    return tuple(blocks)


def _frozen(values: Any) -> tuple[Any, ...]:
    """Lists, also inside lists, as tuples of numbers, strings and None."""
    if type(values) is not list:
        raise ValueError("a provenance is not well-formed")
    return tuple([_frozen(value) if type(value) is list else _plain(value) for value in values])


def _plain(value: Any) -> Any:
    if type(value) is dict:
        raise ValueError("a provenance is not well-formed")
    return value


def pack(value: Any) -> Any:
    """A value as JSON that keeps the types YAML knows. Raises TypeError for others."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return ["map", *([pack(key), pack(item)] for key, item in value.items())]
    if isinstance(value, tuple | list | set):
        kind = "tuple" if isinstance(value, tuple) else "list" if isinstance(value, list) else "set"
        return [kind, *map(pack, value)]
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, date):
        return ["moment" if isinstance(value, datetime) else "date", value.isoformat()]
    raise TypeError(f"a value of type {type(value).__name__}")


def unpack(value: Any) -> Any:
    """The inverse of `pack`. Raises ValueError or TypeError."""
    if type(value) is not list:
        if value is None or type(value) in (bool, int, float, str):
            return value
        raise ValueError("a value is not well-formed")
    kind, *items = value
    if kind == "map":
        return {unpack(key): unpack(item) for key, item in items}
    if kind in ("tuple", "list", "set"):
        made: type[Any] = {"tuple": tuple, "list": list, "set": set}[kind]
        return made(map(unpack, items))
    (text,) = items
    if kind == "bytes":
        return bytes.fromhex(text)
    if kind in ("date", "moment"):
        return (date if kind == "date" else datetime).fromisoformat(text)
    raise ValueError("a value is of no known kind")


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise ValueError("a list is missing")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError("a text is missing")
    return value


def _name(value: Any) -> str:
    if not 0 < len(_text(value)) <= _NAME_MAX or not value.isprintable():
        raise ValueError("a name is not well-formed")
    return _text(value)
