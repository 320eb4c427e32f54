"""Where a passage stands in its source: united over its chunks, and written for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.types import Provenance


@dataclass(frozen=True, slots=True)
class Format:
    """How the values of a key are written."""

    kind: Literal["numbers", "labels"]
    """numbers: whole numbers or pairs of first and last, runs joined, then other labels; labels: as they are."""
    prefix: str = ""


FORMATS: Mapping[str, Format] = {
    "pages": Format("numbers", "p."),
    "sheet": Format("labels"),
    "section": Format("labels"),
    "lines": Format("numbers", "L"),
}
"""In the order in which they are written. Any other key follows, by name, as `name value`."""


def aggregate(provenances: Sequence[Provenance]) -> dict[str, tuple[Any, ...]]:
    """Every key with every value it has anywhere, once each, in order of first appearance. No key is special.

    Lists (as they come from JSON) become tuples.
    """
    united: dict[str, dict[Any, None]] = {}
    for provenance in provenances:
        for key, values in provenance.items():
            united.setdefault(key, {}).update(dict.fromkeys(_frozen(value) for value in values))
    return {key: tuple(values) for key, values in united.items()}


def format_location(provenance: Provenance) -> str:
    """One line such as `p.3–4 · Refunds > Limits · L45–78`; empty where nothing is known."""
    others = sorted(key for key in provenance if key not in FORMATS)
    parts = [
        _written(provenance[key], FORMATS.get(key) or Format("labels", f"{key} "))
        for key in (*FORMATS, *others)
        if key in provenance
    ]
    return " · ".join(part for part in parts if part)


def _written(values: Sequence[Any], form: Format) -> str:
    numbers: list[tuple[int, int]] = []
    labels: list[str] = []
    for value in values:
        span = _interval(value) if form.kind != "labels" else None
        if span is not None:
            numbers.append(span)
        elif (label := " ".join(str(value).split())) and label not in labels:
            labels.append(label)
    runs = [str(first) if first == last else f"{first}–{last}" for first, last in _joined(numbers)]
    return form.prefix + ", ".join(runs + labels) if runs or labels else ""


def _interval(value: Any) -> tuple[int, int] | None:
    """A whole number, also as printed (`"3"`), or a pair of them; None for any other label."""
    if isinstance(value, list | tuple) and len(value) == 2:
        first, last = _whole(value[0]), _whole(value[1])
    else:
        first = last = _whole(value)
    return None if first is None or last is None else (first, last)


def _whole(value: Any) -> int | None:
    if isinstance(value, int):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 9 and str(int(value)) == value:
        return int(value)
    return None


def _joined(intervals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted, with those that overlap or follow each other directly made one."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(intervals):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value
