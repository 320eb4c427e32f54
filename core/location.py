"""From a name a person types to the document it means, and from a location to the rows that lie in it."""

from __future__ import annotations

from collections.abc import Sequence

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
    try:
        paths = [document_id(collection, name) for collection in candidates.snapshot.collections]
    except UnicodeEncodeError:
        raise UnknownDocument(name) from None
    for identities in ([name], paths):
        numbers = [table.numbers.get(identity.encode()) for identity in identities]
        found = [number for number in numbers if number is not None and candidates.documents[number]]
        if found:
            return _only(candidates, name, found)
    found = np.flatnonzero((table.name_key == name_key(name)) & candidates.documents).tolist()
    if not found:
        raise UnknownDocument(name)
    return _only(candidates, name, found)


def _only(candidates: CandidateSet, name: str, found: Sequence[int]) -> int:
    if len(found) == 1:
        return int(found[0])
    documents = [candidates.snapshot.documents[number] for number in found]
    paths = sorted({document.path for document in documents})
    # Documents of two collections may share their path: then only their ids tell them apart.
    raise AmbiguousDocument(name, paths if len(paths) == len(found) else sorted(d.document_id for d in documents))
