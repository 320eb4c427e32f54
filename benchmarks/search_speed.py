"""Search latency beside other libraries, all in one run over the same 100,000 chunks of 384 dimensions.

    python -m benchmarks.search_speed [--chunks N] [--queries N] [--home FOLDER]

The text is synthetic and seeded: 120 words a chunk, drawn by Zipf's law from 50,000 words of which the most frequent
are English function words; every tenth chunk ends in Chinese. Vectors lie around 200 topics. Of five access classes
the principal of the filtered runs sees three, which hold 60 % of the chunks. `--home` keeps our collection for the
next run. LanceDB gives ids of its best 10, each of its two searches gives as many to the fusion; a bitmap index
serves its filter. Our search gives 10 passages with text, location and references; the embedding of the query (here:
a look-up in the vector cache) and the audit log are timed apart.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("LANCEDB_LOG", "error")

import numpy as np

from benchmarks import lance_hybrid
from benchmarks.synthetic import CLASSES, COLLECTION, DIMENSION, Synthetic, document_write, everything, sixty_percent
from core import Workbench
from core.errors import UnknownCollection
from core.types import Principal, SearchResult

WARM_UP = 10
RANK_BM25_QUERIES = 5
PER_COMMIT = 2_000
LIMIT = 10
WANTED_SHARE = 1 / 5
APART = ("embed", "audit")


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of one system, one a query."""

    name: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return float(np.median(self.values))

    def line(self) -> str:
        p95 = sorted(self.values)[-(-95 * len(self.values) // 100) - 1]
        return f"{self.name:44} median {self.median:9.2f} ms   p95 {p95:9.2f} ms   ({len(self.values)} queries)"


def timed(action: Callable[[], object]) -> float:
    """Milliseconds."""
    begun = time.perf_counter()
    action()
    return (time.perf_counter() - begun) * 1000


def run(name: str, search: Callable[[int], object], queries: int) -> Times:
    """Times of `search` for the first queries by number, after a few to warm up."""
    for number in range(min(WARM_UP, queries)):
        search(number)
    times = Times(name, tuple(timed(partial(search, number)) for number in range(queries)))
    print(times.line(), flush=True)
    return times


def fill(workbench: Workbench, data: Synthetic) -> None:
    """Commit what the collection lacks; every document has five chunks."""
    try:
        workbench.library.collection(COLLECTION)
    except UnknownCollection:
        workbench.create_collection(COLLECTION, workbench.operator(), embedder=f"hash:{DIMENSION}")
    held = len(workbench.library.snapshot([COLLECTION]).documents)
    with workbench.library.writing(COLLECTION) as (_, store):
        for first in range(held, data.documents, PER_COMMIT):
            numbers = range(first, min(first + PER_COMMIT, data.documents))
            store.commit([document_write(data, number) for number in numbers])
    collection = workbench.library.collection(COLLECTION)
    workbench.library.embedder_of(collection).put_queries(data.queries, data.query_vectors)


def our_search(home: Path, data: Synthetic) -> dict[str, Times]:
    workbench = Workbench.open(home)
    found = {}
    for label, principal in (("all", everything()), ("60 % visible", sixty_percent())):
        results: list[SearchResult] = []

        def search(number: int, principal: Principal = principal, results: list[SearchResult] = results) -> None:
            query = data.queries[number]
            results.append(workbench.search(query, collections=[COLLECTION], principal=principal, top_k=LIMIT))

        run(f"ours, {label}, whole call", search, len(data.queries))
        results = results[min(WARM_UP, len(data.queries)) :]
        assert all(result.passages for result in results), "a search found nothing"
        net = [r.latency_ms["total"] - sum(r.latency_ms[stage] for stage in APART) for r in results]
        found[label] = Times(f"ours, {label}, without embedding and audit", tuple(net))
        print(found[label].line())
        print(f"  median by stage: {_stages(results)}", flush=True)
    return found


def _stages(results: Sequence[SearchResult]) -> str:
    medians = {
        stage: float(np.median([result.latency_ms[stage] for result in results])) for stage in results[0].latency_ms
    }
    return ", ".join(f"{stage} {ms:.2f}" for stage, ms in medians.items() if ms >= 0.005)


def lance_search(folder: Path, data: Synthetic, index: bool) -> dict[str, Times]:
    columns = {"access": [CLASSES.index(name) for name in data.classes]}
    ids = [str(number) for number in range(len(data.texts))]
    table = lance_hybrid.make_table(folder, ids, data.texts, data.vectors, columns=columns)
    lance_hybrid.make_filter_index(table, "access")
    found = _lance_times(table, data, "exact")
    if index:
        took = timed(lambda: lance_hybrid.make_vector_index(table))
        print(f"LanceDB: HNSW index built in {took / 1000:.1f} s", flush=True)
        found |= _lance_times(table, data, "HNSW")
    return found


def _lance_times(table: Any, data: Synthetic, kind: str) -> dict[str, Times]:
    found = {}
    for label, where in (("all", None), ("60 % visible", "access IN (0, 1, 2)")):

        def search(number: int, where: str | None = where) -> object:
            return lance_hybrid.search(table, data.queries[number], data.query_vectors[number], LIMIT, where)

        found[f"{kind}, {label}"] = run(f"LanceDB hybrid, {kind}, {label}", search, len(data.queries))
    return found


def lexical(data: Synthetic) -> None:
    """bm25s and rank-bm25, which know neither filters nor vectors."""
    import bm25s
    from rank_bm25 import BM25Okapi

    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(list(data.texts), show_progress=False), show_progress=False)

    def fast(number: int) -> object:
        tokens = bm25s.tokenize(data.queries[number], show_progress=False, allow_empty=False)
        return retriever.retrieve(tokens, k=LIMIT, show_progress=False, n_threads=1)

    run("bm25s, all", fast, len(data.queries))
    okapi = BM25Okapi([text.split() for text in data.texts])
    run("rank-bm25, all", lambda number: okapi.get_scores(data.queries[number].split()), RANK_BM25_QUERIES)


def loading(home: Path, data: Synthetic) -> None:
    """What it takes to have the newest snapshot: from the store, from the cache, after a small commit."""
    workbench = Workbench.open(home)
    workbench.library.forget_snapshot(COLLECTION)
    print(f"snapshot from the store, nothing cached: {timed(lambda: _snapshot(workbench)) / 1000:.2f} s")
    again = Workbench.open(home)
    print(f"snapshot from the cache, memory-mapped: {timed(lambda: _snapshot(again)):.1f} ms")
    first = timed(lambda: again.search(data.queries[0], collections=[COLLECTION], principal=everything(), top_k=LIMIT))
    print(f"first search after that: {first:.1f} ms")
    with again.library.writing(COLLECTION) as (_, store):
        took = timed(lambda: store.commit([document_write(data, number) for number in range(10)]))
    print(f"commit of 10 changed documents: {took:.1f} ms; refresh after it: {timed(lambda: _snapshot(again)):.1f} ms")
    command = [sys.executable, str(Path(__file__).resolve()), "--resident", str(home)]
    print(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip(), flush=True)


def _snapshot(workbench: Workbench) -> object:
    return workbench.library.snapshot([COLLECTION])


def resident(home: Path) -> None:
    """Memory of a process of its own that loads the snapshot and searches once."""
    workbench = Workbench.open(home)
    workbench.library.collection(COLLECTION)
    before = _memory()
    for query in ("the first search", "and the next"):
        workbench.search(query, collections=[COLLECTION], principal=everything(), top_k=LIMIT)
    print(f"resident memory: {_memory():.0f} MB after two searches, {before:.0f} MB before the snapshot was opened")


def _memory() -> float:
    """Megabytes: what is resident now, mapped files included; where /proc is missing, the most there ever was."""
    try:
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1_000
    except OSError:
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used / (1_000_000 if sys.platform == "darwin" else 1_000)


@contextlib.contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given:
        yield given
    else:
        with tempfile.TemporaryDirectory() as made:
            yield Path(made)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--home", type=Path, help="keep our collection here, or use the one that is here")
    parser.add_argument("--ours-only", action="store_true", help="leave the other libraries out")
    parser.add_argument("--no-index", action="store_true", help="leave LanceDB's HNSW index out")
    parser.add_argument("--resident", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.resident:
        resident(options.resident)
        return 0
    data = Synthetic.make(options.chunks, options.queries)
    print(
        f"{len(data.texts)} chunks × {DIMENSION}, {len(data.queries)} queries, {data.visible:.1%} visible", flush=True
    )
    with _folder(options.home) as home:
        took = timed(lambda: fill(Workbench.open(home), data))
        print(f"our collection filled in {took / 1000:.1f} s", flush=True)
        ours = our_search(home, data)
        if not options.ours_only:
            with tempfile.TemporaryDirectory() as folder:
                theirs = lance_search(Path(folder), data, not options.no_index)
            lexical(data)
        loading(home, data)
    if options.ours_only:
        return 0
    print()
    for label, times in ours.items():
        for kind in ("exact", "HNSW"):
            if f"{kind}, {label}" in theirs:
                ratio = times.median / theirs[f"{kind}, {label}"].median
                wanted = f"  (wanted: {WANTED_SHARE:.2f})" if kind == "exact" else ""
                mark = "     " if kind != "exact" else "holds" if ratio <= WANTED_SHARE else "FAILS"
                print(f"{mark}  ours takes {ratio:.3f} of LanceDB's {kind} hybrid, {label}{wanted}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
