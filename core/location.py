"""From a name a person types to the document it means, and from a location to the rows that lie in it."""

from __future__ import annotations

import numpy as np

from core.candidates import CandidateSet, rows_where
from core.documents import name_key
from core.errors import AmbiguousDocument, LocationWithoutDocument, UnknownDocument
from core.types import Location, document_id


def within(candidates: CandidateSet, location: Location | None) -> CandidateSet:
    """The candidates that lie in `location`.

    Raises LocationWithoutDocument for a page or sheet alone, UnknownDocument, AmbiguousDocument.
    """
    if location is None or location == Location():
        return candidates
    if not location.document:
        raise LocationWithoutDocument("page" if location.pages else "sheet")
    number = resolve_document(candidates, location.document)
    pages = set(location.pages)

    def wanted(provenance: dict[str, tuple[object, ...]]) -> bool:
        in_pages = not pages or not pages.isdisjoint(str(page) for page in provenance.get("pages", ()))
        return in_pages and (location.sheet is None or location.sheet in provenance.get("sheet", ()))

    if not pages and location.sheet is None:
        return candidates.restricted(candidates.snapshot.document == number)
    return candidates.restricted(rows_where(candidates, number, wanted))


def resolve_document(candidates: CandidateSet, name: str) -> int:
    """The number of the document in scope that `name` means: its id, its path, else its file name.

    Only documents in scope are looked at, so the answer tells nothing about others.
    """
    table = candidates.snapshot.documents
    for identity in (name, *(document_id(collection, name) for collection in candidates.snapshot.collections)):
        number = table.numbers.get(identity.encode("utf-8", "replace"))
        if number is not None and candidates.documents[number]:
            return number
    found = np.flatnonzero((table.name_key == name_key(name)) & candidates.documents).tolist()
    if not found:
        raise UnknownDocument(name)
    if len(found) > 1:
        raise AmbiguousDocument(name, sorted(table[number].path for number in found))
    return int(found[0])
