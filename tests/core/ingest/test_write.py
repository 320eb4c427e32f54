from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.errors import EmbedderMismatch, EmbedderUnavailable, InputError, MetadataError, RoleMissing
from core.home import Workbench
from core.ingest.report import IngestReport
from core.models.hash_embedder import HashEmbedder
from core.types import Labels
from tests.support.homes import GUEST, OWNER, files, opened

REFUNDS = "# Refunds\n\nA refund takes three days.\n"


@pytest.fixture
def wb(home: Path) -> Workbench:
    return opened(home)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "files"


def outcomes(report: IngestReport) -> dict[str, str]:
    return {Path(file.path).name: file.outcome for file in report.files}


def ingest(
    wb: Workbench, folder: Path, contents: Mapping[str, str | bytes] | None = None, **given: Any
) -> IngestReport:
    return wb.ingest([files(folder, contents or {})], "c", OWNER, **given)


def shown(wb: Workbench, query: str = "refund") -> list[str]:
    return [passage.path for passage in wb.search(query, collections=["c"], principal=GUEST).passages]


def embedder(wb: Workbench) -> HashEmbedder:
    inner = wb.library.embedder_of(wb.library.collection("c"))._embedder
    assert isinstance(inner, HashEmbedder)
    return inner


def test_what_becomes_of_each_file(wb: Workbench, folder: Path) -> None:
    assert outcomes(ingest(wb, folder, {"a.md": REFUNDS, "b.md": "# B\n\nrefund b\n"})) == {
        "a.md": "added",
        "b.md": "added",
    }
    labels = "---\nclassification: internal\nacl_allow: [staff]\n---\n"
    report = ingest(
        wb, folder, {"a.md": REFUNDS.replace("three", "nine"), "b.md": f"{labels}# B\n\nrefund b\n", "c.txt": "new"}
    )
    assert outcomes(report) == {"a.md": "updated", "b.md": "relabelled", "c.txt": "added"}
    assert report.index_version == wb.library.head("c") == 5
    assert [report.count(outcome) for outcome in ("added", "updated", "relabelled", "unchanged", "refused")] == [
        1,
        1,
        1,
        0,
        0,
    ]
    assert sorted(shown(wb)) == ["a.md", "c.txt"]


def test_what_has_not_changed_costs_nothing(wb: Workbench, folder: Path) -> None:
    contents = {"a.md": REFUNDS, "b.md": "refund b", "wordless.txt": "--- !!! ---", "emoji.md": "# 🙂\n\n🙂\n"}
    ingest(wb, folder, contents)
    head, calls = wb.library.head("c"), embedder(wb).calls
    for again in (wb, Workbench.open(wb.home)):
        report = again.ingest([folder], "c", OWNER)
        assert set(outcomes(report).values()) == {"unchanged"}
        assert [file.chunks for file in report.files] == [file.chunks for file in report.files if file.chunks > 0]
        assert (again.library.head("c"), report.index_version) == (head, head)
    assert embedder(wb).calls == calls


def test_new_labels_embed_nothing_and_write_no_chunk(wb: Workbench, folder: Path) -> None:
    ingest(wb, folder, {"a.md": REFUNDS})
    calls, chunks = embedder(wb).calls, wb.library.store("c").since(0).chunks_seq
    report = ingest(wb, folder, {"a.md": f"---\nowner: ann\nquality: 70\n---\n{REFUNDS}"})
    assert outcomes(report) == {"a.md": "relabelled"}
    assert embedder(wb).calls == calls
    assert wb.library.store("c").since(0).chunks_seq == chunks
    assert [row.document.owner for row in wb.documents("c", GUEST)] == ["ann"]


def test_a_place_that_has_changed_is_written(wb: Workbench, folder: Path) -> None:
    """The same text under another heading: its anchors and sections are new."""
    page = "<html><body><h1>Guide</h1><{0}>Part</{0}><p>A refund takes three days.</p></body></html>"
    ingest(wb, folder, {"a.html": page.format("h2")})
    before = wb.document("c", "a.html", GUEST)
    report = ingest(wb, folder, {"a.html": page.format("p")})
    after = wb.document("c", "a.html", GUEST)
    assert before.text == after.text
    assert [chunk.provenance for chunk in before.chunks] != [chunk.provenance for chunk in after.chunks]
    assert outcomes(report) == {"a.html": "updated"}


