from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.access import LEVELS, EffectiveLabels
from core.candidates import restrict
from core.ranking import rank
from core.scope import microseconds
from core.snapshot import HIDDEN, Snapshot, empty, join, refresh
from core.store.memory import MemoryStore
from core.types import Document, Labels, Principal, document_id
from tests.support.engine import (
    ANN,
    DEFAULTS,
    GUEST,
    NOW,
    PUBLIC,
    SECRET,
    STAFF,
    everything,
    library_of,
    permission,
    relabelled,
)
from tests.support.memory_library import DIMENSION, MemoryLibrary, document_write, near_duplicate_vector

BOARD = Principal("bo", frozenset({"board", "staff"}), "restricted")
PARENTS = ("p0", "K1", None)


def number_of(snapshot: Snapshot, path: str) -> int:
    return snapshot.documents.numbers[document_id("c", path).encode()]


def labels_by_path(snapshot: Snapshot) -> dict[str, EffectiveLabels | None]:
    """From the class columns, which must agree with the labels worked out document by document."""
    found = {}
    for number in np.flatnonzero(snapshot.documents.present).tolist():
        code = int(snapshot.document_class[number])
        labels = None if code == HIDDEN else snapshot.classes[code]
        assert labels == snapshot.effective_labels(number)
        found[snapshot.documents[number].path] = labels
    return found


def view(snapshot: Snapshot) -> tuple[Any, ...]:
    """All that a search can tell of a snapshot, without the numbers of rows and documents."""
    rankings = []
    for principal in (GUEST, ANN, BOARD):
        candidates = restrict(snapshot, permission(principal), microseconds(NOW))
        for query in ("refund days", "退款三天", '"three days" ERR-4012'):
            found = rank(candidates, query, near_duplicate_vector(query), DEFAULTS.retrieval, depth=20)
            spans = [(snapshot.documents[int(s.document)].path, s.start, s.end, s.score) for s in found.merged]
            rankings.append((found.lists, found.fused, found.prior, spans, found.tail))
    documents = sorted(snapshot.documents[n].path for n in np.flatnonzero(snapshot.documents.present).tolist())
    return rankings, documents, labels_by_path(snapshot)


steps = st.lists(
    st.tuples(
        st.sampled_from(("p0", "p1", "p2", "p3")),
        st.sampled_from(("write", "write", "relabel", "remove")),
        st.lists(st.sampled_from(("refund days", "three days", "退款三天", "ERR-4012")), min_size=1, max_size=3),
        st.sampled_from((PUBLIC, STAFF, SECRET, Labels(), Labels(inherits_from="p0"), Labels(inherits_from="K1"))),
        st.sampled_from((None, "K1")),
        st.sampled_from((None, NOW - timedelta(days=1), NOW - timedelta(days=2))),
    ),
    max_size=12,
)


@given(steps, st.sampled_from((None, STAFF)))
def test_step_by_step_is_all_at_once(taken: list[tuple[Any, ...]], default: Labels | None) -> None:
    store = MemoryStore(DIMENSION)
    stepwise = empty("c", DIMENSION)
    held: set[str] = set()
    for path, action, paragraphs, labels, knowledge, revised_at in taken:
        metadata = {"knowledge_id": knowledge or document_id("c", path), "revised_at": revised_at}
        write = document_write("c", path, paragraphs, labels=labels, **metadata)
        if action == "write":
            store.commit([write])
            held.add(path)
        elif path in held and action == "relabel":
            document = next(d for d in store.since(0).documents if d.path == path)
            store.commit([relabelled(replace(write, document=document), labels=labels, **metadata)])
        elif path in held:
            store.commit([], [document_id("c", path)])
            held.discard(path)
        stepwise = refresh(stepwise, store.since(stepwise.versions["c"]), default)
    at_once = refresh(empty("c", DIMENSION), store.since(0), default)
    assert view(stepwise) == view(at_once)


@pytest.mark.parametrize("per_commit", [1, 3])
def test_segments_stay_few(per_commit: int) -> None:
    library = MemoryLibrary(eager=True)
    for number in range(0, 70 * per_commit, per_commit):
        library.commit("c", [document_write("c", f"d{n}", ["refund"]) for n in range(number, number + per_commit)])
        snapshot = library.snapshot("c")
        sizes = [len(item.segment) for item in snapshot.placed]
        assert len(sizes) <= math.log(sum(sizes), 4) + 1
        assert all(before > 4 * after for before, after in pairwise(sizes))
        assert sum(sizes) == number + per_commit


