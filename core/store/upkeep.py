"""Merging small fragments and dropping old versions, which change no result."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from core.store.files import TableFiles

if TYPE_CHECKING:
    from lancedb.table import Table

_NEVER = timedelta(days=36_500)


def is_due(table: Table, every: int) -> bool:
    """Whether small fragments weigh enough to be merged: Lance rewrites all rows of a table below a million rows,
    so a larger table waits for more of them, up to four times as many."""
    statistics: Any = table.stats()
    rows, fragments = statistics["num_rows"], statistics["fragment_stats"]
    recent = rows - fragments["lengths"]["max"]
    count = fragments["num_fragments"]
    return bool(count >= every and (16 * recent >= rows or count >= 4 * every))


def merge_fragments(table: Table, files: TableFiles, retention_s: float) -> None:
    """Merge what is small, then drop versions beyond the retention. The caller holds the collection's lock.

    In two steps, because the files of an old version may go only after those that replace them are synced.
    """
    table.optimize(cleanup_older_than=_NEVER)
    files.sync()
    age = files.prunable_age(retention_s)
    if age is not None:
        table.optimize(cleanup_older_than=timedelta(seconds=age))
        files.sync()