def test_a_file_that_is_refused_leaves_the_others(wb: Workbench, folder: Path) -> None:
    contents: dict[str, str | bytes] = {
        "a.md": REFUNDS,
        "b.bin": b"\0\1\2",
        "c.md": "---\nclassification: cosmic\n---\nx\n",
        "d.md": "---\nacl_allw: [staff]\n---\nx\n",
        "e.md": "refund e",
    }
    report = ingest(wb, folder, contents)
    assert outcomes(report) == {
        "a.md": "added",
        "b.bin": "refused",
        "c.md": "refused",
        "d.md": "refused",
        "e.md": "added",
    }
    assert all(file.reason and "\n" not in file.reason for file in report.refused)
    assert sorted(shown(wb)) == ["a.md", "e.md"]
    kept = ingest(wb, folder, {"e.md": "---\nstatus: gone\n---\nrefund e"})
    assert outcomes(kept)["e.md"] == "refused" and sorted(shown(wb)) == ["a.md", "e.md"], "the old state stays"


def test_a_refused_file_under_a_name_without_letters(wb: Workbench, tmp_path: Path) -> None:
    folder = tmp_path / "bytes-\udcff"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes only names in Unicode")
    report = wb.ingest([files(folder, {"a.md": "refund", "b.bin": b"\0\1"})], "c", OWNER)
    assert outcomes(report) == {"a.md": "added", "b.bin": "refused"}


def test_who_is_hidden_is_counted_when_all_are_in(home: Path, folder: Path) -> None:
    wb = opened(home, defaults=None)
    contents = {
        "a.md": "---\ninherits_from: z.md\n---\nchild",
        "bare.md": "refund",
        "orphan.md": "---\ninherits_from: nowhere.md\n---\nx",
        "z.md": "---\nclassification: public\nacl_allow: ['*']\n---\nparent",
    }
    report = wb.ingest([files(folder, contents)], "c", OWNER)
    assert [file.path for file in report.hidden] == ["bare.md", "orphan.md"]
    assert [row.document.path for row in wb.documents("c", GUEST)] == ["a.md", "z.md"]
    wb.set_defaults("c", OWNER, Labels("public", ("*",)))
    assert [file.path for file in wb.ingest([folder], "c", OWNER).hidden] == ["orphan.md"]


def revision(number: int, revised_at: str | None) -> str:
    dated = f"revised_at: {revised_at}\n" if revised_at else ""
    return f"---\nknowledge_id: K\nrevision: '{number}'\n{dated}---\nrefund revision {number}\n"


def test_revisions_need_their_dates(wb: Workbench, folder: Path) -> None:
    assert outcomes(ingest(wb, folder, {"1.md": revision(1, None)})) == {"1.md": "added"}
    report = ingest(wb, folder, {"2.md": revision(2, "2026-01-02")})
    assert outcomes(report) == {"1.md": "unchanged", "2.md": "refused"}
    assert "revised_at" in report.refused[0].reason and "'K'" in report.refused[0].reason
    report = ingest(wb, folder, {"1.md": revision(1, "2026-01-01")})
    assert outcomes(report) == {"1.md": "relabelled", "2.md": "added"}
    assert shown(wb) == ["2.md"], "the newer one is in force"
    assert outcomes(ingest(wb, folder, {"3.md": revision(3, None)}))["3.md"] == "refused"
    assert outcomes(ingest(wb, folder, {"2.md": revision(2, None)}))["2.md"] == "refused"
    wb.remove_documents("c", ["1.md"], OWNER)
    (folder / "1.md").unlink()
    (folder / "3.md").unlink()
    assert outcomes(ingest(wb, folder)) == {"2.md": "relabelled"}, "alone it needs none"


