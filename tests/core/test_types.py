from __future__ import annotations

from datetime import UTC, datetime
from types import MappingProxyType

import pytest

from core.types import (
    Answer,
    CitationMark,
    Labels,
    Notice,
    Passage,
    Principal,
    SearchResult,
    chunk_hash,
    chunk_id,
    document_id,
    text_hash,
    to_json,
)

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def test_ids_are_for_ever() -> None:
    """Stored collections hold them: a change of these values loses every reference."""
    document = document_id("demo", "policies/refunds.md")
    assert document == "e32dd52dcae3fa6c8c93f7de7262d9d0"
    assert chunk_id(document, 0, 12, "Refunds take") == "026a48631c148e6a8f6e0a0278cc93ae"
    assert text_hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert chunk_hash("x") == f"sha256:{text_hash('x')}"
    assert text_hash("\ud800") != text_hash("?")


def test_every_part_of_an_id_counts() -> None:
    assert len({document_id(*pair) for pair in (("a", "b"), ("b", "a"), ("ab", ""), ("", "ab"), ("a/b", ""))}) == 5
    parts = [("d", 0, 1, "t"), ("e", 0, 1, "t"), ("d", 1, 1, "t"), ("d", 0, 2, "t"), ("d", 0, 1, "u"), ("d", 1, 0, "t")]
    assert len({chunk_id(*part) for part in parts}) == 6


def test_roles_by_collection() -> None:
    ann = Principal("ann", roles=(("a", ("owner",)), ("*", ("reader",))))
    assert ann.has_role("owner", "a") and not ann.has_role("owner", "b")
    assert ann.has_role("reader", "b")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (NOW, "2026-06-01T12:00:00Z"),
        (frozenset({"b", "a"}), ["a", "b"]),
        ((1, (2,)), [1, [2]]),
        (MappingProxyType({1: None}), {"1": None}),
        (Labels("public"), {"classification": "public", "acl_allow": None, "acl_deny": [], "inherits_from": None}),
    ],
)
def test_as_json(value: object, expected: object) -> None:
    assert to_json(value) == expected


def result(trace_id: str, version: int, moment: datetime) -> SearchResult:
    evidence = f"ev-{trace_id}-001"
    passage = Passage(
        *(1, evidence, "c", "d", "p", "t", None, 0, 4, (1, 1), "text", "", "public", "active", 0.5, None),
        retrieved_at=moment,
        chunk_refs=(),
    )
    return SearchResult(
        *(trace_id, "q", ("c",), {"c": version}, "memory", NOW, (passage,), None),
        notices=(Notice("conflict", "they disagree", (evidence,)),),
        answer=Answer("text [1].", (CitationMark(1, evidence),), 0, "extractive"),
        latency_ms={"total": float(version)},
        degradation_flags=(),
    )


def test_the_core_is_what_two_searches_share() -> None:
    one, other = result("aa", 1, NOW), result("bb", 2, NOW.replace(hour=13))
    assert one.core() == other.core()
    assert one.to_dict() != other.to_dict()
    assert one.core()["passages"][0]["text"] == "text"
    assert one.core()["notices"] == [{"code": "conflict", "message": "they disagree"}]
    assert one.core()["answer"]["citations"] == [{"n": 1}]
    assert one.to_dict()["passages"][0]["evidence_id"] == "ev-aa-001", "the result itself is left as it is"
