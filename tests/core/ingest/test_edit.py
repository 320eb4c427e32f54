from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError, MetadataError, RoleMissing, UnknownDocument
from core.home import Workbench
from core.ingest.edit import state_of
from core.store.documents import document_from_json, document_to_json
from core.types import Document, Labels
from tests.support.homes import GUEST, OWNER, files, opened

PEOPLE = """
[default]
groups = []
clearance = "public"

[ann]
groups = ["staff"]
clearance = "internal"

[bo]
groups = ["staff", "finance"]
clearance = "confidential"
"""
CONTENTS = {
    "parent.md": "---\nclassification: public\nacl_allow: ['*']\nquality: 80\n---\n# Parent\n\nrefund one\n",
    "child.md": "---\ninherits_from: parent.md\n---\n# Child\n\nrefund two\n",
    "alone.md": "# Alone\n\nrefund three\n",
}


@pytest.fixture
def wb(home: Path, tmp_path: Path) -> Workbench:
    made = opened(home)
    (home / "principals.toml").write_text(PEOPLE, "utf-8")
    made.ingest([files(tmp_path / "files", CONTENTS)], "c", OWNER)
    return made


def held(wb: Workbench, path: str) -> Document:
    candidates = wb.library.everything("c")
    return next(document for document in candidates.snapshot.documents.records if document.path == path)


def seen(wb: Workbench, name: str | None) -> set[str]:
    return {row.document.path for row in wb.documents("c", wb.principal(name))}


def test_an_edit_counts_at_once_and_writes_no_chunk(wb: Workbench) -> None:
    assert seen(wb, "default") == set(CONTENTS)
    before = wb.library.store("c").since(0).chunks["chunk_id"].to_pylist()
    changed = wb.edit_document("c", "parent.md", {"classification": "internal", "acl_allow": ["staff"]}, OWNER)
    assert changed == held(wb, "parent.md")
    assert changed.labels == Labels("internal", ("staff",)) and changed.quality == 80
    assert seen(wb, "default") == {"alone.md"} and seen(wb, "ann") == set(CONTENTS), "the child inherits"
    assert wb.library.store("c").since(0).chunks["chunk_id"].to_pylist() == before
    assert not [
        p for p in wb.search("refund one", collections=["c"], principal=GUEST).passages if p.path == "parent.md"
    ]


def test_an_edit_outlives_the_next_ingestion_until_it_is_released(wb: Workbench, tmp_path: Path) -> None:
    wb.edit_document("c", "parent.md", {"classification": "confidential", "quality": 10}, OWNER)
    newer = CONTENTS["parent.md"].replace("refund one", "refund anew").replace("quality: 80", "quality: 90\nowner: Mei")
    report = wb.ingest([files(tmp_path / "newer", {"parent.md": newer})], "c", OWNER)
    assert report.files[0].outcome == "updated"
    assert any(
        "kept as edited here" in warning and "classification, quality" in warning
        for warning in report.files[0].warnings
    )
    document = held(wb, "parent.md")
    assert (document.labels.classification, document.quality, document.owner) == ("confidential", 10, "Mei")
    again = wb.ingest([tmp_path / "newer"], "c", OWNER)
    assert again.files[0].outcome == "unchanged"
    wb.edit_document("c", "parent.md", {}, OWNER, released=["classification"])
    wb.ingest([tmp_path / "newer"], "c", OWNER)
    document = held(wb, "parent.md")
    assert (document.labels.classification, document.quality, document.edited) == ("public", 10, ("quality",))


def test_a_key_can_be_made_to_state_nothing(wb: Workbench) -> None:
    moment = datetime(2020, 1, 1, tzinfo=UTC)
    wb.edit_document("c", "alone.md", {"valid_until": "2020-01-01", "status": "revoked", "knowledge_id": "K"}, OWNER)
    assert (held(wb, "alone.md").valid_until, held(wb, "alone.md").status) == (moment, "revoked")
    document = wb.edit_document("c", "alone.md", dict.fromkeys(("valid_until", "status", "knowledge_id")), OWNER)
    assert (document.valid_until, document.status, document.knowledge_id) == (None, "active", document.document_id)


def test_an_edit_of_what_was_changed_meanwhile_does_nothing(wb: Workbench) -> None:
    looked_at = state_of(held(wb, "alone.md"))
    wb.edit_document("c", "alone.md", {"quality": 50}, OWNER, expected=looked_at)
    with pytest.raises(InputError, match="changed meanwhile"):
        wb.edit_document("c", "alone.md", {"quality": 60}, OWNER, expected=looked_at)
    assert held(wb, "alone.md").quality == 50


@pytest.mark.parametrize(
    ("changes", "released"),
    [({"acl_alow": ["staff"]}, ()), ({"classification": "secret"}, ()), ({"quality": 101}, ()), ({}, ("colour",))],
)
def test_a_bad_edit_changes_nothing(wb: Workbench, changes: dict[str, Any], released: tuple[str, ...]) -> None:
    before, head = held(wb, "alone.md"), wb.library.head("c")
    with pytest.raises(MetadataError):
        wb.edit_document("c", "alone.md", changes, OWNER, released=released)
    assert (held(wb, "alone.md"), wb.library.head("c")) == (before, head)


def test_only_owners_edit_and_look_at_audiences(wb: Workbench) -> None:
    with pytest.raises(RoleMissing):
        wb.edit_document("c", "alone.md", {"quality": 1}, GUEST)
    with pytest.raises(RoleMissing):
        wb.audience("c", "alone.md", {"quality": 1}, GUEST)
    with pytest.raises(RoleMissing):
        wb.audience_of_defaults("c", None, GUEST)
    with pytest.raises(UnknownDocument):
        wb.edit_document("c", "absent.md", {}, OWNER)


def test_the_audience_of_an_edit_is_what_comes_of_it(wb: Workbench) -> None:
    changes = {"classification": "internal", "acl_allow": ["staff"], "acl_deny": ["finance"]}
    audience = wb.audience("c", "parent.md", changes, OWNER)
    assert audience.paths == ("child.md", "parent.md") and audience.hidden == ()
    assert {seer.name: (seer.before, seer.after) for seer in audience.people} == {
        "default": (2, 0), "ann": (2, 2), "bo": (2, 0),
    }  # fmt: skip
    assert seen(wb, "default") == set(CONTENTS), "a preview changes nothing"
    wb.edit_document("c", "parent.md", changes, OWNER)
    for seer in audience.people:
        assert len(seen(wb, seer.name) & set(audience.paths)) == seer.after


def test_the_audience_of_defaults(wb: Workbench) -> None:
    audience = wb.audience_of_defaults("c", None, OWNER)
    assert audience.hidden == ("alone.md",)
    assert {seer.name: (seer.before, seer.after) for seer in audience.people}["bo"] == (1, 0)
    assert wb.audience_of_defaults("c", wb.library.collection("c").default_labels, OWNER).paths == ()


def test_documents_stored_before_there_was_editing_are_read(wb: Workbench) -> None:
    document = held(wb, "alone.md")
    text = document_to_json(document).replace('"edited":[],', "")
    assert "edited" not in text and document_from_json(text) == document
