"""The retrieval core. Reading order is execution order:

    access, scope            who asks, and what is in force: one predicate
    segment, documents,
    snapshot, candidates     the arrays of one version, and the candidate set cut from them
    recall_exact, recall_bm25, recall_dense
    fuse, diversify, prior, merge
    ranking                  those stages in their sequence
    evidence, trace          what is released, and what happened
    pipeline                 `search()`, the whole flow
    library, home            where collections live; `Workbench` opens one home

`store` alone touches LanceDB, `models` alone loads models, `ingest` turns files into documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.home import Workbench

__all__ = ["Workbench"]


def __getattr__(name: str) -> Any:
    if name == "Workbench":
        from core.home import Workbench

        return Workbench
    raise AttributeError(f"module 'core' has no attribute {name!r}")
