"""What an ingestion did, file by file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["added", "updated", "relabelled", "unchanged", "refused"]
"""relabelled: the text stayed, its metadata changed, and no chunk was written."""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    path: str
    """As in the collection; for a refused file as the user gave it."""
    outcome: Outcome
    chunks: int = 0
    reason: str = ""
    """Why it was refused, with the remedy."""
    warnings: tuple[str, ...] = ()
    hidden: bool = False
    """Its labels let nobody see it."""
    remembered: tuple[str, ...] = ()
    """Metadata keys decided by what a table or a sidecar said when it was ingested before."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    collection: str
    files: tuple[FileOutcome, ...]
    index_version: int

    def count(self, outcome: Outcome) -> int:
        return sum(file.outcome == outcome for file in self.files)

    @property
    def refused(self) -> tuple[FileOutcome, ...]:
        return tuple(file for file in self.files if file.outcome == "refused")

    @property
    def hidden(self) -> tuple[FileOutcome, ...]:
        return tuple(file for file in self.files if file.hidden)

    @property
    def remembered(self) -> tuple[FileOutcome, ...]:
        return tuple(file for file in self.files if file.remembered)
