from __future__ import annotations

from pathlib import Path
from typing import Any

LIST_KEYS = {
    "document_id", "path", "title", "classification", "status", "knowledge_id", "revision", "revised_at",
    "valid_until", "chunks", "in_force",
}  # fmt: skip
CHUNK_KEYS = {"chunk_id", "start", "end", "section_anchor", "provenance"}


def listed(cli: Any, *arguments: object) -> list[dict[str, Any]]:
    ran = cli("documents", "list", "--collection", "kb", *arguments, "--json")
    assert set(ran.json) == {"collection", "documents"}
    assert all(set(document) == LIST_KEYS for document in ran.json["documents"])
    found: list[dict[str, Any]] = ran.json["documents"]
    return found


def test_everybody_sees_their_own(cli: Any, reading: Path) -> None:
    assert [d["path"] for d in listed(cli)] == ["archive/refunds.md", "refunds.md"]
    assert [d["in_force"] for d in listed(cli)] == [False, True]
    assert [d["path"] for d in listed(cli, "--as", "ann")] == ["archive/refunds.md", "bands.md", "refunds.md"]
    assert listed(cli, "--as", "guest") == []
    assert "no documents that you may see" in cli("documents", "list", "--collection", "kb", "--as", "guest").out


def test_the_list_for_people(cli: Any, reading: Path) -> None:
    lines = cli("documents", "list", "--collection", "kb").out.splitlines()
    assert lines[0].split() == ["path", "title", "classification", "status", "revision", "chunks", "in", "force"]
    assert lines[2].startswith("refunds.md")
    assert lines[2].split()[1:6:1] == ["Refunds", "internal", "active", "2", str(listed(cli)[1]["chunks"])]
    assert (lines[1].split()[-1], lines[2].split()[-1]) == ("no", "yes")


def test_one_document(cli: Any, reading: Path) -> None:
    ran = cli("documents", "show", "refunds.md", "--collection", "kb", "--json")
    assert set(ran.json) == {"collection", "document", "chunks", "text"}
    assert ran.json["text"] is None
    document = ran.json["document"]
    assert (document["revision"], document["classification"], document["in_force"]) == ("2", "internal", True)
    assert document["labels"]["acl_allow"] == ["staff"]
    assert document["chunks"] == len(ran.json["chunks"]) > 0
    assert all(set(chunk) == CHUNK_KEYS for chunk in ran.json["chunks"])
    by_id = cli("documents", "show", document["document_id"], "--collection", "kb", "--text", "--json").json
    assert "ERR-4012" in by_id["text"]
    assert by_id["document"] == document


def test_one_document_for_people(cli: Any, reading: Path) -> None:
    out = cli("documents", "show", "refunds.md", "--collection", "kb").out
    facts = {line.split()[0]: line.split(maxsplit=1)[1] for line in out.split("\n\n")[0].splitlines()}
    assert facts["title"] == "Refunds"
    assert facts["acl_allow"] == "staff"
    assert facts["in_force"] == "yes"
    assert "three working days" not in out
    assert "three working days" in cli("documents", "show", "refunds.md", "--collection", "kb", "--text").out


def test_what_may_not_be_seen_does_not_exist(cli: Any, reading: Path) -> None:
    hidden = cli("documents", "show", "bands.md", "--collection", "kb")
    absent = cli("documents", "show", "absent.md", "--collection", "kb")
    assert hidden.code == absent.code == 2
    assert hidden.err.replace("bands.md", "X") == absent.err.replace("absent.md", "X")
    assert cli("documents", "list", "--collection", "none").code == 2


def test_nobody_named_is_refused(cli: Any, home: Path, tmp_path: Path, files: Path) -> None:
    assert cli("ingest", files, "--collection", "kb").code == 0
    for arguments in (["list"], ["show", "refunds.md"]):
        ran = cli("documents", *arguments, "--collection", "kb")
        assert (ran.code, "principals.toml" in ran.err) == (4, True)
        assert cli("documents", *arguments, "--collection", "kb", "--home", tmp_path / "none").code == 4
    assert not (tmp_path / "none").exists()


