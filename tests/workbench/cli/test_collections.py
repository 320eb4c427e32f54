from __future__ import annotations

from pathlib import Path
from typing import Any

COLLECTION_KEYS = {"name", "embedder", "fingerprint", "dimension", "defaults", "index_version", "created_at"}


def defaults(cli: Any, name: str) -> Any:
    return next(c["defaults"] for c in cli("collections", "list", "--json").json["collections"] if c["name"] == name)


def test_created_listed_changed_dropped(cli: Any, home: Path) -> None:
    ran = cli("collections", "create", "kb", "--classification", "internal", "--allow", "staff", "hr", "--json")
    assert ran.code == 0
    assert set(ran.json) == COLLECTION_KEYS
    assert (ran.json["name"], ran.json["embedder"], ran.json["dimension"]) == ("kb", "hash:64", 64)
    expected = {"classification": "internal", "acl_allow": ["hr", "staff"], "acl_deny": [], "inherits_from": None}
    assert ran.json["defaults"] == expected
    listed = cli("collections", "list", "--json").json
    assert listed == {"collections": [ran.json]}

    # what is not given stays
    assert cli("collections", "set", "kb", "--deny", "temps").code == 0
    assert defaults(cli, "kb") == {**expected, "acl_deny": ["temps"]}
    assert cli("collections", "set", "kb", "--classification", "public").code == 0
    assert defaults(cli, "kb") == {**expected, "classification": "public", "acl_deny": ["temps"]}
    assert cli("collections", "set", "kb", "--deny").code == 0
    assert defaults(cli, "kb")["acl_deny"] == []
    assert cli("collections", "set", "kb", "--no-defaults", "--allow", "*").code == 0
    assert defaults(cli, "kb") == {"classification": None, "acl_allow": ["*"], "acl_deny": [], "inherits_from": None}
    assert cli("collections", "set", "kb", "--no-defaults").code == 0
    assert defaults(cli, "kb") is None

    ran = cli("collections", "drop", "kb")
    assert (ran.code, "--yes" in ran.err) == (2, True)
    assert cli("collections", "drop", "kb", "--yes").code == 0
    assert cli("collections", "list", "--json").json == {"collections": []}


def test_for_people(cli: Any, home: Path) -> None:
    assert "workbench demo" in cli("collections", "list").out
    out = cli("collections", "create", "退款", "--embedder", "hash:32").out
    assert "created collection '退款' (hash:32, 32 dimensions)" in out
    assert "stay hidden from everyone until both --classification and --allow are set" in out
    out = cli("collections", "set", "退款", "--classification", "internal", "--allow", "staff", "--deny", "bo").out
    assert "default labels: internal; allow staff; deny bo" in out
    assert "hidden" not in out
    header, line = cli("collections", "list").out.splitlines()
    assert header.split() == ["name", "embedder", "dimension", "index", "version", "defaults"]
    assert line.split() == ["退款", "hash:32", "32", "0", "internal;", "allow", "staff;", "deny", "bo"]


def test_looking_makes_no_home(cli: Any, tmp_path: Path) -> None:
    assert cli("--home", tmp_path / "none", "collections", "list").code == 0
    assert not (tmp_path / "none").exists()


def test_input_errors(cli: Any, home: Path) -> None:
    assert cli("collections", "create", "kb").code == 0
    for arguments, says in (
        ("collections create kb", "exists"),
        ("collections create a/b", "slashes"),
        ("collections create other --embedder nonsense", "hash:DIMENSION"),
        ("collections create other --embedder openai:text-embedding-3-small", "hash:DIMENSION"),
        ("collections create other --embedder sentence-transformers:/nope", "no model folder"),
        ("collections create other --embedder sentence-transformers:./nope", "no model folder"),
        ("collections set kb", "--no-defaults"),
        ("collections set nobody --allow staff", "known collections: kb"),
        ("collections set kb --allow user:", "acl_allow"),
        ("collections drop nobody --yes", "known collections: kb"),
    ):
        ran = cli(*arguments.split())
        assert (ran.code, ran.out) == (2, "")
        assert says in ran.err


def test_with_a_name_its_roles_count(cli: Any, people: Path) -> None:
    for arguments in ("create kb", "set kb --allow staff", "drop kb --yes"):
        ran = cli("collections", *arguments.split(), "--as", "guest")
        assert ran.code == (2 if arguments.startswith("set") else 4), ran.err
        assert "'guest' lacks the role 'owner'" in ran.err or "no collection" in ran.err
        ran = cli("collections", *arguments.split(), "--as", "nobody")
        assert ran.code == (2 if arguments.startswith("set") else 4)
    assert cli("collections", "create", "kb", "--as", "ann").code == 0
    assert cli("collections", "set", "kb", "--allow", "staff", "--as", "guest").code == 4
    assert cli("collections", "set", "kb", "--allow", "staff", "--as", "ann").code == 0
    assert cli("collections", "drop", "kb", "--yes", "--as", "ann").code == 0
