from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.access import PermissionSet
from core.errors import EmbedderMismatch, StoreFailure, UnknownCollection
from core.home import Workbench
from core.library import SCOPES_KEPT, Library, _Texts
from core.ports import ChunkStore
from core.scope import microseconds
from core.types import Labels, document_id
from tests.support.engine import ANN, GUEST, NOW, permission, relabelled
from tests.support.homes import OPEN, OWNER, opened
from tests.support.memory_library import document_write

AS_OF = microseconds(NOW)


def commit(library: Library, collection: str, path: str, text: str = "refund", **metadata: Any) -> int:
    """A document of one chunk without a vector."""
    write = document_write(collection, path, [text], **metadata)
    without = type(write)(write.document, write.text, write.chunks, None)
    return library.store(collection).commit([without])


@pytest.fixture
def wb(home: Path) -> Workbench:
    made = opened(home)
    made.create_collection("e", OWNER, defaults=OPEN, embedder="hash:64")
    commit(made.library, "c", "a")
    commit(made.library, "c", "b", labels=Labels("internal", ("staff",)))
    commit(made.library, "e", "a")
    return made


def paths(library: Library, collections: Sequence[str], who: PermissionSet) -> list[str]:
    candidates = library.candidates(collections, who, AS_OF)
    table = candidates.snapshot.documents
    return sorted(table[number].path for number in candidates.documents.nonzero()[0].tolist())


def test_a_candidate_set_is_kept_for_equal_rights(wb: Workbench) -> None:
    library = wb.library
    guest = library.candidates(["c"], permission(GUEST), AS_OF)
    assert library.candidates(["c"], permission(GUEST), AS_OF + 1) is guest, "no boundary lies between"
    assert paths(library, ["c"], permission(ANN)) == ["a", "b"]
    assert paths(library, ["c"], permission(GUEST)) == ["a"]
    commit(library, "c", "z", valid_until=NOW)
    assert paths(library, ["c"], permission(GUEST)) == ["a"]
    before = library.candidates(["c"], permission(GUEST), AS_OF - 1)
    assert before.count == 2 and before is not library.candidates(["c"], permission(GUEST), AS_OF)


def test_no_more_scopes_are_kept_than_stated(wb: Workbench) -> None:
    for number in range(SCOPES_KEPT + 9):
        commit(wb.library, "c", f"d{number}", valid_until=NOW.replace(year=2030 + number))
    for number in range(SCOPES_KEPT + 9):
        moment = microseconds(NOW.replace(year=2030 + number))
        assert wb.library.candidates(["c"], permission(GUEST), moment).count == SCOPES_KEPT + 9 - number
    assert len(wb.library.snapshot(["c"]).__dict__["_scopes"]) == SCOPES_KEPT


@pytest.mark.parametrize("names", [("c", "c"), ("c", " c"), ("c", "c ", "c")])
def test_a_collection_named_twice_is_searched_once(wb: Workbench, names: tuple[str, ...]) -> None:
    assert wb.library.snapshot(names) is wb.library.snapshot(["c"])


def test_collections_together_are_joined_once(wb: Workbench) -> None:
    together = wb.library.snapshot(["c", "e"])
    assert wb.library.snapshot(["c", "e"]) is together
    assert paths(wb.library, ["c", "e"], permission(ANN)) == ["a", "a", "b"]
    commit(wb.library, "e", "new")
    assert wb.library.snapshot(["c", "e"]) is not together
    assert paths(wb.library, ["e", "c"], permission(ANN)) == ["a", "a", "b", "new"]


def test_collections_of_different_embedders_do_not_mix(wb: Workbench) -> None:
    wb.create_collection("other", OWNER, defaults=OPEN, embedder="hash:32")
    with pytest.raises(EmbedderMismatch, match="different embedders"):
        wb.library.snapshot(["c", "other"])
    with pytest.raises(UnknownCollection):
        wb.library.snapshot(["c", "absent"])


def test_a_query_is_embedded_as_the_vectors_it_meets_were(wb: Workbench) -> None:
    held = wb.library.snapshot(["c"])
    assert wb.library.embed_query(["c"], "refund", held.embedder).shape == (held.dimension,)
    stub = "hash:8" if wb.library.collection("c").embedder != "hash:8" else "hash:9"
    wb.rebuild("c", OWNER, embedder=stub)
    with pytest.raises(StoreFailure, match="another embedder meanwhile"):
        wb.library.embed_query(["c"], "refund", held.embedder)
    assert wb.library.snapshot(["c"]).embedder == wb.library.embedder(stub).fingerprint


def test_new_labels_count_at_once(wb: Workbench) -> None:
    assert paths(wb.library, ["c"], permission(GUEST)) == ["a"]
    write = document_write("c", "a", ["refund"])
    wb.library.store("c").commit([relabelled(write, labels=Labels("restricted", ("board",)))])
    assert paths(wb.library, ["c"], permission(GUEST)) == []


def test_everything_is_for_its_owner(wb: Workbench) -> None:
    commit(wb.library, "c", "past", valid_until=NOW.replace(year=2000))
    wb.library.store("c").commit([], [document_id("c", "a")])
    everything = wb.library.everything("c")
    assert (everything.count, int(everything.documents.sum())) == (2, 2)


class Interrupted:
    """A store; while its head is read for the first time, somebody commits and another thread searches."""

    def __init__(self, store: ChunkStore, meanwhile: Any) -> None:
        self._store, self._meanwhile = store, meanwhile
        self.read_from: list[int] = []

    def head(self) -> int:
        head = self._store.head()
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return head

    def since(self, seq: int) -> Any:
        self.read_from.append(seq)
        return self._store.since(seq)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_a_search_that_is_overtaken_reads_nothing_twice(wb: Workbench) -> None:
    collection = wb.library.collection("c")
    wb.library.snapshot(["c"])
    held = wb.library._open(collection)
    other = threading.Thread(target=lambda: held.newest(collection))

    def meanwhile() -> None:
        commit(wb.library, "c", "new")
        other.start()
        other.join(0.3)  # it may have to wait until the first is done

    store = Interrupted(held.store, meanwhile)
    held.store = store
    held.newest(collection)
    other.join()
    assert held.newest(collection).versions["c"] == 3
    assert store.read_from == [2]


def test_forgetting_a_snapshot_builds_it_anew(wb: Workbench) -> None:
    before = wb.library.snapshot(["c"])
    wb.library.forget_snapshot("c")
    after = wb.library.snapshot(["c"])
    assert after is not before
    assert dict(after.versions) == dict(before.versions)


def test_texts_are_kept_up_to_a_limit() -> None:
    fetched: list[str] = []

    def fetch(names: Sequence[str]) -> dict[str, str]:
        fetched.extend(names)
        return {name: name * 4 for name in names}

    texts = _Texts(10)
    assert texts.get(["a", "b"], fetch) == {"a": "aaaa", "b": "bbbb"}
    assert texts.get(["a"], fetch) == {"a": "aaaa"}
    texts.get(["c"], fetch)
    assert fetched == ["a", "b", "c"]
    texts.get(["a", "c"], fetch)
    assert fetched == ["a", "b", "c"], "b was the least recently used"
    texts.get(["b"], fetch)
    assert fetched == ["a", "b", "c", "b"]
    assert texts.get(["long" * 9], fetch) == {"long" * 9: "long" * 36}
