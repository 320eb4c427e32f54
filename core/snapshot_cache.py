"""Snapshots on disk: segments and documents' columns as .npy files that are memory-mapped when a process starts.

Only a cache: whatever is missing, torn or of another format is built anew from the store. What permissions rest on
(documents, labels, and which rows are whose) carries a digest, so an altered file is not believed.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from filelock import FileLock, Timeout

from core import segment as seg
from core.documents import DocumentTable, Records
from core.ports import Delta, chunk_schema
from core.segment import Segment, Strings
from core.snapshot import Placed, Snapshot, empty, refresh
from core.store.documents import digest as digest_of
from core.text import tokenizer_fingerprint
from core.types import Labels

Array = npt.NDArray[Any]

FORMAT = 4
DIGESTED = ("ids", "document_ids", "seq", "text_key")
SAVE_ROWS = 1_000
"""Rows that are not yet on disk before saving is worth it, or a tenth of all if that is more."""


@dataclass(slots=True)
class SnapshotCache:
    """The snapshot folder of one collection. `saved` remembers which segments already lie there."""

    folder: Path
    saved: dict[int, tuple[Segment, str]]

    @staticmethod
    def at(folder: Path) -> SnapshotCache:
        return SnapshotCache(folder, {})

    def load(self, collection: str, dimension: int, default: Labels | None) -> Snapshot | None:
        """The saved snapshot with labels resolved anew, or None where there is none to be trusted."""
        try:
            manifest = json.loads((self.folder / "manifest.json").read_text("utf-8"))
            if manifest["format"] != _format(dimension) or manifest.pop("digest") != digest_of(manifest):
                return None
            table = _load_documents(self.folder / manifest["documents"], manifest["digests"])
            placed = tuple(self._load_segment(name, manifest["digests"]) for name in manifest["segments"])
        except Exception:  # NumPy's reader of a damaged header raises nearly anything, tokenize.TokenError included
            return None
        base = replace(empty(collection, dimension), documents=table, placed=placed)
        nothing = Delta(manifest["seq"], (), (), {}, {}, chunk_schema(dimension).empty_table())
        return refresh(base, nothing, default)

    def worth_saving(self, snapshot: Snapshot) -> bool:
        new = sum(len(item.segment) for item in snapshot.placed if id(item.segment) not in self.saved)
        return new >= max(SAVE_ROWS, len(snapshot) // 10)

    def save(self, snapshot: Snapshot) -> None:
        """Write what is not there yet, then the manifest in one step. A failure leaves the old manifest in force.

        Where another process is saving, or the disk is full, nothing is done: a search can do without.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.folder / "lock", timeout=0):
                self._save(snapshot)
        except (Timeout, OSError):
            return

    def _save(self, snapshot: Snapshot) -> None:
        digests: dict[str, str] = {}
        names, saved = [], {}
        for item in snapshot.placed:
            _, name = self.saved.get(id(item.segment), (item.segment, ""))
            if not (name and (self.folder / name).is_dir()):  # another process may have swept it
                name = f"segment-{secrets.token_hex(8)}"
                _write(self.folder / name, {**seg.arrays(item.segment), "document": item.document})
            digests[name] = _digest({**seg.arrays(item.segment), "document": item.document}, (*DIGESTED, "document"))
            saved[id(item.segment)] = (item.segment, name)
            names.append(name)
        documents = f"documents-{secrets.token_hex(8)}"
        columns = _document_arrays(snapshot.documents)
        _write(self.folder / documents, columns)
        digests[documents] = _digest(columns, tuple(sorted(columns)))
        (seq,) = snapshot.versions.values()
        manifest = {
            "format": _format(snapshot.dimension),
            "seq": seq,
            "segments": names,
            "documents": documents,
            "digests": digests,
        }
        _replace(self.folder / "manifest.json", json.dumps({**manifest, "digest": digest_of(manifest)}).encode())
        self.saved = saved
        self._sweep({*names, documents})

    def _load_segment(self, name: str, digests: Mapping[str, str]) -> Placed:
        load = _loader(self.folder / name)
        segment = seg.from_arrays(load)
        document = load("document")
        if _digest({**seg.arrays(segment), "document": document}, (*DIGESTED, "document")) != digests[name]:
            raise ValueError(f"{name} is not what was saved")
        self.saved[id(segment)] = (segment, name)
        return Placed(segment, document)

    def _sweep(self, keep: set[str]) -> None:
        """Remove what no manifest names any more; a process that has it mapped keeps it."""
        for path in self.folder.iterdir():
            if path.is_dir() and path.name not in keep:
                shutil.rmtree(path, ignore_errors=True)


def _format(dimension: int) -> str:
    return f"{FORMAT}/{tokenizer_fingerprint()}/{dimension}/{'-'.join(item.name for item in fields(Segment))}"


def _document_arrays(table: DocumentTable) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for item in fields(DocumentTable):
        value = getattr(table, item.name)
        if isinstance(value, np.ndarray):
            found[item.name] = value
    packed = table.records.packed()
    labels = json.dumps([asdict(labels) for labels in table.label_sets]).encode()
    return found | {
        "records.data": packed.data,
        "records.offsets": packed.offsets,
        "label_sets": np.frombuffer(labels, np.uint8),
    }


def _load_documents(folder: Path, digests: Mapping[str, str]) -> DocumentTable:
    load = _loader(folder)
    names = [item.name for item in fields(DocumentTable) if item.name not in ("numbers", "label_sets", "records")]
    columns = {name: load(name) for name in (*names, "records.data", "records.offsets", "label_sets")}
    if _digest(columns, tuple(sorted(columns))) != digests[folder.name]:
        raise ValueError(f"{folder.name} is not what was saved")
    ids = columns["ids"]
    return DocumentTable(
        **{name: columns[name] for name in names},
        numbers={identity: number for number, identity in enumerate(ids.tolist())},
        label_sets=tuple(_labels(entry) for entry in json.loads(bytes(columns["label_sets"]))),
        records=Records(Strings(columns["records.data"], columns["records.offsets"]), {}, len(ids)),
    )


def _labels(entry: Mapping[str, Any]) -> Labels:
    allow = entry["acl_allow"]
    return Labels(
        entry["classification"],
        None if allow is None else tuple(allow),
        tuple(entry["acl_deny"]),
        entry["inherits_from"],
    )


def _loader(folder: Path) -> Callable[[str], Array]:
    def load(name: str) -> Array:
        path = folder / f"{name}.npy"
        found: Array
        try:
            found = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError:  # an array without elements cannot be mapped
            found = np.load(path, allow_pickle=False)
        return np.asarray(found)  # a memmap's own indexing costs microseconds a time

    return load


def _write(folder: Path, arrays: Mapping[str, Array]) -> None:
    folder.mkdir()
    for name, array in arrays.items():
        with open(folder / f"{name}.npy", "wb") as file:
            np.save(file, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())


def _digest(arrays: Mapping[str, Array], names: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for name in names:
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(array.view(np.uint8).reshape(-1).data if array.size else b"")
    return digest.hexdigest()


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
