"""The body of a Word document as HTML, for the reading that all pages get: one walk, hidden text left behind."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from html import escape

from lxml import etree

from core.ingest.parsers.docx_inline import Inline, Line
from core.ingest.parsers.docx_numbers import LEVELS, Numbers
from core.ingest.parsers.docx_styles import WHITE, Styles, ground_of
from core.ingest.parsers.docx_table import grid, is_on_screen
from core.ingest.parsers.docx_xml import ALTERNATIVES, WORD, chosen, is_on, value, whole

_WRAPPERS = frozenset(WORD + name for name in "customXml ins moveTo smartTag sdtContent".split())
_GONE = frozenset({WORD + "del", WORD + "moveFrom"})
_BODY_TEXT = 9
_HTML_LEVELS = 6


class Body:
    """Writes stories (the document, its notes and boxes) in the order in which they are read."""

    def __init__(self, styles: Styles, numbers: Numbers, notes: Mapping[tuple[str, str], etree._Element]) -> None:
        """`notes`: elements by kind and id."""
        self._styles = styles
        self._numbers = numbers
        self._notes = dict(notes)
        self._inline = Inline(styles)
        self._out: list[str] = []
        self._depth = 0
        """Lists that are open."""
        self._cells = 0
        """Cells of rows that are being read: what is in them is flat."""
        self._carried: Line | None = None
        """A line whose end was deleted: the next paragraph goes on with it."""
        self._waiting: deque[tuple[str, str, str]] = deque()
        self._unread = 0

    @property
    def hidden(self) -> int:
        """Passages left out."""
        return self._inline.hidden

    @property
    def unread(self) -> int:
        """Files of other formats that are to be shown in the text."""
        return self._unread

    def write(self, body: etree._Element) -> str:
        """HTML of `w:body`. A note follows the block, or the list, that refers to it."""
        self._inline.begin_story(body)
        self._blocks(body, WHITE, outermost=True)
        self._flush(WHITE)
        self._to_depth(0)
        self._write_notes()
        return "".join(self._out)

    def _blocks(self, parent: etree._Element, ground: str, outermost: bool = False) -> None:
        for child in parent:
            tag = child.tag
            if tag in (WORD + "p", WORD + "tbl") and outermost and self._waiting and not self._goes_on(child):
                self._to_depth(0)
                self._write_notes()
            if tag == WORD + "p":
                self._paragraph(child, ground)
            elif tag == WORD + "tbl":
                self._flush(ground)
                self._table(child, ground)
            elif tag in _WRAPPERS:
                self._blocks(child, ground, outermost)
            elif tag == WORD + "sdt":
                content = child.find(WORD + "sdtContent")
                if content is not None:
                    self._blocks(content, ground, outermost)
            else:
                self._other(child, ground, outermost)

    def _other(self, child: etree._Element, ground: str, outermost: bool) -> None:
        if child.tag in _GONE:
            self._inline.leave_out(child)
        elif child.tag == ALTERNATIVES + "AlternateContent":
            branch = chosen(child)
            if branch is not None:
                self._blocks(branch, ground, outermost)
        elif child.tag == WORD + "altChunk":
            self._unread += 1

    def _goes_on(self, element: etree._Element) -> bool:
        """Whether a block continues the list that is open."""
        return bool(self._depth) and element.tag == WORD + "p" and self._list_of(element) is not None

    def _paragraph(self, element: etree._Element, ground: str) -> None:
        properties = element.find(WORD + "pPr")
        name = value(properties, "pStyle")
        own = ground_of(properties) or self._styles.paragraph(name).ground
        line, self._carried = self._carried or Line(), None
        self._inline.read(element, name, own or ground, line)
        mark = properties.find(WORD + "rPr") if properties is not None else None
        if mark is not None and mark.find(WORD + "del") is not None:
            self._carried = line
            return
        listed, level = self._list_of(element), self._heading(properties, name)
        shown = bool(line.html.strip())
        # A paragraph hidden with its mark is not counted; an empty one is.
        label = self._numbers.label(*listed) if listed and (shown or not is_on(mark, "vanish")) else ""
        if shown:
            self._write_line(escape(label) + line.html, level, listed[1] if listed and label else None)
        for box, box_ground in line.boxes:
            self._to_depth(0)
            self._blocks(box, box_ground)
            self._flush(box_ground)
        self._waiting += line.notes

    def _write_line(self, html: str, level: int | None, depth: int | None) -> None:
        if self._cells:
            self._out.append(html + "<br>")
            return
        listed = depth is not None and level is None
        self._to_depth(min(depth or 0, LEVELS - 1) + 1 if listed else 0)
        tag = f"h{level}" if level else ("dd" if listed else "p")
        self._out.append(f"<{tag}>{html}</{tag}>")

    def _flush(self, ground: str) -> None:
        """Write a line that no paragraph goes on with."""
        line, self._carried = self._carried, None
        if line is not None and line.html.strip():
            self._write_line(line.html, None, None)
        for box, box_ground in line.boxes if line is not None else ():
            self._blocks(box, box_ground)
        self._waiting += line.notes if line is not None else []

    def _to_depth(self, depth: int) -> None:
        if self._cells:
            return
        step = depth - self._depth
        self._out.append("<dl>" * step if step > 0 else "</dl>" * -step)
        self._depth = depth

    def _heading(self, properties: etree._Element | None, name: str | None) -> int | None:
        """Level from 1 to 6; None: no heading."""
        own = whole(value(properties, "outlineLvl"))
        level = self._styles.paragraph(name).outline if own is None else own
        return min(level + 1, _HTML_LEVELS) if level is not None and 0 <= level < _BODY_TEXT else None

    def _list_of(self, element: etree._Element) -> tuple[str, int] | None:
        """List and level, from 0, of a paragraph."""
        properties = element.find(WORD + "pPr")
        style = self._styles.paragraph(value(properties, "pStyle"))
        numbering = properties.find(WORD + "numPr") if properties is not None else None
        own, level = value(numbering, "numId"), whole(value(numbering, "ilvl"))
        list_id = style.list_id if own is None else own
        if not list_id or list_id == "0":
            return None
        if level is None:
            level = style.list_level
        if level is None:
            level = self._numbers.level_of_style(list_id, style.list_style or "")
        return list_id, level

    def _table(self, table: etree._Element, ground: str) -> None:
        self._to_depth(0)
        rows = []
        for row in _rows(table):
            if is_on_screen(row):
                rows.append(row)
            else:
                self._inline.leave_out(row)
        laid_out = grid(rows)
        style = self._styles.named(value(table.find(WORD + "tblPr"), "tblStyle") or "")
        table_ground = "?" if style.shaded_table else ground_of(table.find(WORD + "tblPr")) or ground
        flat = any(len(cells) > 1 for cells in laid_out)
        self._out.append("<table>")
        for cells in laid_out:
            self._out.append("<tr>")
            for cell in cells:
                self._out.append(f'<td colspan="{cell.columns}" rowspan="{cell.rows}">')
                if cell.element is not None:
                    cell_ground = ground_of(cell.element.find(WORD + "tcPr")) or table_ground
                    self._cell(cell.element, cell_ground, flat)
                self._out.append("</td>")
            self._out.append("</tr>")
        self._out.append("</table>")

    def _cell(self, element: etree._Element, ground: str, flat: bool) -> None:
        """A cell beside others is one text; a table of one column is a box, whose blocks stay blocks."""
        self._cells += flat
        depth, self._depth = self._depth, 0
        self._blocks(element, ground)
        self._flush(ground)
        self._to_depth(0)
        self._depth = depth
        self._cells -= flat

    def _write_notes(self) -> None:
        """The notes that wait, and those they refer to. A note is written once."""
        while self._waiting:
            kind, number, label = self._waiting.popleft()
            note = self._notes.pop((kind, number), None)
            if note is None:
                continue
            self._inline.begin_story(note)
            self._carried = Line([f"{label} "]) if label else None
            self._blocks(note, WHITE)
            self._flush(WHITE)
            self._to_depth(0)


def _rows(table: etree._Element) -> Iterator[etree._Element]:
    """Rows of this table, also those inside content controls."""
    for child in table:
        if child.tag == WORD + "tr":
            yield child
        elif child.tag in _WRAPPERS:
            yield from _rows(child)
        elif child.tag == WORD + "sdt":
            content = child.find(WORD + "sdtContent")
            if content is not None:
                yield from _rows(content)
