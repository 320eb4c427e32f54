"""Citations after the documents they point into have changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import PermissionUnavailable, UnknownEvidence
from core.evidence_book import EvidenceBook
from core.types import ChunkRef, Passage, Principal
from tests.support.homes import GUEST, OWNER, files, opened

BODY = "The counter is open from nine to five."
REFUNDS = """# Refunds

## How long a refund takes

A refund takes three days.

## Vouchers

Vouchers last a year.
"""


class Desk:
    """A home whose documents change under a citation."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.workbench, self.folder = opened(home), folder
        self.write({"refunds.md": REFUNDS, "hours.md": f"# Hours\n\n{BODY}\n"})

    def write(self, contents: dict[str, str]) -> None:
        self.workbench.ingest([files(self.folder, contents)], "c", OWNER)

    def cite(self, query: str = "how long a refund takes three days") -> Passage:
        return self.workbench.search(query, collections=["c"], principal=GUEST).passages[0]

    def again(self, passage: Passage, principal: Principal = GUEST) -> list[tuple[str, str, list[str]]]:
        found = self.workbench.evidence(passage.evidence_id, principal)
        return [(one.step, one.text, [notice.code for notice in one.notices]) for one in found]


@pytest.fixture
def desk(home: Path, tmp_path: Path) -> Desk:
    return Desk(home, tmp_path / "files")


def test_what_did_not_change_comes_back_whole(desk: Desk) -> None:
    passage = desk.cite()
    assert desk.again(passage) == [("chunk", passage.text, [])]
    (found,) = desk.workbench.evidence(passage.evidence_id, GUEST)
    assert (found.document.path, found.start, found.end) == (passage.path, passage.start, passage.end)
    assert found.classification == passage.classification == "public"


def test_a_text_that_moved_is_still_what_was_cited(desk: Desk) -> None:
    passage = desk.cite("counter open nine five")
    desk.write({"hours.md": f"# Opening\n\nSince May.\n\n## Counter\n\n{BODY}\n"})
    texts = [(step, notices) for step, text, notices in desk.again(passage) if BODY in text]
    assert texts, "the sentence is found in its new place"
    assert all(step in ("chunk", "section", "document") for step, _ in texts)


def test_a_changed_section_is_shown_with_a_mark(desk: Desk) -> None:
    passage = desk.cite()
    desk.write({"refunds.md": REFUNDS.replace("three days", "nine days")})
    for step, text, notices in desk.again(passage):
        assert (step, notices) == ("section", ["stale_citation"])
        assert "three days" not in text
    assert any("nine days" in text for _, text, _ in desk.again(passage))


def test_a_section_renamed_is_found_by_its_likeness(desk: Desk) -> None:
    passage = desk.cite()
    desk.write({"refunds.md": REFUNDS.replace("How long a refund takes\n\nA", "How long refunds take\n\nNow a")})
    assert {step for step, _, _ in desk.again(passage)} == {"section"}


def test_without_its_section_the_document_stands_for_it(desk: Desk) -> None:
    passage = desk.cite()
    desk.write({"refunds.md": "# Money back\n\nAsk at the counter.\n"})
    ((step, text, notices),) = desk.again(passage)
    assert (step, notices) == ("document", ["location_degraded"])
    assert "Ask at the counter." in text


def test_removed_hidden_and_never_shown_look_alike(desk: Desk) -> None:
    passage, workbench = desk.cite(), desk.workbench
    errors = []
    ann = Principal("ann", frozenset({"staff"}), "internal")
    for identity, principal in ((passage.evidence_id, ann), ("ev-0-001", GUEST), ("nonsense", GUEST), ("", GUEST)):
        with pytest.raises(UnknownEvidence) as error:
            workbench.evidence(identity, principal)
        errors.append(error.value.line().replace(repr(identity), "…"))
    assert len(set(errors)) == 1
    for change in (
        lambda: workbench.edit_document("c", "refunds.md", {"acl_allow": ["staff"]}, OWNER),
        lambda: workbench.remove_documents("c", ["refunds.md"], OWNER),
    ):
        change()
        with pytest.raises(UnknownEvidence):
            workbench.evidence(passage.evidence_id, GUEST)


def test_nobody_opens_no_evidence(desk: Desk) -> None:
    passage = desk.cite()
    with pytest.raises(PermissionUnavailable):
        desk.workbench.evidence(passage.evidence_id, Principal(""))


def test_two_collections_tell_their_knowledge_apart(desk: Desk, tmp_path: Path) -> None:
    workbench = desk.workbench
    workbench.create_collection(
        "d", OWNER, defaults=workbench.library.collection("c").default_labels, embedder="hash:64"
    )
    workbench.ingest([files(tmp_path / "others", {"refunds.md": REFUNDS})], "d", OWNER)
    result = workbench.search("how long a refund takes", collections=["c", "d"], principal=GUEST)
    for passage in result.passages:
        assert {one.collection for one in workbench.evidence(passage.evidence_id, GUEST)} == {passage.collection}


def test_only_so_many_searches_are_remembered(desk: Desk) -> None:
    book = EvidenceBook(kept=2)
    results = [desk.workbench.search("refund", collections=["c"], principal=GUEST) for _ in range(3)]
    for result in results:
        book.note("guest", result)
    with pytest.raises(UnknownEvidence):
        book.find("guest", results[0].passages[0].evidence_id)
    for result in results[1:]:
        collection, refs = book.find("guest", result.passages[0].evidence_id)
        assert (collection, refs) == ("c", result.passages[0].chunk_refs)
        assert all(isinstance(ref, ChunkRef) for ref in refs)


def test_opening_evidence_is_written_down_first(desk: Desk) -> None:
    from core.audit import read

    passage = desk.cite()
    desk.workbench.evidence(passage.evidence_id, GUEST)
    last = list(read(desk.workbench.home / "audit"))[-1]
    assert last["kind"] == "evidence.open"
    assert last["payload"]["chunk_refs"][0]["chunk_hash"] == passage.chunk_refs[0].chunk_hash
