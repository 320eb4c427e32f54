from __future__ import annotations

from datetime import timedelta
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.candidates import CandidateSet, lapsed, rows_where, unrestricted
from core.scope import microseconds
from core.text import tokens
from core.types import Principal
from tests.support.engine import (
    ANN,
    GUEST,
    NOW,
    SECRET,
    STAFF,
    library_of,
    only,
    path_of,
    paths_of,
    permission,
    seen,
    with_provenance,
)
from tests.support.memory_library import MemoryLibrary, document_write

TEXTS = ("refund", "refund days", "three days ago", "refund", "退款", "refund days", "refund")


def row_of(candidates: CandidateSet, path: str) -> int:
    (row,) = [row for row in range(len(candidates.snapshot)) if path_of(candidates, row) == path]
    return row


@pytest.mark.parametrize("per_commit", [1, 3, 7])
@pytest.mark.parametrize("paths", [[], ["d4"], ["d0", "d3"], [f"d{n}" for n in range(7)]])
def test_statistics_are_those_of_the_mask(per_commit: int, paths: list[str]) -> None:
    candidates = only(seen(library_of(TEXTS, per_commit)), paths)
    lengths = [len(tokens(TEXTS[int(path[1:])])) for path in paths]
    assert candidates.count == len(paths)
    assert candidates.average_length == (sum(lengths) / len(lengths) if lengths else 0.0)


def smallest(candidates: CandidateSet, paths: list[str]) -> str:
    return min(paths, key=lambda path: candidates.snapshot.ids[row_of(candidates, path)])


@given(st.lists(st.integers(0, 6), unique=True), st.sampled_from((1, 2, 7)), st.lists(st.integers(0, 9), min_size=7))
def test_twins_fold_into_the_smallest_visible_id(inside: list[int], per_commit: int, given_scores: list[int]) -> None:
    candidates = only(seen(library_of(TEXTS, per_commit)), [f"d{number}" for number in inside])
    scores = np.full(7, -1.0)
    value = {f"d{number}": float(given_scores[number]) for number in range(7)}
    for row in np.flatnonzero(candidates.mask).tolist():
        scores[row] = value[path_of(candidates, row)]
    candidates.fold_twins(scores, -1.0)
    groups: dict[str, list[str]] = {}
    for number in inside:
        groups.setdefault(TEXTS[number], []).append(f"d{number}")
    expected = {smallest(candidates, paths): max(value[path] for path in paths) for paths in groups.values()}
    found = {path_of(candidates, row): scores[row] for row in range(7) if scores[row] >= 0}
    assert found == expected
    for paths in groups.values():
        representative = row_of(candidates, smallest(candidates, paths))
        twins = candidates.twins_of(np.array([representative])).get(representative)
        assert sorted(paths_of(candidates, twins) if twins is not None else paths) == sorted(paths)


@given(st.lists(st.booleans(), max_size=20), st.integers(1, 5))
def test_spans_hold_the_mask_and_no_block_beside_it(mask: list[bool], block: int) -> None:
    texts = [f"text {number}" for number in range(len(mask))]
    whole = seen(library_of(texts, max(len(texts), 1)))
    candidates = whole.restricted(np.array(mask, bool))
    with mock.patch("core.candidates.BLOCK", block):
        covered = [row for span in candidates.spans for row in range(span.start, span.stop)]
    rows = range(len(mask))
    assert covered == [row for row in rows if any(mask[row // block * block :][:block])]


def test_a_forbidden_twin_is_none() -> None:
    library = MemoryLibrary()
    for path, labels in (("a", SECRET), ("b", STAFF), ("c", STAFF)):
        library.commit("c", [document_write("c", path, ["refund"], labels=labels)])
    board = Principal("bo", frozenset({"board", "staff"}), "restricted")
    for principal, paths in ((board, "abc"), (ANN, "bc"), (GUEST, "")):
        candidates = seen(library, principal)
        rows, _, representatives = candidates.twins
        assert sorted(paths_of(candidates, rows)) == list(paths)
        expected = [smallest(candidates, list(paths))] if paths else []
        assert paths_of(candidates, representatives) == expected


@given(st.lists(st.sampled_from((0.0, 0.25, 0.5, 1.0)), min_size=7, max_size=7), st.integers(1, 9))
def test_best_are_the_first_of_the_sorted(scores: list[float], depth: int) -> None:
    candidates = seen(library_of(TEXTS, 3))
    order = sorted(
        (row for row in range(7) if scores[row] > 0), key=lambda row: (-scores[row], candidates.snapshot.ids[row])
    )
    assert candidates.best(np.array(scores), depth, 0.0).tolist() == order[:depth]


def test_rows_of_one_document_by_their_provenance() -> None:
    library = MemoryLibrary()
    pages = [{"pages": (number,)} for number in (1, 2, 3)]
    for path in ("a", "b"):
        library.commit("c", [with_provenance(document_write("c", path, ["x", "y", "z"]), pages)])
    candidates = seen(library)
    mask = rows_where(candidates, 1, lambda provenance: 2 in provenance["pages"])
    assert paths_of(candidates, np.flatnonzero(mask)) == ["b"]
    restricted = candidates.restricted(mask)
    assert (restricted.count, candidates.count) == (1, 6)
    nothing = rows_where(restricted, 0, lambda provenance: True)
    assert not nothing.any(), "rows out of scope are not looked at"


def test_what_has_lapsed_is_what_no_longer_holds_for_somebody_who_may_see_it() -> None:
    library, day = MemoryLibrary(), timedelta(days=1)
    for path, values in {
        "in force": {},
        "deprecated": {"status": "deprecated"},
        "revoked": {"status": "revoked"},
        "expired": {"valid_until": NOW},
        "expires later": {"valid_until": NOW + day},
        "holds later": {"status": "deprecated", "revised_at": NOW + day},
        "revoked and expired": {"status": "revoked", "valid_until": NOW - day},
        "not for guests": {"status": "deprecated", "labels": STAFF},
    }.items():
        library.commit("c", [document_write("c", path, ["refund"], **values)])
    snapshot = library.snapshot("c")

    def paths(candidates: CandidateSet) -> set[str]:
        return set(paths_of(candidates, np.flatnonzero(candidates.mask)))

    assert paths(lapsed(snapshot, permission(GUEST), microseconds(NOW))) == {"deprecated", "expired"}
    assert paths(lapsed(snapshot, permission(ANN), microseconds(NOW))) == {"deprecated", "expired", "not for guests"}
    assert paths(unrestricted(snapshot, microseconds(NOW))) == {"in force", "expires later"}
