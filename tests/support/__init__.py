"""What several tests share: places, golden cases, the page of settings, the browser."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"


def golden(name: str) -> Any:
    """The content of `tests/golden/{name}`: a `.json` file whole, a `.jsonl` file as a list of its lines."""
    text = (GOLDEN / name).read_text("utf-8")
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return json.loads(text)


def shared_data_path() -> Path | None:
    """The folder of public data sets: `data` in WORKBENCH_SHARED, else in `shared` beside the project; None: absent."""
    path = Path(os.environ.get("WORKBENCH_SHARED") or ROOT.parent / "shared") / "data"
    return path if path.is_dir() else None
