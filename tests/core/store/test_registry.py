from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.errors import CoreError, InputError, IntegrityFailure, StoreFailure, UnknownCollection
from core.store.lance import open_store
from core.store.registry import (
    Collection,
    clean_name,
    collection_folder,
    create_collection,
    drop_collection,
    list_collections,
    read_collection,
    update_collection,
)
from core.types import Labels
from tests.core.store import builders as make

LABELS = Labels("internal", ("staff",), ("ann",))


def create(home: Path, name: str, **changes: Any) -> Collection:
    values: dict[str, Any] = {"embedder": "fake:4", "fingerprint": "f", "dimension": make.DIMENSION, **changes}
    return create_collection(home, name, **values)


def test_what_is_created_is_read_back(home: Path) -> None:
    assert list_collections(home) == []
    made = create(home, "demo", defaults=LABELS, settings={"retrieval.window": 50}, guidance="tables: rows")
    assert read_collection(home, "demo") == made
    assert made.default_labels == LABELS
    assert made.revision == 1
    assert list_collections(home) == [made]
    assert [item.name for item in collection_folder(home, "demo").iterdir()] == ["collection.json"]


@pytest.mark.parametrize("name", ["知识 库", "a", "x" * 100, "..a", "a.b", "Ünï", "'; DROP TABLE--", "CON", "🙂"])
def test_names_of_any_script(home: Path, name: str) -> None:
    made = create(home, f"  {name} ")
    assert made.name == clean_name(name)
    assert read_collection(home, name) == made
    assert collection_folder(home, name).parent == home / "collections"
    assert len(collection_folder(home, name).name) == 32


@pytest.mark.parametrize(
    "name",
    ["", "  ", "x" * 101, ".", "..", " .. ", "*", "a/b", "a\\b", "a\nb", "a\x00", "a\u202eb", "a\u200b", "\ud800"],
)
def test_names_that_are_none(home: Path, name: str) -> None:
    with pytest.raises(InputError, match="collection name"):
        create(home, name)
    with pytest.raises(UnknownCollection):
        read_collection(home, name)


def test_one_name_one_collection(home: Path) -> None:
    create(home, "caf\u00e9")
    with pytest.raises(InputError, match="exists"):
        create(home, "cafe\u0301")
    assert create(home, "Café").name == "Café"
    with pytest.raises(InputError):
        create(home, "zero", dimension=0)


def test_an_unknown_name_lists_the_known(home: Path) -> None:
    create(home, "b")
    create(home, "a")
    with pytest.raises(UnknownCollection) as caught:
        read_collection(home, "c")
    assert caught.value.remedy == "known collections: a, b"
    with pytest.raises(UnknownCollection):
        drop_collection(home, "c")


def test_an_update_counts_for_the_next_read(home: Path) -> None:
    made = create(home, "demo", defaults=LABELS)
    changed = update_collection(home, made, defaults=None, guidance="g")
    assert read_collection(home, "demo") == changed
    assert (changed.default_labels, changed.guidance, changed.revision) == (None, "g", 2)
    assert changed.identity == made.identity
    assert update_collection(home, changed, fingerprint="other").identity != made.identity


def test_an_update_of_what_somebody_else_has_changed(home: Path) -> None:
    made = create(home, "demo")
    update_collection(home, made, guidance="first")
    with pytest.raises(InputError, match="meanwhile"):
        update_collection(home, made, guidance="second")
    assert read_collection(home, "demo").guidance == "first"


def test_no_update_is_lost_among_threads(home: Path) -> None:
    create(home, "demo", settings={})

    def add(number: int) -> None:
        while True:
            present = read_collection(home, "demo")
            try:
                update_collection(home, present, settings={**present.settings, str(number): number})
                return
            except InputError:
                continue

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(12)))
    assert len(read_collection(home, "demo").settings) == 12
    assert read_collection(home, "demo").revision == 13


def test_only_one_of_many_creates_a_name(home: Path) -> None:
    def attempt(_: int) -> bool:
        try:
            create(home, "demo")
        except InputError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(attempt, range(8))) == 1


def test_drop_takes_everything_and_the_name_is_free(home: Path) -> None:
    made = create(home, "demo")
    store = open_store(collection_folder(home, "demo"), made.dimension, make.settings())
    store.commit([make.write("a", 1)])
    drop_collection(home, "demo")
    assert list_collections(home) == []
    assert [item.name for item in (home / "collections").iterdir()] == [".lock"]
    with pytest.raises(StoreFailure):
        store.commit([make.write("b", 1)])
    with pytest.raises(UnknownCollection):
        update_collection(home, made, guidance="late")
    again = create(home, "demo")
    assert again.identity != made.identity
    assert open_store(collection_folder(home, "demo"), again.dimension, make.settings()).head() == 0


def test_debris_of_a_process_that_died_is_swept(home: Path) -> None:
    root = home / "collections"
    (root / ".new-0").mkdir(parents=True)
    (root / ".dropped-0" / "db").mkdir(parents=True)
    collection_folder(home, "demo").mkdir()  # a folder that never got its file
    assert list_collections(home) == []
    made = create(home, "demo")
    assert list_collections(home) == [made]
    create(home, "other")
    assert {item.name for item in root.iterdir()} == {".lock", made.key, collection_folder(home, "other").name}


def _opened_up(text: str) -> str:
    return text.replace('"internal"', '"public"')


def _cut(text: str) -> str:
    return text[:-20]


def _without_digest(text: str) -> str:
    value = json.loads(text)
    del value["digest"]
    return json.dumps(value)


def _empty(text: str) -> str:
    return ""


@pytest.mark.parametrize("spoil", [_opened_up, _cut, _without_digest, _empty, lambda text: "[]"])
def test_a_damaged_file_is_refused(home: Path, spoil: Callable[[str], str]) -> None:
    create(home, "other")
    create(home, "demo", defaults=LABELS)
    file = collection_folder(home, "demo") / "collection.json"
    file.write_text(spoil(file.read_text("utf-8")), "utf-8")
    attempts: list[Callable[[], object]] = [lambda: read_collection(home, "demo"), lambda: list_collections(home)]
    for attempt in attempts:
        with pytest.raises(IntegrityFailure):
            attempt()
    with pytest.raises(UnknownCollection, match="no collection 'x'"):
        read_collection(home, "x")


def test_a_collection_moved_to_another_name_is_refused(home: Path) -> None:
    create(home, "a")
    collection_folder(home, "a").rename(collection_folder(home, "b"))
    with pytest.raises(CoreError):
        read_collection(home, "b")
