from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from core import pipeline
from core.access import PermissionSet
from core.audit import MemoryAudit
from core.candidates import CandidateSet, restrict
from core.errors import (
    AmbiguousDocument,
    AuditUnavailable,
    EmbedderUnavailable,
    InputError,
    StoreFailure,
    UnknownDocument,
)
from core.pipeline import Request
from core.settings import Settings
from core.types import CHANNELS, Location, Principal, SearchResult, document_id
from tests.support.engine import ANN, DEFAULTS, GUEST, NOW, SECRET, STAFF
from tests.support.memory_library import MemoryLibrary, document_write

PARAGRAPHS = ("A refund takes three days.", "ERR-4012 means that a signature failed.")


def library() -> MemoryLibrary:
    made = MemoryLibrary()
    for number in range(30):
        made.commit("c", [document_write("c", f"d{number}", [*PARAGRAPHS, f"refund policy {number}"])])
    made.commit("c", [document_write("c", "staff", ["refund for staff"], labels=STAFF)])
    return made


@pytest.fixture(scope="module")
def held() -> MemoryLibrary:
    return library()


class Down(MemoryLibrary):
    """No embedder."""

    def embed_query(self, collections: Sequence[str], query: str, fingerprint: str) -> Any:
        raise EmbedderUnavailable("no model", "install it")


