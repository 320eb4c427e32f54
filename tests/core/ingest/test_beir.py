from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import CoreError, InputError, RoleMissing
from core.home import Workbench
from core.ingest.beir import PER_COMMIT, BeirReport, import_beir
from core.models.hash_embedder import HashEmbedder
from core.types import Labels, document_id
from tests.support.homes import EMBEDDER, GUEST, OWNER, files, opened

CORPUS = [
    {"_id": "d1", "title": "Bikes", "text": "a red bike"},
    {"_id": "d2", "title": "", "text": "a blue boat"},
    {"_id": "d3", "text": "船和自行车"},
]
QUERIES = [{"_id": "q1", "text": "red bike"}, {"_id": "q2", "text": "boat", "kind": "unanswerable", "answer": "none"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\tabsent\t1\nabsent\td1\t1\nq2\td2\t0\n"


def lines(*records: Any) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def beir(folder: Path, corpus: str | bytes = "", queries: str | bytes = "", qrels: str | bytes = "") -> Path:
    content = {
        "corpus.jsonl": corpus or lines(*CORPUS),
        "queries.jsonl": queries or lines(*QUERIES),
        "qrels.tsv": qrels or QRELS,
    }
    return files(folder / "set", content)


@pytest.fixture
def wb(home: Path) -> Workbench:
    return opened(home, None)


def run(wb: Workbench, folder: Path, **given: Any) -> BeirReport:
    return import_beir(folder, "c", wb, OWNER, **{"embedder": EMBEDDER, **given})


def questions(wb: Workbench) -> list[dict[str, Any]]:
    text = (wb.home / "eval_sets" / "c" / "questions.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_documents_questions_and_judgments(wb: Workbench, tmp_path: Path) -> None:
    report = run(wb, beir(tmp_path))
    counts = (report.documents, report.chunks, report.questions, report.judgments)
    assert counts == (3, 3, 2, 2)
    assert (report.unknown_queries, report.unknown_documents) == (1, 1)
    rows = {row.document.path: row.document for row in wb.documents("c", GUEST)}
    assert {path: document.title for path, document in rows.items()} == {"d1": "Bikes", "d2": "d2", "d3": "d3"}
    assert wb.document("c", "d1", GUEST).text == "Bikes\na red bike"
    assert rows["d1"].labels == Labels("public", ("*",))
    assert questions(wb) == [
        {"id": "q1", "question": "red bike", "kind": "answerable", "evidence": [{"document": "d1", "grade": 2}]},
        {
            "id": "q2",
            "question": "boat",
            "kind": "unanswerable",
            "evidence": [{"document": "d2", "grade": 0}],
            "answer": "none",
        },
    ]
    assert wb.search("red bike", collections=["c"], principal=GUEST).passages[0].path == "d1"


def test_a_second_import_writes_what_is_new(wb: Workbench, tmp_path: Path) -> None:
    run(wb, beir(tmp_path))
    head = wb.library.head("c")
    assert run(wb, beir(tmp_path)).documents == 3
    assert wb.library.head("c") == head
    changed = [{**CORPUS[0], "text": "a green bike"}, *CORPUS[1:], {"_id": "d4", "text": "new"}]
    run(wb, beir(tmp_path, lines(*changed)))
    assert wb.library.head("c") == head + 1
    written = wb.library.store("c").since(head).documents
    assert sorted(document.path for document in written) == ["d1", "d4"]


def test_many_documents_go_in_by_portions(wb: Workbench, tmp_path: Path) -> None:
    told: list[str] = []
    corpus = lines(*({"_id": f"d{n}", "text": f"text {n}"} for n in range(PER_COMMIT + 1)))
    run(wb, beir(tmp_path, corpus), progress=told.append)
    assert wb.library.head("c") == 2
    assert told == [f"{PER_COMMIT} of {PER_COMMIT + 1}", f"{PER_COMMIT + 1} of {PER_COMMIT + 1}"]


GOOD = lines(CORPUS[0])
BAD: list[tuple[str, str | bytes, str]] = [
    ("corpus.jsonl", GOOD + "{\n", "corpus.jsonl line 2"),
    ("corpus.jsonl", GOOD + "\n[1]\n", "corpus.jsonl line 3"),
    ("corpus.jsonl", GOOD + "5\n", "corpus.jsonl line 2"),
    ("corpus.jsonl", GOOD + GOOD, "corpus.jsonl line 2"),
    ("corpus.jsonl", GOOD + lines({"text": "x"}), "corpus.jsonl line 2"),
    ("corpus.jsonl", GOOD + lines({"_id": 5, "text": "x"}), "corpus.jsonl line 2"),
    ("corpus.jsonl", GOOD + lines({"_id": " ", "text": "x"}), "corpus.jsonl line 2"),
    ("corpus.jsonl", GOOD + lines({"_id": "d2"}), "corpus.jsonl line 2"),
    ("corpus.jsonl", GOOD + lines({"_id": "d2", "title": "t"}), "corpus.jsonl line 2"),
    ("corpus.jsonl", GOOD + lines({"_id": "d2", "text": None}), "corpus.jsonl line 2"),
    ("corpus.jsonl", GOOD + lines({"_id": "\ud800", "text": "x"}), "corpus.jsonl line 2"),
    ("corpus.jsonl", GOOD + lines({"_id": "d2", "text": "\ud800"}), "corpus.jsonl line 2"),
    ("corpus.jsonl", GOOD + "[" * 20_000 + "\n", "corpus.jsonl line 2"),
    ("corpus.jsonl", b"\xff\xfe", "corpus.jsonl"),
    ("corpus.jsonl", lines({"_id": "d1", "text": " "}), "corpus.jsonl"),
    ("corpus.jsonl", "\n", "corpus.jsonl"),
    ("queries.jsonl", lines(QUERIES[0], {"_id": "q2"}), "queries.jsonl line 2"),
    ("queries.jsonl", lines(QUERIES[0], {"_id": "q2", "text": ""}), "queries.jsonl line 2"),
    ("queries.jsonl", lines(QUERIES[0], {"_id": "q2", "text": "\ud800"}), "queries.jsonl line 2"),
    ("queries.jsonl", lines(QUERIES[0], {"_id": "q2", "text": "x", "answer": "\ud800"}), "queries.jsonl line 2"),
    ("queries.jsonl", lines(QUERIES[0]) + "nonsense", "queries.jsonl line 2"),
    ("qrels.tsv", "q1\td1\t1\nq1\td1\tgood\n", "qrels.tsv line 2"),
    ("qrels.tsv", "q1\td1\t1\nq1\td1\t1²\n", "qrels.tsv line 2"),
    ("qrels.tsv", "q1\td1\t1\nq1\td1\t--1\n", "qrels.tsv line 2"),
    ("qrels.tsv", "q1\td1\t1\n1\n", "qrels.tsv line 2"),
    ("qrels.tsv", "q1\td1\t1\nq1\t0\td1\t1\tx\n", "qrels.tsv line 2"),
    ("qrels.tsv", b"q1\td1\t1\n\xff\td1\t1\n", "qrels.tsv"),
]


@pytest.mark.parametrize(("name", "content", "named"), BAD, ids=range(len(BAD)))
def test_a_mistake_is_named_and_nothing_is_written(
    wb: Workbench, tmp_path: Path, name: str, content: str | bytes, named: str
) -> None:
    folder = files(beir(tmp_path), {name: content})
    with pytest.raises(InputError) as raised:
        run(wb, folder)
    assert named in raised.value.message
    assert raised.value.remedy
    assert wb.collections() == []


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(wb: Workbench, tmp_path: Path, name: str) -> None:
    folder = beir(tmp_path)
    (folder / name).unlink()
    with pytest.raises(InputError, match=name):
        run(wb, folder)
    assert wb.collections() == []


def test_judgments_as_the_benchmark_lays_them_out(wb: Workbench, tmp_path: Path) -> None:
    folder = files(beir(tmp_path), {"qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td3\t1\n"})
    assert run(wb, folder).judgments == 2, "a qrels.tsv comes first"
    (folder / "qrels.tsv").unlink()
    assert run(wb, folder).judgments == 1
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev.tsv")
    with pytest.raises(InputError, match=r"neither qrels\.tsv nor qrels/test\.tsv"):
        run(wb, folder)


def test_an_embedder_that_is_not_there_is_named(wb: Workbench, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model folder"):
        run(wb, beir(tmp_path), embedder="sentence-transformers:/nope")
    assert wb.collections() == []


def test_a_mistake_in_json_has_one_place(wb: Workbench, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        run(wb, beir(tmp_path, GOOD + '{"_id": x}\n'))
    assert raised.value.message == "not readable as JSON: corpus.jsonl line 2, column 9: expecting value"


def test_trec_columns_and_no_header(wb: Workbench, tmp_path: Path) -> None:
    assert run(wb, beir(tmp_path, qrels="q1\t0\td1\t1\n\nq2\t0\td2\t-1\n")).judgments == 2
    assert [item["evidence"][0]["grade"] for item in questions(wb)] == [1, -1]


def npz(path: Path, **arrays: Any) -> Path:
    made = {
        "corpus_ids": np.array(["d1", "absent"]),
        "corpus": np.eye(2, 64, dtype=np.float16),
        "query_ids": np.array(["q1"]),
        "queries": np.eye(1, 64, 5, dtype=np.float32),
        "embedder": np.array(EMBEDDER),
        **arrays,
    }
    np.savez(path, **made)
    return path


def test_given_vectors_are_kept(wb: Workbench, tmp_path: Path) -> None:
    run(wb, beir(tmp_path), vectors=npz(tmp_path / "v.npz"), embedder=None)
    assert wb.library.collection("c").embedder == EMBEDDER
    embedder = wb.library.embedder_of(wb.library.collection("c"))
    inner = embedder._embedder
    assert isinstance(inner, HashEmbedder)
    assert sorted(inner.embedded) == ["a blue boat", "船和自行车"], "the others come from the file"
    rows = wb.library.store("c").since(0).chunks
    stored = dict(zip(rows["document_id"].to_pylist(), rows["vector"].to_pylist(), strict=True))
    assert stored[document_id("c", "d1")] == np.eye(1, 64)[0].tolist()
    assert wb.library.embedder_of(wb.library.collection("c")).query("red bike").tolist() == np.eye(1, 64, 5)[0].tolist()


BAD_VECTORS: list[dict[str, Any]] = [
    {"corpus": np.eye(2, 32, dtype=np.float32)},
    {"corpus": np.eye(1, 64, dtype=np.float32)},
    {"corpus": np.zeros(2)},
    {"corpus": np.full((2, 64), np.nan)},
    {"queries": np.eye(1, 32)},
    {"queries": np.array(["x"])},
    {"embedder": np.array("hash:none")},
    {"embedder": np.array("hash:32")},
]


@pytest.mark.parametrize("arrays", BAD_VECTORS, ids=range(len(BAD_VECTORS)))
def test_vectors_that_do_not_fit(wb: Workbench, tmp_path: Path, arrays: dict[str, Any]) -> None:
    with pytest.raises(InputError) as raised:
        run(wb, beir(tmp_path), vectors=npz(tmp_path / "v.npz", **arrays))
    assert raised.value.line()
    assert [wb.library.head(held.name) for held in wb.collections()] in ([], [0]), "no document is written"


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not a zip", b"\x93NUMPY\x01\0", b"text", None])
def test_a_file_that_holds_no_vectors(wb: Workbench, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "v.npz"
    if content is None:
        np.save(tmp_path / "v.npy", np.eye(2))
        path = tmp_path / "v.npy"
    else:
        path.write_bytes(content)
    with pytest.raises(InputError, match="vectors"):
        run(wb, beir(tmp_path), vectors=path)
    assert wb.collections() == []


def test_vectors_of_another_embedder_leave_no_empty_collection(wb: Workbench, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        run(wb, beir(tmp_path), vectors=npz(tmp_path / "v.npz"), embedder="hash:32")
    assert wb.collections() == []


def test_who_may_not_import(wb: Workbench, tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(RoleMissing):
            import_beir(beir(tmp_path), "c", wb, GUEST, embedder=EMBEDDER)
        assert [wb.library.head(held.name) for held in wb.collections()] in ([], [0])
        opened(wb.home)
    assert issubclass(RoleMissing, CoreError)


def test_another_embedder_than_the_collection_has_is_refused(wb: Workbench, tmp_path: Path) -> None:
    run(wb, beir(tmp_path))
    with pytest.raises(InputError, match="hash:32"):
        run(wb, beir(tmp_path), embedder="hash:32")
    assert run(wb, beir(tmp_path)).documents == 3
    assert run(wb, beir(tmp_path), embedder=None).documents == 3
