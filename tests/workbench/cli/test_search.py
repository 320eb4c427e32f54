from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from workbench.cli import main

RESULT_KEYS = {
    "trace_id", "query", "collections", "index_versions", "engine", "as_of", "passages", "refusal", "notices",
    "answer", "latency_ms", "degradation_flags", "trace",
}  # fmt: skip
PASSAGE_KEYS = {
    "rank", "evidence_id", "collection", "document_id", "path", "title", "source_uri", "start", "end", "lines",
    "text", "location", "classification", "status", "score", "rerank_score", "retrieved_at", "chunk_refs", "also_in",
}  # fmt: skip
REF_KEYS = {"chunk_id", "knowledge_id", "knowledge_revision", "section_anchor", "chunk_hash"}
TRACE_KEYS = {
    "chunk_id", "document_id", "exact", "bm25", "dense", "fused", "diversified", "prior", "merged", "reranked",
    "lost_at", "margin",
}  # fmt: skip
LATENCY_KEYS = {
    "total", "audit", "glossary", "scope", "embed", "exact", "bm25", "dense", "fuse", "diversify", "prior", "merge",
    "rerank",
}  # fmt: skip

QUERY = "How long does a refund to a credit card take?"


def search(cli: Any, *arguments: object) -> Any:
    ran = cli("search", QUERY, "--collection", "kb", *arguments, "--json")
    assert ran.code == 0
    assert set(ran.json) == RESULT_KEYS
    return ran.json


def test_the_shape_of_json(cli: Any, reading: Path) -> None:
    found = search(cli, "--explain", "--answer")
    assert (found["query"], found["collections"]) == (QUERY, ["kb"])
    assert found["index_versions"]["kb"] > 0
    assert set(found["latency_ms"]) >= LATENCY_KEYS
    assert (found["refusal"], found["notices"], found["degradation_flags"]) == (None, [], [])
    first = found["passages"][0]
    assert all(set(passage) == PASSAGE_KEYS for passage in found["passages"])
    assert (first["rank"], first["path"], first["classification"]) == (1, "refunds.md", "internal")
    assert first["evidence_id"] == f"ev-{found['trace_id']}-001"
    assert "three working days" in first["text"]
    assert all(set(ref) == REF_KEYS for ref in first["chunk_refs"])
    assert all(set(row) == TRACE_KEYS for row in found["trace"])
    assert set(found["answer"]) == {"text", "citations", "rejected_claims", "mode"}
    assert "three working days" in found["answer"]["text"]
    plain = search(cli)
    assert (plain["trace"], plain["answer"]) == (None, None)


def test_options_reach_the_search(cli: Any, reading: Path, tmp_path: Path) -> None:
    def paths(*arguments: object) -> list[str]:
        return [passage["path"] for passage in search(cli, *arguments)["passages"]]

    assert set(paths()) == {"refunds.md"}
    assert "bands.md" in paths("--as", "ann")
    assert set(paths("--as", "ann", "--document", "bands.md")) == {"bands.md"}
    assert "bands.md" not in paths("--as", "ann", "--min-classification", "internal")
    assert set(paths("--as-of", "2025-01-01")) == {"archive/refunds.md"}
    assert search(cli, "--as-of", "2025-01-01")["as_of"] == "2025-01-01T00:00:00Z"
    assert len(paths("--as", "ann", "--top-k", "1")) == 1
    assert paths("--as", "guest") == []
    settings = tmp_path / "s.toml"
    settings.write_text("[retrieval]\ntop_k = 1\n", "utf-8")
    assert len(paths("--as", "ann", "--settings", settings)) == 1
    twice = cli("search", QUERY, "--collection", "kb", "--collection", "kb", "--json").json
    assert twice["collections"] == ["kb"]


def test_pages_narrow_the_document(cli: Any, reading: Path) -> None:
    ran = cli("search", QUERY, "--collection", "kb", "--document", "refunds.md", "--pages", "3-5", "--json")
    assert (ran.code, ran.json["passages"]) == (0, [])


def test_for_people(cli: Any, reading: Path) -> None:
    out = cli("search", QUERY, "--collection", "kb", "--explain", "--answer").out
    answer, rest = out.split("\n\n", 1)
    assert "three working days" in answer
    lines = rest.splitlines()
    assert lines[0] == " 1. Refunds [internal]"
    assert lines[1].startswith("    refunds.md:")
    assert "exact –" in lines[2]
    assert "bm25 1" in lines[2]
    assert "fused 1" in lines[2]
    assert max(map(len, lines)) <= 80
    assert "channels" not in cli("search", QUERY, "--collection", "kb").out


