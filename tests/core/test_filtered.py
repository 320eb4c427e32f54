from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.filtered import filtered_out
from core.scope import microseconds
from core.types import Labels, Principal
from tests.support.engine import ANN, GUEST, NOW, PUBLIC, SECRET, STAFF, seen, tuned
from tests.support.memory_library import MemoryLibrary, document_write, near_duplicate_vector

WORDS = tuned(channels=("exact", "bm25"))


def library_of(rows: Sequence[tuple[str, Labels]]) -> MemoryLibrary:
    library = MemoryLibrary()
    library.snapshot("c")
    for number, (text, labels) in enumerate(rows):
        library.commit("c", [document_write("c", f"d{number}", [text], labels=labels)])
    return library


def count(library: MemoryLibrary, principal: Principal, settings: Any = WORDS) -> int:
    vector = near_duplicate_vector("refund") if "dense" in settings.channels else None
    return filtered_out(seen(library, principal), "refund", vector, settings, microseconds(NOW))


def test_what_would_have_been_found_and_may_not_be_seen_is_counted() -> None:
    library = library_of([("refund a", PUBLIC), ("refund b", STAFF), ("refund c", SECRET), ("lunch", SECRET)])
    assert (count(library, GUEST), count(library, ANN)) == (2, 1)
    assert count(library, GUEST, tuned(channels=("dense",), window=4)) == 3, "the dense channel finds everything"


@pytest.mark.parametrize("labels", [Labels(), Labels("restricted", ())])
def test_what_is_hidden_from_everyone_counts_as_well(labels: Labels) -> None:
    assert count(library_of([("refund a", PUBLIC), ("refund b", labels)]), GUEST) == 1


def test_a_text_that_may_be_seen_elsewhere_was_not_kept_out() -> None:
    assert count(library_of([("refund", SECRET), ("refund", PUBLIC), ("refund", SECRET)]), GUEST) == 0
    assert count(library_of([("refund", SECRET), ("refund", SECRET)]), GUEST) == 1, "one text, one loss"


def test_only_what_stands_inside_a_window() -> None:
    rows = [("refund refund", PUBLIC)] * 1 + [(f"refund {number} and more words", SECRET) for number in range(9)]
    assert count(library_of(rows), GUEST, tuned(channels=("bm25",), window=4)) == 3


@given(st.lists(st.tuples(st.sampled_from(("refund", "refund days", "lunch")), st.sampled_from((PUBLIC, STAFF)))))
def test_whoever_sees_everything_misses_nothing(rows: list[tuple[str, Labels]]) -> None:
    assert count(library_of(rows), ANN) == 0
