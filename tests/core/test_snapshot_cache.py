from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from core.snapshot import Snapshot, refresh
from core.snapshot_cache import SAVE_ROWS, SnapshotCache
from core.types import Labels, document_id
from tests.core.test_snapshot import view
from tests.support import ROOT
from tests.support.engine import SECRET, STAFF, library_of, relabelled
from tests.support.memory_library import DIMENSION, MemoryLibrary, document_write

DEFAULT = STAFF


def mixed() -> MemoryLibrary:
    """Two segments, and documents with every kind of label."""
    library = MemoryLibrary(DEFAULT, eager=True)
    library.commit("c", [document_write("c", f"d{n}", ["refund days", f"three days {n}"]) for n in range(5)])
    library.commit("c", [document_write("c", "secret", ["ERR-4012"], labels=SECRET)])
    library.commit("c", [relabelled(document_write("c", "d1", ["refund days", "three days 1"]), labels=Labels())])
    child = Labels(inherits_from="secret", acl_deny=("user:ann",))
    library.commit("c", [relabelled(document_write("c", "d2", ["refund days", "three days 2"]), labels=child)])
    library.commit("c", [], [document_id("c", "d3")])
    return library


def saved(folder: Path) -> Snapshot:
    snapshot = mixed().snapshot("c")
    SnapshotCache.at(folder).save(snapshot)
    return snapshot


def loaded(folder: Path, dimension: int = DIMENSION) -> Snapshot | None:
    return SnapshotCache.at(folder).load("c", dimension, DEFAULT)


def test_what_was_saved_comes_back(tmp_path: Path) -> None:
    snapshot, back = saved(tmp_path), loaded(tmp_path)
    assert back is not None
    assert view(back) == view(snapshot)
    assert dict(back.versions) == {"c": 5}
    assert len(back.placed) == len(snapshot.placed) == 2


def test_a_loaded_snapshot_goes_on_like_any(tmp_path: Path) -> None:
    library = mixed()
    SnapshotCache.at(tmp_path).save(library.snapshot("c"))
    library.commit(
        "c", [document_write("c", "d0", ["退款三天"], labels=SECRET), document_write("c", "new", ["refund"])]
    )
    library.commit("c", [], [document_id("c", "secret")])
    back = loaded(tmp_path)
    assert back is not None
    back = refresh(back, library.stores["c"].since(back.versions["c"]), DEFAULT)
    assert view(back) == view(library.snapshot("c"))
    SnapshotCache.at(tmp_path).save(back)
    again = loaded(tmp_path)
    assert again is not None and view(again) == view(back)


def test_an_empty_collection(tmp_path: Path) -> None:
    snapshot = library_of([]).snapshot("c")
    SnapshotCache.at(tmp_path).save(snapshot)
    back = loaded(tmp_path)
    assert back is not None and view(back) == view(snapshot)


def test_default_labels_are_not_saved(tmp_path: Path) -> None:
    saved(tmp_path)
    back = SnapshotCache.at(tmp_path).load("c", DIMENSION, SECRET)
    assert back is not None
    number = back.documents.numbers[document_id("c", "d1").encode()]
    labels = back.effective_labels(number)
    assert labels is not None and labels == back.classes[back.document_class[number]]
    assert labels.allow == {"board"}


def segment_folders(folder: Path) -> list[Path]:
    return sorted(folder.glob("segment-*"))


def documents_folder(folder: Path) -> Path:
    (found,) = folder.glob("documents-*")
    return found