class FailingAudit(MemoryAudit):
    """Fails at one kind of record."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def record(self, kind: str, payload: Mapping[str, Any]) -> None:
        if kind == self.kind:
            raise AuditUnavailable("the disk is full", "free space")
        super().record(kind, payload)


def search(
    held: MemoryLibrary,
    query: Any = "refund",
    principal: Principal | None = GUEST,
    audit: MemoryAudit | None = None,
    settings: Settings = DEFAULTS,
    **request: Any,
) -> SearchResult:
    asked = Request(query, **{"collections": ("c",), "as_of": NOW, **request})
    return pipeline.search(asked, principal, settings, held, audit or MemoryAudit())


def refused(result: SearchResult) -> str:
    assert result.refusal is not None
    assert result.passages == () and result.answer is None and result.trace is None
    return result.refusal.code


NOBODY: list[Any] = [
    None,
    "ann",
    Principal(""),
    Principal("ann", clearance="cosmic"),
    Principal("ann", groups=["staff"]),  # type: ignore[arg-type]
    Principal("ann", frozenset({"*"})),
    Principal("ann", frozenset(f"g{n}" for n in range(2_000))),
    Principal("bot", agent="bot"),
]


@pytest.mark.parametrize("principal", NOBODY, ids=[str(number) for number in range(len(NOBODY))])
def test_without_an_established_principal_nothing_is_touched(principal: Any) -> None:
    held, audit = library(), MemoryAudit()
    result = search(held, principal=principal, audit=audit, explain=True, answer=True)
    assert refused(result) == "permission_unavailable"
    assert held.storage_calls == 0
    assert [record["kind"] for record in audit.records] == ["search.intent", "search.outcome"]
    assert audit.records[1]["payload"]["refusal"]["code"] == "permission_unavailable"
    assert {record["payload"]["trace_id"] for record in audit.records} == {result.trace_id}
    assert result.index_versions == {}


def test_without_a_record_of_the_intent_nothing_is_touched() -> None:
    held, audit = library(), FailingAudit("search.intent")
    assert refused(search(held, audit=audit)) == "unavailable"
    assert held.storage_calls == 0
    assert audit.records == []


def test_without_a_record_of_the_outcome_nothing_is_released(held: MemoryLibrary) -> None:
    audit = FailingAudit("search.outcome")
    result = search(held, audit=audit, explain=True, answer=True)
    assert refused(result) == "unavailable"
    assert [record["kind"] for record in audit.records] == ["search.intent"]


def test_the_record_holds_what_was_asked_and_released(held: MemoryLibrary) -> None:
    audit = MemoryAudit()
    asker = replace(ANN, agent="bot")
    result = search(held, "refund ERR-4012", asker, audit, min_classification="public", top_k=2)
    intent, outcome = (record["payload"] for record in audit.records)
    assert (intent["actor"], intent["agent"], intent["query"]) == ("ann", "bot", "refund ERR-4012")
    assert (intent["min_classification"], intent["settings"]) == ("public", DEFAULTS.fingerprint())
    assert [item["evidence_id"] for item in outcome["chunk_refs"]] == [p.evidence_id for p in result.passages]
    assert outcome["chunk_refs"][0]["refs"][0]["chunk_hash"] == result.passages[0].chunk_refs[0].chunk_hash
    assert outcome["index_versions"] == {"c": 31}
    assert len(outcome["permission_set"]) == 64 and outcome["refusal"] is None


@pytest.mark.parametrize("top_k", [0, -1, True, False, 2.0, 1e9, "5", [3]])
def test_a_top_k_that_cannot_be_meant(held: MemoryLibrary, top_k: Any) -> None:
    audit = MemoryAudit()
    with pytest.raises(InputError, match="top_k"):
        search(held, top_k=top_k, audit=audit)
    assert audit.records == []


@pytest.mark.parametrize(("top_k", "released"), [(None, 10), (1, 1), (7, 7), (20, 20), (50, 20), (10**9, 20)])
def test_top_k_is_capped(held: MemoryLibrary, top_k: int | None, released: int) -> None:
    result = search(held, "policy refund days signature", top_k=top_k)
    assert len(result.passages) == released
    assert [passage.rank for passage in result.passages] == list(range(1, released + 1))
    first = search(held, "policy refund days signature", top_k=20)
    assert [p.text for p in result.passages] == [p.text for p in first.passages][:released]


def test_the_default_top_k_is_capped_too(held: MemoryLibrary) -> None:
    settings = replace(DEFAULTS.with_retrieval(top_k=50), limits=replace(DEFAULTS.limits, top_k_max=3))
    assert len(search(held, "policy refund days signature", settings=settings).passages) == 3


@pytest.mark.parametrize("query", ["", "   ", "\n\t", None, 5, b"refund", ["refund"], "x" * 4_001])
def test_a_query_that_cannot_be_meant(held: MemoryLibrary, query: Any) -> None:
    audit = MemoryAudit()
    with pytest.raises(InputError, match="query") as raised:
        search(held, query, audit=audit)
    assert raised.value.remedy
    assert audit.records == []


@pytest.mark.parametrize("depth", [-1, 10_001, 2.5, "3", True, None])
def test_a_depth_that_cannot_be_meant(held: MemoryLibrary, depth: Any) -> None:
    with pytest.raises(InputError, match="depth"):
        search(held, depth=depth)


@pytest.mark.parametrize("request_", [{"collections": ()}, {"min_classification": "cosmic"}])
def test_a_request_that_cannot_be_meant(held: MemoryLibrary, request_: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        search(held, **request_)


def test_a_moment_without_a_zone(held: MemoryLibrary) -> None:
    audit = MemoryAudit()
    with pytest.raises(InputError, match="zone"):
        search(held, as_of=datetime(2026, 1, 1), audit=audit)
    assert [record["kind"] for record in audit.records] == ["search.intent", "search.outcome"]


STRANGE = ["\ud800", "refund \udfff", "a\0refund", "\0", "x" * 4_000, "“refund”", '"', "' OR 1=1 --", "%_", "﷽", "🙂"]


@pytest.mark.parametrize("query", STRANGE)
def test_strange_queries_are_queries(held: MemoryLibrary, query: str) -> None:
    result = search(held, query, answer=True, explain=True, depth=5)
    assert result.query == query
    assert result.refusal is None or result.refusal.code == "no_evidence"


def test_with_the_embedder_down_the_others_answer() -> None:
    held = Down()
    held.commit("c", [document_write("c", "a", ["refund"])])
    result = search(held)
    assert result.degradation_flags == ("vector_channel_down",)
    assert [passage.text for passage in result.passages] == ["refund"]
    assert refused(search(held, "penguin")) == "no_evidence"
    words = search(held, settings=DEFAULTS.with_retrieval(channels=("bm25",)))
    assert words.degradation_flags == (), "it was not asked"


@pytest.mark.parametrize(
    "changes",
    [
        {"channels": ("dense",)},
        {"channels": ("dense", "dense")},
        {"channels": CHANNELS, "weight_exact": 0, "weight_bm25": 0},
    ],
    ids=["alone", "twice", "weighed alone"],
)
def test_with_only_the_embedder_asked_and_down_there_is_no_answer(changes: dict[str, Any]) -> None:
    held, audit = Down(), MemoryAudit()
    held.commit("c", [document_write("c", "a", ["refund"])])
    result = search(held, audit=audit, settings=DEFAULTS.with_retrieval(**changes))
    assert refused(result) == "unavailable"
    assert result.degradation_flags == ("vector_channel_down",)
    assert audit.records[-1]["payload"]["degradation_flags"] == ["vector_channel_down"]


@pytest.mark.parametrize("altered", ["", "A refund takes nine days", "B" * 200])
def test_an_altered_text_is_not_shown(altered: str) -> None:
    held, audit = library(), MemoryAudit()
    texts = held.stores["c"]._texts
    texts.update(dict.fromkeys(texts, altered))
    assert refused(search(held, audit=audit, answer=True, explain=True)) == "integrity"
    assert audit.records[-1]["payload"]["chunk_refs"] == []


def test_a_store_that_fails_is_a_refusal() -> None:
    class Failing(MemoryLibrary):
        def texts(self, collection: str, text_hashes: Sequence[str]) -> Mapping[str, str]:
            raise StoreFailure("the disk is gone", "mount it")

    held = Failing()
    held.commit("c", [document_write("c", "a", ["refund"])])
    assert refused(search(held)) == "unavailable"


class Broken(MemoryLibrary):
    def texts(self, collection: str, text_hashes: Sequence[str]) -> Mapping[str, str]:
        raise StoreFailure("the disk is gone", "mount it")


SECRETS = ("refund", "zebra")
"""Words of the documents and of the query, which no log may hold."""
NO_AUDIT = "AuditUnavailable: the disk is full: free space"
CAUSES: list[tuple[dict[str, Any], str]] = [
    ({"audit": FailingAudit("search.intent")}, NO_AUDIT),
    ({"audit": FailingAudit("search.outcome")}, NO_AUDIT),
    ({"principal": None}, "PermissionUnavailable: nobody is named as the one who asks: name a principal of"),
    ({"held": Broken}, "StoreFailure: the disk is gone: mount it"),
    (
        {"held": Broken, "audit": FailingAudit("search.outcome")},
        f"StoreFailure: the disk is gone: mount it; {NO_AUDIT}",
    ),
    (
        {"held": Down, "settings": DEFAULTS.with_retrieval(channels=("dense",))},
        "StoreFailure: no channel is available (",
    ),
]


@pytest.mark.parametrize(("given", "cause"), CAUSES)
def test_the_cause_of_a_refusal_is_in_the_log_alone_once(
    given: dict[str, Any], cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    held = given.get("held", MemoryLibrary)()
    held.commit("c", [document_write("c", "a", ["refund zebra"])])
    result = search(held, "refund zebra", **{key: value for key, value in given.items() if key != "held"})
    assert refused(result) in ("unavailable", "permission_unavailable")
    records = [record for record in caplog.records if record.name == "core.pipeline"]
    assert [record.levelname for record in records] == ["ERROR"]
    line = records[0].getMessage()
    assert line.startswith(f"search {result.trace_id} refused: {cause}")
    assert "\n" not in line and not any(word in line for word in SECRETS)
    assert result.refusal is not None and result.refusal.message == pipeline.MESSAGES[result.refusal.code]


def test_a_lost_channel_is_a_warning_and_a_result_none(held: MemoryLibrary, caplog: pytest.LogCaptureFixture) -> None:
    assert search(held).passages and not caplog.records
    down = Down()
    down.commit("c", [document_write("c", "a", ["refund"])])
    result = search(down)
    assert [(record.levelname, result.trace_id in record.getMessage()) for record in caplog.records] == [
        ("WARNING", True)
    ]
    assert "EmbedderUnavailable" in caplog.text and "refund" not in caplog.text


def test_a_collection_that_gets_another_embedder_meanwhile_is_a_refusal() -> None:
    class Rebuilt(MemoryLibrary):
        def embed_query(self, collections: Sequence[str], query: str, fingerprint: str) -> Any:
            raise StoreFailure("the collection was given another embedder meanwhile", "search again")

    held = Rebuilt()
    held.commit("c", [document_write("c", "a", ["refund"])])
    assert refused(search(held)) == "unavailable"


class Mistaken(MemoryLibrary):
    """Its access classes are wrong: every document seems to be of the class of `like`."""

    like = ""

    def candidates(self, collections: Sequence[str], permission: PermissionSet, as_of: int) -> CandidateSet:
        snapshot = self.snapshot(collections[0])
        number = snapshot.documents.numbers[document_id("c", self.like).encode()]
        wrong = np.full_like(snapshot.document_class, snapshot.document_class[number])
        return restrict(replace(snapshot, document_class=wrong), permission, as_of)


@pytest.mark.parametrize("twin", [False, True])
def test_a_wrong_access_class_releases_nothing(twin: bool) -> None:
    """What is about to be released is checked against the documents' own labels, twins included."""
    held = Mistaken()
    held.like = "open"
    texts = ("refund", "refund") if twin else ("three days", "refund")
    paths = ["open", "shut"]
    if twin:  # the open one stands for both, so that the other is only named beside it
        names = sorted(paths + [f"shut{n}" for n in range(9)], key=lambda p: _chunk_id(p, "refund"))
        paths = ["open", next(name for name in reversed(names) if name != "open")]
        assert _chunk_id("open", "refund") < _chunk_id(paths[1], "refund")
    held.commit("c", [document_write("c", paths[0], [texts[0]])])
    assert search(held, texts[0]).refusal is None
    held.commit("c", [document_write("c", paths[1], [texts[1]], labels=SECRET)])
    result = search(held, explain=True, answer=True)
    assert refused(result) == "integrity"
    assert paths[1] not in str(result.to_dict())


