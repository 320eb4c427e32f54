"""Documents and provenance as JSON text, and back: one spelling for one value, and nothing guessed on the way back."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from core.errors import InputError, IntegrityFailure
from core.types import LABEL_KEYS, Document, Labels, Provenance, Relation

_STATUSES = ("active", "deprecated", "revoked")
_DOCUMENT_KEYS = frozenset(field.name for field in dataclasses.fields(Document))
_ADDED_LATER: Mapping[str, Any] = {"edited": [], "outside": ""}
"""Keys that documents stored by earlier versions have not."""


def canonical_json(value: Any) -> str:
    """Sorted keys, no white space, no NaN. Raises ValueError."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256 (hex) over canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def document_to_json(document: Document) -> str:
    """Raises InputError for a value that cannot be stored: a time without a zone, a quality that is no number."""
    value = dataclasses.asdict(document)
    try:
        value["revised_at"] = _time_out(document.revised_at)
        value["valid_until"] = _time_out(document.valid_until)
        text = canonical_json(value)
        text.encode()
        _document(json.loads(text))
    except (TypeError, ValueError) as error:
        raise InputError(f"the metadata of {document.path!r} cannot be stored ({error})", "correct them") from None
    return text


def document_from_json(text: str) -> Document:
    """The inverse of `document_to_json`. Raises IntegrityFailure for anything that it would not have written."""
    try:
        value = json.loads(text)
        return _document(value)
    except (TypeError, ValueError) as error:
        raise IntegrityFailure(
            f"a stored document is not readable ({error})", "restore a backup or re-ingest"
        ) from None


def provenance_to_json(provenance: Provenance) -> str:
    """Raises InputError for a value JSON does not know."""
    try:
        return canonical_json({key: list(values) for key, values in provenance.items()})
    except (TypeError, ValueError) as error:
        raise InputError(f"a provenance cannot be stored ({error})") from None


def provenance_from_json(text: str) -> Provenance:
    """Lists, such as pairs of lines, come back as tuples. Raises IntegrityFailure."""
    try:
        value = json.loads(text)
        return {str(key): tuple(_frozen(item) for item in items) for key, items in value.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise IntegrityFailure(f"a stored provenance is not readable ({error})", "re-ingest the document") from None


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def _document(value: Any) -> Document:
    if not isinstance(value, dict) or {**_ADDED_LATER, **value}.keys() != _DOCUMENT_KEYS:
        raise ValueError("its keys are not those of a document")
    if value["status"] not in _STATUSES:
        raise ValueError("its status is unknown")
    return Document(
        document_id=_text(value, "document_id"),
        path=_text(value, "path"),
        title=_text(value, "title"),
        text_hash=_text(value, "text_hash"),
        source_hash=_text(value, "source_hash"),
        parser=_text(value, "parser"),
        knowledge_id=_text(value, "knowledge_id"),
        revision=_text(value, "revision"),
        owner=_optional_text(value, "owner"),
        source_uri=_optional_text(value, "source_uri"),
        language=_optional_text(value, "language"),
        labels=labels_from_json(value["labels"]),
        revised_at=_time_in(value["revised_at"]),
        valid_until=_time_in(value["valid_until"]),
        status=value["status"],
        quality=_quality(value["quality"]),
        relations=tuple(_relation(item) for item in _list(value["relations"])),
        edited=_texts(value.get("edited", _ADDED_LATER["edited"])),
        outside=_text({**_ADDED_LATER, **value}, "outside"),
    )


def labels_from_json(value: Any) -> Labels:
    """From the JSON value of a `Labels`. Raises ValueError."""
    if not isinstance(value, dict) or value.keys() != set(LABEL_KEYS):
        raise ValueError("its labels have other keys")
    allow = value["acl_allow"]
    return Labels(
        classification=_optional_text(value, "classification"),
        acl_allow=None if allow is None else _texts(allow),
        acl_deny=_texts(value["acl_deny"]),
        inherits_from=_optional_text(value, "inherits_from"),
    )


def _relation(value: Any) -> Relation:
    if not isinstance(value, dict) or value.keys() != {"type", "target"}:
        raise ValueError("a relation has other keys")
    return Relation(_text(value, "type"), _text(value, "target"))


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("a list was expected")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not all(isinstance(item, str) for item in _list(value)):
        raise ValueError("a list of texts was expected")
    return tuple(value)


def _text(value: Mapping[str, Any], key: str) -> str:
    if not isinstance(value[key], str):
        raise ValueError(f"{key} is no text")
    return str(value[key])


def _optional_text(value: Mapping[str, Any], key: str) -> str | None:
    return None if value[key] is None else _text(value, key)


def _quality(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("quality is no number")
    return float(value)


def _time_out(value: datetime | None) -> str | None:
    if value is None:
        return None
    if value.tzinfo is None:
        raise ValueError("a time has no zone")
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _time_in(value: Any) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.endswith("Z"):
        raise ValueError("a time is not in UTC")
    return datetime.fromisoformat(value)
