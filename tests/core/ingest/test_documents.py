"""Facts that must come out of public documents, as their manifest states them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import UnreadableFile
from core.ingest.chunk import chunk_document
from core.ingest.parse import parse_file
from core.ingest.read import read_file
from core.ports import ParsedDocument
from core.settings import Chunking, Limits

Check = Callable[[ParsedDocument], ParsedDocument]


@pytest.fixture(scope="module")
def entries(shared_data: Path) -> list[dict[str, Any]]:
    lines = (shared_data / "documents" / "manifest.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def read(shared_data: Path, name: str) -> ParsedDocument:
    folder = shared_data / "documents"
    return parse_file(read_file(folder / name, folder, Limits()))


def is_read(entry: dict[str, Any]) -> bool:
    return "expect" not in entry and "no-text" not in entry["traits"]


def test_facts_and_rows(shared_data: Path, entries: list[dict[str, Any]], checked: Check) -> None:
    seen = 0
    for entry in filter(is_read, entries):
        parsed = checked(read(shared_data, entry["file"]))
        lines = parsed.text.split("\n")
        assert [fact for fact in entry.get("facts", ()) if fact not in parsed.text] == []
        assert [text for text in entry.get("hidden", ()) if text in parsed.text] == []
        if "row" in entry:
            row = " | ".join(entry["row"])
            assert any(line == row or line.startswith(f"{row} | ") for line in lines)
        for fact, page in zip(entry.get("facts", ()), entry.get("fact_pages", ()), strict=False):
            at = parsed.text.index(fact)
            (block,) = (block for block in parsed.blocks if block.start <= at < block.end)
            assert str(page) in block.provenance["pages"]
        expected = ("read as ", "left out ", "page ") if entry["file"].endswith(".pdf") else ("read as ",)
        assert [warning for warning in parsed.warnings if not warning.startswith(expected)] == []
        seen += 1
    assert seen == 18


def test_every_fact_is_whole_in_a_chunk(shared_data: Path, entries: list[dict[str, Any]]) -> None:
    for entry in filter(is_read, entries):
        chunks = chunk_document("d", read(shared_data, entry["file"]), Chunking())
        for fact in entry.get("facts", ()):
            assert any(fact in chunk.indexed_text for chunk in chunks), fact


def test_what_cannot_be_read_is_refused(shared_data: Path, entries: list[dict[str, Any]]) -> None:
    refused = [entry for entry in entries if not is_read(entry)]
    assert len(refused) == 4
    for entry in refused:
        with pytest.raises(UnreadableFile):
            read(shared_data, entry["file"])


def test_translations_have_the_same_structure(shared_data: Path) -> None:
    english, chinese = (read(shared_data, f"ch02.{language}.html") for language in ("en", "zh-cn"))
    kinds = [[block.kind for block in parsed.blocks] for parsed in (english, chinese)]
    assert kinds[0] == kinds[1] and kinds[0].count("row") > 250
    anchors = [[b.section_anchor for b in parsed.blocks if b.kind == "heading"] for parsed in (english, chinese)]
    assert anchors[0] == anchors[1] and len(anchors[0]) > 50
    assert anchors[0][1] == "_debian_package_management/_debian_package_management_prerequisites"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_markdown_tables_and_headings_are_all_found(shared_data: Path, language: str) -> None:
    parsed = read(shared_data, f"mineru-output_files.{language}.md")
    kinds = [block.kind for block in parsed.blocks]
    assert kinds.count("table") >= 8 and 40 <= kinds.count("heading") <= 42
