"""How much a permission kept out of a search: counted for the audit alone.

Nothing that the asker gets may depend on it, so it is computed apart from the search, from a candidate set of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.candidates import CandidateSet, unrestricted
from core.ranking import Guarded, recall, unguarded
from core.scope import boundary_index
from core.settings import Retrieval

Array = npt.NDArray[Any]


def filtered_out(
    candidates: CandidateSet,
    query: str,
    vector: Array | None,
    settings: Retrieval,
    as_of: int,
    guard: Guarded = unguarded,
) -> int:
    """Chunks that would have stood inside a channel's window if everybody might see everything, and that
    `candidates`, the whole scope of somebody at `as_of` (microseconds since 1970), does not hold.

    A text that he may see elsewhere is not counted.
    """
    whole = _whole(candidates, as_of)
    lists = recall(whole, query, vector, settings, settings.window, guard)
    found = np.unique(np.concatenate([[], *lists])).astype(np.int64)
    kept_out = found[~candidates.mask[found]]
    groups = whole.twins_of(kept_out)
    return sum(not candidates.mask[groups.get(row, row)].any() for row in kept_out.tolist())


def _whole(candidates: CandidateSet, as_of: int) -> CandidateSet:
    """Kept with the snapshot until the next moment at which it could change."""
    snapshot = candidates.snapshot
    moment = boundary_index(snapshot.boundaries, as_of)
    known: tuple[int, CandidateSet] | None = snapshot.__dict__.get("_whole")
    if known is None or known[0] != moment:
        known = snapshot.__dict__["_whole"] = moment, unrestricted(snapshot, as_of)
    return known[1]
