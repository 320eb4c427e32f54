"""What the Documents page shows, as one value, and the same as query parameters of its address.

c     the collection (the first)   doc     id or path of the opened document
as    who asks                     chunk   number of the chunk that stands out, from 1
view  documents, add or jobs       part    what is open of the document: text, metadata, remove
find  words that a row must have   show    which documents are listed, see FILTERS
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.services.search_state import Problem

VIEWS = ("documents", "add", "jobs")
PARTS = ("text", "metadata", "remove")
FILTERS = ("all", "hidden", "conflicting", "expiring", "expired", "out", "waiting", "warned")
"""hidden: from everyone; expiring: within 30 days; out: not in force; waiting: chunks without a vector yet."""

_TEXTS = {"c": "collection", "as": "actor", "find": "find", "doc": "document"}
_CHOICES = {"view": VIEWS, "part": PARTS, "show": FILTERS}
_CHUNK_DIGITS = 9


@dataclass(frozen=True, slots=True)
class DocumentsState:
    collection: str = ""
    """Empty: the page's own choice."""
    actor: str = ""
    """Name of a principal; empty: whoever the home names as its default."""
    view: str = VIEWS[0]
    find: str = ""
    show: str = FILTERS[0]
    document: str = ""
    part: str = PARTS[0]
    chunk: int = 0
    """0: none."""


def from_params(params: Mapping[str, Sequence[str]]) -> tuple[DocumentsState, tuple[Problem, ...]]:
    """The state that an address stands for. What is malformed keeps its default and is reported."""
    found: dict[str, str] = {}
    chunk = 0
    problems: list[Problem] = []
    for name, values in params.items():
        value = (values[0] if name == "c" else values[-1]) if values else ""
        if name in _TEXTS:
            found[_TEXTS[name]] = value
        elif name in _CHOICES:
            if value in _CHOICES[name]:
                found[name] = value
            else:
                problems.append(Problem(name, value, f"choose one of {', '.join(_CHOICES[name])}"))
        elif name == "chunk":
            if value.isascii() and value.isdigit() and len(value) <= _CHUNK_DIGITS:
                chunk = int(value)
            else:
                problems.append(Problem(name, value, "it is no number"))
        else:
            problems.append(Problem(name, value, ""))
    return DocumentsState(chunk=chunk, **found), tuple(problems)


def to_params(state: DocumentsState) -> dict[str, list[str]]:
    """`from_params` of it gives `state` again."""
    texts = {name: getattr(state, field) for name, field in _TEXTS.items()}
    choices = {
        name: "" if getattr(state, name) == known[0] else getattr(state, name) for name, known in _CHOICES.items()
    }
    chunk = {"chunk": str(state.chunk) if state.chunk else ""}
    return {name: [value] for name, value in {**texts, **choices, **chunk}.items() if value}
