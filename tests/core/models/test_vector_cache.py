"""The vector cache: nothing twice, to the byte, by many at once, and never a damaged vector."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import EmbedderUnavailable, InputError, StoreFailure
from core.models.hash_embedder import HashEmbedder
from core.models.vector_cache import CachedEmbedder, VectorCache
from core.ports import Vectors
from core.types import text_hash

TEXTS = [f"text number {number}" for number in range(20)]


class Altered:
    """A hash embedder whose rows pass through `change`; its fingerprint stays."""

    def __init__(self, dimension: int, change: Any) -> None:
        self._inner = HashEmbedder(dimension)
        self._change = change
        self.spec = self._inner.spec
        self.fingerprint = "altered"
        self.dimension = dimension

    def embed_passages(self, texts: Sequence[str]) -> Any:
        return self._change(self._inner.embed_passages(texts))

    def embed_query(self, text: str) -> Any:
        return self._change(self._inner.embed_passages([text]))[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "vectors.sqlite"


@pytest.fixture
def cache(path: Path) -> Iterator[VectorCache]:
    opened = VectorCache(path)
    yield opened
    opened.close()


def test_nothing_is_embedded_twice(cache: VectorCache, path: Path) -> None:
    embedder = HashEmbedder(16)
    cached = CachedEmbedder(embedder, cache, batch=4)
    rows = cached.passages([*TEXTS, *TEXTS[:5]])
    assert rows.tobytes() == HashEmbedder(16).embed_passages([*TEXTS, *TEXTS[:5]]).tobytes()
    assert sorted(embedder.embedded) == sorted(TEXTS)
    assert embedder.calls == 5
    again = CachedEmbedder(embedder, VectorCache(path))
    assert again.passages(TEXTS[::-1]).tobytes() == rows[:20][::-1].tobytes()
    assert again.passages([TEXTS[0], "new", TEXTS[0]]).shape == (3, 16)
    assert len(embedder.embedded) == 21


def test_queries_and_passages_and_embedders_are_kept_apart(cache: VectorCache) -> None:
    embedder, other = HashEmbedder(16), HashEmbedder(8)
    cached = CachedEmbedder(embedder, cache)
    cached.passages(["word"])
    assert cached.query("word").shape == (16,)
    assert embedder.calls == 2
    cached.query("word")
    assert embedder.calls == 2
    assert CachedEmbedder(other, cache).query("word").shape == (8,)
    assert other.calls == 1
    assert cache.counts() == {"passages": 1, "queries": 2}
    assert cached.queries(["word", "next", "word"]).shape == (3, 16)
    assert list(embedder.embedded) == ["word", "word", "next"]


@settings(max_examples=30, deadline=None)
@given(texts=st.lists(st.text(max_size=12), max_size=12), batch=st.integers(1, 5))
def test_the_cache_is_invisible(texts: list[str], batch: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = VectorCache(tmp_path_factory.mktemp("law") / "vectors.sqlite")
    embedder = HashEmbedder(8)
    seen: list[tuple[int, int]] = []
    rows = CachedEmbedder(embedder, cache, batch).passages(texts, lambda done, total: seen.append((done, total)))
    assert rows.tobytes() == HashEmbedder(8).embed_passages(texts).tobytes()
    assert rows.shape == (len(texts), 8)
    assert sorted(embedder.embedded) == sorted(set(texts))
    assert seen[0] == (0, len(set(texts)))
    assert seen[-1] == (len(set(texts)), len(set(texts)))
    cache.close()


def test_an_empty_request_asks_nothing(cache: VectorCache) -> None:
    embedder = HashEmbedder(16)
    assert CachedEmbedder(embedder, cache).passages([]).shape == (0, 16)
    assert CachedEmbedder(embedder, cache).queries([]).shape == (0, 16)
    assert embedder.calls == 0


def test_a_known_dimension_is_not_asked_of_the_model(cache: VectorCache) -> None:
    CachedEmbedder(Altered(16, lambda rows: rows), cache).query("x")
    offline = Altered(16, lambda rows: rows)
    del offline.dimension
    cached = CachedEmbedder(offline, cache)
    assert cached.dimension == 16
    assert cached.query("x").shape == (16,)


def test_what_was_embedded_before_a_failure_stays(cache: VectorCache) -> None:
    calls: list[int] = []

    def third_fails(rows: Vectors) -> Vectors:
        calls.append(len(rows))
        if len(calls) == 3:
            raise EmbedderUnavailable("gone")
        return rows

    cached = CachedEmbedder(Altered(8, third_fails), cache, batch=4)
    with pytest.raises(EmbedderUnavailable):
        cached.passages(TEXTS)
    assert cache.counts()["passages"] == 8
    cached.passages(TEXTS)
    assert sum(calls) == 20 + 4


# --- what may be kept


def _nan(rows: Vectors) -> Vectors:
    rows[0, 0] = np.nan
    return rows


@pytest.mark.parametrize(
    "change", [_nan, lambda rows: rows * 1.01, lambda rows: rows[:, 1:], lambda rows: rows[1:], lambda rows: None]
)
def test_unusable_vectors_are_refused_and_not_kept(cache: VectorCache, change: Any) -> None:
    cached = CachedEmbedder(Altered(8, change), cache)
    with pytest.raises(EmbedderUnavailable):
        cached.passages(TEXTS)
    with pytest.raises((EmbedderUnavailable, TypeError, IndexError)):
        cached.query("x")
    assert cache.counts() == {"passages": 0, "queries": 0}


def test_vectors_that_lost_digits_are_rescaled(cache: VectorCache) -> None:
    rows = CachedEmbedder(Altered(8, lambda rows: rows * np.float32(1.0005)), cache).passages([*TEXTS, ""])
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    assert np.abs(lengths[:20] - 1).max() < 1e-6
    assert lengths[20] == 0


def test_a_model_exchanged_behind_its_name_is_noticed(cache: VectorCache) -> None:
    CachedEmbedder(Altered(8, lambda rows: rows), cache).query("x")
    with pytest.raises(EmbedderUnavailable, match="8 before"):
        CachedEmbedder(Altered(9, lambda rows: rows), cache).query("y")


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_vectors_made_elsewhere_are_taken(cache: VectorCache, kind: Any) -> None:
    embedder = HashEmbedder(32)
    cached = CachedEmbedder(embedder, cache)
    given_rows: npt.NDArray[Any] = (HashEmbedder(32).embed_passages([*TEXTS, ""]) * 3).astype(kind)
    cached.put_passages([*TEXTS, ""], given_rows)
    cached.put_queries(TEXTS, given_rows[:20])
    rows = cached.passages([*TEXTS, ""])
    assert embedder.calls == 0
    assert rows.dtype == np.float32
    assert np.abs(np.linalg.norm(rows[:20].astype(np.float64), axis=1) - 1).max() < 1e-6
    assert not rows[20].any()
    assert np.allclose(rows, HashEmbedder(32).embed_passages([*TEXTS, ""]), atol=2e-3)
    assert cached.queries(TEXTS).tobytes() == rows[:20].tobytes()
    assert embedder.calls == 0


def test_held_vectors_stay_when_others_are_put(cache: VectorCache) -> None:
    cached = CachedEmbedder(HashEmbedder(32), cache)
    before = cached.passages(TEXTS[:3])
    cached.put_passages(TEXTS, np.roll(HashEmbedder(32).embed_passages(TEXTS), 1, axis=1))
    assert cached.passages(TEXTS[:3]).tobytes() == before.tobytes()
    assert cached.passages(TEXTS[3:]).tobytes() != HashEmbedder(32).embed_passages(TEXTS[3:]).tobytes()


@pytest.mark.parametrize(
    "rows", [np.ones((19, 8)), np.ones((20, 9)), np.full((20, 8), np.nan), np.ones(20), np.full((20, 8), 1e-30)]
)
def test_vectors_that_cannot_be_this_embedders_are_refused(cache: VectorCache, rows: npt.NDArray[Any]) -> None:
    with pytest.raises(InputError):
        CachedEmbedder(HashEmbedder(8), cache).put_passages(TEXTS, rows)
    assert cache.counts()["passages"] == 0


def test_the_oldest_queries_give_way(path: Path) -> None:
    cache = VectorCache(path, queries_max=5)
    embedder = HashEmbedder(8)
    cached = CachedEmbedder(embedder, cache)
    for text in TEXTS[:8]:
        cached.query(text)
    assert cache.counts()["queries"] == 5
    cached.queries(TEXTS[3:8])
    assert embedder.calls == 8
    cached.query(TEXTS[0])
    assert embedder.calls == 9
    assert cached.queries(TEXTS).tobytes() == HashEmbedder(8).embed_passages(TEXTS).tobytes()
    assert cache.counts()["queries"] == 5


# --- secrets


def test_no_text_reaches_the_disk_and_what_is_forgotten_leaves_it(path: Path, cache: VectorCache) -> None:
    secret = "the merger closes in March"
    cached = CachedEmbedder(HashEmbedder(64), cache)
    vector = cached.query(secret).tobytes()
    cached.passages([secret, *TEXTS])
    CachedEmbedder(HashEmbedder(8), cache).passages([secret])
    (path.parent / f"{path.name}.damaged-1").write_bytes(b"old" + vector)

    def disk() -> bytes:
        return b"".join(file.read_bytes() for file in path.parent.iterdir())

    assert secret.encode() not in disk()
    assert b"merger" not in disk()
    assert vector in disk()
    assert cache.forget([text_hash(secret), text_hash("never seen")]) == 3
    assert vector not in disk()
    assert cache.fetch(cached.fingerprint, "passage", [text_hash(secret)]) == {}
    assert cache.counts() == {"passages": 20, "queries": 0}


# --- damage


def _tamper(path: Path, statement: str, *values: Any) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement, values)
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE passages SET vector = zeroblob(32) WHERE id = 3",
        "UPDATE passages SET vector = zeroblob(31) WHERE id = 3",
        "UPDATE passages SET checksum = checksum + 1 WHERE id = 3",
        "UPDATE passages SET (vector, checksum) = (SELECT vector, checksum FROM passages WHERE id = 4) WHERE id = 3",
    ],
)
def test_a_damaged_row_is_embedded_anew_and_the_others_are_kept(path: Path, statement: str) -> None:
    cache = VectorCache(path)
    embedder = HashEmbedder(8)
    rows = CachedEmbedder(embedder, cache).passages(TEXTS)
    _tamper(path, statement)
    assert CachedEmbedder(embedder, cache).passages(TEXTS).tobytes() == rows.tobytes()
    assert len(embedder.embedded) == 21
    _tamper(path, statement)
    CachedEmbedder(embedder, cache).put_passages(TEXTS, rows)
    assert CachedEmbedder(embedder, cache).passages(TEXTS).tobytes() == rows.tobytes()
    assert len(embedder.embedded) == 21
    cache.close()


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is no database, whatever its name says" * 200)


def _holes(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)


def _cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _foreign(path: Path) -> None:
    path.unlink()
    _tamper(path, "CREATE TABLE passages (hash, embedder, vector)")


@pytest.mark.parametrize("damage", [_garbage, _holes, _cut, _foreign])
def test_a_damaged_file_is_set_aside_and_begun_afresh(path: Path, damage: Any) -> None:
    cache = VectorCache(path)
    rows = CachedEmbedder(HashEmbedder(64), cache).passages(TEXTS * 5)
    cache.close()
    damage(path)
    broken = path.read_bytes()
    embedder = HashEmbedder(64)
    reopened = VectorCache(path)
    assert CachedEmbedder(embedder, reopened).passages(TEXTS * 5).tobytes() == rows.tobytes()
    assert sorted(embedder.embedded) == sorted(TEXTS)
    assert (path.parent / f"{path.name}.damaged-1").read_bytes() == broken
    reopened.close()
    damage(path)
    VectorCache(path).fetch(embedder.fingerprint, "passage", [text_hash(text) for text in TEXTS])
    assert (path.parent / f"{path.name}.damaged-2").exists()


def test_a_file_set_aside_by_another_process_is_left_for_the_new_one(path: Path) -> None:
    first, second = VectorCache(path), VectorCache(path)
    embedder = HashEmbedder(8)
    CachedEmbedder(embedder, first).passages(TEXTS)
    CachedEmbedder(embedder, second).passages(TEXTS)
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    rows = CachedEmbedder(embedder, first).passages(TEXTS)
    calls = embedder.calls
    assert CachedEmbedder(embedder, second).passages(TEXTS).tobytes() == rows.tobytes()
    assert embedder.calls == calls
    first.close()
    assert second.counts()["passages"] == 20
    second.close()


def test_a_cache_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailure):
        CachedEmbedder(HashEmbedder(8), VectorCache(tmp_path / "file" / "vectors.sqlite")).query("x")
    (tmp_path / "vectors.sqlite").mkdir()
    with pytest.raises(StoreFailure):
        CachedEmbedder(HashEmbedder(8), VectorCache(tmp_path / "vectors.sqlite")).query("x")


def test_a_writer_that_never_ends_is_waited_for_no_longer_than_said(path: Path) -> None:
    cache = VectorCache(path, busy_timeout_s=0.05)
    cached = CachedEmbedder(HashEmbedder(8), cache)
    cached.query("x")
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreFailure, match="locked"):
        cached.query("y")
    assert cached.query("x").shape == (8,)
    blocker.execute("ROLLBACK")
    blocker.close()
    assert cached.query("y").shape == (8,)
    cache.close()


# --- many at once


def _with_noise(rows: Vectors, noise: np.random.Generator) -> Vectors:
    """Other last bits at every call, as a real model may give."""
    altered: Vectors = rows + noise.normal(0, 1e-6, rows.shape).astype(np.float32) * (rows != 0)
    return altered


def _noisy(seed: int, dimension: int = 16) -> Altered:
    noise = np.random.default_rng(seed)
    return Altered(dimension, lambda rows: _with_noise(rows, noise))


def _worker(path: str, seed: int, barrier: Any, results: Any) -> None:
    cache = VectorCache(Path(path))
    texts = [f"shared text {number}" for number in range(200)]
    order = np.random.default_rng(seed).permutation(len(texts))
    waited: list[bool] = []
    noise = np.random.default_rng(seed)

    def other_last_bits_once_all_have_looked(rows: Vectors) -> Vectors:
        """No process keeps a vector before every process has found the cache empty."""
        if not waited:
            waited.append(True)
            barrier.wait(60)
        return _with_noise(rows, noise)

    cached = CachedEmbedder(Altered(16, other_last_bits_once_all_have_looked), cache, batch=8)
    rows = cached.passages([texts[at] for at in order])
    queries = cached.queries([texts[at] for at in order[:40]])
    results.put((rows[np.argsort(order)].tobytes(), queries.shape, cached.queries(texts).tobytes()))
    cache.close()


def test_four_processes_agree_to_the_byte(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(4), context.Queue()
    workers = [context.Process(target=_worker, args=(str(path), seed, barrier, results)) for seed in range(4)]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    assert len({rows for rows, _, _ in found}) == 1
    assert len({queries for _, _, queries in found}) == 1
    assert VectorCache(path).counts() == {"passages": 200, "queries": 200}


def test_the_noise_of_that_test_is_real() -> None:
    one, other = (_noisy(seed).embed_passages(TEXTS) for seed in (1, 2))
    assert one.tobytes() != other.tobytes()


def test_threads_share_one_cache(cache: VectorCache) -> None:
    found: list[bytes] = []

    def work(seed: int) -> None:
        found.append(CachedEmbedder(_noisy(seed), cache, batch=3).passages(TEXTS).tobytes())

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) == 1
