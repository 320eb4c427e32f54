"""Facts, rows and refusals that the manifest of public documents states for its PDF files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import UnreadableFile
from core.ingest.chunk import chunk_document
from core.ingest.parsers.pdf import PdfParser
from core.ports import ParsedDocument
from core.settings import Chunking

Check = Callable[[ParsedDocument], ParsedDocument]


@pytest.fixture(scope="module")
def entries(shared_data: Path) -> dict[str, dict[str, Any]]:
    lines = (shared_data / "documents" / "manifest.jsonl").read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return {entry["file"]: entry for entry in found if entry["file"].endswith(".pdf")}


@pytest.fixture(scope="module")
def documents(shared_data: Path, entries: dict[str, dict[str, Any]]) -> dict[str, ParsedDocument | UnreadableFile]:
    """What came of each file."""
    found: dict[str, ParsedDocument | UnreadableFile] = {}
    for name in entries:
        path = shared_data / "documents" / name
        try:
            found[name] = PdfParser().parse(path, path.read_bytes())
        except UnreadableFile as error:
            found[name] = error
    return found


Documents = dict[str, ParsedDocument | UnreadableFile]


def parsed(documents: Documents, name: str) -> ParsedDocument:
    found = documents[name]
    assert isinstance(found, ParsedDocument), found
    return found


def test_what_is_stated(entries: dict[str, dict[str, Any]], documents: Documents, checked: Check) -> None:
    seen = 0
    for name, entry in entries.items():
        found = documents[name]
        if "expect" in entry or "ocr" in entry:
            continue
        assert isinstance(found, ParsedDocument), (name, found)
        text = checked(found).text
        assert [fact for fact in entry["facts"] if fact not in text] == [], name
        assert [secret for secret in entry.get("hidden", ()) if secret in text] == [], name
        if "row" in entry:
            assert any(line.startswith(" | ".join(entry["row"])) for line in text.split("\n")), name
        seen += 1
    assert seen == 5


def test_what_is_refused(entries: dict[str, dict[str, Any]], documents: Documents) -> None:
    reasons = {
        "empty.pdf": "empty",
        "libreoffice-writer-password.pdf": "protected by a password",
        "multicolumn.truncated.pdf": "damaged",
        "ocr_test.pdf": "look like scans",
    }
    for name, reason in reasons.items():
        found = documents[name]
        assert isinstance(found, UnreadableFile) and reason in found.reason and found.remedy, name
    assert set(reasons) == {name for name, entry in entries.items() if "expect" in entry or "ocr" in entry}


def test_long_chinese_manual(entries: dict[str, dict[str, Any]], documents: Documents) -> None:
    name = "debian-reference.zh-cn.pdf"
    manual = parsed(documents, name)
    fact = entries[name]["facts"][0]
    places = [block for block in manual.blocks if fact in manual.text[block.start : block.end]]
    # The thirtieth page of the file bears the number 2.
    assert [block.provenance["pages"] for block in places] == [("30",)]
    assert places[0].provenance["section"] == ("Chapter 1 GNU/Linux 教程 > 1.1 控制台基础 > 1.1.3 root 账户",)
    assert manual.title == "Debian 参考手册"
    headings = [block for block in manual.blocks if block.kind == "heading"]
    assert len(headings) >= 452 and {1, 2, 3} <= {block.level for block in headings} <= {1, 2, 3, 4}
    tables = [block for block in manual.blocks if block.kind == "table"]
    assert 150 <= len(tables) <= 200
    assert "\nvim | V:97, I:390 | 3570 | Unix 文本编辑器 Vi 的改进版，一个程序员的文本编辑器（标准版）\n" in manual.text
    assert "Debian 参考手册 2 / 223" not in manual.text
    assert "left out 249 repeated page headers and footers" in manual.warnings


def test_every_fact_is_whole_in_a_chunk(entries: dict[str, dict[str, Any]], documents: Documents) -> None:
    for name, found in documents.items():
        if isinstance(found, ParsedDocument):
            chunks = chunk_document("d", found, Chunking())
            for fact in entries[name]["facts"]:
                assert any(fact in chunk.indexed_text for chunk in chunks), fact


def test_every_row_of_the_wide_table(documents: Documents) -> None:
    rows = [line.split(" | ") for line in parsed(documents, "nics-background-checks-2015-11.pdf").text.split("\n")]
    states = [row for row in rows if len(row) == 25 and row[-1][:1].isdigit()]
    assert len(states) == 55
    assert states[0][0] == "Alabama" and states[0][15:19] == ["0", "", "", "13"] and states[0][-1] == "71,137"


def test_empty_cells_stay_in_place(documents: Documents) -> None:
    text = parsed(documents, "SPARSE-2024-INV-1234_borderless_table.pdf").text
    assert "\nSKU-9201 |  | 780 | 778 |  | OK\n" in text and "\n |  | 180 |  | -24\n" in text


def test_columns_in_order(documents: Documents) -> None:
    text = parsed(documents, "multicolumn.pdf").text
    order = ["This is a sample document", "Praesent eget sem vel leo ultrices", "Proin fermentum massa", "Nam feugiat"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
