"""How a collection's store keeps its pace over many one-document commits, compaction included.

    python -m benchmarks.store_commits [COMMITS]

Times in milliseconds. `commit`: durable; median and 99th percentile of the commits since the last line, the longest
(those compact), and the mean. `head`: nothing new. `new`: another instance learns of one commit and reads it
(`head` + `since`). `since 0`: everything, on an open instance. `open`: a new instance up to its
first `head`. `disk`: megabytes.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from core.ports import DocumentWrite
from core.settings import Store
from core.store.lance import LanceStore, open_store
from core.types import Chunk, Document, Labels, chunk_hash, chunk_id, document_id, text_hash

DIMENSION = 384
CHUNKS = 3
CHUNK_CHARS = 900
MARKS = (100, 1_000, 5_000, 10_000)
REPEATS = 9


def write(number: int, draw: np.random.Generator) -> DocumentWrite:
    path = f"document {number}.md"
    identity = document_id("benchmark", path)
    words = draw.integers(0, 5_000, CHUNKS * CHUNK_CHARS // 5)
    text = " ".join(f"{word:04}" for word in words)
    document = Document(
        document_id=identity,
        path=path,
        title=path,
        text_hash=text_hash(text),
        source_hash=text_hash(path),
        parser="benchmark 1",
        labels=Labels("public", ("*",)),
        knowledge_id=identity,
        revision="1",
    )
    chunks = []
    for ordinal in range(CHUNKS):
        start, end = ordinal * CHUNK_CHARS, (ordinal + 1) * CHUNK_CHARS
        span = text[start:end]
        name = chunk_id(identity, start, end, span)
        chunks.append(Chunk(name, identity, ordinal, start, end, span, chunk_hash(span), "part"))
    vectors = draw.normal(size=(CHUNKS, DIMENSION)).astype(np.float32)
    return DocumentWrite(document, text, tuple(chunks), np.asarray(vectors, np.float32))


def timed(action: Callable[[], object]) -> float:
    """Milliseconds."""
    begun = time.perf_counter()
    action()
    return (time.perf_counter() - begun) * 1000


def median(action: Callable[[], object]) -> float:
    return float(np.median([timed(action) for _ in range(REPEATS)]))


def learn(store: LanceStore, reader: LanceStore, number: int, draw: np.random.Generator) -> float:
    """Milliseconds for another instance to see and read one more commit."""
    times = []
    for repeat in range(REPEATS):
        before = reader.head()
        store.commit([write(-number - repeat, draw)])
        times.append(timed(lambda before=before: (reader.head(), reader.since(before))))  # type: ignore[misc]
    return float(np.median(times))


def main(commits: int) -> None:
    draw = np.random.default_rng(7)
    names = ("commits", "commit", "p99", "max", "mean", "head", "new", "since 0", "open", "disk")
    print("".join(format(name, ">9") for name in names))
    with tempfile.TemporaryDirectory() as folder:
        place, settings = Path(folder), Store()
        store, reader = open_store(place, DIMENSION, settings), open_store(place, DIMENSION, settings)
        reader.head()
        times: list[float] = []
        for number in range(1, commits + 1):
            one = write(number, draw)
            times.append(timed(lambda one=one: store.commit([one])))  # type: ignore[misc]
            if number not in MARKS and number != commits:
                continue
            columns = [
                float(np.median(times)),
                float(np.percentile(times, 99)),
                max(times),
                float(np.mean(times)),
                median(reader.head),
                learn(store, reader, number, draw),
                median(lambda: reader.since(0)),
                median(lambda: open_store(place, DIMENSION, settings).head()),
                sum(file.stat().st_size for file in place.rglob("*") if file.is_file()) / 1e6,
            ]
            print(f"{number:>9}" + "".join(format(value, "9.3f" if value < 1 else "9.1f") for value in columns))
            times = []


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else MARKS[-1])
