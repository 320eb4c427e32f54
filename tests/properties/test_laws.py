"""The laws L3 to L6 over random collections: what is compared is `SearchResult.core()`, to the byte.

Texts are near-duplicates (few words, repeated) and vectors differ by a few 1e-8, so that whatever depends on batch,
subset, order or history shows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from core import pipeline
from core.access import LEVELS, permission_set
from core.audit import MemoryAudit
from core.ports import DocumentWrite
from core.ranking import rank, rank_batch
from core.scope import microseconds
from core.settings import Settings, load
from core.types import Labels, Principal, document_id
from tests.support.memory_library import MemoryLibrary, document_write, near_duplicate_vector

NOW = datetime(2026, 6, 1, tzinfo=UTC)
WORDS = ("refund", "days", "three", "ERR-4012", "policy", "退款", "三天", "the", "RefundService", "v2.3.1")
GROUPS = ("staff", "finance", "hr")

paragraphs = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=4)
OPEN = ("*",)
labels = st.builds(
    Labels,
    classification=st.sampled_from(("public", "public", "public", "public", "internal", "confidential", None)),
    acl_allow=st.sampled_from((OPEN, OPEN, OPEN, ("staff",), ("finance", "user:ann"), ("user:ann",), None)),
    acl_deny=st.sampled_from(((), (), (), ("hr",), ("user:ann",))),
    inherits_from=st.sampled_from((None, None, None, None, None, "d0", "d1", "gone")),
)
moments = st.integers(-3, 3).map(lambda days: NOW + timedelta(days=days))
principals = st.builds(
    Principal,
    actor=st.sampled_from(("ann", "bo")),
    groups=st.frozensets(st.sampled_from(GROUPS)),
    clearance=st.sampled_from(("public", "internal", "confidential")),
)
queries = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    st.sampled_from(('"three days"', "退款三天", "ERR-4012", "refund refund", "v2.3.1 RefundService")),
)


@dataclass(frozen=True)
class Spec:
    path: str
    paragraphs: tuple[str, ...]
    labels: Labels
    knowledge: str | None
    revised_at: datetime | None
    status: str
    valid_until: datetime | None
    quality: float | None

    def write(self, collection: str) -> DocumentWrite:
        metadata: dict[str, Any] = {
            "revised_at": self.revised_at,
            "status": self.status,
            "valid_until": self.valid_until,
            "quality": self.quality,
        }
        if self.knowledge is not None:
            metadata["knowledge_id"] = self.knowledge
        return document_write(collection, self.path, self.paragraphs, labels=self.labels, **metadata)


def specs(max_size: int = 9) -> st.SearchStrategy[list[Spec]]:
    one = st.builds(
        Spec,
        path=st.just(""),
        paragraphs=paragraphs.map(tuple),
        labels=labels,
        knowledge=st.sampled_from((None, None, "K1", "K2")),
        revised_at=st.one_of(st.none(), st.none(), moments),
        status=st.sampled_from(("active", "active", "active", "active", "active", "deprecated", "revoked")),
        valid_until=st.one_of(st.none(), st.none(), st.none(), moments),
        quality=st.one_of(st.none(), st.sampled_from((0.0, 40.0, 100.0))),
    )
    return st.lists(one, min_size=min(4, max_size), max_size=max_size).map(
        lambda found: [replace(spec, path=f"d{number}") for number, spec in enumerate(found)]
    )


@st.composite
def tuned(draw: st.DrawFn) -> Settings:
    """Small windows, so that their edges are met all the time."""
    return load([], {}).with_retrieval(
        window=draw(st.integers(1, 6)),
        candidates=draw(st.integers(1, 8)),
        fusion=draw(st.sampled_from(("rrf", "convex"))),
        rrf_k=draw(st.sampled_from((1, 10, 60))),
        bm25_scorer=draw(st.sampled_from(("lucene", "rank_bm25"))),
        feedback_documents=draw(st.sampled_from((0, 0, 2))),
        mmr=draw(st.booleans()),
        mmr_keep=draw(st.integers(1, 5)),
        quality_floor=draw(st.sampled_from((None, None, 30.0))),
        passage_max_chars=200,
        top_k=draw(st.integers(1, 8)),
    )


def ingest(library: MemoryLibrary, order: list[Spec], collection: str = "c") -> None:
    for spec in order:
        library.commit(collection, [spec.write(collection)])


def found(
    library: MemoryLibrary, query: str, principal: Principal, settings: Settings, collections: tuple[str, ...] = ("c",)
) -> str:
    request = pipeline.Request(query, collections, as_of=NOW, explain=True, depth=30, answer=True)
    result = pipeline.search(request, principal, settings, library, MemoryAudit())
    return json.dumps(result.core(), ensure_ascii=False)


@given(specs(), principals, queries, tuned(), st.sampled_from((None, Labels("internal", ("staff",)))))
def test_l3_forbidden_documents_leave_no_trace(
    documents: list[Spec], principal: Principal, query: str, settings: Settings, default: Labels | None
) -> None:
    """A store that never held them gives the same result.

    A parent that may not be seen is kept out of the comparison: its labels are what makes its children visible.
    """
    whole = MemoryLibrary(default)
    ingest(whole, documents)
    snapshot = whole.snapshot("c")
    permission = permission_set(principal, None, settings.limits)
    allowed = {
        spec.path
        for spec in documents
        if permission.sees(snapshot.effective_labels(snapshot.documents.numbers[document_id("c", spec.path).encode()]))
    }
    # Labels made absolute, as the resolved ones are, so that what may be seen does not hang on the absent parent.
    absolute = []
    for spec in documents:
        if spec.path in allowed:
            effective = snapshot.effective_labels(snapshot.documents.numbers[document_id("c", spec.path).encode()])
            assert effective is not None
            stated = Labels(LEVELS[effective.level], tuple(sorted(effective.allow)), tuple(sorted(effective.deny)))
            absolute.append(replace(spec, labels=stated))
    never = MemoryLibrary(None)
    ingest(never, absolute)
    assert found(whole, query, principal, settings) == found(never, query, principal, settings)


@given(specs(), principals, queries, tuned(), st.randoms(use_true_random=False), st.booleans())
def test_l4_history_leaves_no_trace(
    documents: list[Spec], principal: Principal, query: str, settings: Settings, random: Any, eager: bool
) -> None:
    """Another order, with documents that came and went, labels that changed, and texts that were edited."""
    straight = MemoryLibrary()
    straight.commit("c", [spec.write("c") for spec in documents])
    winding = MemoryLibrary(eager=eager)
    shuffled = list(documents)
    random.shuffle(shuffled)
    for spec in shuffled:
        detour = random.randrange(4)
        if detour == 1:
            winding.commit("c", [replace(spec, paragraphs=("refund three days", *spec.paragraphs)).write("c")])
        elif detour == 2:
            winding.commit("c", [replace(spec, path="passing", knowledge=None).write("c")])
        winding.commit("c", [spec.write("c")])
        if detour == 2:
            winding.commit("c", [], [document_id("c", "passing")])
        elif detour == 3:
            relabelled = replace(spec, labels=Labels("public", ("*",)), status="active").write("c")
            winding.commit("c", [replace(relabelled, text=None, chunks=None, vectors=None)])
            winding.commit("c", [replace(spec.write("c"), text=None, chunks=None, vectors=None)])
    assert found(straight, query, principal, settings) == found(winding, query, principal, settings)


@given(specs(), specs(4), principals, queries, tuned())
def test_l4_the_order_of_collections_leaves_no_trace_in_the_passages(
    first: list[Spec], second: list[Spec], principal: Principal, query: str, settings: Settings
) -> None:
    library = MemoryLibrary()
    ingest(library, first, "c")
    ingest(library, second, "e")
    one = json.loads(found(library, query, principal, settings, ("c", "e")))
    other = json.loads(found(library, query, principal, settings, ("e", "c")))
    assert one.pop("collections") != other.pop("collections")
    assert one == other


@given(specs(12), principals, st.lists(queries, min_size=2, max_size=6), tuned(), st.integers(0, 20))
def test_l5_a_batch_ranks_as_each_query_alone(
    documents: list[Spec], principal: Principal, asked: list[str], settings: Settings, depth: int
) -> None:
    library = MemoryLibrary()
    ingest(library, documents)
    permission = permission_set(principal, None, settings.limits)
    candidates = library.candidates(["c"], permission, microseconds(NOW))
    vectors = np.array([near_duplicate_vector(query) for query in asked])
    together = rank_batch(candidates, asked, vectors, settings.retrieval, depth)
    for query, vector, ranking in zip(asked, vectors, together, strict=True):
        assert rank(candidates, query, vector, settings.retrieval, depth) == ranking


@given(specs(12), principals, queries, tuned(), st.integers(1, 7), st.integers(1, 7))
def test_l6_a_shorter_list_is_a_prefix(
    documents: list[Spec], principal: Principal, query: str, settings: Settings, short: int, more: int
) -> None:
    library = MemoryLibrary()
    ingest(library, documents)
    results = []
    for top_k in (short, short + more):
        whole = json.loads(found(library, query, principal, settings.with_retrieval(top_k=top_k)))
        results.append(whole["passages"])
    assert results[1][:short] == results[0]


@given(specs(12), principals, queries, tuned(), st.integers(0, 12), st.integers(1, 20))
def test_l6_a_shallower_reading_is_a_prefix(
    documents: list[Spec], principal: Principal, query: str, settings: Settings, depth: int, more: int
) -> None:
    library = MemoryLibrary()
    ingest(library, documents)
    candidates = library.candidates(["c"], permission_set(principal, None, settings.limits), microseconds(NOW))
    vector = near_duplicate_vector(query)
    shallow = rank(candidates, query, vector, settings.retrieval, depth)
    deep = rank(candidates, query, vector, settings.retrieval, depth + more)
    assert deep.merged == shallow.merged
    assert deep.tail[: len(shallow.tail)] == shallow.tail


def test_the_laws_are_tested_where_there_is_something_to_find() -> None:
    """Most of the random searches release passages, so that equal results are not equal for being empty."""
    outcomes: list[bool] = []

    @given(specs(), principals, queries, tuned())
    @hypothesis_settings(max_examples=200)
    def look(documents: list[Spec], principal: Principal, query: str, settings: Settings) -> None:
        library = MemoryLibrary()
        ingest(library, documents)
        outcomes.append(bool(json.loads(found(library, query, principal, settings))["passages"]))

    look()
    assert sum(outcomes) > 0.6 * len(outcomes)
