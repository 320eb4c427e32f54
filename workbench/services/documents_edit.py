"""Metadata of a document, and default labels of a collection, as a form holds them; and what saving them would do.

A form is plain JSON: a text a key, lists for the access lists. Empty stands for: states nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.access import permission_set
from core.errors import InputError
from core.home import Workbench
from core.ingest.edit import state_of
from core.ingest.metadata import KEYS, read_mapping
from core.names import EVERYONE, PERSON
from core.principals import require_role
from core.types import Document, Labels, Principal

if TYPE_CHECKING:
    from core.ingest.edit import Audience

Form = Mapping[str, Any]
LABELS = ("classification", "acl_allow", "acl_deny", "inherits_from")
LISTS = ("acl_allow", "acl_deny")
FORCE = ("status", "valid_until", "revised_at", "knowledge_id")
"""Keys that decide whether a document is searched, whoever may see it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A form that was changed, and what saving it would do."""

    changes: Mapping[str, Any]
    released: tuple[str, ...]
    audience: Audience | None
    """None where no label changes."""

    @property
    def empty(self) -> bool:
        return not self.changes and not self.released

    @property
    def fingerprint(self) -> str:
        return repr((sorted(self.changes.items()), self.released))


def form_of(document: Document) -> dict[str, Any]:
    """`changes` of it against itself are none."""
    labels = document.labels
    quality = document.quality
    return {
        "classification": labels.classification or "",
        "acl_allow": list(labels.acl_allow or ()),
        "acl_deny": list(labels.acl_deny),
        "inherits_from": labels.inherits_from or "",
        "status": document.status,
        "valid_until": written(document.valid_until),
        "revised_at": written(document.revised_at),
        "quality": "" if quality is None else f"{quality:g}",
        "owner": document.owner or "",
        "title": document.title,
        "language": document.language or "",
        "knowledge_id": "" if document.knowledge_id == document.document_id else document.knowledge_id,
        "revision": "" if document.revision == document.source_hash[:12] else document.revision,
        "source_uri": document.source_uri or "",
        "relations": "; ".join(f"{item.type}:{item.target}" for item in document.relations),
    }


def changes_between(before: Form, after: Form) -> dict[str, Any]:
    """As `edit_document` takes them, by key; None: is to state nothing."""
    found: dict[str, Any] = {}
    for key in KEYS:
        old, new = _plain(key, before.get(key)), _plain(key, after.get(key))
        if old != new:
            found[key] = new or None
    return found


def draft(
    workbench: Workbench,
    collection: str,
    document: Document,
    changes: Mapping[str, Any],
    released: Sequence[str],
    principal: Principal,
) -> Draft:
    """Raises MetadataError for a value that cannot be, RoleMissing, PermissionUnavailable."""
    read_mapping({key: value for key, value in changes.items() if value is not None}, document.path)
    audience = None
    if any(key in LABELS for key in changes):
        audience = workbench.audience(collection, document.document_id, changes, principal, released)
    return Draft(dict(changes), tuple(released), audience)


def save(
    workbench: Workbench, collection: str, document_id: str, wanted: Draft, expected: str, principal: Principal
) -> Document:
    """Raises InputError where the document is no longer in the state `expected`, and as `edit_document` does."""
    return workbench.edit_document(
        collection, document_id, wanted.changes, principal, released=wanted.released, expected=expected
    )


def managed(workbench: Workbench, collection: str, document_id: str, principal: Principal) -> tuple[Document, str]:
    """A document's metadata for an owner of its collection, whoever may see it, and its state.

    Raises RoleMissing, InputError where it is gone.
    """
    permission_set(principal, None, workbench.settings.limits)
    require_role(principal, "owner", collection)
    snapshot = workbench.library.everything(collection).snapshot
    number = snapshot.documents.numbers.get(document_id.encode())
    if number is None or not snapshot.documents.present[number]:
        raise InputError("the document was removed meanwhile", "go back to the list")
    document = snapshot.documents[number]
    return document, state_of(document)


def names_for_lists(workbench: Workbench, documents: Sequence[Document]) -> tuple[str, ...]:
    """What an access list may hold as far as is known: everyone, groups, persons, and whatever labels name already."""
    people = workbench.principals()
    groups = {group for person in people for group in person.groups}
    used = {name for item in documents for name in (*(item.labels.acl_allow or ()), *item.labels.acl_deny)}
    persons = {f"{PERSON}{person.actor}" for person in people}
    return (EVERYONE, *sorted((groups | used) - persons - {EVERYONE}), *sorted(persons))


def defaults_of(form: Form) -> Labels | None:
    """Default labels from a form; None where it states nothing. Raises MetadataError."""
    stated = {key: value for key in (*LISTS, "classification") if (value := _plain(key, form.get(key)))}
    return read_mapping(stated, "default labels").labels() if stated else None


def form_of_defaults(labels: Labels | None) -> dict[str, Any]:
    held = labels or Labels()
    return {
        "classification": held.classification or "",
        "acl_allow": list(held.acl_allow or ()),
        "acl_deny": list(held.acl_deny),
    }


def hides_new(labels: Labels | None) -> bool:
    """Whether a new document that states no labels is hidden from everyone."""
    return labels is None or labels.classification is None or labels.acl_allow is None


def written(moment: datetime | None) -> str:
    """`2026-01-31`, or with the time where it is not midnight UTC."""
    if moment is None:
        return ""
    text = moment.isoformat().replace("+00:00", "Z")
    return text.removesuffix("T00:00:00Z")


def _plain(key: str, value: Any) -> Any:
    if key in LISTS:
        return sorted({str(item).strip() for item in value or () if str(item).strip()})
    return str(value or "").strip()
