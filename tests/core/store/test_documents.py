from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, IntegrityFailure
from core.store.documents import document_from_json, document_to_json, provenance_from_json, provenance_to_json
from core.types import Document, Labels, Relation
from tests.core.store import builders as make

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
TIMES = st.none() | st.datetimes(min_value=datetime(1, 1, 2), timezones=st.just(UTC))
DOCUMENTS = st.builds(
    Document,
    **{name: TEXT for name in ("document_id", "path", "title", "text_hash", "source_hash", "parser")},
    knowledge_id=TEXT,
    revision=TEXT,
    labels=st.builds(Labels, st.none() | TEXT, st.none() | TEXTS, TEXTS, st.none() | TEXT),
    revised_at=TIMES,
    status=st.sampled_from(["active", "deprecated", "revoked"]),
    valid_until=TIMES,
    owner=st.none() | TEXT,
    quality=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    source_uri=st.none() | TEXT,
    relations=st.lists(st.builds(Relation, TEXT, TEXT), max_size=2).map(tuple),
    language=st.none() | TEXT,
    edited=TEXTS,
    outside=TEXT,
)


@given(DOCUMENTS)
def test_there_and_back(document: Document) -> None:
    text = document_to_json(document)
    assert document_from_json(text) == document
    assert document_to_json(document_from_json(text)) == text


def test_a_document_stored_by_an_earlier_version() -> None:
    document = make.document("a", 1)
    value = json.loads(document_to_json(document))
    del value["edited"], value["outside"]
    assert document_from_json(json.dumps(value)) == document


SCALARS = st.text(max_size=5) | st.integers() | st.booleans() | st.none()


@given(st.dictionaries(TEXT, st.lists(TEXT | st.integers() | st.lists(st.integers()).map(tuple)).map(tuple)))
def test_provenance_there_and_back(provenance: dict[str, Any]) -> None:
    assert provenance_from_json(provenance_to_json(provenance)) == provenance


def _valid() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(document_to_json(make.document("a", 1)))
    return value


@pytest.mark.parametrize("key", sorted(json.loads(document_to_json(make.document("a", 1)))))
def test_a_missing_or_foreign_key_is_refused(key: str) -> None:
    value = _valid()
    value["x"] = value.pop(key)
    with pytest.raises(IntegrityFailure):
        document_from_json(json.dumps(value))


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("path", None),
        ("path", 3),
        ("status", "expired"),
        ("status", None),
        ("quality", "5"),
        ("quality", True),
        ("revised_at", "2026-01-01"),
        ("revised_at", "2026-01-01T00:00:00+08:00"),
        ("revised_at", 5),
        ("labels", None),
        ("labels", {}),
        ("labels", {"classification": None, "acl_allow": "*", "acl_deny": [], "inherits_from": None}),
        ("labels", {"classification": None, "acl_allow": None, "acl_deny": None, "inherits_from": None}),
        ("labels", {"classification": 1, "acl_allow": None, "acl_deny": [], "inherits_from": None}),
        ("relations", [{"type": "a"}]),
        ("relations", {}),
        ("owner", []),
    ],
)
def test_a_wrong_value_is_refused(key: str, wrong: object) -> None:
    with pytest.raises(IntegrityFailure):
        document_from_json(json.dumps({**_valid(), key: wrong}))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3"])
def test_no_document_at_all(text: str) -> None:
    with pytest.raises(IntegrityFailure):
        document_from_json(text)


@pytest.mark.parametrize("text", ["", "[]", "null", '{"a": 3}'])
def test_no_provenance_at_all(text: str) -> None:
    with pytest.raises(IntegrityFailure):
        provenance_from_json(text)


def test_what_cannot_be_stored_is_refused_before() -> None:
    for value in (object(), float("nan")):
        with pytest.raises(InputError):
            provenance_to_json({"pages": (value,)})
