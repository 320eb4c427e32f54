from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from core.errors import InputError, IntegrityFailure, StoreFailure, UnknownDocument
from core.store.sources import SourceFiles
from tests.support.homes import GUEST, OWNER, files, opened

DATA = b"\xff\x00 as it came \r\n"
NAME = hashlib.sha256(DATA).hexdigest()


def test_a_file_comes_back_as_it_came(tmp_path: Path) -> None:
    sources = SourceFiles(tmp_path / "sources")
    for _ in range(2):
        sources.put(NAME, DATA)
    assert sources.read(NAME) == DATA
    assert [path.name for path in (tmp_path / "sources").iterdir()] == [NAME]


def test_what_is_not_there_or_was_altered_is_told(tmp_path: Path) -> None:
    sources = SourceFiles(tmp_path / "sources")
    with pytest.raises(InputError, match="not kept"):
        sources.read(NAME)
    sources.put(NAME, DATA)
    (tmp_path / "sources" / NAME).write_bytes(DATA[1:])
    with pytest.raises(IntegrityFailure):
        sources.read(NAME)


def test_sweeping_leaves_what_is_named(tmp_path: Path) -> None:
    sources = SourceFiles(tmp_path / "sources")
    assert sources.sweep(()) == 0
    sources.put(NAME, DATA)
    sources.put("0" * 64, b"other")
    assert sources.sweep({NAME}) == 1
    assert sources.read(NAME) == DATA


def test_a_folder_that_cannot_be_made_is_a_failure_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "sources").write_bytes(b"")
    with pytest.raises(StoreFailure):
        SourceFiles(tmp_path / "sources").put(NAME, DATA)


def test_ingested_files_are_kept_for_those_who_may_see_them(home: Path, tmp_path: Path) -> None:
    wb = opened(home)
    content = b"---\nclassification: internal\nacl_allow: [staff]\n---\n# Plan\r\n"
    wb.ingest([files(tmp_path / "files", {"plan.md": content})], "c", OWNER)
    document, data = wb.source("c", "plan.md", OWNER)
    assert (document.path, data) == ("plan.md", content)
    with pytest.raises(UnknownDocument):
        wb.source("c", "plan.md", GUEST)
    wb.purge_documents("c", ["plan.md"], OWNER)
    assert list(home.rglob(document.source_hash)) == []


def test_files_are_not_kept_where_settings_say_so(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_STORE__KEEP_SOURCES", "false")
    wb = opened(home)
    wb.ingest([files(tmp_path / "files", {"plan.md": b"# Plan\n"})], "c", OWNER)
    with pytest.raises(InputError, match="not kept"):
        wb.source("c", "plan.md", OWNER)
