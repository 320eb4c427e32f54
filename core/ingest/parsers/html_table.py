"""Tables of HTML as rows of text, merged cells repeated where they reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from selectolax.lexbor import LexborNode

CELLS_MAX = 100_000
"""Cells of one document after merged ones are repeated; beyond it they stand once."""
_COLSPAN_MAX = 1_000
_ROWSPAN_MAX = 65_534


class Grid:
    """Lays the cells of one table out, row by row. `spent` counts cells over all tables of a document."""

    def __init__(self, spent: int = 0) -> None:
        self.spent = spent
        self._reaching: dict[int, tuple[int, str]] = {}
        """Column → rows that a cell above still reaches down, and its text."""

    def row(self, cells: Sequence[LexborNode], text_of: Callable[[LexborNode], str]) -> str:
        """`a | b | c`. A row that is one cell is its text once, however wide; empty cells at the end are left out."""
        values: list[str] = []
        reaching: dict[int, tuple[int, str]] = {}
        own = [(text_of(cell), cell) for cell in cells]
        alone = len(own) == 1 and not self._reaching

        def from_above() -> None:
            while (above := self._reaching.pop(len(values), None)) is not None:
                if above[0] > 1:
                    reaching[len(values)] = (above[0] - 1, above[1])
                values.append(above[1])

        for text, cell in own:
            from_above()
            width = 1 if alone else self._span(cell, "colspan", _COLSPAN_MAX)
            height = self._span(cell, "rowspan", _ROWSPAN_MAX)
            for _ in range(width):
                if height > 1:
                    reaching[len(values)] = (height - 1, text)
                values.append(text)
        from_above()
        self._reaching = reaching
        self.spent += len(values)
        while values and not values[-1]:
            values.pop()
        return " | ".join(values)

    def _span(self, cell: LexborNode, name: str, most: int) -> int:
        value = (cell.attributes.get(name) or "1").strip()
        if not (value.isascii() and value.isdigit()) or len(value) > 6 or self.spent > CELLS_MAX:
            return 1
        number = int(value)
        if name == "rowspan" and number == 0:  # to the end of the table
            return most
        number = max(1, min(number, most))
        return number if self.spent + number <= CELLS_MAX or name == "rowspan" else 1