def test_metadata_from_table_sidecar_and_front_matter(wb: Workbench, folder: Path, tmp_path: Path) -> None:
    front = "---\ntitle: front\nowner: front\nquality: 10\nlanguage: fr\n---\nrefund\n"
    files(folder, {"a.md": front, "a.md.meta.yaml": "owner: side\nquality: 20\nrevision: side\n"})
    table = tmp_path / "table.csv"
    table.write_text("path,quality,revision\na.md,30,table\n")
    assert outcomes(ingest(wb, folder, metadata=table)) == {"a.md": "added"}
    document = wb.documents("c", GUEST)[0].document
    stated = (document.quality, document.revision, document.owner, document.title, document.language)
    assert stated == (30, "table", "side", "front", "fr")
    (folder / "a.md.meta.yaml").write_text("owner: [1]\n")
    assert outcomes(ingest(wb, folder)) == {"a.md": "refused"}


def table(folder: Path, content: str) -> Path:
    path = folder.parent / "table.jsonl"
    path.write_text(content + "\n")
    return path


def test_what_a_table_said_holds_until_a_table_says_otherwise(wb: Workbench, folder: Path) -> None:
    restricted = table(folder, '{"path": "a.md", "classification": "restricted", "acl_allow": ["hr"], "quality": 30}')
    ingest(wb, folder, {"a.md": REFUNDS}, metadata=restricted)
    assert shown(wb) == []
    again = ingest(wb, folder)
    assert outcomes(again) == {"a.md": "unchanged"}
    assert [file.path for file in again.remembered] == ["a.md"]
    assert again.files[0].remembered == ("classification", "acl_allow", "quality")
    assert outcomes(ingest(wb, folder, {"a.md": REFUNDS + "More.\n"})) == {"a.md": "updated"}
    assert shown(wb) == []
    other = ingest(wb, folder, {"b.md": "refund"}, metadata=table(folder, '{"path": "b.md", "quality": 5}'))
    assert outcomes(other) == {"a.md": "unchanged", "b.md": "added"}
    back = ingest(wb, folder, metadata=table(folder, '{"path": "a.md"}'))
    assert outcomes(back) == {"a.md": "relabelled", "b.md": "unchanged"}
    said = "its labels change: classification restricted → not stated; acl_allow hr → not stated"
    assert (back.files[0].remembered, back.files[0].warnings) == ((), (said,))
    assert sorted(shown(wb)) == ["a.md", "b.md"]


def test_a_file_alone_keeps_what_its_sidecar_said(wb: Workbench, folder: Path, tmp_path: Path) -> None:
    ingest(wb, folder, {"a.md": REFUNDS, "a.md.meta.yaml": "classification: restricted\nacl_allow: [hr]\n"})
    alone = files(tmp_path / "alone", {"a.md": REFUNDS + "Changed.\n"})
    report = wb.ingest([alone], "c", OWNER)
    assert (outcomes(report), report.files[0].remembered) == ({"a.md": "updated"}, ("classification", "acl_allow"))
    assert shown(wb) == []
    files(alone, {"a.md.meta.yaml": "{}\n"})
    assert outcomes(wb.ingest([alone], "c", OWNER)) == {"a.md": "relabelled"}
    assert shown(wb) == ["a.md"]


def test_a_document_that_is_no_longer_there_is_not_remembered(wb: Workbench, folder: Path) -> None:
    ingest(wb, folder, {"a.md": REFUNDS}, metadata=table(folder, '{"path": "a.md", "quality": 30}'))
    wb.remove_documents("c", ["a.md"], OWNER)
    assert ingest(wb, folder).files[0].remembered == ()
    assert wb.documents("c", GUEST)[0].document.quality is None


def test_a_change_of_labels_is_told(wb: Workbench, folder: Path) -> None:
    ingest(wb, folder, {"a.md": f"---\nclassification: restricted\nacl_allow: [hr]\n---\n{REFUNDS}"})
    report = ingest(wb, folder, {"a.md": f"---\nclassification: public\nacl_allow: [hr, '*']\n---\n{REFUNDS}"})
    assert report.files[0].warnings == ("its labels change: classification restricted → public; acl_allow hr → *, hr",)


