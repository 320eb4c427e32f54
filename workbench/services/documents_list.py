"""The documents of a collection as the page lists them, and what is to be said of the collection as a whole.

Whoever owns a collection is also shown the documents that are hidden from everyone, by their metadata and never their
text: nobody else could mend them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from core.access import permission_set
from core.errors import CoreError
from core.home import Workbench
from core.scope import boundary_index, microseconds
from core.store.registry import Collection
from core.types import Document, Labels, Principal
from workbench.services.catalogue import DEMO

EXPIRING_DAYS = 30

Stamp = tuple[str, int, int, int]
"""Of a collection: two that are equal list the same documents to the same principal."""


@dataclass(frozen=True, slots=True)
class ListedDocument:
    document: Document
    classification: str
    """Empty: hidden from everyone."""
    chunks: int
    waiting: int
    in_force: bool
    state: str
    """`in_force`, or why it is not: hidden, deprecated, revoked, expired, later, superseded."""
    conflicting: bool
    """Another active document has its knowledge_id, and not both have a date."""
    warnings: tuple[str, ...] = ()
    """Of its last ingestion as a job; owners only."""

    @property
    def hidden(self) -> bool:
        return not self.classification

    @property
    def format(self) -> str:
        name, dot, ending = self.document.name.rpartition(".")
        return ending.lower() if dot and name else ""


@dataclass(frozen=True, slots=True)
class Listing:
    collection: Collection
    owner: bool
    documents: tuple[ListedDocument, ...]
    """By path."""
    unseen: int
    """For owners: documents that others may see and this owner may not."""

    def count(self, show: str, now: datetime) -> int:
        return sum(SHOWN[show](row, now) for row in self.documents)

    @property
    def chunks(self) -> int:
        return sum(row.chunks for row in self.documents)

    @property
    def in_force(self) -> int:
        return sum(row.in_force for row in self.documents)


def _expiring(row: ListedDocument, now: datetime) -> bool:
    until = row.document.valid_until
    return row.document.status == "active" and until is not None and now < until <= now + timedelta(days=EXPIRING_DAYS)


SHOWN: Mapping[str, Callable[[ListedDocument, datetime], bool]] = {
    "all": lambda row, now: True,
    "hidden": lambda row, now: row.hidden,
    "conflicting": lambda row, now: row.conflicting,
    "expiring": _expiring,
    "expired": lambda row, now: row.state == "expired",
    "out": lambda row, now: not row.in_force,
    "waiting": lambda row, now: row.waiting > 0,
    "warned": lambda row, now: bool(row.warnings),
}


def collections_for(workbench: Workbench, principal: Principal) -> tuple[str, ...]:
    """Names of the collections that somebody has a role in or sees a document of; of others there is no sign."""
    return tuple(
        item.name
        for item in workbench.collections()
        if any(held and name in (item.name, "*") for name, held in principal.roles)
        or _sees_any(workbench, item.name, principal)
    )


def choose(known: Sequence[str], named: str) -> str:
    """The collection of this name; where none is named, the demo collection, else the first; empty: there is none."""
    if named:
        return named if named in known else ""
    return DEMO if DEMO in known else next(iter(known), "")


def opened(listed: Listing, name: str) -> ListedDocument | None:
    """The document of this id or path."""
    return next((row for row in listed.documents if name in (row.document.document_id, row.document.path)), None)


def stamp(workbench: Workbench, collection: str) -> Stamp:
    """Raises UnknownCollection, StoreFailure."""
    held = workbench.library.collection(collection)
    snapshot = workbench.library.snapshot([collection])
    moment = boundary_index(snapshot.boundaries, microseconds(datetime.now(UTC)))
    return held.identity, snapshot.versions[held.name], held.revision, moment


def listing(workbench: Workbench, collection: str, principal: Principal) -> Listing:
    """Raises UnknownCollection, PermissionUnavailable, StoreFailure."""
    now = datetime.now(UTC)
    held = workbench.library.collection(collection)
    owner = principal.has_role("owner", held.name)
    rows = [
        ListedDocument(
            document=row.document,
            classification=row.classification,
            chunks=row.chunks,
            waiting=row.waiting,
            in_force=row.in_force,
            state="in_force" if row.in_force else _why_not(row.document, now),
            conflicting=False,
        )
        for row in workbench.documents(held.name, principal)
    ]
    unseen = 0
    if owner:
        hidden = [
            ListedDocument(row.document, "", row.chunks, row.waiting, False, "hidden", False)
            for row in workbench.hidden_documents(held.name, principal)
        ]
        present = int(workbench.library.everything(held.name).snapshot.documents.present.sum())
        unseen = present - len(hidden) - len(rows)
        rows = sorted([*rows, *hidden], key=lambda row: row.document.path)
    clashing = _clashing([row.document for row in rows])
    return Listing(held, owner, tuple(_marked(row, clashing) for row in rows), unseen)


def shown(listed: Listing, find: str, show: str, now: datetime) -> tuple[ListedDocument, ...]:
    """Rows that a filter lets through and that hold every word of `find` in path, title, owner or identifiers."""
    words = _folded(find).split()
    chosen = SHOWN[show]
    return tuple(row for row in listed.documents if chosen(row, now) and all(w in _haystack(row) for w in words))


def with_warnings(listed: Listing, warnings: Mapping[str, tuple[str, ...]]) -> Listing:
    """`warnings`: by path. Nothing is added for those who do not own the collection."""
    if not listed.owner or not warnings:
        return listed
    rows = tuple(_warned(row, warnings.get(row.document.path, ())) for row in listed.documents)
    return replace(listed, documents=rows)


def labels_in_words(labels: Labels) -> str:
    """`staff, not contractors, under policies/a.md`; empty where a document states none."""
    parts = []
    if labels.classification is not None:
        parts.append(labels.classification)
    if labels.acl_allow is not None:
        parts.append(", ".join(labels.acl_allow))
    if labels.acl_deny:
        parts.append(f"not {', '.join(labels.acl_deny)}")
    if labels.inherits_from:
        parts.append(f"under {labels.inherits_from}")
    return " · ".join(parts)


def _sees_any(workbench: Workbench, collection: str, principal: Principal) -> bool:
    """False too where that cannot be told."""
    permission = permission_set(principal, None, workbench.settings.limits)
    try:
        snapshot = workbench.library.snapshot([collection])
    except CoreError:
        return False
    seen = [code for code, labels in enumerate(snapshot.classes) if permission.sees(labels)]
    present = snapshot.document_class[snapshot.documents.present]
    return any(bool((present == code).any()) for code in seen)


def _why_not(document: Document, now: datetime) -> str:
    if document.status != "active":
        return document.status
    if document.valid_until is not None and document.valid_until <= now:
        return "expired"
    if document.revised_at is not None and document.revised_at > now:
        return "later"
    return "superseded"


def _clashing(documents: Sequence[Document]) -> frozenset[str]:
    """Ids of active documents that share a knowledge_id with one another where a date is missing."""
    groups: dict[str, list[Document]] = {}
    for document in documents:
        if document.status == "active":
            groups.setdefault(document.knowledge_id, []).append(document)
    return frozenset(
        document.document_id
        for group in groups.values()
        if len(group) > 1 and any(document.revised_at is None for document in group)
        for document in group
    )


def _marked(row: ListedDocument, clashing: frozenset[str]) -> ListedDocument:
    if row.document.document_id not in clashing:
        return row
    return replace(row, conflicting=True)


def _warned(row: ListedDocument, warnings: tuple[str, ...]) -> ListedDocument:
    return replace(row, warnings=warnings) if warnings else row


def _haystack(row: ListedDocument) -> str:
    document = row.document
    parts = (document.path, document.title, document.owner or "", document.knowledge_id, document.document_id)
    return _folded("\n".join(parts))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
