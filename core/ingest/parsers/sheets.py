"""Workbooks: a section a sheet, one line a row, cells joined by ` | ` in their places, as they are displayed.

Blank rows part tables; a line of text above one, or alone, is a paragraph. A merged cell stands wherever it reaches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from core.errors import UnreadableFile
from core.ingest.builder import TextBuilder
from core.ingest.clean import clean
from core.ingest.parsers.sheets_grid import Counts, Sheet, write_rows
from core.ingest.parsers.sheets_ods import is_ods, read_ods
from core.ingest.parsers.sheets_xls import OLE_MARK, WARNING, read_xls
from core.ingest.parsers.sheets_xlsx import read_xlsx
from core.ingest.parsers.zip_guard import open_container
from core.ingest.sections import locate
from core.ports import ParsedDocument

# Names that programs give.
_MEANS_NOTHING = re.compile(
    r"(?:sheet|table|tabelle|feuil|feuille|hoja|foglio|planilha|blad|ark|arkusz|list|лист|工作表|表|シート|시트)\s*\d*",
    re.IGNORECASE,
)


class SheetParser:
    name = "sheets/1"
    extensions: tuple[str, ...] = (".xlsx", ".xlsm", ".xls", ".ods")

    def parse(self, path: Path, data: bytes) -> ParsedDocument:
        """Raises UnreadableFile: no workbook, protected, damaged, beyond a limit, or nothing to see in it."""
        counts = Counts(str(path))
        is_xls = data.startswith(OLE_MARK) and path.suffix.lower() == ".xls"
        shown = [sheet for sheet in _sheets(str(path), data, counts, is_xls) if sheet.rows]
        builder = TextBuilder()
        for sheet in shown:
            name = " ".join(clean(sheet.name)[0].split())
            builder.place = {"sheet": (name,)}
            if len(shown) > 1 or not _MEANS_NOTHING.fullmatch(name):
                builder.add("heading", name, level=1)
            write_rows(builder, sheet.rows)
        warnings = (*counts.warnings(), *builder.warnings, *((WARNING,) if is_xls else ()))
        if not shown:
            reason = "; ".join(["no value to see in it", *counts.warnings()])
            raise UnreadableFile(str(path), reason, "remove it, or unhide what it holds")
        return ParsedDocument(
            text=builder.text,
            blocks=locate(builder.text, builder.found),
            title=path.stem,
            parser=self.name,
            metadata={},
            warnings=warnings,
        )


def _sheets(path: str, data: bytes, counts: Counts, is_xls: bool) -> Iterator[Sheet]:
    if is_xls:
        return read_xls(data, path, counts)
    container = open_container(path, data)
    return read_ods(container, path, counts) if is_ods(container) else read_xlsx(container, path, counts)