def _chunk_id(path: str, text: str) -> str:
    chunks = document_write("c", path, [text]).chunks
    assert chunks is not None
    return chunks[0].chunk_id


def test_a_location_narrows(held: MemoryLibrary) -> None:
    result = search(held, location=Location("d3"))
    assert {passage.path for passage in result.passages} == {"d3"}
    ambiguous = MemoryLibrary()
    for path in ("a/x", "b/x"):
        ambiguous.commit("c", [document_write("c", path, ["refund"])])
    with pytest.raises(AmbiguousDocument):
        search(ambiguous, location=Location("x"))


def test_a_forbidden_location_is_an_unknown_one(held: MemoryLibrary) -> None:
    messages = []
    for name in ("staff", "stuff"):
        audit = MemoryAudit()
        with pytest.raises(UnknownDocument) as raised:
            search(held, location=Location(name), audit=audit)
        messages.append(raised.value.line().replace(name, "…"))
        outcome = audit.records[-1]["payload"]
        assert outcome["refusal"] == {"code": "unavailable", "message": raised.value.message}
    assert messages[0] == messages[1]
    assert search(held, principal=ANN, location=Location("staff")).passages


def test_a_location_with_a_surrogate(held: MemoryLibrary) -> None:
    audit = MemoryAudit()
    with pytest.raises(UnknownDocument):
        search(held, location=Location("\ud800"), audit=audit)
    assert [record["kind"] for record in audit.records] == ["search.intent", "search.outcome"]


