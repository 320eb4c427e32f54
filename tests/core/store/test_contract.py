"""What every store of a collection owes its callers: the same suite for the one in memory and the one in LanceDB."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import EmbedderMismatch, InputError, IntegrityFailure, StoreFailure, UnknownDocument
from core.ports import ChunkStore, DocumentWrite, chunk_schema
from core.store.documents import provenance_from_json
from core.store.lance import open_store
from core.store.memory import MemoryStore
from core.types import Labels
from tests.core.store import builders as make

SECRET = Labels("secret", ("board",), ("ann",))


@pytest.fixture(params=["memory", "lance"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ChunkStore:
    if request.param == "memory":
        return MemoryStore(make.DIMENSION)
    return open_store(make.folder(tmp_path), make.DIMENSION, make.settings())


def test_a_new_store_is_empty(store: ChunkStore) -> None:
    assert store.head() == 0
    assert store.dimension == make.DIMENSION
    delta = store.since(0)
    assert (delta.seq, delta.documents, delta.removed) == (0, (), ())
    assert delta.chunks.schema.equals(chunk_schema(make.DIMENSION))
    assert store.chunk_rows(["0" * 32]).num_rows == 0


def test_a_commit_is_read_back_as_it_was_written(store: ChunkStore) -> None:
    written = make.write("a/一.md", 1)
    rich = dataclasses.replace(
        written.document,
        revised_at=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=timezone(timedelta(hours=8))),
        valid_until=datetime(2030, 1, 1, tzinfo=UTC),
        quality=73.5,
        owner='o\'b -- "x"',
        source_uri="https://example.org/?a=1&b='2'",
    )
    assert store.commit([dataclasses.replace(written, document=rich)]) == 1
    delta = store.since(0)
    assert delta.documents == (rich,)
    assert delta.document_seq == delta.chunks_seq == {rich.document_id: 1}
    assert delta.chunks.schema.equals(chunk_schema(make.DIMENSION))
    assert written.chunks is not None
    rows = sorted(delta.chunks.to_pylist(), key=lambda row: row["ordinal"])
    for row, chunk in zip(rows, written.chunks, strict=True):
        assert row["seq"] == 1
        assert provenance_from_json(row["provenance"]) == chunk.provenance
        for name in ("chunk_id", "document_id", "start", "end", "indexed_text", "chunk_hash", "section_anchor"):
            assert row[name] == getattr(chunk, name)
    assert np.array_equal(np.array([row["vector"] for row in rows], np.float32), written.vectors)
    assert store.text(rich.text_hash) == written.text
    assert store.texts([rich.text_hash]) == {rich.text_hash: written.text}


def test_since_tells_only_what_is_new(store: ChunkStore) -> None:
    for version, path in enumerate(["a", "b", "c"]):
        store.commit([make.write(path, version)])
    assert [item.path for item in store.since(1).documents] == [
        item.path for item in sorted((make.document("b", 1), make.document("c", 2)), key=lambda item: item.document_id)
    ]
    assert set(store.since(1).chunks["seq"].to_pylist()) <= {2, 3}
    assert store.since(3).documents == ()
    assert store.since(3).seq == 3


def test_a_re_ingest_replaces_all_chunks(store: ChunkStore) -> None:
    store.commit([make.write("a", 1), make.write("b", 1)])
    old = [chunk.chunk_id for chunk in make.chunks("a", 1)]
    store.commit([make.write("a", 2)])
    assert make.check_whole(store) == {"a": 2, "b": 1}
    assert store.chunk_rows(old).num_rows == 0
    delta = store.since(1)
    assert [item.path for item in delta.documents] == ["a"]
    assert set(delta.chunks["seq"].to_pylist()) == {2}


def test_a_label_edit_leaves_the_chunks_alone(store: ChunkStore) -> None:
    store.commit([make.write("a", 1)])
    before = store.since(0)
    assert store.commit([make.relabel("a", 1, SECRET)]) == 2
    delta = store.since(1)
    assert [item.labels for item in delta.documents] == [SECRET]
    assert delta.chunks.num_rows == 0
    assert delta.document_seq == {make.identity("a"): 2}
    assert delta.chunks_seq == {make.identity("a"): 1}
    assert store.since(0).chunks.equals(before.chunks)


def test_a_removal_is_told_and_hides_the_chunks(store: ChunkStore) -> None:
    store.commit([make.write("a", 1), make.write("b", 1)])
    assert store.commit([], [make.identity("a")]) == 2
    delta = store.since(1)
    assert (delta.documents, delta.removed) == ((), (make.identity("a"),))
    assert make.check_whole(store) == {"b": 1}
    assert store.since(0).removed == ()
    assert store.chunk_rows([chunk.chunk_id for chunk in make.chunks("a", 1)]).num_rows == 0
    store.commit([make.write("a", 4)])
    assert make.check_whole(store) == {"a": 4, "b": 1}
    assert store.since(1).removed == ()


def test_writes_and_removals_of_one_commit_come_together(store: ChunkStore) -> None:
    store.commit([make.write("a", 1)])
    store.commit([make.write("b", 2), make.write("c", 2)], [make.identity("a")])
    delta = store.since(1)
    assert {item.path for item in delta.documents} == {"b", "c"}
    assert delta.removed == (make.identity("a"),)
    assert delta.seq == store.head() == 2


def test_a_commit_of_nothing_is_none(store: ChunkStore) -> None:
    assert store.commit([]) == 0
    assert store.commit([], [make.identity("never there")]) == 0
    store.commit([make.write("a")])
    store.commit([], [make.identity("a")])
    assert store.commit([], [make.identity("a")]) == 2
    assert store.head() == 2


def test_chunk_rows_by_id(store: ChunkStore) -> None:
    store.commit([make.write("a", 1), make.write("bcd", 1)])
    wanted = [chunk.chunk_id for chunk in make.chunks("a", 1)]
    asked = [*wanted, *wanted, "f" * 32, "' OR 1=1 --", ""]
    rows = store.chunk_rows(asked)
    assert rows.schema.equals(chunk_schema(make.DIMENSION))
    assert sorted(rows["chunk_id"].to_pylist()) == sorted(wanted)
    assert store.chunk_rows([]).num_rows == 0


def test_chunks_without_vectors_and_documents_without_chunks(store: ChunkStore) -> None:
    bare = DocumentWrite(make.document("none", 0), make.text_of("none", 0), (), None)
    store.commit([make.write("a", 1, embedded=False), bare])
    delta = store.since(0)
    assert delta.chunks["vector"].null_count == delta.chunks.num_rows == make.chunk_count("a", 1)
    assert delta.chunks_seq[make.identity("none")] == 1
    store.commit([make.relabel("none", 0, SECRET)])
    assert store.since(1).chunks_seq == {make.identity("none"): 1}


def test_a_text_already_stored_need_not_be_given(store: ChunkStore) -> None:
    store.commit([make.write("a", 1)])
    again = dataclasses.replace(make.write("a", 1), text=None)
    assert store.commit([again]) == 2
    unknown = dataclasses.replace(make.write("b", 1), text=None)
    with pytest.raises(StoreFailure, match="'b' is not stored"):
        store.commit([unknown])
    assert store.head() == 2


def test_texts_that_are_not_there(store: ChunkStore) -> None:
    for name in ("0" * 64, "x' OR '1'='1", ""):
        with pytest.raises(StoreFailure):
            store.text(name)


def test_a_number_above_the_head_is_refused(store: ChunkStore) -> None:
    store.commit([make.write("a")])
    with pytest.raises(IntegrityFailure, match="stands at commit 1, before 2"):
        store.since(2)


def test_metadata_of_no_document(store: ChunkStore) -> None:
    store.commit([make.write("a", 1)])
    with pytest.raises(UnknownDocument):
        store.commit([dataclasses.replace(make.relabel("b", 1, SECRET), text=make.text_of("b", 1))])
    store.commit([], [make.identity("a")])
    with pytest.raises(UnknownDocument):
        store.commit([make.relabel("a", 1, SECRET)])
    assert store.head() == 2


def _wrong_id(good: DocumentWrite) -> DocumentWrite:
    return dataclasses.replace(good, document=dataclasses.replace(good.document, document_id="a' OR 1=1"))


def _wrong_text(good: DocumentWrite) -> DocumentWrite:
    return dataclasses.replace(good, text="something else")


def _half_a_pair(good: DocumentWrite) -> DocumentWrite:
    return dataclasses.replace(good, text="\ud800")


def _wrong_chunk_id(good: DocumentWrite) -> DocumentWrite:
    assert good.chunks
    return dataclasses.replace(good, chunks=(dataclasses.replace(good.chunks[0], chunk_id="x"), *good.chunks[1:]))


def _foreign_chunk(good: DocumentWrite) -> DocumentWrite:
    return dataclasses.replace(good, chunks=make.chunks("other", 2), vectors=None)


def _twice(good: DocumentWrite) -> DocumentWrite:
    assert good.chunks
    return dataclasses.replace(good, chunks=(good.chunks[0], good.chunks[0]), vectors=None)


def _too_large(good: DocumentWrite) -> DocumentWrite:
    assert good.chunks
    return dataclasses.replace(good, chunks=(dataclasses.replace(good.chunks[0], end=2**40), *good.chunks[1:]))


def _too_few_vectors(good: DocumentWrite) -> DocumentWrite:
    return dataclasses.replace(good, vectors=make.vectors(1))


def _not_finite(good: DocumentWrite) -> DocumentWrite:
    assert good.vectors is not None
    spoilt = good.vectors.copy()
    spoilt[1, 2] = np.nan
    return dataclasses.replace(good, vectors=spoilt)


def _no_time_zone(good: DocumentWrite) -> DocumentWrite:
    return dataclasses.replace(good, document=dataclasses.replace(good.document, revised_at=datetime(2026, 1, 1)))


def _no_number(good: DocumentWrite) -> DocumentWrite:
    return dataclasses.replace(good, document=dataclasses.replace(good.document, quality=float("nan")))


SPOILT = [
    _wrong_id,
    _wrong_text,
    _half_a_pair,
    _wrong_chunk_id,
    _foreign_chunk,
    _twice,
    _too_large,
    _too_few_vectors,
    _not_finite,
    _no_time_zone,
    _no_number,
]


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_wrong_write_changes_nothing(store: ChunkStore, spoil: Callable[[DocumentWrite], DocumentWrite]) -> None:
    good = make.write("aaaa", 1)
    assert make.chunk_count("aaaa", 1) == 2
    with pytest.raises(InputError):
        store.commit([make.write("first", 1), spoil(good)])
    assert store.head() == 0
    assert store.since(0).documents == ()
    assert store.commit([good]) == 1


def test_vectors_of_another_dimension(store: ChunkStore) -> None:
    good = make.write("aaaa", 1)
    with pytest.raises(EmbedderMismatch, match="4 dimensions, the vectors 3"):
        store.commit([dataclasses.replace(good, vectors=np.zeros((2, 3), np.float32))])


def test_one_document_twice_in_a_commit(store: ChunkStore) -> None:
    with pytest.raises(InputError, match="twice"):
        store.commit([make.write("a", 1), make.write("a", 2)])
    with pytest.raises(InputError, match="twice"):
        store.commit([make.write("a", 1)], [make.identity("a")])
    with pytest.raises(InputError, match="no document id"):
        store.commit([], ["a' OR 1=1"])


def test_compaction_changes_no_answer(store: ChunkStore) -> None:
    for version in range(6):
        store.commit([make.write(path, version) for path in ("a", "b")])
    store.commit([make.relabel("a", 5, SECRET)], [make.identity("b")])
    before = [make.comparable(store.since(seq)) for seq in range(store.head() + 1)]
    store.compact()
    assert [make.comparable(store.since(seq)) for seq in range(store.head() + 1)] == before
    assert store.commit([make.write("c")]) == 8


PATHS = st.sampled_from(["a", "bb", "ccc", "dddd"])
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.dictionaries(PATHS, st.integers(0, 4), min_size=1)),
        st.tuples(st.just("relabel"), st.dictionaries(PATHS, st.integers(0, 2), min_size=1)),
        st.tuples(st.just("remove"), st.dictionaries(PATHS, st.none(), min_size=1)),
        st.tuples(st.just("compact"), st.just({})),
    ),
    max_size=10,
)


@settings(max_examples=15)
@given(operations=OPERATIONS)
def test_both_stores_tell_the_same_story(tmp_path_factory: pytest.TempPathFactory, operations: list[object]) -> None:
    """Any history: equal deltas from every commit on, for a fresh reader, a follower and the writer itself."""
    place = make.folder(tmp_path_factory.mktemp("store"))
    memory, lance = MemoryStore(make.DIMENSION), open_store(place, make.DIMENSION, make.settings())
    follower = open_store(place, make.DIMENSION, make.settings())
    present: dict[str, int] = {}
    for number, (kind, given_paths) in enumerate(operations):  # type: ignore[misc]
        _apply(memory, kind, given_paths, number, dict(present))
        _apply(lance, kind, given_paths, number, present)
        assert follower.head() == memory.head()
    for reader in (lance, follower, open_store(place, make.DIMENSION, make.settings())):
        for seq in range(memory.head() + 1):
            assert make.comparable(reader.since(seq)) == make.comparable(memory.since(seq))


def _apply(store: ChunkStore, kind: str, paths: dict[str, int], number: int, present: dict[str, int]) -> None:
    if kind == "compact":
        store.compact()
    elif kind == "write":
        store.commit([make.write(path, version) for path, version in paths.items()])
        present.update(paths)
    elif kind == "relabel":
        known = [path for path in paths if path in present]
        store.commit([make.relabel(path, present[path], Labels(acl_allow=(str(number),))) for path in known])
    else:
        store.commit([], [make.identity(path) for path in paths])
        for path in paths:
            present.pop(path, None)


def test_schema_of_an_empty_delta(store: ChunkStore) -> None:
    store.commit([make.write("a", 1)])
    assert isinstance(store.since(1).chunks, pa.Table)
    assert store.since(1).chunks.schema.equals(chunk_schema(make.DIMENSION))
