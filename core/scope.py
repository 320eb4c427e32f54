"""The revision rule: which documents are in force at a moment, for someone who sees some of them.

A document is in force if it is visible, active, not expired, already revised by then, and the newest such document
of its knowledge. Documents of different knowledge are never compared. Two newest of the same moment both stay in
force; to show that they disagree is another stage's work.

`in_force` is the rule; `in_force_mask` the same on arrays. Both are for the documents of one collection. The mask
changes with `as_of` only at `boundaries`, so that one mask serves all moments between two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.types import Document

Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NEVER_REVISED = int(np.iinfo(np.int64).min)
"""Stands in arrays for `revised_at` None: older than any."""
NEVER_EXPIRES = int(np.iinfo(np.int64).max)
"""Stands in arrays for `valid_until` None."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(moment: datetime) -> int:
    """Since 1970 in UTC, exact. Raises InputError for a moment without a time zone."""
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InputError(f"the time {moment.isoformat()} has no time zone", "write it with Z or an offset")
    return (moment - _EPOCH) // timedelta(microseconds=1)


def in_force(documents: Sequence[Document], visible: Sequence[bool], as_of: datetime) -> list[bool]:
    """Which of `documents` are in force at `as_of`; `visible` runs parallel. Raises InputError (no time zone)."""
    now = microseconds(as_of)
    passing = [seen and _passes(document, now) for document, seen in zip(documents, visible, strict=True)]
    newest: dict[str, int] = {}
    for document, passes in zip(documents, passing, strict=True):
        if passes:
            newest[document.knowledge_id] = max(newest.get(document.knowledge_id, NEVER_REVISED), revised(document))
    return [
        passes and revised(document) == newest[document.knowledge_id]
        for document, passes in zip(documents, passing, strict=True)
    ]


def in_force_mask(
    knowledge: Int64s, revised_at: Int64s, active: Bools, valid_until: Int64s, visible: Bools, as_of: int
) -> Bools:
    """`in_force` on parallel arrays of shape (documents,). Times in microseconds, see `microseconds`.

    `knowledge` holds group numbers: equal for equal knowledge_id, any other values.
    """
    passing = visible & active & (valid_until > as_of) & (revised_at <= as_of)
    mask = np.zeros(len(passing), dtype=np.bool_)
    rows = np.flatnonzero(passing)
    if not len(rows):
        return mask
    groups, times = _dense(knowledge[rows]), revised_at[rows]
    newest = np.full(int(groups.max()) + 1, NEVER_REVISED, dtype=np.int64)
    np.maximum.at(newest, groups, times)
    mask[rows] = times == newest[groups]
    return mask


def boundaries(revised_at: Int64s, valid_until: Int64s) -> Int64s:
    """The moments at which a mask over these documents can change, distinct and ascending, in microseconds.

    From each one on (inclusive) to the next (exclusive) every mask is constant, whatever is visible and active.
    """
    moments = np.unique(np.concatenate([revised_at, valid_until]))
    finite: Int64s = moments[(moments != NEVER_REVISED) & (moments != NEVER_EXPIRES)]
    return finite


def boundary_index(boundaries: Int64s, as_of: int) -> int:
    """The number of `boundaries` not after `as_of`: equal for two moments only if their masks are equal."""
    return int(np.searchsorted(boundaries, as_of, side="right"))


def revised(document: Document) -> int:
    """`revised_at` as the arrays hold it."""
    return NEVER_REVISED if document.revised_at is None else microseconds(document.revised_at)


def expires(document: Document) -> int:
    """`valid_until` as the arrays hold it."""
    return NEVER_EXPIRES if document.valid_until is None else microseconds(document.valid_until)


def _passes(document: Document, now: int) -> bool:
    return document.status == "active" and expires(document) > now and revised(document) <= now


def _dense(groups: Int64s) -> Int64s:
    """The groups under numbers small enough to index with; as they are where they already are."""
    if int(groups.min()) >= 0 and int(groups.max()) < 16 * len(groups) + 4096:
        return groups
    numbers: Int64s = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    return numbers