def change_manifest(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def swap_segments(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    one, other = manifest["segments"]
    (folder / one).rename(folder / "away")
    (folder / other).rename(folder / one)
    (folder / "away").rename(folder / other)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "empty manifest": lambda folder: (folder / "manifest.json").write_text(""),
    "manifest of another kind": lambda folder: (folder / "manifest.json").write_text("[1]"),
    "manifest without UTF-8": lambda folder: (folder / "manifest.json").write_bytes(b"\xff\xfe"),
    "other format": lambda folder: change_manifest(folder, format="0/x"),
    "earlier commit": lambda folder: change_manifest(folder, seq=1),
    "later commit": lambda folder: change_manifest(folder, seq=9),
    "commit of another type": lambda folder: change_manifest(folder, seq="5"),
    "a segment left out": lambda folder: change_manifest(folder, segments=[segment_folders(folder)[0].name]),
    "a segment twice": lambda folder: change_manifest(folder, segments=[segment_folders(folder)[0].name] * 2),
    "a segment elsewhere": lambda folder: change_manifest(folder, segments=["../absent"]),
    "segments of another type": lambda folder: change_manifest(folder, segments=5),
    "documents of another type": lambda folder: change_manifest(folder, documents=None),
    "no digests": lambda folder: change_manifest(folder, digests={}),
    "segments exchanged": swap_segments,
    "a segment gone": lambda folder: segment_folders(folder)[0].rename(folder / "elsewhere"),
    "documents gone": lambda folder: documents_folder(folder).rename(folder / "elsewhere"),
    "a column gone": lambda folder: (segment_folders(folder)[0] / "vectors.npy").unlink(),
    "a column empty": lambda folder: (segment_folders(folder)[0] / "rows.npy").write_bytes(b""),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_whatever_is_damaged_is_built_anew(tmp_path: Path, kind: str) -> None:
    saved(tmp_path)
    DAMAGE[kind](tmp_path)
    assert loaded(tmp_path) is None


def test_another_dimension_is_another_format(tmp_path: Path) -> None:
    saved(tmp_path)
    assert loaded(tmp_path, DIMENSION + 1) is None


def test_every_file_may_be_cut_short(tmp_path: Path) -> None:
    saved(tmp_path)
    for path in sorted(tmp_path.rglob("*.npy")):
        content = path.read_bytes()
        for size in (0, 5, 90, len(content) - 1):
            if size < len(content):
                path.write_bytes(content[:size])
                assert loaded(tmp_path) is None, f"{path.name} cut to {size}"
        path.write_bytes(content)
    assert loaded(tmp_path) is not None


def test_no_byte_that_rights_rest_on_can_change(tmp_path: Path) -> None:
    """Headers and content of documents, ids and label sets, and the manifest: the same or nothing, never another."""
    expected = view(saved(tmp_path))
    columns = [*documents_folder(tmp_path).glob("*.npy")]
    for folder in segment_folders(tmp_path):
        columns += [folder / f"{name}.npy" for name in ("ids", "document_ids", "seq", "text_key", "document")]
    draw = np.random.default_rng(1)
    unread = 0
    for path in [*sorted(columns), tmp_path / "manifest.json"]:
        content = path.read_bytes()
        places = {0, 6, 8, *draw.integers(0, len(content), 5).tolist(), len(content) - 1}
        for place in sorted(place for place in places if place < len(content)):
            for flip in (0x01, 0x20):
                path.write_bytes(bytes([*content[:place], content[place] ^ flip, *content[place + 1 :]]))
                back = loaded(tmp_path)
                unread += back is None
                assert back is None or view(back) == expected, f"{path.name}, byte {place}"
        path.write_bytes(content)
    assert unread > 100


@pytest.mark.parametrize("header", ["(1e9,)", "(9999999999999,)", "(-1,)", "((", "'x'", "(2,", "\t(1,)", "0x"])
def test_a_header_that_makes_no_sense(tmp_path: Path, header: str) -> None:
    saved(tmp_path)
    for name in ("ids", "active"):
        path = documents_folder(tmp_path) / f"{name}.npy"
        content = path.read_bytes()
        at = content.index(b"(")
        path.write_bytes(content[:at] + header.encode() + content[at + len(header) :])
        assert loaded(tmp_path) is None
        path.write_bytes(content)


def test_only_what_is_new_is_written(tmp_path: Path) -> None:
    library = mixed()
    cache = SnapshotCache.at(tmp_path)
    cache.save(library.snapshot("c"))
    before = {path.name: path.stat().st_mtime_ns for path in segment_folders(tmp_path)}
    documents = documents_folder(tmp_path).name
    cache.save(library.snapshot("c"))
    assert {path.name: path.stat().st_mtime_ns for path in segment_folders(tmp_path)} == before
    assert documents_folder(tmp_path).name != documents, "what is no longer named is swept"
    assert len([*tmp_path.iterdir()]) == len(before) + 3  # documents, manifest, lock


def test_what_a_dead_process_left_is_swept(tmp_path: Path) -> None:
    (tmp_path / "segment-dead").mkdir()
    (tmp_path / "segment-dead" / "ids.npy").write_bytes(b"x")
    snapshot = saved(tmp_path)
    assert not (tmp_path / "segment-dead").exists()
    back = loaded(tmp_path)
    assert back is not None and view(back) == view(snapshot)


def test_when_saving_is_worth_it(tmp_path: Path) -> None:
    cache = SnapshotCache.at(tmp_path)
    small = library_of(["x"]).snapshot("c")
    assert not cache.worth_saving(small)
    large = MemoryLibrary()
    large.commit("c", [document_write("c", "d", [f"x{n}" for n in range(SAVE_ROWS)])])
    assert cache.worth_saving(large.snapshot("c"))
    cache.save(large.snapshot("c"))
    assert not cache.worth_saving(large.snapshot("c"))
    other = SnapshotCache.at(tmp_path)
    back = other.load("c", DIMENSION, None)
    assert back is not None and not other.worth_saving(back)


def test_beside_another_that_saves_nothing_is_done(tmp_path: Path) -> None:
    snapshot = mixed().snapshot("c")
    with FileLock(tmp_path / "lock"):
        SnapshotCache.at(tmp_path).save(snapshot)
    assert loaded(tmp_path) is None
    assert sorted(path.name for path in tmp_path.iterdir()) in ([], ["lock"])


def test_what_another_has_swept_is_written_again(tmp_path: Path) -> None:
    snapshot = mixed().snapshot("c")
    first, second = SnapshotCache.at(tmp_path), SnapshotCache.at(tmp_path)
    first.save(snapshot)
    second.save(library_of(["refund"]).snapshot("c"))
    first.save(snapshot)
    back = loaded(tmp_path)
    assert back is not None and view(back) == view(snapshot)


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    SnapshotCache.at(tmp_path / "file").save(mixed().snapshot("c"))
    assert loaded(tmp_path / "file") is None


SAVER = """
import sys
from pathlib import Path
from core.snapshot_cache import SnapshotCache
from tests.core.test_snapshot_cache import mixed
snapshot = mixed().snapshot("c")
print("ready", flush=True)
sys.stdin.readline()
for _ in range(5):
    SnapshotCache.at(Path(sys.argv[1])).save(snapshot)
"""


def test_two_processes_that_save_at_once(tmp_path: Path) -> None:
    expected = view(saved(tmp_path))
    command = [sys.executable, "-c", SAVER, str(tmp_path)]
    savers = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for saver in savers:
        assert saver.stdout is not None and saver.stdout.readline() == "ready\n"
    for saver in savers:
        assert saver.stdin is not None
        saver.stdin.write("\n")
        saver.stdin.flush()
    while any(saver.poll() is None for saver in savers):
        back = loaded(tmp_path)
        assert back is None or view(back) == expected
    for saver in savers:
        saver.communicate()
    assert [saver.returncode for saver in savers] == [0, 0]
    back = loaded(tmp_path)
    assert back is not None and view(back) == expected
