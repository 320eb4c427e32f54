"""What is said about a document: in its front matter, in a sidecar file, or in a table given with `--metadata`.

Labels decide who may see a document, so a key or value that cannot be understood is an error, never a default.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.access import LEVELS
from core.errors import MetadataError
from core.ingest import metadata_values as values
from core.types import LABEL_KEYS, Labels, Relation, Status


@dataclass(frozen=True, slots=True)
class DocumentMetadata:
    """`None`: not stated. Times are UTC; names in access lists are canonical."""

    knowledge_id: str | None = None
    revision: str | None = None
    revised_at: datetime | None = None
    status: Status | None = None
    valid_until: datetime | None = None
    classification: str | None = None
    acl_allow: tuple[str, ...] | None = None
    acl_deny: tuple[str, ...] | None = None
    inherits_from: str | None = None
    owner: str | None = None
    quality: float | None = None
    """0–100, higher is better."""
    source_uri: str | None = None
    relations: tuple[Relation, ...] | None = None
    title: str | None = None
    language: str | None = None

    def labels(self) -> Labels:
        return Labels(self.classification, self.acl_allow, self.acl_deny or (), self.inherits_from)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "knowledge_id": values.text,
    "revision": values.text,
    "revised_at": values.moment,
    "status": values.status,
    "valid_until": values.moment,
    "classification": values.classification,
    "acl_allow": values.allow_list,
    "acl_deny": values.access_list,
    "inherits_from": values.text,
    "owner": values.text,
    "quality": values.quality,
    "source_uri": values.text,
    "relations": values.relations,
    "title": values.text,
    "language": values.text,
}
KEYS: tuple[str, ...] = tuple(_READERS)
_RESTRICTING = (*LABEL_KEYS, "status", "valid_until")
"""Keys that can hide a document: misspelt or left without a value they must not go unnoticed."""
_RESTRICTING_STARTS = ("acl", "inherit", "classif")
_RESTRICTING_WORDS = frozenset({"allow", "allowed", "allow_list", "deny", "denied", "deny_list"})
_CLOSE = 0.8
_FENCED_MAX = 5_000
_FENCED = re.compile(r"\s*(?P<fence>---|\+\+\+)[ \t]*\n(?P<body>.*?)(?:^(?P=fence)|\Z)", re.DOTALL | re.MULTILINE)
_HEAD_BYTES = 20_000
_STATED_LINE = re.compile(r"[ \t]*(?P<key>[^\W\d][\w-]*)[ \t]*:(?:[ \t].*)?", re.ASCII)
_MARKING = re.compile(
    rf"^[ \t]*classification[ \t]*[:\uff1a][ \t]*(?P<level>{'|'.join(LEVELS)})[ \t.]*$", re.IGNORECASE | re.MULTILINE
)
_RESTRICTING_LINE = re.compile(rf"^[ \t]*[\"']?(?P<key>{'|'.join(_RESTRICTING)})[\"']?[ \t]*[:=]", re.MULTILINE)


def read_mapping(found: Mapping[Any, Any], origin: str) -> DocumentMetadata:
    """Metadata from a mapping that holds nothing else. `origin` names the file for error messages.

    Raises MetadataError for an unknown key, and for a value of the wrong type or out of range.
    """
    for key in found:
        if key not in _READERS:
            near = difflib.get_close_matches(_normal(key), KEYS, 1, _CLOSE)
            hint = f"did you mean {near[0]}? " if near else ""
            raise MetadataError(f"{origin}: unknown key {key!r}", f"{hint}keys: {', '.join(KEYS)}")
    return _read(found, origin)


def read_front_matter(found: Mapping[Any, Any], origin: str) -> tuple[DocumentMetadata, tuple[str, ...]]:
    """Metadata from front matter, which may be written for other tools as well: keys of theirs give a warning.

    Raises MetadataError as `read_mapping`, and for a key that looks like a misspelt one that hides a document.
    """
    ignored = []
    for key in found:
        if key in _READERS:
            continue
        name = _normal(key)
        near = difflib.get_close_matches(name, _RESTRICTING, 1, _CLOSE)
        if near or name in _RESTRICTING_WORDS or name.startswith(_RESTRICTING_STARTS):
            meant = near[0] if near else ", ".join(LABEL_KEYS)
            raise MetadataError(f"{origin}: front matter key {key!r} looks misspelt", f"write {meant}, or rename it")
        ignored.append(str(key))
    warnings = (f"front matter keys not used: {', '.join(ignored)}",) if ignored else ()
    return _read({key: value for key, value in found.items() if key in _READERS}, origin), warnings


def unread_labels(text: str) -> str | None:
    """The first key that hides a document in what looks like metadata at the top of a text, None without one.

    For text whose format has no front matter, or has it written so that it was not taken for any: after a blank
    line, between `+++` lines, without lines around it. Such a label would be shown as text and not obeyed.
    """
    text = text[:_FENCED_MAX].replace("\r\n", "\n")
    top = _FENCED.match(text)
    if top:
        key = _RESTRICTING_LINE.search(top["body"])
        return key["key"] if key else None
    for line in text.lstrip("\ufeff\n").split("\n"):
        stated = _STATED_LINE.fullmatch(line)
        if not stated:
            break
        if stated["key"] in LABEL_KEYS:
            return stated["key"]
    return None


def marking(text: str) -> str | None:
    """The classification that a text gives itself where people write it, in a line of its beginning: it is no label."""
    found = _MARKING.search(text[:_FENCED_MAX])
    return found["level"].lower() if found else None


def head(data: bytes) -> str:
    """What a file begins with, read as text in whatever way; for files that are no text it means nothing."""
    start = data[:_HEAD_BYTES]
    utf16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(start[:2])
    return start.decode(utf16 or "utf-8", "ignore").lstrip("\ufeff")


def combine(*layers: DocumentMetadata | None) -> DocumentMetadata:
    """Key by key the first layer that states it: give `--metadata`, then the sidecar, then the front matter."""
    stated: dict[str, Any] = {}
    for layer in layers:
        if layer is not None:
            for name in KEYS:
                value = getattr(layer, name)
                if value is not None:
                    stated.setdefault(name, value)
    return DocumentMetadata(**stated)


def _read(found: Mapping[Any, Any], origin: str) -> DocumentMetadata:
    stated: dict[str, Any] = {}
    for key, value in found.items():
        if value is None or value == "":
            if key in _RESTRICTING:
                raise MetadataError(f"{origin}: {key} has no value", "give it one, or leave the key out")
            continue
        try:
            stated[key] = _READERS[key](value)
        except ValueError as error:
            raise MetadataError(f"{origin}: {key}: {error}", "correct the metadata") from None
    return dataclasses.replace(DocumentMetadata(), **stated)


def _normal(key: object) -> str:
    return str(key).strip().lower().replace("-", "_").replace(" ", "_")
