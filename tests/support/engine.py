"""Small collections for tests of the engine: one line each, and what every one of their values follows from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from core.access import PermissionSet, permission_set
from core.candidates import CandidateSet
from core.ports import DocumentWrite
from core.scope import microseconds
from core.settings import Limits, Retrieval, Settings
from core.snapshot import Snapshot
from core.types import Labels, Principal, Provenance, document_id
from tests.support.memory_library import MemoryLibrary, document_write

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PUBLIC = Labels("public", ("*",))
STAFF = Labels("internal", ("staff",))
SECRET = Labels("restricted", ("board",))
GUEST = Principal("guest")
ANN = Principal("ann", frozenset({"staff"}), "internal")
DEFAULTS = Settings()
"""As the code states them, whatever a preset says."""


def tuned(**changes: Any) -> Retrieval:
    return DEFAULTS.with_retrieval(**changes).retrieval


def permission(principal: Principal = GUEST) -> PermissionSet:
    return permission_set(principal, None, Limits())


def library_of(texts: Sequence[str], per_commit: int = 1, eager: bool = True) -> MemoryLibrary:
    """Documents `d0`, `d1`, … of one chunk each, in segments of `per_commit` (as far as tidying leaves them so)."""
    library = MemoryLibrary(eager=eager)
    writes = [document_write("c", f"d{number}", [text]) for number, text in enumerate(texts)]
    for first in range(0, len(writes), per_commit):
        library.commit("c", writes[first : first + per_commit])
    return library


def seen(library: MemoryLibrary, principal: Principal = GUEST, collections: Sequence[str] = ("c",)) -> CandidateSet:
    """The candidate set of a principal at NOW."""
    return library.candidates(collections, permission(principal), microseconds(NOW))


def everything(snapshot: Snapshot) -> CandidateSet:
    return CandidateSet(snapshot, snapshot.documents.present, snapshot.alive)


def only(candidates: CandidateSet, paths: Sequence[str]) -> CandidateSet:
    """The rows of some documents."""
    wanted = [candidates.snapshot.documents.numbers[document_id("c", path).encode()] for path in paths]
    return candidates.restricted(np.isin(candidates.snapshot.document, wanted))


def path_of(candidates: CandidateSet, row: int) -> str:
    return candidates.snapshot.documents[int(candidates.snapshot.document[row])].path


def paths_of(candidates: CandidateSet, rows: Any) -> list[str]:
    return [path_of(candidates, int(row)) for row in rows]


def with_vectors(write: DocumentWrite, rows: Any) -> DocumentWrite:
    return replace(write, vectors=None if rows is None else np.asarray(rows, np.float32))


def with_provenance(write: DocumentWrite, provenances: Sequence[Provenance]) -> DocumentWrite:
    assert write.chunks is not None
    chunks = tuple(replace(chunk, provenance=p) for chunk, p in zip(write.chunks, provenances, strict=True))
    return replace(write, chunks=chunks)


def relabelled(write: DocumentWrite, **changes: Any) -> DocumentWrite:
    """The same document with other metadata and its chunks left as they are."""
    return DocumentWrite(replace(write.document, **changes), None, None, None)