@pytest.mark.parametrize(
    "table",
    [
        {"absent.md": {"quality": 5}},
        {"a.md": {"classification": "cosmic"}},
        {"a.md": {"qualty": 5}},
        {"a.md": {"acl_allow": []}},
        [{"quality": 5}],
        5,
    ],
)
def test_a_metadata_table_that_is_wrong_anywhere_lets_nothing_in(
    wb: Workbench, folder: Path, tmp_path: Path, table: object
) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(table))
    with pytest.raises(MetadataError) as raised:
        ingest(wb, folder, {"a.md": REFUNDS, "b.md": "x"}, metadata=path)
    assert str(path) in raised.value.message
    assert wb.library.head("c") == 0


def test_defaults_of_what_nobody_states(wb: Workbench, folder: Path) -> None:
    ingest(wb, folder, {"sub/plain.txt": "refund"})
    document = wb.documents("c", GUEST)[0].document
    assert (document.path, document.title, document.knowledge_id) == ("sub/plain.txt", "plain", document.document_id)
    assert document.revision == document.source_hash[:12]
    assert (document.status, document.labels) == ("active", Labels())


def test_two_files_of_one_name(wb: Workbench, tmp_path: Path) -> None:
    for name in ("one", "two"):
        files(tmp_path / name, {"a.md": name})
    with pytest.raises(InputError, match=r"a\.md"):
        wb.ingest([tmp_path / "one", tmp_path / "two"], "c", OWNER)
    assert wb.library.head("c") == 0


def test_progress_is_told_before_each_file(wb: Workbench, folder: Path) -> None:
    told: list[str] = []
    wb.ingest([files(folder, {"b.md": "x", "a.md": "y"})], "c", OWNER, progress=told.append)
    assert told == ["a.md", "b.md"]


def test_who_may_not_write(wb: Workbench, folder: Path) -> None:
    with pytest.raises(RoleMissing):
        wb.ingest([files(folder, {"a.md": "x"})], "c", GUEST)
    assert wb.library.head("c") == 0


def test_an_embedder_that_has_changed_is_refused_before_anything(wb: Workbench, folder: Path) -> None:
    from core.store.registry import update_collection

    update_collection(wb.home, wb.library.collection("c"), fingerprint="of another")
    with pytest.raises(EmbedderMismatch, match="of another") as raised:
        ingest(wb, folder, {"a.md": "x"})
    assert "rebuild" in raised.value.remedy


def test_a_removed_document_comes_back(wb: Workbench, folder: Path) -> None:
    ingest(wb, folder, {"a.md": REFUNDS})
    assert wb.remove_documents("c", ["a.md"], OWNER) == ["a.md"]
    assert shown(wb) == []
    assert outcomes(ingest(wb, folder)) == {"a.md": "added"}
    assert shown(wb) == ["a.md"]


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_labels_that_would_only_be_shown_are_refused(wb: Workbench, folder: Path, name: str) -> None:
    secret = '+++\nclassification = "restricted"\n+++\nThe secret refund.\n'
    report = ingest(wb, folder, {name: secret, "b.txt": "An open refund.\n"})
    assert outcomes(report) == {name: "refused", "b.txt": "added"}
    assert "classification" in report.refused[0].reason
    assert shown(wb) == ["b.txt"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "classification: restricted\nThe refund.\n"),
        ("a.txt", "title: x\r\nacl_allow: hr\r\nThe refund.\r\n"),
        ("a.txt", "classification: restricted\nThe refund.\n".encode("utf-16")),
        ("a.html", "---\nclassification: restricted\n---\n<p>The refund.</p>"),
        ("a.html", "classification: restricted\n<p>The refund.</p>"),
        ("a.md", "owner: ann\nacl_deny: guest\n\nThe refund.\n"),
    ],
)
def test_labels_without_lines_around_them_are_refused(
    wb: Workbench, folder: Path, name: str, content: str | bytes
) -> None:
    report = ingest(wb, folder, {name: content, "b.txt": "An open refund.\n"})
    assert outcomes(report) == {name: "refused", "b.txt": "added"}
    assert shown(wb) == ["b.txt"]


