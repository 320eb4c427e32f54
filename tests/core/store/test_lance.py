"""What only a store on disk has: other processes, damage, locks, versions, compaction."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import EmbedderMismatch, IntegrityFailure, StoreFailure
from core.store.files import WRITE_LOCK, TableFiles, locked, write_durably
from core.store.lance import LanceStore, open_store
from core.types import Labels
from tests.core.store import builders as make


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return make.folder(tmp_path)


def opened(place: Path, compact_after: int = 64, **changes: float) -> LanceStore:
    return open_store(place, make.DIMENSION, make.settings(compact_after=compact_after, **changes))


def manifests(place: Path, table: str = "chunks") -> list[Path]:
    """Newest first."""
    return sorted((place / "db" / f"{table}.lance" / "_versions").glob("*.manifest"))


def raw(place: Path, table: str = "chunks"):  # type: ignore[no-untyped-def]
    import lancedb

    return lancedb.connect(place / "db").open_table(table)


def test_another_instance_sees_every_commit_at_once(place: Path) -> None:
    writer, reader = opened(place), opened(place)
    for version in range(1, 8):
        assert writer.commit([make.write("a", version)]) == version
        assert reader.head() == version
        assert make.check_whole(reader) == {"a": version}


def test_two_writers_take_turns(place: Path) -> None:
    one, two = opened(place), opened(place)
    for version in range(4):
        assert one.commit([make.write("a", version)]) == 2 * version + 1
        assert two.commit([make.write("b", version)]) == 2 * version + 2
    assert make.check_whole(one) == make.check_whole(two) == {"a": 3, "b": 3}


def test_threads_commit_one_after_the_other(place: Path) -> None:
    store = opened(place, compact_after=4)

    def work(name: str) -> None:
        for version in range(5):
            store.commit([make.write(name, version)])
            assert make.check_whole(store)[name] == version

    failures: list[BaseException] = []
    threads = [threading.Thread(target=_noting, args=(work, name, failures)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert store.head() == 15
    assert make.check_whole(opened(place)) == {"a": 4, "b": 4, "c": 4}


def _noting(work: Callable[[str], None], name: str, failures: list[BaseException]) -> None:
    try:
        work(name)
    except BaseException as error:
        failures.append(error)


def test_reopening_with_another_dimension(place: Path) -> None:
    opened(place).commit([make.write("a")])
    with pytest.raises(EmbedderMismatch, match="4 dimensions, the embedder 384"):
        open_store(place, 384, make.settings())


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreFailure, match="gone"):
        opened(tmp_path / "missing")
    assert not (tmp_path / "missing").exists()


def test_a_collection_taken_away_under_an_open_store(place: Path, tmp_path: Path) -> None:
    store = opened(place)
    store.commit([make.write("a")])
    place.rename(tmp_path / "away")
    for attempt in (store.head, lambda: store.since(0), lambda: store.commit([make.write("b")])):
        with pytest.raises(StoreFailure, match="gone"):
            attempt()
    assert not place.exists()
    make.folder(tmp_path)
    opened(place).commit([make.write("new")])
    with pytest.raises(StoreFailure, match="gone") as caught:
        store.since(0)
    assert "open it again" in caught.value.remedy


def test_a_busy_lock_names_the_setting(place: Path) -> None:
    store = opened(place, lock_timeout_s=0.05)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(place / WRITE_LOCK, 5, "test"):
            held.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(30)
    try:
        with pytest.raises(StoreFailure) as caught:
            store.commit([make.write("a")])
        assert "store.lock_timeout_s" in caught.value.remedy
        assert store.head() == 0
    finally:
        done.set()
        thread.join()
    assert store.commit([make.write("a")]) == 1


class TestDamage:
    """Lance has no checksums: what matters is checked by us."""

    def test_an_altered_document_row(self, place: Path) -> None:
        store = opened(place)
        store.commit([make.write("a", 1, labels=Labels("secret", ("board",))), make.write("b", 1)])
        table = raw(place)
        row = table.search().where(f"kind = 0 AND document_id = '{make.identity('a')}'").to_arrow().to_pylist()[0]
        opened_up = row["document"].replace('"secret"', '"public"')
        assert opened_up != row["document"]
        table.update(where=f"kind = 0 AND document_id = '{make.identity('a')}'", values={"document": opened_up})
        for reader in (store, opened(place)):
            with pytest.raises(IntegrityFailure, match=make.identity("a")):
                reader.since(0)
            with pytest.raises(IntegrityFailure, match=make.identity("a")):
                reader.commit([make.relabel("a", 1, Labels("public"))])

    @pytest.mark.parametrize("change", [{"removed": True}, {"chunks_seq": 7}, {"chunk_count": 1}, {"seq": 9}])
    def test_an_altered_state(self, place: Path, change: dict[str, object]) -> None:
        opened(place).commit([make.write("a", 1)])
        raw(place).update(where="kind = 0", values=change)
        with pytest.raises(IntegrityFailure, match=make.identity("a")):
            opened(place).since(0)

    def test_a_lost_chunk_row(self, place: Path) -> None:
        opened(place).commit([make.write("a", 1)])
        raw(place).delete("kind = 1 AND ordinal = 0")
        with pytest.raises(IntegrityFailure, match=make.identity("a")):
            opened(place).since(0)

    def test_an_emptied_chunk_column(self, place: Path) -> None:
        opened(place).commit([make.write("a", 1)])
        raw(place).update(where="ordinal = 1", values_sql={"indexed_text": "NULL"})
        with pytest.raises(IntegrityFailure, match=make.identity("a")):
            opened(place).since(0)

    def test_an_altered_text(self, place: Path) -> None:
        written = make.write("a", 1)
        opened(place).commit([written])
        raw(place, "texts").update(where="true", values={"text": "something else"})
        with pytest.raises(IntegrityFailure, match=written.document.text_hash):
            opened(place).text(written.document.text_hash)

    def test_a_lost_manifest_does_not_bring_back_what_was_revoked(self, place: Path) -> None:
        store = opened(place)
        store.commit([make.write("a", 1)])
        store.commit([make.relabel("a", 1, Labels("secret"))])
        manifests(place)[0].unlink()
        with pytest.raises(IntegrityFailure, match="older version"):
            store.since(0)
        with pytest.raises(IntegrityFailure, match="older version"):
            store.head()
        with pytest.raises(IntegrityFailure):
            opened(place).since(2)

    def test_lost_data(self, place: Path) -> None:
        opened(place).commit([make.write("a", 1)])
        shutil.rmtree(place / "db" / "chunks.lance" / "data")
        with pytest.raises(StoreFailure, match="could not be read"):
            opened(place).since(0)


class TestCompaction:
    def test_it_merges_fragments_and_drops_superseded_rows(self, place: Path) -> None:
        store = opened(place)
        for version in range(10):
            store.commit([make.write("a", version)])
        store.commit([make.write("b", 1)], [make.identity("a")])
        store.compact()
        table = raw(place)
        assert table.count_rows() == 1 + make.chunk_count("b", 1) + 1  # a tombstone, a document and its chunks
        assert table.stats()["fragment_stats"]["num_fragments"] == 1
        assert make.check_whole(store) == make.check_whole(opened(place)) == {"b": 1}

    def test_a_reader_that_is_behind_still_learns_of_removals(self, place: Path) -> None:
        store, reader = opened(place), opened(place)
        store.commit([make.write("a", 1), make.write("b", 1), make.write("c", 1)])
        assert reader.since(0).seq == 1
        store.commit([make.write("b", 2)], [make.identity("a")])
        store.compact()
        store.commit([make.relabel("c", 1, Labels("secret"))])
        store.compact()
        for behind in (reader, opened(place)):
            delta = behind.since(1)
            assert delta.removed == (make.identity("a"),)
            assert {item.path for item in delta.documents} == {"b", "c"}

    def test_it_happens_by_itself(self, place: Path) -> None:
        store = opened(place, compact_after=4)
        for version in range(16):
            store.commit([make.write(f"document {version}", version)])
        assert raw(place).stats()["fragment_stats"]["num_fragments"] < 8
        assert raw(place, "texts").stats()["fragment_stats"]["num_fragments"] < 8
        assert len(make.check_whole(store)) == 16

    def test_a_reader_of_a_version_whose_files_are_gone(self, place: Path) -> None:
        store, reader = opened(place, retention_s=0.0), opened(place)
        for version in range(5):
            store.commit([make.write("a", version)])
        assert make.check_whole(reader) == {"a": 4}
        hashes = [make.document("a", version).text_hash for version in range(5)]
        store.compact()
        store.commit([make.write("b", 1)])
        store.compact()
        assert len(manifests(place)) <= 2
        assert list(reader.texts(hashes)) == hashes
        assert make.check_whole(reader) == {"a": 4, "b": 1}

    def test_a_failure_to_compact_does_not_fail_the_commit(self, place: Path, caplog: pytest.LogCaptureFixture) -> None:
        store = opened(place, compact_after=4)
        for version in range(3):
            store.commit([make.write("a", version)])
        data = place / "db" / "texts.lance" / "data"
        for file in data.iterdir():
            file.unlink()
        assert store.commit([make.relabel("a", 2, Labels("secret"))]) == 4
        assert "could not be compacted" in caplog.text


class TestFiles:
    def test_versions_beyond_the_retention_may_go_once_succeeded(self, tmp_path: Path) -> None:
        files = _versions(tmp_path, ages=[10, 50, 5000, 9000])  # 5000 was succeeded 50 s ago, 9000 5000 s ago
        age = files.prunable_age(3600)
        assert age is not None
        assert 5000 < age <= 9001
        assert files.prunable_age(6000) is None
        assert files.prunable_age(0) == pytest.approx(50, abs=5)

    def test_only_so_many_versions_are_kept_however_young(self, tmp_path: Path) -> None:
        files = _versions(tmp_path, ages=[1, 2, 3, 4, 5])
        assert files.prunable_age(3600, most=3) == pytest.approx(4, abs=0.9)
        assert files.prunable_age(3600, most=5) is None

    def test_replacing_a_file_leaves_no_other(self, tmp_path: Path) -> None:
        target = tmp_path / "value.json"
        for content in (b"one", b"two"):
            write_durably(target, content)
            assert target.read_bytes() == content
        assert [item.name for item in tmp_path.iterdir()] == ["value.json"]


def _versions(folder: Path, ages: list[float]) -> TableFiles:
    """Manifests of these ages in seconds, newest first."""
    (folder / "_versions").mkdir()
    now = time.time()
    for place, age in enumerate(ages):
        file = folder / "_versions" / f"{2**64 - 1 - (len(ages) - place):020}.manifest"
        file.touch()
        os.utime(file, (now - age, now - age))
    return TableFiles(folder)
