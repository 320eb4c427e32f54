"""What the Search page shows, as one value, and the same as query parameters of its address.

q     the query                    doc, pages, sheet   where to search
c     a collection; repeated       preset              a shipped preset
as    who asks                     any other           a key of [retrieval] that was changed
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from core.errors import SettingsError
from core.settings import PRESETS, Retrieval, Settings

_TEXTS = {"q": "query", "as": "actor", "doc": "document", "pages": "pages", "sheet": "sheet", "preset": "preset"}
_KEYS = frozenset(field.name for field in fields(Retrieval)) - {"preset"}


@dataclass(frozen=True, slots=True)
class SearchState:
    query: str = ""
    collections: tuple[str, ...] = ()
    """Empty: the page's own choice."""
    actor: str = ""
    """Name of a principal; empty: whoever the home names as its default."""
    document: str = ""
    pages: str = ""
    """As written, e.g. `3-5, 7`."""
    sheet: str = ""
    preset: str = ""
    """Empty: the settings of the home."""
    changes: tuple[tuple[str, Any], ...] = ()
    """Keys of [retrieval] with values other than the preset's, by key."""

    def changed(self, key: str, value: Any) -> SearchState:
        return replace(self, changes=tuple(sorted({**dict(self.changes), key: value}.items())))

    def unchanged(self, key: str) -> SearchState:
        return replace(self, changes=tuple(item for item in self.changes if item[0] != key))


@dataclass(frozen=True, slots=True)
class Problem:
    """A query parameter that was left out, and why."""

    name: str
    value: str
    reason: str
    """Empty: a parameter of this name means nothing."""


def from_params(params: Mapping[str, Sequence[str]]) -> tuple[SearchState, tuple[Problem, ...]]:
    """The state that an address stands for. What is malformed keeps its default and is reported."""
    texts: dict[str, str] = {}
    changes: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, values in params.items():
        value = values[-1] if values else ""
        if name == "c":
            continue
        if name in _TEXTS:
            texts[_TEXTS[name]] = value
        elif name in _KEYS:
            try:
                changes[name] = checked(name, value)
            except SettingsError as error:
                problems.append(Problem(name, value, error.line()))
        else:
            problems.append(Problem(name, value, ""))
    preset = texts.get("preset", "")
    if preset and preset not in PRESETS:
        problems.append(Problem("preset", preset, f"choose one of {', '.join(PRESETS)}"))
        texts["preset"] = ""
    collections = tuple(dict.fromkeys(name for name in params.get("c", ()) if name))
    state = SearchState(collections=collections, changes=tuple(sorted(changes.items())), **texts)
    return state, tuple(problems)


def to_params(state: SearchState) -> dict[str, list[str]]:
    """`from_params` of it gives `state` again."""
    params = {name: [getattr(state, field)] for name, field in _TEXTS.items() if getattr(state, field)}
    if state.collections:
        params["c"] = list(state.collections)
    return {**params, **{key: [written(value)] for key, value in state.changes}}


def checked(key: str, value: Any) -> Any:
    """A value of [retrieval] in its own type. Raises SettingsError."""
    found = getattr(Settings().with_retrieval(**{key: value}).retrieval, key)
    if key == "channels":
        if not found:
            raise SettingsError("retrieval.channels", "no channel is left", "name at least one")
        found = tuple(dict.fromkeys(found))
    return found


def written(value: Any) -> str:
    """A setting as an address or a message holds it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return "" if value is None else str(value)
