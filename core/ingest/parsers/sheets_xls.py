"""Sheets of an XLS workbook (Excel 97 to 2003): values as they are stored.

Not known of this format: number formats, hidden rows and columns, invisible text. A warning says so.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from core.errors import UnreadableFile
from core.ingest.parsers.number_format import plain_number
from core.ingest.parsers.sheets_grid import AREA_MAX, Columns, Counts, Grid, Sheet

OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
WARNING = "numbers stand as stored, and hidden rows and columns are not told apart: save it as .xlsx for both"


def read_xls(data: bytes, path: str, counts: Counts) -> Iterator[Sheet]:
    """The sheets that are shown, in order. Raises UnreadableFile."""
    from python_calamine import CalamineError, PasswordError, SheetTypeEnum, SheetVisibleEnum, load_workbook

    try:
        with load_workbook(io.BytesIO(data)) as book:
            for place, about in enumerate(book.sheets_metadata):
                if about.visible != SheetVisibleEnum.Visible:
                    counts.hidden_sheets += 1
                elif about.typ != SheetTypeEnum.WorkSheet:
                    counts.other_sheets += 1
                else:
                    yield _sheet(about.name, book.get_sheet_by_index(place), counts)
    except PasswordError:
        raise UnreadableFile(path, "protected by a password", "save it without one") from None
    except (CalamineError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UnreadableFile(
            path, f"damaged, or no workbook ({reason})", "open it in Excel and save it as .xlsx"
        ) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the library's, which is no Exception
            raise
        raise UnreadableFile(path, "damaged", "open it in Excel and save it as .xlsx") from None


def _sheet(name: str, source: Any, counts: Counts) -> Sheet:
    if source.height * source.width > AREA_MAX:
        raise UnreadableFile(counts.path, f"more than {AREA_MAX:,} cells", "divide it into smaller files")
    grid = Grid(counts, Columns())
    for (top, left), (bottom, right) in source.merged_cell_ranges or ():
        grid.merge((top, left, bottom, right))
    first_row, first_column = source.start or (0, 0)
    for row, values in enumerate(source.iter_rows(), first_row):
        grid.add(row, {column: _text(value) for column, value in enumerate(values, first_column)})
    return Sheet(name, grid.rows)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return plain_number(value)
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds").removesuffix(" 00:00:00")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"
    return str(value)
