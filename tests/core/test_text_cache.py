from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from core.errors import StoreFailure
from core.text_cache import BATCH, TextCache
from core.types import text_hash

TEXTS = {text_hash(text): text for text in ("refund", "退款三天", "a\ud800b", "", "x" * 100_000)}
HASHES = list(TEXTS)


class Store:
    """Gives texts and remembers which it was asked for."""

    def __init__(self, texts: Mapping[str, str] = TEXTS) -> None:
        self.texts, self.asked = dict(texts), list[str]()

    def __call__(self, hashes: Sequence[str]) -> dict[str, str]:
        self.asked += hashes
        return {name: self.texts[name] for name in hashes}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "snapshot" / "texts.sqlite"


@pytest.fixture
def plain() -> dict[str, str]:
    """Texts that SQLite can hold."""
    return {name: text for name, text in TEXTS.items() if "\ud800" not in text}


def test_without_a_file_the_store_is_asked_and_no_file_appears(path: Path) -> None:
    store = Store()
    assert TextCache(path).get(HASHES[:2], store) == {name: TEXTS[name] for name in HASHES[:2]}
    assert store.asked == HASHES[:2] and not path.parent.exists()


def test_what_is_held_is_not_asked_for(path: Path, plain: dict[str, str]) -> None:
    TextCache(path).hold(plain, Store())
    store = Store()
    assert TextCache(path).get(HASHES, store) == TEXTS
    assert store.asked == [name for name in HASHES if name not in plain]


def test_holding_again_reads_what_is_new_and_removes_what_is_not_wanted(path: Path) -> None:
    texts = {text_hash(f"text {number}"): f"text {number} vanishes" for number in range(3)}
    texts = {text_hash(text): text for text in texts.values()}
    first, second, third = texts
    cache = TextCache(path)
    cache.hold([first, second], Store(texts))
    again = Store(texts)
    cache.hold([second, third], again)
    assert again.asked == [third]
    cache.close()
    assert texts[first].encode() not in b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_more_than_a_batch(path: Path) -> None:
    texts = {text_hash(str(number)): str(number) for number in range(2 * BATCH + 1)}
    cache = TextCache(path)
    cache.hold(texts, Store(texts))
    assert cache.get(list(texts), Store({})) == texts


def test_an_altered_text_is_read_from_the_store(path: Path, plain: dict[str, str]) -> None:
    TextCache(path).hold(plain, Store())
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE texts SET text = 'forged' WHERE hash = ?", [HASHES[0]])
        connection.execute("UPDATE texts SET text = x'00ff' WHERE hash = ?", [HASHES[1]])
    connection.close()
    store = Store()
    assert TextCache(path).get(HASHES[:2], store) == {name: TEXTS[name] for name in HASHES[:2]}
    assert sorted(store.asked) == sorted(HASHES[:2])


@pytest.mark.parametrize("content", [b"no database at all" * 300, b"", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_done_without_and_made_anew(path: Path, content: bytes, plain: dict[str, str]) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    cache = TextCache(path)
    assert cache.get(HASHES[:1], Store()) == {HASHES[0]: TEXTS[HASHES[0]]}
    cache.hold(plain, Store())
    assert cache.get(list(plain), Store({})) == plain


def test_a_locked_file_is_done_without(path: Path, plain: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.text_cache.BUSY_TIMEOUT_S", 0.01)
    TextCache(path).hold(HASHES[:1], Store())
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    cache = TextCache(path)
    cache.hold(plain, Store())
    assert cache.get(list(plain), Store()) == plain
    other.close()


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path: Path, plain: dict[str, str]) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = TextCache(tmp_path / "file" / "texts.sqlite")
    cache.hold(plain, Store())
    assert cache.get(list(plain), Store()) == plain


def test_a_file_that_was_removed_is_not_read_any_more(path: Path, plain: dict[str, str]) -> None:
    cache = TextCache(path)
    cache.hold(plain, Store())
    for file in path.parent.iterdir():
        file.unlink()
    store = Store()
    assert cache.get(list(plain), store) == plain
    assert store.asked == list(plain) and not path.exists()


def test_errors_of_the_store_are_raised(path: Path) -> None:
    def failing(hashes: Sequence[str]) -> dict[str, str]:
        raise StoreFailure("no text", "restore a backup")

    cache = TextCache(path)
    with pytest.raises(StoreFailure):
        cache.get(HASHES[:1], failing)
    with pytest.raises(StoreFailure):
        cache.hold(HASHES[:1], failing)


def test_threads_share_it(path: Path) -> None:
    texts = {text_hash(str(number)): str(number) for number in range(200)}
    cache = TextCache(path)
    cache.hold(texts, Store(texts))
    wrong: list[object] = []

    def read() -> None:
        for name, text in texts.items():
            found = cache.get([name], Store({}))
            if found != {name: text}:
                wrong.append(found)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