def test_text_of_documents_is_harmless_for_the_terminal(cli: Any, people: Path, tmp_path: Path) -> None:
    labels = "---\nclassification: public\nacl_allow: ['*']\n---\n"
    (tmp_path / "evil.md").write_text(
        f"{labels}# Evil\u202e title\n\nTorque \u009b31mwrench\u009d0;x\u0007 text.", "utf-8"
    )
    assert cli("ingest", tmp_path / "evil.md", "--collection", "kb").code == 0
    for extra in ([], ["--json"], ["--answer", "--explain"]):
        out = cli("search", "torque wrench", "--collection", "kb", *extra).out
        assert "orque" in out
        assert not set("\x1b\x07\x9b\x9d\u202e") & set(out)


def test_a_refusal_is_done(cli: Any, reading: Path) -> None:
    ran = cli("search", QUERY, "--collection", "kb", "--as", "guest")
    assert (ran.code, ran.out) == (0, "Nothing relevant was found in the knowledge base.\n")
    found = search(cli, "--as", "guest")
    assert found["refusal"] == {"code": "no_evidence", "message": ran.out.strip()}


@pytest.mark.parametrize("principals", [None, "[ann]\n", "[default]\nclearance = 'secret'\n", "[default"])
def test_nobody_established_is_refused_on_record(cli: Any, home: Path, files: Path, principals: str | None) -> None:
    assert cli("collections", "create", "kb").code == 0
    if principals is not None:
        (home / "principals.toml").write_text(principals, "utf-8")
    ran = cli("search", QUERY, "--collection", "kb", "--json")
    assert (ran.code, "principals.toml" in ran.err) == (4, True)
    assert set(ran.json) == RESULT_KEYS
    assert (ran.json["refusal"]["code"], ran.json["passages"]) == ("permission_unavailable", [])
    ran = cli("search", QUERY, "--collection", "kb")
    assert (ran.code, ran.out, ran.err.count("\n")) == (4, "", 1)
    records = [line for file in (home / "audit").rglob("*") if file.is_file() for line in file.read_text().splitlines()]
    assert sum(QUERY in line for line in records) == 2


def test_an_unknown_name_is_refused(cli: Any, reading: Path) -> None:
    ran = cli("search", QUERY, "--collection", "kb", "--as", "nobody", "--json")
    assert ran.code == 4
    assert "no principal 'nobody'" in ran.err
    assert json.loads(ran.out)["refusal"]["code"] == "permission_unavailable"


def test_the_cause_of_a_refusal_is_for_the_operator(
    people: Path, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", str(files), "--collection", "kb"]) == 0
    shutil.rmtree(people / "audit")
    (people / "audit").write_text("no folder")
    capsys.readouterr()
    assert main(["search", QUERY, "--collection", "kb"]) == 0
    out, err = capsys.readouterr()
    assert out == "The search is not available at the moment.\n"
    assert err.startswith("workbench search: search ") and err.count("\n") == 1
    assert "AuditUnavailable: the audit log " in err and "cannot be written" in err
    assert QUERY not in err


def test_no_home_is_made_by_asking(cli: Any, tmp_path: Path) -> None:
    ran = cli("search", QUERY, "--collection", "kb", "--home", tmp_path / "none")
    assert (ran.code, "workbench demo" in ran.err) == (4, True)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["", "--collection", "kb"], "the query is empty"),
        (["q", "--collection", "none"], "known collections: kb"),
        (["q", "--collection", "kb", "--top-k", "0"], "top_k"),
        (["q", "--collection", "kb", "--pages", "3-5"], "name the document as well"),
        (["q", "--collection", "kb", "--document", "refunds.md", "--pages", "5-3"], "'5-3' names no pages"),
        (["q", "--collection", "kb", "--document", "refunds.md", "--pages", ""], "--pages names no page"),
        (["q", "--collection", "kb", "--sheet", "S"], "name the document as well"),
        (["q", "--collection", "kb", "--document", "absent.md"], "no document 'absent.md'"),
        (["q", "--collection", "kb", "--settings", "/absent.toml"], "no such file"),
    ],
)
def test_input_errors(cli: Any, reading: Path, arguments: list[str], says: str) -> None:
    ran = cli("search", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("workbench search: ")
    assert says in ran.err
