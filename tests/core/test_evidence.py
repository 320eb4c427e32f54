from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from core import evidence
from core.candidates import CandidateSet
from core.errors import IntegrityFailure
from core.ranking import Ranking, rank
from core.text import lines_of
from core.types import Passage, Provenance, Twin, chunk_hash, document_id
from tests.support.engine import ANN, GUEST, NOW, SECRET, STAFF, permission, seen, tuned, with_provenance
from tests.support.memory_library import MemoryLibrary, document_write

PARAGRAPHS = ("Refunds take three days.", "Vouchers are refunded as vouchers.", "Contact the office.")


def library_of(*provenances: Provenance, **metadata: Any) -> MemoryLibrary:
    library = MemoryLibrary()
    write = document_write("c", "guide.md", PARAGRAPHS, labels=STAFF, **metadata)
    write = replace(write, document=replace(write.document, title="Guide"))
    library.commit("c", [with_provenance(write, provenances or [{}, {}, {}])])
    return library


def released(
    library: MemoryLibrary, query: str = "refund", texts: dict[str, str] | None = None, **changes: Any
) -> list[Passage]:
    candidates = seen(library, ANN)
    ranking = rank(candidates, query, None, tuned(channels=("bm25",), merge_gap=1, **changes))
    return list(cut(library, candidates, ranking, texts))


def cut(
    library: MemoryLibrary, candidates: CandidateSet, ranking: Ranking, texts: dict[str, str] | None = None
) -> tuple[Passage, ...]:
    if texts is None:
        texts = {}
        for collection, hashes in evidence.texts_needed(candidates, ranking.merged).items():
            texts.update(library.texts(collection, sorted(hashes)))
    return evidence.passages(candidates, ranking, ranking.merged, texts, permission(ANN), "f00d", NOW)


def test_a_passage_is_cut_from_the_canonical_text() -> None:
    (passage,) = released(library_of(knowledge_id="KB-1", revision="7", source_uri="https://example.org/g"))
    text = "\n".join(PARAGRAPHS)
    assert (passage.start, passage.end) == (0, len("\n".join(PARAGRAPHS[:2])))
    assert passage.text == text[passage.start : passage.end]
    assert passage.lines == lines_of(text, passage.start, passage.end) == (1, 2)
    assert (passage.rank, passage.evidence_id) == (1, "ev-f00d-001")
    assert (passage.collection, passage.path, passage.title) == ("c", "guide.md", "Guide")
    assert (passage.source_uri, passage.classification, passage.status) == (
        *("https://example.org/g", "internal"),
        "active",
    )
    assert [ref.chunk_hash for ref in passage.chunk_refs] == [chunk_hash(part) for part in PARAGRAPHS[:2]]
    assert {(ref.knowledge_id, ref.knowledge_revision) for ref in passage.chunk_refs} == {("KB-1", "7")}
    assert [ref.section_anchor for ref in passage.chunk_refs] == ["s0", "s1"]
    assert passage.also_in == ()


def test_ids_count_from_one() -> None:
    library = library_of()
    library.commit("c", [document_write("c", "other.md", ["refund office"], labels=STAFF)])
    passages = released(library)
    assert len(passages) == 2
    assert [passage.evidence_id for passage in passages] == [evidence.evidence_id("f00d", p.rank) for p in passages]
    assert evidence.evidence_id("f00d", 12) == "ev-f00d-012"


@pytest.mark.parametrize(
    ("provenances", "expected"),
    [
        ([{"pages": (3,), "lines": ((1, 1),)}, {"pages": (4,)}], "p.3–4"),
        ([{"section": ("Guide",)}, {"section": ("Guide > Refunds",)}], "Refunds"),
        ([{"section": ("Guide > Refunds",)}, {"section": ("Guide > Refunds > Vouchers",)}], "Refunds > Vouchers"),
        ([{"section": ("Guide",)}, {"section": ("Guide",)}], "Guide"),
        ([{"section": ("A",)}, {"section": ("B",), "sheet": ("Q3",)}], "Q3 · A, B"),
        ([{"section": ("A", "B")}, {"section": ("C",)}], "A … C"),
        ([{}, {}], ""),
        ([{"figure": (7,)}, {}], "figure 7"),
    ],
)
def test_the_place_of_a_passage(provenances: list[Provenance], expected: str) -> None:
    (passage,) = released(library_of(*provenances, {}))
    assert passage.location == expected


def twins() -> MemoryLibrary:
    library = MemoryLibrary()
    for path, labels in (("b", STAFF), ("a", STAFF), ("c", SECRET)):
        library.commit("c", [document_write("c", path, ["refund", f"other {path}", "refund"], labels=labels)])
    return library


def test_twins_are_named_beside() -> None:
    (passage,) = released(twins())
    places = {(path, start) for path in "ab" for start in (0, 15)}
    places.discard((passage.path, passage.start))
    assert [(twin.path, twin.start) for twin in passage.also_in] == sorted(places)
    assert passage.also_in[0] == Twin(
        document_id("c", passage.also_in[0].path),
        *(passage.also_in[0].path, passage.also_in[0].path),
        *(passage.also_in[0].start, passage.also_in[0].start + len("refund")),
    )


def test_a_text_that_is_not_what_was_indexed() -> None:
    library = library_of()
    ((name,),) = evidence.texts_needed(seen(library, ANN), [*_merged(library)]).values()
    for altered in ("", "\n".join(PARAGRAPHS)[1:], "\n".join(PARAGRAPHS).replace("three", "seven")):
        with pytest.raises(IntegrityFailure):
            released(library, texts={name: altered})


def _merged(library: MemoryLibrary) -> Any:
    return rank(seen(library, ANN), "refund", None, tuned(channels=("bm25",))).merged


@pytest.mark.parametrize("made", [library_of, twins])
def test_somebody_else_gets_nothing_of_it(made: Callable[[], MemoryLibrary]) -> None:
    library = made()
    candidates = seen(library, ANN)
    ranking = rank(candidates, "refund", None, tuned(channels=("bm25",)))
    needed = evidence.texts_needed(candidates, ranking.merged)
    texts = dict(library.texts("c", sorted(needed["c"])))
    with pytest.raises(IntegrityFailure, match="may not see"):
        evidence.passages(candidates, ranking, ranking.merged, texts, permission(GUEST), "f00d", NOW)


def test_texts_are_asked_for_once_and_by_collection() -> None:
    library = MemoryLibrary()
    for collection in ("c", "e"):
        write = document_write(collection, "a", ["refund", "three", "refund days"])
        library.commit(collection, [replace(write, text=write.text)])
    candidates = seen(library, GUEST, ("c", "e"))
    ranking = rank(candidates, "refund days", None, tuned(channels=("bm25",)))
    document = document_write("c", "a", ["refund", "three", "refund days"]).document
    needed = evidence.texts_needed(candidates, ranking.merged)
    assert set().union(*needed.values()) == {document.text_hash}
    assert evidence.texts_needed(candidates, ()) == {}
