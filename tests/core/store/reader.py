"""A reader in another process: `python -m tests.core.store.reader FOLDER`.

Answers each line on its standard input with one of JSON: `labels` gives the labels of every document as of now, by
following the store; `check` reads for half a second, alone and by following, and compares.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from pathlib import Path

from core.ports import ChunkStore, Delta
from core.store.lance import open_store
from core.types import Document
from tests.core.store import builders as make


class Follower:
    """What a snapshot does: holds the newest documents, and the ids of their chunks, from deltas alone."""

    def __init__(self, store: ChunkStore) -> None:
        self.store, self.seq = store, 0
        self.documents: dict[str, Document] = {}
        self.chunks: dict[str, set[str]] = {}

    def follow(self) -> None:
        head = self.store.head()
        delta = self.store.since(self.seq)
        assert delta.seq >= head >= self.seq, "the head went back"
        self.take(delta)

    def take(self, delta: Delta) -> None:
        for identity in delta.removed:
            self.documents.pop(identity, None)
            self.chunks.pop(identity, None)
        for item in delta.documents:
            self.documents[item.document_id] = item
            if delta.chunks_seq[item.document_id] > self.seq:
                self.chunks[item.document_id] = set()
        for row in delta.chunks.select(["document_id", "chunk_id"]).to_pylist():
            assert row["chunk_id"] not in self.chunks[row["document_id"]], "a chunk twice"
            self.chunks[row["document_id"]].add(row["chunk_id"])
        self.seq = delta.seq

    def check(self) -> None:
        revisions: dict[str, set[str]] = {}
        for identity, item in self.documents.items():
            wanted = {chunk.chunk_id for chunk in make.chunks(item.path, int(item.revision))}
            assert self.chunks[identity] == wanted, f"{item.path} is not whole"
            side, _, rest = item.path.partition(" ")
            if side in ("left", "right"):
                revisions.setdefault(rest, set()).add(item.revision)
        assert all(len(found) == 1 for found in revisions.values()), "half a commit is visible"
        texts = self.store.texts([item.text_hash for item in self.documents.values()])
        for item in self.documents.values():
            assert texts[item.text_hash] == make.text_of(item.path, int(item.revision))


def main(folder: str) -> None:
    store = open_store(Path(folder), make.DIMENSION, make.settings())
    follower = Follower(store)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        try:
            answer = labels(follower) if line.strip() == "labels" else check(follower, store)
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), flush=True)


def labels(follower: Follower) -> dict[str, object]:
    follower.follow()
    return {item.path: item.labels.acl_allow for item in follower.documents.values()}


def check(follower: Follower, store: ChunkStore) -> dict[str, object]:
    until, rounds = time.monotonic() + 0.5, 0
    while time.monotonic() < until:
        follower.follow()
        follower.check()
        anew = Follower(store)
        anew.follow()
        anew.check()
        some = [chunk for chunks in anew.chunks.values() for chunk in chunks][:20]
        assert store.chunk_rows(some).num_rows <= len(some), "a chunk twice"
        rounds += 1
    return {"rounds": rounds, "seq": follower.seq, "documents": len(follower.documents)}


if __name__ == "__main__":
    main(*sys.argv[1:])
