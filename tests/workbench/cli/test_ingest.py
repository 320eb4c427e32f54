from __future__ import annotations

from pathlib import Path
from typing import Any

FILE_KEYS = {"path", "outcome", "chunks", "reason", "warnings", "hidden", "remembered"}
COUNT_KEYS = {"added", "updated", "relabelled", "unchanged", "refused"}


def test_a_folder_into_a_collection_that_is_not_there(cli: Any, home: Path, files: Path) -> None:
    ran = cli("ingest", files, "--collection", "kb", "--json")
    assert ran.code == 0
    assert set(ran.json) == {"collection", "files", "index_version", "created", "counts", "hidden"}
    assert (ran.json["collection"], ran.json["created"], ran.json["hidden"]) == ("kb", True, 0)
    assert ran.json["counts"] == {**dict.fromkeys(COUNT_KEYS, 0), "added": 3}
    assert all(set(file) == FILE_KEYS for file in ran.json["files"])
    assert [file["path"] for file in ran.json["files"]] == ["archive/refunds.md", "bands.md", "refunds.md"]

    again = cli("ingest", files, "--collection", "kb", "--json").json
    assert (again["created"], again["counts"]["unchanged"]) == (False, 3)
    assert again["index_version"] == ran.json["index_version"]
    assert cli("collections", "list", "--json").json["collections"][0]["index_version"] == again["index_version"]


def test_hidden_documents_are_counted_and_the_remedy_works(cli: Any, people: Path, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("No label says who may see this.", "utf-8")
    out = cli("ingest", tmp_path / "plain.txt", "--collection", "my kb").out
    assert "created collection 'my kb', without default labels" in out
    assert "my kb: 1 added" in out
    assert "for want of labels: 1" in out
    remedy = "workbench collections set 'my kb' --classification internal --allow staff"
    assert remedy in out
    assert cli("documents", "list", "--collection", "my kb", "--json").json["documents"] == []
    assert cli("collections", "set", "my kb", "--classification", "internal", "--allow", "staff").code == 0
    assert len(cli("documents", "list", "--collection", "my kb", "--json").json["documents"]) == 1


def test_a_refused_file_lets_the_others_in(cli: Any, home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nText.", "utf-8")
    (folder / "bad\x1b[31m.md").write_text("---\nclassification: secret\n---\n# Bad", "utf-8")
    ran = cli("ingest", folder, tmp_path / "absent.md", "--collection", "kb")
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert len([line for line in lines if line.startswith("refused  ")]) == 2
    assert [line for line in lines if line.startswith("refused  ") and "absent.md" in line]
    assert [line for line in lines if "1 added, 2 refused" in line]
    assert [line for line in lines if "good.md" in line] == ["hidden   good.md: no labels let anybody see it"]
    assert "\x1b" not in ran.out
    ran = cli("ingest", folder, "--collection", "kb", "--json")
    assert (ran.code, ran.json["counts"]["refused"], ran.json["counts"]["unchanged"]) == (1, 1, 1)


def test_metadata_from_a_table(cli: Any, people: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.txt").write_text("Alpha.", "utf-8")
    table = tmp_path / "metadata.csv"
    table.write_text("path,classification,acl_allow\na.txt,public,*\n", "utf-8")
    ran = cli("ingest", folder, "--collection", "kb", "--metadata", table, "--json")
    assert (ran.code, ran.json["hidden"]) == (0, 0)
    assert len(cli("documents", "list", "--collection", "kb", "--as", "guest", "--json").json["documents"]) == 1
    table.write_text("path,nonsense\na.txt,1\n", "utf-8")
    ran = cli("ingest", folder, "--collection", "kb", "--metadata", table)
    assert (ran.code, ran.out) == (2, "")


def test_nothing_to_read_makes_no_collection(cli: Any, home: Path) -> None:
    ran = cli("ingest", home / "absent", "--collection", "kb")
    assert (ran.code, "no such file or folder" in ran.err) == (2, True)
    assert cli("collections", "list", "--json").json == {"collections": []}


def test_with_a_name_its_roles_count(cli: Any, people: Path, files: Path) -> None:
    assert cli("ingest", files, "--collection", "kb", "--as", "guest").code == 4
    assert cli("collections", "list", "--json").json == {"collections": []}
    assert cli("ingest", files, "--collection", "kb", "--as", "ann").code == 0
    assert cli("ingest", files, "--collection", "kb", "--as", "nobody").code == 4
