"""Tables of HTML as rows of text, merged cells repeated where they reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from selectolax.lexbor import LexborNode

CELLS_MAX = 100_000
"""Cells of one document after merged ones are repeated; beyond it they stand once."""
_COLSPAN_MAX = 1_000
_REPEATED_MAX = 200
"""Characters of a merged cell that is repeated; a longer one stands once."""
_ROWSPAN_MAX = 65_534


class Grid:
    """Lays the cells of one table out, row by row. `spent` counts cells over all tables of a document."""

    def __init__(self, spent: int = 0) -> None:
        self.spent = spent
        self.capped = False
        """Whether a merged cell was not repeated for that limit."""
        self._reaching: dict[int, tuple[int, str]] = {}
        """Column → rows that a cell above still reaches down, and its text."""

    def row(self, cells: Sequence[LexborNode], text_of: Callable[[LexborNode], str]) -> str:
        """`a | b | c`. A row that is one cell is its text once, however wide; empty cells at the end are left out."""
        own = [(text_of(cell), cell) for cell in cells]
        alone = len(own) == 1 and not self._reaching
        above, self._reaching = self._reaching, {}
        values: list[str] = []
        for text, cell in own:
            self._take(above, values)
            width = 1 if alone else self._span(cell, "colspan", _COLSPAN_MAX)
            height = self._span(cell, "rowspan", _ROWSPAN_MAX)
            again = text if len(text) <= _REPEATED_MAX else ""
            for number in range(width):
                above.pop(len(values), None)
                if height > 1:
                    self._reaching[len(values)] = (height - 1, again)
                values.append(again if number else text)
        while above:
            values += [""] * (min(above) - len(values))
            self._take(above, values)
        self.spent += len(values)
        while values and not values[-1]:
            values.pop()
        if len(own) <= 2 and sum(map(bool, values)) == 1:  # beside a picture, mostly
            return values[-1]
        return " | ".join(values)

    def _take(self, above: dict[int, tuple[int, str]], values: list[str]) -> None:
        """Fill the places, from the next one on, that cells above reach into."""
        while (reach := above.pop(len(values), None)) is not None:
            if reach[0] > 1 and self.spent <= CELLS_MAX:
                self._reaching[len(values)] = (reach[0] - 1, reach[1])
            values.append(reach[1])

    def _span(self, cell: LexborNode, name: str, most: int) -> int:
        value = (cell.attributes.get(name) or "1").strip()
        if not (value.isascii() and value.isdigit()) or len(value) > 6:
            return 1
        number = int(value)
        if name == "rowspan" and number == 0:  # to the end of the table
            number = most
        number = max(1, min(number, most))
        if number > 1 and self.spent + (number if name == "colspan" else 0) > CELLS_MAX:
            self.capped = True
            return 1
        return number