def test_what_a_text_calls_itself_is_no_label(wb: Workbench, folder: Path) -> None:
    report = ingest(wb, folder, {"a.txt": "Refunds\n\nClassification: Confidential\n\nThe refund.\n"})
    assert report.files[0].warnings == ("its text calls it confidential, which is no label; state labels in a sidecar",)
    stated = ingest(wb, folder, {"a.txt.meta.yaml": "classification: public\n"})
    assert all("no label" not in warning for warning in stated.files[0].warnings)


def test_a_sidecar_that_nobody_reads_keeps_its_document_out(wb: Workbench, folder: Path) -> None:
    restricted = "classification: restricted\nacl_allow: [hr]\n"
    report = ingest(wb, folder, {"plan.html": "<p>The refund.</p>", "plan.htm.meta.yaml": restricted, "b.md": "refund"})
    assert outcomes(report) == {"plan.html": "refused", "plan.htm.meta.yaml": "refused", "b.md": "added"}
    assert shown(wb) == ["b.md"]
    (folder / "plan.htm.meta.yaml").rename(folder / "plan.html.meta.yaml")
    assert outcomes(ingest(wb, folder)) == {"plan.html": "added", "b.md": "unchanged"}
    assert shown(wb) == ["b.md"]


LONG = {
    f"d{number:02}.md": f"# Part {number}\n\n" + " ".join(f"Sentence {at} says number{number}." for at in range(400))
    for number in range(12)
}
"""More to embed than an ingestion embeds at once."""


class Stopping(HashEmbedder):
    """Fails after so many calls."""

    left = 10**9

    def embed_passages(self, texts: Sequence[str]) -> Any:
        if self.left <= 0:
            raise EmbedderUnavailable("out of memory", "add some")
        self.left -= 1
        return super().embed_passages(texts)


@pytest.fixture
def stopping(wb: Workbench) -> Stopping:
    held = wb.library.embedder_of(wb.library.collection("c"))
    held._embedder = Stopping(64)
    return held._embedder


def waiting(wb: Workbench) -> dict[str, int]:
    return {row.document.path: row.waiting for row in wb.documents("c", OWNER) if row.waiting}


def test_words_are_found_before_the_vectors_are_there(wb: Workbench, folder: Path, stopping: Stopping) -> None:
    told: list[tuple[int, int]] = []
    seen_at_first: list[int] = []

    def embedding(done: int, total: int) -> None:
        told.append((done, total))
        seen_at_first.append(len(wb.documents("c", OWNER)))

    report = ingest(wb, folder, LONG, embedding=embedding)
    assert report.count("added") == len(LONG)
    assert told and told == [(number, len(told)) for number in range(1, len(told) + 1)]
    assert len(told) < len(LONG), "the first ones were embedded at once"
    assert seen_at_first[0] == len(LONG)
    assert waiting(wb) == {}
    assert wb.library.store("c").since(0).chunks["vector"].null_count == 0


def test_an_ingestion_that_ends_before_its_vectors_is_completed_by_the_next(
    wb: Workbench, folder: Path, stopping: Stopping
) -> None:
    stopping.left = 7
    with pytest.raises(EmbedderUnavailable):
        ingest(wb, folder, LONG)
    assert len(wb.documents("c", OWNER)) == len(LONG)
    late = waiting(wb)
    assert late and "d00.md" not in late
    last = max(late)
    assert last in shown(wb, f"number{int(last[1:3])}")
    stopping.left = 10**9
    report = ingest(wb, folder)
    assert {
        Path(file.path).name: file.outcome for file in report.files if file.outcome != "unchanged"
    } == dict.fromkeys(late, "updated")
    assert waiting(wb) == {}


def test_vectors_are_not_put_to_another_text(wb: Workbench, folder: Path, stopping: Stopping) -> None:
    def embedding(done: int, total: int) -> None:
        if done == 1:
            ingest(wb, folder.parent / "newer", {"d11.md": "# Part 11\n\nrefund anew\n"})

    ingest(wb, folder, LONG, embedding=embedding)
    assert wb.document("c", "d11.md", OWNER).text == "# Part 11\n\nrefund anew"
    assert waiting(wb) == {}
