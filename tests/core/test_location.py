from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from core.candidates import CandidateSet
from core.errors import AmbiguousDocument, LocationWithoutDocument, UnknownDocument
from core.location import resolve_document, within
from core.types import Location, Provenance, document_id
from tests.support.engine import ANN, GUEST, NOW, STAFF, path_of, seen, with_provenance
from tests.support.memory_library import MemoryLibrary, document_write

PAGES: list[Provenance] = [
    {"pages": (1,)},
    {"pages": (2, "iv")},
    {"pages": (3,), "sheet": ("Q3",)},
    {"sheet": ("Q3", "Q4")},
    {},
]


def library() -> MemoryLibrary:
    made = MemoryLibrary()
    texts = ["one", "two", "three", "four", "five"]
    for path in ("guide.md", "sub/guide.md", "sub/other.md", "up/other.md", "Café.md", "sub/GUIDE.txt"):
        made.commit("c", [with_provenance(document_write("c", path, texts), PAGES)])
    made.commit("c", [document_write("c", "staff/plan.md", ["plan"], labels=STAFF)])
    made.commit("c", [document_write("c", "staff/other.md", ["plan"], labels=STAFF)])
    made.commit("c", [document_write("c", "past.md", ["past"], valid_until=NOW - timedelta(days=1))])
    return made


@pytest.fixture(scope="module")
def guest() -> CandidateSet:
    return seen(library(), GUEST)


def texts_within(candidates: CandidateSet, location: Location | None) -> list[str]:
    mask = within(candidates, location).mask
    found = []
    for row in np.flatnonzero(mask).tolist():
        segment, local = candidates.snapshot.locate(row)
        found.append(f"{path_of(candidates, row)}: {segment.folded[local]}")
    return found


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        (Location("guide.md"), ["one", "two", "three", "four", "five"]),
        (Location("guide.md", ("2",)), ["two"]),
        (Location("guide.md", ("iv",)), ["two"]),
        (Location("guide.md", ("1", "3", "9")), ["one", "three"]),
        (Location("guide.md", (), "Q3"), ["three", "four"]),
        (Location("guide.md", (), "Q4"), ["four"]),
        (Location("guide.md", ("3",), "Q3"), ["three"]),
        (Location("guide.md", ("1",), "Q3"), []),
        (Location("guide.md", ("99",)), []),
        (Location("guide.md", (), "q3"), []),
    ],
)
def test_pages_and_sheets(guest: CandidateSet, location: Location, expected: list[str]) -> None:
    assert texts_within(guest, location) == [f"guide.md: {text}" for text in expected]


def test_no_location_is_everywhere(guest: CandidateSet) -> None:
    assert within(guest, None) is guest
    assert within(guest, Location()) is guest


@pytest.mark.parametrize("location", [Location(pages=("1",)), Location(sheet="Q3"), Location("", ("1",))])
def test_a_page_needs_its_document(guest: CandidateSet, location: Location) -> None:
    with pytest.raises(LocationWithoutDocument) as raised:
        within(guest, location)
    assert ("page" if location.pages else "sheet") in raised.value.message


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("guide.md", "guide.md"),
        ("sub/guide.md", "sub/guide.md"),
        ("guide.TXT", "sub/GUIDE.txt"),
        (document_id("c", "sub/other.md"), "sub/other.md"),
        ("CAFÉ.md", "Café.md"),
        ("Cafe\u0301.md", "Café.md"),
    ],
)
def test_a_document_by_path_id_or_name(guest: CandidateSet, name: str, path: str) -> None:
    assert guest.snapshot.documents[resolve_document(guest, name)].path == path


def test_a_name_of_several_documents() -> None:
    for principal, choices in ((GUEST, ["sub", "up"]), (ANN, ["staff", "sub", "up"])):
        with pytest.raises(AmbiguousDocument) as raised:
            resolve_document(seen(library(), principal), "other.md")
        assert raised.value.choices == tuple(f"{folder}/other.md" for folder in choices)


@pytest.mark.parametrize("name", ["staff/plan.md", "plan.md", document_id("c", "staff/plan.md"), "past.md"])
def test_forbidden_expired_and_unknown_look_the_same(guest: CandidateSet, name: str) -> None:
    with pytest.raises(UnknownDocument) as hidden:
        resolve_document(guest, name)
    with pytest.raises(UnknownDocument) as unknown:
        resolve_document(guest, "x" * len(name))
    assert hidden.value.line() == unknown.value.line().replace("x" * len(name), name)
    if name != "past.md":
        assert path_of(seen(library(), ANN), 0)
        resolve_document(seen(library(), ANN), name)


@pytest.mark.parametrize("name", ["\ud800", "a\0b", "x" * 10_000, "../guide.md", "/guide.md", "'; DROP TABLE", "%"])
def test_names_that_no_document_can_have(guest: CandidateSet, name: str) -> None:
    with pytest.raises(UnknownDocument):
        resolve_document(guest, name)


@pytest.mark.parametrize("order", [("c", "e"), ("e", "c")])
def test_one_path_in_two_collections(order: tuple[str, str]) -> None:
    made = MemoryLibrary()
    for collection in order:
        made.commit(collection, [document_write(collection, "guide.md", ["x"])])
    candidates = seen(made, GUEST, order)
    with pytest.raises(AmbiguousDocument) as raised:
        resolve_document(candidates, "guide.md")
    assert raised.value.choices == tuple(sorted(document_id(collection, "guide.md") for collection in order))
    for collection in order:
        number = resolve_document(candidates, document_id(collection, "guide.md"))
        assert candidates.snapshot.collections[candidates.snapshot.document_collection[number]] == collection