def test_dead_rows_go() -> None:
    library = MemoryLibrary(eager=True)
    library.commit("c", [document_write("c", f"d{n}", ["refund"]) for n in range(9)])
    library.commit("c", [], [document_id("c", f"d{n}") for n in range(4)])
    assert (len(library.snapshot("c")), int(library.snapshot("c").alive.sum())) == (9, 5), "less than half is dead"
    library.commit("c", [], [document_id("c", "d4")])
    assert (len(library.snapshot("c")), int(library.snapshot("c").alive.sum())) == (4, 4)
    library.commit("c", [], [document_id("c", f"d{n}") for n in range(9)])
    assert len(library.snapshot("c")) == 0
    library.commit("c", [document_write("c", "d0", ["refund again"])])
    assert len(library.snapshot("c").placed) == 1


def test_rows_of_a_class_stand_together_and_those_of_a_document_in_their_order() -> None:
    library = MemoryLibrary(eager=True)
    labels = (PUBLIC, STAFF, SECRET)
    for first in range(0, 24, 6):
        numbers = range(first, first + 6)
        library.commit(
            "c", [document_write("c", f"d{n}", ["one", "two", "three"], labels=labels[n % 3]) for n in numbers]
        )
    (held,) = library.snapshot("c").placed
    classes = library.snapshot("c").document_class[held.document]
    assert np.all(np.diff(classes) >= 0)
    for number in np.unique(held.document):
        assert np.all(np.diff(held.segment.start[held.document == number]) > 0)


def test_a_refresh_leaves_the_old_snapshot_as_it_is() -> None:
    library = library_of(["refund days", "three days"], 1)
    old = library.snapshot("c")
    before = view(old)
    library.commit("c", [document_write("c", "d0", ["three"], labels=SECRET)], [document_id("c", "d1")])
    assert view(library.snapshot("c")) != before
    assert view(old) == before


def test_only_what_is_new_is_read() -> None:
    library = library_of(["refund"] * 9, 9)
    first = library.snapshot("c").placed[0].segment
    library.commit("c", [document_write("c", "new", ["three"])])
    library.commit("c", [relabelled(document_write("c", "new", ["three"]), labels=STAFF)])
    assert library.snapshot("c").placed[0].segment is first


def parent_of(name: str, parents: Mapping[str, dict[str, Any]]) -> Document | None:
    """The document that a child inherits from, in a collection of these documents."""
    library = MemoryLibrary()
    writes = [document_write("c", path, ["x"], **{"labels": STAFF, **stated}) for path, stated in parents.items()]
    library.commit("c", [*writes, document_write("c", "child", ["y"], labels=Labels(inherits_from=name))])
    snapshot = library.snapshot("c")
    number = snapshot.parents[number_of(snapshot, "child")]
    return None if number is None else snapshot.documents[number]


def test_a_parent_by_path_id_or_knowledge() -> None:
    parents: dict[str, dict[str, Any]] = {"p": {"knowledge_id": "K"}, "q": {}}
    for name in ("p", "K", document_id("c", "p")):
        found = parent_of(name, parents)
        assert found is not None and found.path == "p"
    assert parent_of("absent", parents) is None
    named = parent_of("q", {"p": {"knowledge_id": "q"}, "q": {}})
    assert named is not None and named.path == "q", "a path comes before a knowledge_id"


@pytest.mark.parametrize("undated", ["a", "m", "z"])
def test_of_revisions_the_newest_is_the_parent(undated: str) -> None:
    """One that is not dated is older than any."""
    dates = {"old": NOW - timedelta(days=9), "new": NOW - timedelta(days=1), undated: None}
    found = parent_of("K", {path: {"knowledge_id": "K", "revised_at": date} for path, date in dates.items()})
    assert found is not None and found.path == "new"


def test_of_equally_new_revisions_the_smallest_id_is_the_parent() -> None:
    found = parent_of("K", {path: {"knowledge_id": "K", "revised_at": NOW} for path in "abcd"})
    assert found is not None and found.document_id == min(document_id("c", path) for path in "abcd")


