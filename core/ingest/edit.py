"""Metadata of a document changed by hand, and who would see what if they were.

A key changed here is remembered as edited: ingesting the file again does not undo it until it is released.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.access import PermissionSet
from core.errors import InputError
from core.ingest.metadata import KEYS, read_mapping
from core.library import Library
from core.location import resolve_document
from core.ports import Delta, DocumentWrite, chunk_schema
from core.snapshot import HIDDEN, Snapshot, refresh
from core.store.documents import digest, document_to_json
from core.types import LABEL_KEYS, Document, Labels

_NEVER_NONE: Mapping[str, Any] = {"status": "active", "acl_deny": (), "relations": ()}


@dataclass(frozen=True, slots=True)
class Seer:
    """How many of the documents concerned somebody sees."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Audience:
    """Who sees what, before and after a change of labels."""

    people: tuple[Seer, ...]
    paths: tuple[str, ...]
    """Documents whose effective labels would change, those that inherit included."""
    hidden: tuple[str, ...]
    """Of these, those that nobody would see."""


def state_of(document: Document) -> str:
    """Differs between any two states of a document: what an edit says it has looked at."""
    return digest(document_to_json(document))[:32]


def edit(
    collection: str,
    library: Library,
    name: str,
    changes: Mapping[str, Any],
    released: Sequence[str] = (),
    expected: str | None = None,
) -> Document:
    """Change metadata of a document, named by id, path or file name; gives its new state.

    `changes`: values as front matter has them, None for a key that is to state nothing. `released`: keys that the next
    ingestion may set again. `expected`: the `state_of` the document as it was looked at.

    Raises InputError where it is in another state by now, MetadataError for an unknown key or a bad value,
    UnknownDocument, AmbiguousDocument, StoreFailure. Nothing is changed then.
    """
    with library.writing(collection) as (_, store):
        everything = library.everything(collection)
        held = everything.snapshot.documents[resolve_document(everything, name)]
        if expected is not None and state_of(held) != expected:
            raise InputError(f"{held.path} was changed meanwhile", "look at it and try again")
        changed = changed_document(held, changes, released)
        if changed != held:
            store.commit([DocumentWrite(changed, None, None, None)])
    return changed


def changed_document(held: Document, changes: Mapping[str, Any], released: Sequence[str] = ()) -> Document:
    """`held` with other metadata. Raises MetadataError."""
    stated = read_mapping({key: value for key, value in changes.items() if value is not None}, held.path)
    read_mapping({key: "" for key in released if key not in KEYS}, held.path)  # complains about an unknown key
    values = {key: getattr(stated, key) for key in changes}
    values = {key: _NEVER_NONE.get(key) if value is None else value for key, value in values.items()}
    for key, own in (("knowledge_id", held.document_id), ("revision", held.source_hash[:12]), ("title", held.name)):
        if key in values and values[key] is None:
            values[key] = own
    labels = replace(held.labels, **{key: values.pop(key) for key in LABEL_KEYS if key in values})
    edited = tuple(key for key in KEYS if (key in held.edited or key in changes) and key not in released)
    return replace(held, labels=labels, edited=edited, **values)


def keep_edits(held: Document, found: Document) -> Document:
    """`found`, as a file states it now, with what was edited of `held`."""
    labels = {key: getattr(held.labels, key) for key in LABEL_KEYS if key in held.edited}
    others = {key: getattr(held, key) for key in held.edited if key not in LABEL_KEYS}
    return replace(found, labels=replace(found.labels, **labels), edited=held.edited, **others)


def labels_changed(before: Labels, after: Labels) -> str:
    """`classification restricted → not stated; acl_allow hr → hr, staff`"""
    pairs = [(key, getattr(before, key), getattr(after, key)) for key in LABEL_KEYS]
    return "; ".join(f"{key} {_shown(old)} → {_shown(new)}" for key, old, new in pairs if old != new)


def _shown(value: str | tuple[str, ...] | None) -> str:
    return (value if isinstance(value, str) else ", ".join(value or ())) or "not stated"


def audience_of_edit(snapshot: Snapshot, number: int, changed: Document, people: Iterable[PermissionSet]) -> Audience:
    """Who would see what if the document of this number were `changed`. `snapshot`: of its collection alone."""
    return _compared(snapshot, _supposed(snapshot, (changed,), snapshot.defaults[0]), people, {number})


def audience_of_defaults(snapshot: Snapshot, defaults: Labels | None, people: Iterable[PermissionSet]) -> Audience:
    """Who would see what if the collection's default labels were these."""
    return _compared(snapshot, _supposed(snapshot, (), defaults), people, set())


def _supposed(snapshot: Snapshot, documents: tuple[Document, ...], defaults: Labels | None) -> Snapshot:
    (seq,) = snapshot.versions.values()
    numbers = {d.document_id: snapshot.documents.numbers[d.document_id.encode()] for d in documents}
    seqs = {identity: int(snapshot.documents.chunks_seq[number]) for identity, number in numbers.items()}
    nothing = chunk_schema(snapshot.dimension).empty_table()
    return refresh(snapshot, Delta(seq, documents, (), seqs, seqs, nothing), defaults)


def _compared(before: Snapshot, after: Snapshot, people: Iterable[PermissionSet], always: set[int]) -> Audience:
    present = before.documents.present.nonzero()[0].tolist()

    def labels(snapshot: Snapshot, number: int) -> Any:
        code = int(snapshot.document_class[number])
        return None if code == HIDDEN else snapshot.classes[code]

    pairs = {number: (labels(before, number), labels(after, number)) for number in present}
    concerned = sorted(number for number, (old, new) in pairs.items() if old != new or number in always)
    seers = tuple(
        Seer(
            permission.actor,
            sum(permission.sees(pairs[number][0]) for number in concerned),
            sum(permission.sees(pairs[number][1]) for number in concerned),
        )
        for permission in people
    )
    moved = [number for number in concerned if pairs[number][0] != pairs[number][1]]
    hidden = [number for number in concerned if pairs[number][1] is None]
    return Audience(seers, _paths(before, moved), _paths(before, hidden))


def _paths(snapshot: Snapshot, numbers: Sequence[int]) -> tuple[str, ...]:
    return tuple(sorted(snapshot.documents[number].path for number in numbers))
