"""Readers of one metadata value each: from what YAML, JSON or a CSV cell holds to its type. All raise ValueError."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, get_args

from core.access import LEVELS
from core.ingest.clean import clean
from core.names import acl_token
from core.types import Relation, Status

_SEPARATORS = re.compile(r"[;,]")
_TEXT_MAX = 2_000


def text(value: Any) -> str:
    """A line of text, NFC. A number must be whole or in quotation marks, for `1.10` is not 1.1."""
    if isinstance(value, bool | float) or not isinstance(value, str | int | date):
        raise ValueError(f"{_shown(value)} is no text; put it in quotation marks")
    line = unicodedata.normalize("NFC", value if isinstance(value, str) else str(value))
    result = " ".join(clean(line)[0].split())
    if not result:
        raise ValueError("it is empty")
    if len(result) > _TEXT_MAX:
        raise ValueError(f"it is longer than {_TEXT_MAX} characters")
    return result


def moment(value: Any) -> datetime:
    """An ISO 8601 date or time as UTC; a date means 00:00 UTC, a time without zone is UTC."""
    try:
        if isinstance(value, date):
            parsed = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        elif isinstance(value, str):
            parsed = datetime.fromisoformat(value.strip())
        else:
            raise ValueError
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{_shown(value)} is no date; write it as 2026-01-31 or 2026-01-31T09:00:00Z") from None


def status(value: Any) -> Status:
    known: tuple[Status, ...] = get_args(Status)
    for one in known:
        if isinstance(value, str) and value.strip() == one:
            return one
    raise ValueError(f"no status {_shown(value)}; choose one of {', '.join(known)}")


def classification(value: Any) -> str:
    if isinstance(value, str) and value.strip() in LEVELS:
        return value.strip()
    raise ValueError(f"no classification {_shown(value)}; choose one of {', '.join(LEVELS)}")


def access_list(value: Any) -> tuple[str, ...]:
    """Canonical names, sorted, without repeats; a string is divided at `;` or `,`."""
    if isinstance(value, str):
        value = [part for part in _SEPARATORS.split(value) if part.strip()]
    if not isinstance(value, list | tuple):
        raise ValueError(f"{_shown(value)} is no list of names")
    return tuple(sorted({acl_token(entry) for entry in value}))


def allow_list(value: Any) -> tuple[str, ...]:
    names = access_list(value)
    if not names:
        raise ValueError("it is empty; name who may see the document, or leave the key out")
    return names


def quality(value: Any) -> float:
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError
        number = float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{_shown(value)} is no number") from None
    if not math.isfinite(number) or not 0 <= number <= 100:
        raise ValueError(f"{_shown(value)} is not between 0 and 100")
    return number


def relations(value: Any) -> tuple[Relation, ...]:
    """A list of mappings with `type` and `target`; as one string that list in JSON, or `type:target; type:target`."""
    if isinstance(value, str):
        value = _relations_in(value)
    if not isinstance(value, list | tuple):
        raise ValueError(f"{_shown(value)} is no list of relations")
    found = []
    for item in value:
        if not isinstance(item, Mapping) or set(item) != {"type", "target"}:
            raise ValueError(f"{_shown(item)} is no relation; give it a type and a target")
        found.append(Relation(text(item["type"]), text(item["target"])))
    return tuple(found)


def _relations_in(line: str) -> Any:
    if line.lstrip().startswith("["):
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            raise ValueError(f"{_shown(line)} is not JSON") from None
    pairs = [part.partition(":") for part in line.split(";") if part.strip()]
    return [{"type": kind, "target": target} for kind, _, target in pairs]


def _shown(value: Any) -> str:
    shown = ascii(value) if not isinstance(value, str) else repr(value)
    return shown if len(shown) <= 80 else shown[:79] + "…"