def test_a_child_waits_for_its_parent() -> None:
    library = MemoryLibrary(eager=True)
    library.commit("c", [document_write("c", "child", ["y"], labels=Labels(inherits_from="p"))])
    assert labels_by_path(library.snapshot("c"))["child"] is None
    library.commit("c", [document_write("c", "p", ["x"], labels=STAFF)])
    assert labels_by_path(library.snapshot("c"))["child"] == labels_by_path(library.snapshot("c"))["p"]
    library.commit("c", [relabelled(document_write("c", "p", ["x"]), labels=SECRET)])
    labels = labels_by_path(library.snapshot("c"))["child"]
    assert labels is not None and LEVELS[labels.level] == "restricted"
    library.commit("c", [], [document_id("c", "p")])
    assert labels_by_path(library.snapshot("c")) == {"child": None}
    library.commit("c", [document_write("c", "p", ["x"], labels=PUBLIC)])
    labels = labels_by_path(library.snapshot("c"))["child"]
    assert labels is not None and LEVELS[labels.level] == "public"


def test_those_who_inherit_from_one_another_are_hidden() -> None:
    library = MemoryLibrary()
    writes = [document_write("c", path, ["x"], labels=Labels("public", ("*",), (), up)) for path, up in ("ab", "ba")]
    library.commit("c", [*writes, document_write("c", "c", ["x"], labels=Labels(inherits_from="a"))])
    assert set(labels_by_path(library.snapshot("c")).values()) == {None}


def test_default_labels_count_at_once() -> None:
    store = MemoryStore(DIMENSION)
    store.commit([document_write("c", "bare", ["x"], labels=Labels()), document_write("c", "own", ["x"])])
    snapshot = empty("c", DIMENSION)
    for default, level in ((None, None), (STAFF, "internal"), (SECRET, "restricted"), (None, None)):
        snapshot = refresh(snapshot, store.since(snapshot.versions["c"]), default)
        bare = labels_by_path(snapshot)["bare"]
        assert (None if bare is None else LEVELS[bare.level]) == level
        own = labels_by_path(snapshot)["own"]
        assert own is not None and LEVELS[own.level] == "public"


def test_joined_collections() -> None:
    library = MemoryLibrary(STAFF, eager=True)
    library.commit("c", [document_write("c", "a", ["x"]), document_write("c", "b", ["y"], labels=SECRET)])
    library.commit("e", [document_write("e", "a", ["x"], labels=Labels())])
    library.commit("e", [document_write("e", "k", ["z"], labels=Labels(inherits_from="a"))])
    snapshot = join([library.snapshot("c"), library.snapshot("e")])
    assert snapshot.collections == ("c", "e")
    assert dict(snapshot.versions) == {"c": 1, "e": 2}
    stated = [
        (snapshot.collections[snapshot.document_collection[n]], d.path)
        for n, d in enumerate(snapshot.documents.records)
    ]
    assert stated == [("c", "a"), ("c", "b"), ("e", "a"), ("e", "k")]
    assert len(labels_by_path(snapshot)) == 3, "two documents share a path"
    levels = [LEVELS[snapshot.classes[code].level] for code in snapshot.document_class]
    assert levels == ["public", "restricted", "internal", "internal"]
    for row in range(len(snapshot)):
        segment, local = snapshot.locate(row)
        assert segment.document_ids[local] == snapshot.documents.ids[snapshot.document[row]]
    assert join([library.snapshot("c")]) is library.snapshots["c"]


def test_the_columns_of_rows_belong_together() -> None:
    texts = [f"text {number} " + "word " * number for number in range(9)]
    snapshot = library_of(texts, 2).snapshot("c")
    candidates = everything(snapshot)
    assert candidates.count == 9
    for row in range(len(snapshot)):
        segment, local = snapshot.locate(row)
        text = texts[int(snapshot.documents[int(snapshot.document[row])].path[1:])]
        assert segment.folded[local] == text
        assert snapshot.ids[row] == segment.ids[local]
        np.testing.assert_array_equal(snapshot.vectors(np.array([row]))[0], near_duplicate_vector(text))
    backwards = np.arange(len(snapshot))[::-1]
    np.testing.assert_array_equal(snapshot.vectors(backwards)[::-1], snapshot.vectors(backwards[::-1]))
