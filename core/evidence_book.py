"""Which chunks stand behind an evidence id, as long as the process that handed it out remembers.

An evidence id is good for one search and its asker; the chunk references behind it are good for ever.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from core.errors import UnknownEvidence
from core.types import ChunkRef, SearchResult

SEARCHES_KEPT = 2_000
Refs = tuple[ChunkRef, ...]


class EvidenceBook:
    """Thread-safe."""

    def __init__(self, kept: int = SEARCHES_KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._searches: OrderedDict[str, tuple[str, dict[str, tuple[str, Refs]]]] = OrderedDict()

    def note(self, actor: str, result: SearchResult) -> None:
        """Remember what was released to `actor`."""
        shown = {passage.evidence_id: (passage.collection, passage.chunk_refs) for passage in result.passages}
        if not shown:
            return
        with self._lock:
            self._searches[result.trace_id] = actor, shown
            while len(self._searches) > self._kept:
                self._searches.popitem(last=False)

    def find(self, actor: str, evidence_id: str) -> tuple[str, Refs]:
        """Collection and chunks of what was shown to `actor` under this id. Raises UnknownEvidence."""
        trace_id = evidence_id.removeprefix("ev-").rpartition("-")[0]
        with self._lock:
            asker, shown = self._searches.get(trace_id, ("", {}))
        if asker != actor or evidence_id not in shown:
            raise UnknownEvidence(evidence_id)
        return shown[evidence_id]
