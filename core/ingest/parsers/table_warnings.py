"""What a report says of a table that was read, though not as its writer can have meant it."""

from __future__ import annotations

from collections.abc import Sequence

Row = tuple[int, list[str]]
"""The line, from 1, that a row begins in, and its cells."""


def mark_warnings(text: str, stray: int | None, before: int) -> tuple[str, ...]:
    """Where the row in line `stray` has a quotation mark that nothing closes. `before`: lines above the text."""
    if stray is None:
        return ()
    count = sum('"' in line for line in text.split("\n"))
    where = f"in {count} lines" if count != 1 else "in 1 line"
    return (
        f"line {stray + before}: a quotation mark is not closed, so marks were read as plain characters {where};"
        " close it, or write one inside a quoted cell twice",
    )


def width_warnings(rows: Sequence[Row], before: int) -> tuple[str, ...]:
    """Where rows have more or fewer cells than the first one; empty cells beyond its end do not count."""
    filled = [(line, cells) for line, cells in rows if any(cell.strip() for cell in cells)]
    if not filled:
        return ()
    width = len(filled[0][1])
    ragged = [line for line, cells in filled if len(cells) < width or any(cell.strip() for cell in cells[width:])]
    if not ragged:
        return ()
    count = f"{len(ragged)} rows have" if len(ragged) > 1 else "1 row has"
    return (f"line {ragged[0] + before}: {count} more or fewer cells than the header, beginning there",)
