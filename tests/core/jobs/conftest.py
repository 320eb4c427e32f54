"""Homes with a collection, files to ingest, and workers that do not outlive their test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.audit import MemoryAudit
from core.home import Workbench
from core.jobs.store import Jobs
from core.settings import load
from core.types import Labels
from tests.core.jobs.processes import end_worker

PRINCIPALS = """
[ann]
groups = ["staff"]
roles = {c = ["owner"]}

[bo]
roles = {"*" = ["owner"]}

[guest]
"""


@pytest.fixture
def workbench(home: Path) -> Workbench:
    """A home with the collection `c`, whose documents everybody may see."""
    (home / "principals.toml").write_text(PRINCIPALS, "utf-8")
    workbench = Workbench(home, load([], {}), MemoryAudit())
    workbench.create_collection("c", workbench.operator(), defaults=Labels("public", ("*",)), embedder="hash:64")
    return workbench


@pytest.fixture
def jobs(workbench: Workbench) -> Iterator[Jobs]:
    yield Jobs(workbench.home, workbench.audit)
    end_worker(workbench.home)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("alpha", "beta", "gamma"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nWords of {name}.\n", "utf-8")
    return folder
