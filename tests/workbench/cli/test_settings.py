from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.settings import load


def rows(ran: Any) -> dict[str, tuple[Any, str]]:
    assert set(ran.json) == {"fingerprint", "settings"}
    assert all(set(row) == {"key", "value", "origin"} for row in ran.json["settings"])
    return {row["key"]: (row["value"], row["origin"]) for row in ran.json["settings"]}


def test_every_setting_with_its_origin(cli: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, extra = home / "settings.toml", tmp_path / "extra.toml"
    own.write_text("[retrieval]\npreset = 'classic'\ntop_k = 3\nrrf_k = 20\n[server]\nport = 9000\n", "utf-8")
    extra.write_text("[retrieval]\nrrf_k = 10\nwindow = 50\n", "utf-8")
    monkeypatch.setenv("WORKBENCH_RETRIEVAL__WINDOW", "70")
    ran = cli("settings", "show", "--settings", extra, "--json")
    found = rows(ran)
    assert found["retrieval.preset"] == ("classic", str(own))
    assert found["retrieval.top_k"] == (3, str(own))
    assert found["retrieval.rrf_k"] == (10, str(extra))
    assert found["retrieval.window"] == (70, "environment WORKBENCH_RETRIEVAL__WINDOW")
    assert found["retrieval.bm25_k1"] == (1.5, "preset classic")
    assert found["retrieval.channels"] == (["exact", "bm25", "dense"], "default")
    assert found["server.port"] == (9000, str(own))
    assert ran.json["fingerprint"] == load([own, extra]).fingerprint()


def test_for_people(cli: Any, home: Path) -> None:
    lines = cli("settings", "show").out.splitlines()
    assert lines[0].split() == ["key", "value", "from"]
    assert ["retrieval.quality_floor", "none", "default"] in [line.split() for line in lines]
    assert ["embedding.default", "hash:64", "environment", "WORKBENCH_EMBEDDING__DEFAULT"] in [
        line.split() for line in lines
    ]


def test_looking_makes_no_home(cli: Any, tmp_path: Path) -> None:
    assert cli("settings", "show", "--home", tmp_path / "none").code == 0
    assert not (tmp_path / "none").exists()


def test_what_is_wrong_is_named(cli: Any, home: Path, tmp_path: Path) -> None:
    assert "no such file" in cli("settings", "show", "--settings", tmp_path / "no.toml").err
    ran = cli("settings", "show", "--collection", "kb")
    assert (ran.code, "no collection 'kb'" in ran.err) == (2, True)
    (home / "settings.toml").write_text("[retrieval]\nnonsense = 1\n", "utf-8")
    ran = cli("settings", "show")
    assert (ran.code, "retrieval.nonsense" in ran.err) == (2, True)