def test_removed_all_at_once_or_not_at_all(cli: Any, people: Path, files: Path) -> None:
    assert cli("ingest", files, "--collection", "kb").code == 0
    remove = ("documents", "remove", "--collection", "kb")
    assert cli(*remove, "bands.md", "--as", "guest").code == 4
    assert cli(*remove, "bands.md", "absent.md").code == 2
    assert len(listed(cli, "--as", "ann")) == 3
    ran = cli(*remove, "bands.md", "archive/refunds.md", "--json")
    assert set(ran.json) == {"collection", "removed"}
    assert sorted(ran.json["removed"]) == ["archive/refunds.md", "bands.md"]
    assert [d["path"] for d in listed(cli, "--as", "ann")] == ["refunds.md"]
    assert cli(*remove, "refunds.md").out == "removed refunds.md\n"


def test_an_edit_is_previewed_made_and_released(cli: Any, people: Path, files: Path) -> None:
    assert cli("ingest", files, "--collection", "kb").code == 0
    edit = ("documents", "edit", "refunds.md", "--collection", "kb")
    preview = cli(*edit, "--set", "acl_allow=hr; finance", "--preview", "--json").json["audience"]
    assert preview["paths"] == ["refunds.md"] and preview["hidden"] == []
    assert all(person["after"] <= person["before"] for person in preview["people"])
    assert "refunds.md" in [document["path"] for document in listed(cli)], "a preview changes nothing"
    shown = cli(*edit, "--set", "acl_allow=hr", "--preview").out
    assert "labels change: refunds.md" in shown and "would see" in shown
    document = cli(*edit, "--set", "acl_allow=hr; finance", "--set", "quality=40", "--json").json["document"]
    assert (document["labels"]["acl_allow"], document["edited"]) == (["finance", "hr"], ["acl_allow", "quality"])
    assert "refunds.md" not in [document["path"] for document in listed(cli)]
    released = cli(*edit, "--clear", "quality", "--release", "quality").out
    assert "edited by hand: acl_allow" in released and "released: quality; what was edited holds until" in released


def test_an_edit_says_what_is_wrong_with_it(cli: Any, people: Path, files: Path) -> None:
    assert cli("ingest", files, "--collection", "kb").code == 0
    edit = ("documents", "edit", "refunds.md", "--collection", "kb")
    for arguments, says in (
        ((), "--set, --clear, --release"),
        (("--set", "quality"), "KEY=VALUE"),
        (("--set", "qualty=4"), "quality"),
        (("--set", "quality=400"), "quality"),
    ):
        ran = cli(*edit, *arguments)
        assert ran.code == 2 and says in ran.err and ran.err.count("\n") == 1


def test_what_nobody_may_see_is_listed_for_its_owner(cli: Any, people: Path, files: Path, tmp_path: Path) -> None:
    hidden = ("documents", "list", "--hidden", "--collection", "kb")
    assert cli("ingest", files, "--collection", "kb").code == 0
    assert cli(*hidden).out == "no document is hidden from everyone\n"
    draft = tmp_path / "draft.md"
    draft.write_text("---\nclassification: confidential\n---\n# Draft\n\nA secret plan.\n")
    assert "hidden   draft.md: no labels let anybody see it" in cli("ingest", draft, "--collection", "kb").out
    assert [document["path"] for document in cli(*hidden, "--as", "ann", "--json").json["hidden"]] == ["draft.md"]
    out = cli(*hidden).out
    assert "classification confidential" in out and "secret plan" not in out
    assert cli(*hidden, "--as", "guest").code == 4


def test_purging_says_what_it_looked_for(cli: Any, people: Path, files: Path) -> None:
    assert cli("ingest", files, "--collection", "kb").code == 0
    ran = cli("documents", "remove", "refunds.md", "--purge", "--collection", "kb", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["purged"] == ["refunds.md"] and ran.json["words"] > 0 and ran.json["files"] > 0
    again = cli("documents", "remove", "--purge", "--collection", "kb")
    assert again.code == 0 and "removed and updated before" in again.out


def test_the_source_is_written_out_once(cli: Any, reading: Path, files: Path, tmp_path: Path) -> None:
    source = ("documents", "source", "refunds.md", "--collection", "kb", "--output", tmp_path / "copy.md")
    assert cli(*source).code == 0
    assert (tmp_path / "copy.md").read_bytes() == (files / "refunds.md").read_bytes()
    assert cli(*source).code == 2
    assert cli(*source[:-1], tmp_path / "absent" / "x.md").code == 2
    assert cli(*source, "--as", "guest").code == 2
