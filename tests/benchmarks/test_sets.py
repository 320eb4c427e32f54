"""Reading a test set: what becomes a document, a judgment, and an order of documents."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.sets import Corpus, read_corpus, read_judgments
from core.ranking import rank
from core.settings import Retrieval

DIMENSION = 4
TEXTS = {
    "a": ("pumps", "how a pump is primed"),
    "b": ("", "valves and seals"),
    "c": ("pumps", "how a pump is primed"),  # the same text as a
    "d": ("", "   "),
    "e": ("", "a pump that leaks"),
}


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    documents = [{"_id": name, "title": title, "text": text} for name, (title, text) in TEXTS.items()]
    queries = [{"_id": name, "text": "primed pump"} for name in ("q1", "q2", "q3")]
    for name, entries in (("corpus", documents), ("queries", queries)):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), "utf-8")
    (tmp_path / "qrels.tsv").write_text("q1\t0\ta\t2\nq1\t0\tgone\t1\nq2\t0\tb\t0\nq3\t0\ta\t1\n", "utf-8")
    np.savez(
        tmp_path / "vectors.npz",
        corpus_ids=np.array(list(TEXTS)),
        corpus=(np.eye(len(TEXTS), DIMENSION) * 3 + 0.5).astype(np.float16),
        query_ids=np.array(["q1", "q2"]),
        queries=np.full((2, DIMENSION), 2, np.float16),
    )
    return read_corpus(tmp_path)


def test_documents_without_text_and_queries_without_vector_are_left_out(corpus: Corpus) -> None:
    assert corpus.ids == ("a", "b", "c", "e")
    assert corpus.texts[0] == "pumps\nhow a pump is primed" and corpus.texts[1] == "valves and seals"
    assert list(corpus.queries) == ["q1", "q2"]
    for vectors in (corpus.vectors, corpus.query_vectors):
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_judgments_name_known_documents_and_queries_with_something_relevant(corpus: Corpus, tmp_path: Path) -> None:
    assert read_judgments(tmp_path / "qrels.tsv", corpus) == {"q1": {"a": 2}}
    assert read_judgments(tmp_path / "qrels.tsv", corpus, first=0) == {}


def test_a_text_that_stands_twice_brings_both_documents_at_its_place(corpus: Corpus) -> None:
    settings = Retrieval(channels=("bm25",), stop_words=True)
    found = corpus.documents_of(rank(corpus.candidates, "primed pump", None, settings, depth=10))
    assert set(found[:2]) == {"a", "c"} and found[2:] == ["e"]
    first = sorted(range(2), key=lambda at: bytes(corpus.candidates.snapshot.ids[[0, 2][at]]))
    assert found[:2] == [["a", "c"][at] for at in first]
