"""docs/metadata.md against the code: it names the keys that are accepted, and all its examples say the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from core.access import DEPTH_MAX, LEVELS
from core.ingest.metadata import KEYS, DocumentMetadata, read_front_matter
from core.ingest.metadata_files import read_sidecar, read_table
from core.ingest.parsers.markdown import MarkdownParser
from core.types import Status
from tests.support import ROOT

PAGE = (ROOT / "docs" / "metadata.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
ROWS = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)


def example(place: int, folder: Path) -> DocumentMetadata:
    """What the example says, read as `ingest` reads it."""
    kind, content = BLOCKS[place]
    if kind == "markdown":
        parsed = MarkdownParser().parse(Path("refunds.md"), content.encode())
        metadata, warnings = read_front_matter(parsed.metadata, "refunds.md")
        assert warnings == ()
        return metadata
    if place in (1, 2):
        (folder / f"refunds.html.meta.{kind}").write_text(content, "utf-8")
        sidecar = read_sidecar(folder / "refunds.html")
        assert sidecar is not None
        return sidecar
    table = folder / f"labels.{kind}"
    table.write_text(content, "utf-8")
    return read_table(table)["refunds.html"]


def test_the_keys_are_those_that_are_accepted() -> None:
    assert [row[0] for row in ROWS] == list(KEYS)
    types = {key: kind for key, kind, _, _ in ROWS}
    assert re.findall(r"`(\w+)`", types["classification"]) == list(LEVELS)
    assert re.findall(r"`(\w+)`", types["status"]) == list(get_args(Status))
    assert f"more than {DEPTH_MAX} steps" in PAGE


def test_there_is_an_example_for_every_place() -> None:
    assert [kind for kind, _ in BLOCKS] == ["markdown", "yaml", "json", "csv", "jsonl", "yaml"]


@pytest.mark.parametrize("place", range(len(BLOCKS)))
def test_every_example_states_every_key_and_says_the_same(place: int, tmp_path: Path) -> None:
    read = example(place, tmp_path)
    assert [key for key in KEYS if getattr(read, key) is None] == []
    assert read == example(0, tmp_path)


def test_the_front_page_leads_here() -> None:
    assert "(docs/metadata.md)" in (ROOT / "README.md").read_text("utf-8")
