"""The command line run in this process, over homes whose embedder needs no model."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from workbench.cli import main

PRINCIPALS = """
[default]
groups = ["staff"]
clearance = "internal"

[ann]
groups = ["staff"]
clearance = "confidential"
roles = {"*" = ["owner"]}

[guest]
clearance = "public"
"""

REFUNDS = """---
knowledge_id: KB-1
revision: "2"
revised_at: 2026-02-01
classification: internal
acl_allow: [staff]
source_uri: https://example.org/refunds
---
# Refunds

A refund to a credit card takes three working days after approval.

## Vouchers

Vouchers are refunded as vouchers only. The code is ERR-4012.
"""

OLD_REFUNDS = """---
knowledge_id: KB-1
revision: "1"
revised_at: 2024-02-01
classification: internal
acl_allow: [staff]
---
# Refunds, as they were

A refund to a credit card takes ten working days after approval.
"""

BANDS = """---
classification: confidential
acl_allow: [staff]
---
# Salary bands

A mechanic begins in band four.
"""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_EMBEDDING__DEFAULT", "hash:64")
    monkeypatch.delenv("WORKBENCH_DEBUG", raising=False)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs `workbench …`; an error, if there is one, is one line without a traceback."""

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        ran = Ran(code, *capsys.readouterr())
        assert ran.err.count("\n") == (1 if ran.err else 0), ran.err
        assert "Traceback" not in ran.err
        assert ran.err == "" or code != 0
        return ran

    return run


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three documents with labels, one of them an old revision and one confidential."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "archive").mkdir()
    (folder / "refunds.md").write_text(REFUNDS, "utf-8")
    (folder / "archive" / "refunds.md").write_text(OLD_REFUNDS, "utf-8")
    (folder / "bands.md").write_text(BANDS, "utf-8")
    return folder


@pytest.fixture(scope="session")
def filled(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with principals and the collection `kb`; only for tests that leave it as it is."""
    home = tmp_path_factory.mktemp("filled")
    (home / "principals.toml").write_text(PRINCIPALS, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_EMBEDDING__DEFAULT", "hash:64")
        assert main(["--home", str(home), "ingest", str(files), "--collection", "kb"]) == 0
    return home


@pytest.fixture
def reading(filled: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`filled` as the home of this test."""
    monkeypatch.setenv("WORKBENCH_HOME", str(filled))
    return filled


@pytest.fixture
def people(home: Path) -> Path:
    """An empty home in which somebody is known."""
    (home / "principals.toml").write_text(PRINCIPALS, "utf-8")
    return home
