from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "set"
    folder.mkdir()
    corpus = [{"_id": f"d{n}", "title": f"Title {n}", "text": text} for n, text in enumerate(("red bike", "blue boat"))]
    queries = [{"_id": "q0", "text": "a red bike"}, {"_id": "q1", "text": "a boat"}]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), "utf-8")
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), "utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td1\t1\n", "utf-8")
    return folder


def test_a_data_set_becomes_collection_and_eval_set(cli: Any, people: Path, beir: Path) -> None:
    ran = cli("import", "beir", beir, "--collection", "bikes", "--json")
    assert ran.code == 0
    unknown = {"unknown_queries", "unknown_documents"}
    assert set(ran.json) == {"collection", "documents", "chunks", "questions", "judgments", "eval_set"} | unknown
    counted = {key: ran.json[key] for key in ("collection", "documents", "questions", "judgments")}
    assert counted == {"collection": "bikes", "documents": 2, "questions": 2, "judgments": 2}
    assert Path(ran.json["eval_set"]).is_dir()
    found = cli("search", "a red bike", "--collection", "bikes", "--as", "guest", "--json").json
    assert found["passages"][0]["classification"] == "public"
    out = cli("import", "beir", beir, "--collection", "boats").out
    assert "boats: 2 documents" in out
    assert "2 questions, 2 judgments" in out
    assert "left out" not in out
    with open(beir / "qrels.tsv", "a", encoding="utf-8") as qrels:
        qrels.write("q9\td1\t1\nq1\td9\t1\nq1\td8\t1\n")
    out = cli("import", "beir", beir, "--collection", "boats").out
    assert "left out: 1 judgments of queries that" in out
    assert "left out: 2 judgments of documents that" in out


def test_input_errors(cli: Any, people: Path, beir: Path, tmp_path: Path) -> None:
    assert cli("import", "beir", tmp_path / "absent", "--collection", "x").code == 2
    assert cli("import", "beir", beir, "--collection", "x", "--vectors", tmp_path / "absent.npz").code == 2
    (beir / "qrels.tsv").unlink()
    assert cli("import", "beir", beir, "--collection", "x").code == 2


def test_with_a_name_its_roles_count(cli: Any, people: Path, beir: Path) -> None:
    assert cli("import", "beir", beir, "--collection", "x", "--as", "guest").code == 4
    assert cli("import", "beir", beir, "--collection", "x", "--as", "ann").code == 0