def test_latency_names_every_stage(held: MemoryLibrary) -> None:
    latency = search(held, answer=True).latency_ms
    assert list(latency) == ["total", *pipeline.STAGES_MS]
    assert latency["total"] == pytest.approx(sum(v for k, v in latency.items() if k != "total"), abs=0.02)


def test_only_what_is_asked_for_comes_along(held: MemoryLibrary) -> None:
    plain = search(held)
    assert (plain.trace, plain.answer) == (None, None)
    full = search(held, explain=True, answer=True, depth=3)
    assert full.trace is not None and full.answer is not None
    assert {mark.evidence_id for mark in full.answer.citations} <= {p.evidence_id for p in full.passages}
    assert full.passages and plain.core()["passages"] == full.core()["passages"]
    assert plain.trace_id != full.trace_id


def test_the_outcome_says_what_was_released_and_what_was_kept_out(held: MemoryLibrary) -> None:
    audit = MemoryAudit()
    result = search(held, "refund for staff", audit=audit)
    outcome = audit.records[-1]["payload"]
    assert (outcome["actor"], outcome["filtered_out_count"], outcome["classification"]) == ("guest", 1, "public")
    assert [item["evidence_id"] for item in outcome["chunk_refs"]] == [p.evidence_id for p in result.passages]
    assert outcome["claims"] == []
    search(held, "refund for staff", ANN, audit=audit)
    outcome = audit.records[-1]["payload"]
    assert (outcome["filtered_out_count"], outcome["classification"]) == (0, "internal")


def test_the_outcome_says_what_was_claimed_by_what_evidence() -> None:
    held, audit = MemoryLibrary(), MemoryAudit()
    held.commit("c", [document_write("c", "a", ["A refund takes three working days."])])
    result = search(held, "how many days a refund takes", audit=audit, answer=True)
    assert result.answer is not None
    (claim,) = audit.records[-1]["payload"]["claims"]
    assert claim == {"text": result.answer.text, "evidence_ids": [result.passages[0].evidence_id]}


def test_the_asker_learns_nothing_of_what_was_kept_out(held: MemoryLibrary) -> None:
    without = MemoryLibrary()
    for number in range(30):
        without.commit("c", [document_write("c", f"d{number}", [*PARAGRAPHS, f"refund policy {number}"])])
    for query in ("refund for staff", "staff", "penguin"):
        assert search(held, query, explain=True).core() == search(without, query, explain=True).core()


@pytest.mark.parametrize("channel", ["bm25", "exact", "dense"])
def test_a_channel_that_fails_is_left_out(held: MemoryLibrary, channel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **given: Any) -> Any:
        raise ArithmeticError

    monkeypatch.setattr(f"core.recall_{channel}.rank", fail)
    result = search(held, '"refund policy 3"', explain=True)
    assert result.degradation_flags == (f"{'vector' if channel == 'dense' else channel}_channel_down",)
    assert result.passages and all(getattr(row, channel) is None for row in result.trace or ())


def test_without_any_channel_there_is_no_answer(held: MemoryLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **given: Any) -> Any:
        raise ArithmeticError

    for channel in CHANNELS:
        monkeypatch.setattr(f"core.recall_{channel}.rank", fail)
    assert refused(search(held)) == "unavailable"
