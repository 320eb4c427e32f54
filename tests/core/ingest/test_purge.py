from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import IntegrityFailure, RoleMissing, UnknownDocument
from core.home import Workbench
from core.store.registry import collection_folder
from tests.support.homes import GUEST, OWNER, files, opened

SECRET = "Zanzibarquux"
CHINESE = "紫檀木琵琶紋樣"
CONTENTS = {
    "secret.md": f"# Plan\n\nThe {SECRET} project starts in May.\n\n{CHINESE}，只有我們知道。\n",
    "open.md": "# Guide\n\nAsk for a refund. It takes three days.\n",
    "twin.md": "# Plan\n\nThe project starts in May.\n",
}


@pytest.fixture
def wb(home: Path, tmp_path: Path) -> Workbench:
    made = opened(home)
    made.ingest([files(tmp_path / "files", CONTENTS)], "c", OWNER)
    return made


def holding(home: Path, word: str) -> Iterator[str]:
    """Files under the home, the audit log apart, that hold a word in any usual encoding."""
    forms = [word.encode(code) for code in ("utf-8", "utf-16-le", "utf-32-le")] + [word.lower().encode()]
    for path in home.rglob("*"):
        if path.is_file() and "audit" not in path.relative_to(home).parts:
            data = path.read_bytes()
            if any(form in data for form in forms):
                yield str(path.relative_to(home))


def stored_texts(wb: Workbench) -> str:
    """Everything that the tables of the collection say, in any version that is left of them, however it is encoded."""
    import lancedb

    said = []
    for database in collection_folder(wb.home, "c").rglob("db"):
        connection = lancedb.connect(database)
        for name in connection.list_tables().tables:
            table = connection.open_table(name)
            for version in table.list_versions():
                table.checkout(version["version"])
                said.append(str(table.to_arrow().to_pydict()))
    return "".join(said)


def test_no_file_has_a_purged_word(wb: Workbench) -> None:
    assert any(holding(wb.home, SECRET.lower())) or SECRET in stored_texts(wb), "it was there"
    before = wb.search("refund", collections=["c"], principal=GUEST).passages
    report = wb.purge_documents("c", ["secret.md"], OWNER)
    assert report.paths == ("secret.md",) and report.words >= 2 and report.files > 3
    for word in (SECRET, CHINESE):
        assert not list(holding(wb.home, word)) and word not in stored_texts(wb)
    assert [row.document.path for row in wb.documents("c", OWNER)] == ["open.md", "twin.md"]
    after = wb.search("refund", collections=["c"], principal=GUEST).passages
    assert [(p.text, p.chunk_refs) for p in after] == [(p.text, p.chunk_refs) for p in before if p.path != "secret.md"]
    assert not wb.search(SECRET, collections=["c"], principal=GUEST).passages or all(
        SECRET not in p.text for p in wb.search(SECRET, collections=["c"], principal=GUEST).passages
    )


def test_what_was_removed_or_updated_before_goes_as_well(wb: Workbench, tmp_path: Path) -> None:
    wb.remove_documents("c", ["secret.md"], OWNER)
    wb.ingest([files(tmp_path / "more", {"open.md": "# Guide\n\nQuolltext was here.\n"})], "c", OWNER)
    wb.ingest([files(tmp_path / "more", {"open.md": "# Guide\n\nNothing more.\n"})], "c", OWNER)
    assert SECRET in stored_texts(wb) and "Quolltext" in stored_texts(wb)
    assert wb.purge_documents("c", [], OWNER).paths == ()
    said = stored_texts(wb)
    assert SECRET not in said and "Quolltext" not in said and "Nothing more" in said


def test_vectors_of_shared_texts_stay(wb: Workbench, tmp_path: Path) -> None:
    wb.ingest([files(tmp_path / "two", {"copy.md": CONTENTS["secret.md"]})], "c", OWNER)
    held = wb.library._vectors.counts()["passages"]
    report = wb.purge_documents("c", ["copy.md"], OWNER)
    assert report.words == 0, "the other has all of its words"
    assert wb.library._vectors.counts()["passages"] == held
    wb.purge_documents("c", ["secret.md"], OWNER)
    assert wb.library._vectors.counts()["passages"] < held


def test_other_processes_go_on(wb: Workbench) -> None:
    other = Workbench.open(wb.home)
    assert {p.path for p in other.search("refund", collections=["c"], principal=GUEST).passages} >= {"open.md"}
    wb.purge_documents("c", ["secret.md"], OWNER)
    assert {p.path for p in other.search("refund", collections=["c"], principal=GUEST).passages} >= {"open.md"}
    assert not any(SECRET in p.text for p in other.search(SECRET, collections=["c"], principal=GUEST).passages)
    wb.ingest([files(wb.home.parent / "again", {"new.md": "refund anew"})], "c", OWNER)
    assert any(p.path == "new.md" for p in other.search("refund", collections=["c"], principal=GUEST).passages)


def test_a_word_that_is_left_elsewhere_is_told(wb: Workbench) -> None:
    (wb.home / "notes.txt").write_text(f"about {SECRET}", "utf-8")
    with pytest.raises(IntegrityFailure, match=r"notes\.txt"):
        wb.purge_documents("c", ["secret.md"], OWNER)


def test_an_unknown_name_purges_nothing(wb: Workbench) -> None:
    with pytest.raises(UnknownDocument):
        wb.purge_documents("c", ["secret.md", "absent.md"], OWNER)
    assert len(wb.documents("c", OWNER)) == 3


def test_only_owners_purge(wb: Workbench) -> None:
    with pytest.raises(RoleMissing):
        wb.purge_documents("c", ["secret.md"], GUEST)
