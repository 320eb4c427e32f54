"""The candidate set: the one value that decides which text may be found.

    candidate set = snapshot restricted to scope, minus shadowed documents, plus virtual chunks

Every channel ranks exactly its rows, and every statistic (count, document frequency, average length) is theirs alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from core.access import PermissionSet
from core.scope import in_force_mask
from core.snapshot import HIDDEN, Snapshot

Array = npt.NDArray[Any]

BLOCK = 1024
"""Rows that a scan passes over together: to multiply that many costs about ten times what a call costs."""


@dataclass(frozen=True, eq=False)
class CandidateSet:
    snapshot: Snapshot
    documents: Array
    """bool (m,): documents in scope."""
    mask: Array
    """bool (n,): rows in scope."""

    @cached_property
    def count(self) -> int:
        return int(np.count_nonzero(self.mask))

    @cached_property
    def average_length(self) -> float:
        """Tokens; the sum is of integers, so it is exact whatever the order."""
        return int(self.snapshot.lengths[self.mask].sum()) / self.count if self.count else 0.0

    @cached_property
    def twins(self) -> tuple[Array, Array, Array]:
        """Rows in scope whose text stands in several of them, grouped: rows, first row of each group in that list,
        and each group's representative, the row with the smallest chunk id."""
        rows, group = self.snapshot.twins
        inside = self.mask[rows]
        rows, group = rows[inside], group[inside]
        order = np.lexsort((self.snapshot.ids[rows], group))
        rows, group = rows[order], group[order]
        _, first, size = np.unique(group, return_index=True, return_counts=True)
        several = np.repeat(size > 1, size)
        size = size[size > 1]
        rows = rows[several]
        first = np.concatenate(([0], np.cumsum(size)))[:-1].astype(np.int64)
        return rows, first, rows[first] if len(rows) else rows

    def fold_twins(self, scores: Array, absent: float) -> None:
        """Give each group's best score to its representative and `absent` to the others, in place."""
        rows, first, representatives = self.twins
        if len(rows):
            best = np.maximum.reduceat(scores[rows], first)
            scores[rows] = absent
            scores[representatives] = best

    def twins_of(self, rows: Array) -> dict[int, Array]:
        """For each representative among `rows`: all rows of its group, itself included."""
        all_rows, first, representatives = self.twins
        if not len(representatives):
            return {}
        by_row = self._groups_by_row
        places = by_row[np.minimum(np.searchsorted(representatives, rows, sorter=by_row), len(by_row) - 1)]
        ends = np.append(first[1:], len(all_rows))
        groups = places[representatives[places] == rows].tolist()
        return {int(representatives[at]): all_rows[first[at] : ends[at]] for at in groups}

    @cached_property
    def _groups_by_row(self) -> Array:
        """Numbers of the groups of twins, by their representatives' rows."""
        return np.argsort(self.twins[2])

    @cached_property
    def embedded(self) -> tuple[Array, Array, Array, Array]:
        """Rows that stand for a text with a vector, ascending; the rows of twins that have one, group by group; where
        each group begins in that list; and where its representative is in the first."""
        usable = self.mask & self.snapshot.has_vector
        rows, first, representatives = self.twins
        group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(rows))))
        inside = usable[rows]
        held, begins = np.unique(group[inside], return_index=True)
        usable[rows] = False
        usable[representatives[held]] = True
        standing = np.flatnonzero(usable)
        return standing, rows[inside], begins, np.searchsorted(standing, representatives[held])

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """Runs of rows outside of which none is in scope, ascending; in BLOCK rows, so that they are few and long."""
        starts = np.arange(0, len(self.mask), BLOCK)
        if not len(starts):
            return ()
        taken = np.concatenate(([False], np.logical_or.reduceat(self.mask, starts), [False]))
        edges = np.flatnonzero(taken[1:] != taken[:-1]) * BLOCK
        return tuple(slice(int(a), min(int(b), len(self.mask))) for a, b in edges.reshape(-1, 2))

    def restricted(self, mask: Array) -> CandidateSet:
        """Only the rows that `mask` marks as well."""
        return replace(self, mask=self.mask & mask)

    def best(self, scores: Array, depth: int, threshold: float) -> Array:
        """Rows that score above `threshold`, the best `depth` of them: by score, then by chunk id."""
        rows = np.flatnonzero(scores > threshold)
        if len(rows) > depth:
            found = scores[rows]
            last = np.partition(found, len(rows) - depth)[len(rows) - depth]
            rows = rows[found >= last]
        order = np.lexsort((self.snapshot.ids[rows], -scores[rows]))
        return np.asarray(rows[order][:depth])


def restrict(snapshot: Snapshot, permission: PermissionSet, as_of: int) -> CandidateSet:
    """The rows that `permission` lets see and that are in force at `as_of` (microseconds since 1970)."""
    return _of_documents(snapshot, _in_force(snapshot, _visible(snapshot, permission), as_of))


def lapsed(snapshot: Snapshot, permission: PermissionSet, as_of: int) -> CandidateSet:
    """The rows that `permission` lets see of documents that no longer hold: deprecated, or expired at `as_of`. Never
    what was revoked, nor what does not hold yet."""
    table = snapshot.documents
    ended = table.outlived | (table.active & (table.valid_until <= as_of))
    return _of_documents(snapshot, _visible(snapshot, permission) & ended & (table.revised_at <= as_of))


def unrestricted(snapshot: Snapshot, as_of: int) -> CandidateSet:
    """The rows in force at `as_of` whoever may see them: for the audit's counts, never to be shown."""
    return _of_documents(snapshot, _in_force(snapshot, snapshot.documents.present, as_of))


def _visible(snapshot: Snapshot, permission: PermissionSet) -> Array:
    sees = np.array([*(permission.sees(labels) for labels in snapshot.classes), False], bool)
    assert HIDDEN == -1, "the class HIDDEN indexes the False at the end"
    return np.asarray(sees[snapshot.document_class] & snapshot.documents.present)


def _in_force(snapshot: Snapshot, visible: Array, as_of: int) -> Array:
    table = snapshot.documents
    return in_force_mask(table.knowledge, table.revised_at, table.active, table.valid_until, visible, as_of)


def _of_documents(snapshot: Snapshot, documents: Array) -> CandidateSet:
    return CandidateSet(snapshot, documents, documents[snapshot.document] & snapshot.alive)


def rows_where(candidates: CandidateSet, document: int, wanted: Callable[[dict[str, Any]], bool]) -> Array:
    """bool (n,): rows of one document whose provenance is `wanted`."""
    mask = np.zeros(len(candidates.snapshot), bool)
    rows = np.flatnonzero(candidates.mask & (candidates.snapshot.document == document))
    mask[[row for row in rows.tolist() if wanted(candidates.snapshot.provenance(row))]] = True
    return mask
