from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import IntegrityFailure
from core.ingest.metadata import DocumentMetadata, read_mapping
from core.ingest.said import Said

EMPTY = DocumentMetadata()
STATED = {
    "knowledge_id": "KB-1",
    "revision": "1.10",
    "revised_at": "2026-01-31",
    "status": "active",
    "valid_until": "2026-12-31T18:00:00+08:00",
    "classification": "internal",
    "acl_allow": ["staff", "user:ann"],
    "acl_deny": ["contractors"],
    "inherits_from": "b.md",
    "owner": "Priya Raman",
    "quality": 87.5,
    "source_uri": "https://example.org/refunds",
    "relations": [{"type": "depends_on", "target": "KB-2"}],
    "title": "退款",
    "language": "en",
}
SOME = st.none() | st.sets(st.sampled_from(sorted(STATED))).map(
    lambda keys: read_mapping({key: STATED[key] for key in keys}, "x")
)


@given(SOME, SOME, SOME)
def test_what_was_said_comes_back(
    table: DocumentMetadata | None, sidecar: DocumentMetadata | None, front: object
) -> None:
    assert front is None or isinstance(front, DocumentMetadata)
    said = Said(table, sidecar, front or EMPTY)
    silent = Said(None, None, said.front)
    again, remembered = silent.with_remembered(said.outside())
    assert again.metadata() == said.metadata()
    assert again.outside() == said.outside()
    assert bool(remembered) == (said.metadata() != silent.metadata())


@given(SOME, SOME)
def test_what_speaks_now_counts_alone(table: DocumentMetadata | None, sidecar: DocumentMetadata | None) -> None:
    before = Said(table, sidecar, EMPTY).outside()
    taken_back, remembered = Said(EMPTY, EMPTY, EMPTY).with_remembered(before)
    assert (taken_back.metadata(), remembered, taken_back.outside()) == (EMPTY, (), "")


@pytest.mark.parametrize("stored", ["{", "[]", '{"table": {"quality": 500}}', '{"table": 5}'])
def test_a_damaged_record_is_refused(stored: str) -> None:
    with pytest.raises(IntegrityFailure, match="not readable"):
        Said(None, None, EMPTY).with_remembered(stored)
