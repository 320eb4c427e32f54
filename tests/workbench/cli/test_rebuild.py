from __future__ import annotations

from pathlib import Path
from typing import Any


def test_a_rebuilt_collection_gives_the_same(cli: Any, people: Path, files: Path) -> None:
    assert cli("ingest", files, "--collection", "kb").code == 0

    def ranking() -> list[tuple[str, float]]:
        found = cli("search", "refund to a credit card", "--collection", "kb", "--as", "ann", "--json").json
        return [(passage["path"], passage["score"]) for passage in found["passages"]]

    before = ranking()
    assert before
    assert cli("rebuild", "--collection", "kb", "--as", "guest").code == 4
    ran = cli("rebuild", "--collection", "kb")
    assert (ran.code, "'kb'" in ran.out) == (0, True)
    assert ranking() == before
    ran = cli("rebuild", "--collection", "kb", "--json")
    assert set(ran.json) == {"collection", "documents", "chunks", "embedder", "index_version"}
    assert (ran.json["documents"], ran.json["embedder"]) == (3, "hash:64")
    assert cli("rebuild", "--collection", "none").code == 2
