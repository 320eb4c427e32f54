"""HTML as a person reads it: headings, paragraphs, lists, code and tables as lines of plain text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from core.errors import UnreadableFile
from core.ingest.builder import TextBuilder
from core.ingest.clean import clean
from core.ingest.decode import decode
from core.ingest.parsers.html_guard import BYTES_MAX, VOID, why_refused
from core.ingest.parsers.html_hidden import hidden_by_sheets, is_hidden
from core.ingest.parsers.html_table import CELLS_MAX, Grid
from core.ingest.parsers.html_walk import VisibleWalk
from core.ingest.sections import Found, locate
from core.ports import ParsedDocument
from core.types import LABEL_KEYS

_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre search section summary table "
    "tbody td tfoot th thead tr ul".split()
)
_LISTS = frozenset("ul ol dl menu dir".split())
_HEADING = re.compile(r"h([1-6])")
_DECLARED = re.compile(
    rb"<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)|<meta[^>]*?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE
)
_XHTML = re.compile(r"<\?xml\b|\bxmlns\s*=")
_SELF_CLOSED = re.compile(r"<([a-zA-Z][\w:-]*)(\s[^<>]*)?/>")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_CJK = "\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_CJK_BREAK = re.compile(rf"(?<=[{_CJK}])[ \t]*[\n\r][ \t\n\r]*(?=[{_CJK}])")
_SPACE = re.compile(r"[ \t\n\r\f\xa0]+")
_LINE_BREAK = "\v"  # stands for <br> until white space is collapsed
_PERMALINKS = frozenset({"", "#", "¶", "§", "🔗"})
_POWER = re.compile(r"[-+−]?\d{1,3}|[nkij]")
# What makes a row a piece of layout rather than of a table, alone or beside text.
_FLOW = "table, h1, h2, h3, h4, h5, h6, pre"
_FLOW_ALONE = "p, div, ul, ol, dl, blockquote, section, article"


class HtmlParser:
    name = "html/1"
    extensions: tuple[str, ...] = (".html", ".htm", ".xhtml")

    def parse(self, path: Path, data: bytes) -> ParsedDocument:
        """Raises UnreadableFile, also for a page that would take too long and for one without visible text."""
        page = read_html(str(path), data)
        if not page.text:
            raise UnreadableFile(str(path), "no visible text in it", "save the page as it is displayed")
        headings = [item for item in page.found if item.kind == "heading"]
        title = page.title or (min(headings, key=lambda item: item.level).title if headings else "")
        return ParsedDocument(
            text=page.text,
            blocks=locate(page.text, page.found),
            title=title or path.stem,
            parser=self.name,
            metadata={},
            language=page.language,
            warnings=page.warnings,
        )


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """What a reader sees of one page."""

    text: str
    """May be empty."""
    found: tuple[Found, ...]
    title: str
    """Of its head; empty: it has none."""
    language: str | None
    warnings: tuple[str, ...]


def read_html(path: str, data: bytes, linked: Callable[[str], str] | None = None) -> HtmlPage:
    """The page in `data`, for other formats that hold pages too; `linked` gives the style sheet that a link names.

    Raises UnreadableFile for a file without text and for a page that would take too long.
    """
    if len(data) > BYTES_MAX:
        raise UnreadableFile(path, f"HTML of more than {BYTES_MAX // 1_000_000} MB", "divide it")
    declared = _DECLARED.search(data[:4096])
    charset = (declared[1] or declared[2]).decode("ascii", "replace") if declared else None
    decoded = decode(path, data, charset)
    source = _as_html(decoded.text)
    refusal = why_refused(source)
    if refusal:
        raise UnreadableFile(path, f"not parsed: {refusal}", "save it anew as plain HTML")
    tree = LexborHTMLParser(source)
    page = _Page(hidden_by_sheets(tree, linked))
    page.read(tree)
    builder = page.builder
    warnings = (*decoded.warnings, *builder.warnings, *page.warnings(), *_labels(tree))
    return HtmlPage(builder.text, tuple(builder.found), _head_title(tree), _language(tree), warnings)


class _Page:
    """Turns the walk into text. Inline text gathers until a block begins or ends, and is then written."""

    def __init__(self, hidden: frozenset[int]) -> None:
        self.builder = TextBuilder()
        self._hidden = hidden
        self._hidden_count = 0
        self._inline: list[str] = []
        self._heading: tuple[int, str] | None = None
        self._pre = 0
        self._lists: list[int] = []
        """Of every open list the number of its next item; 0: it is not numbered."""
        self._marker = ""
        self._in_list_block = False
        self._tables: list[tuple[Grid, list[str]]] = []
        self._cells = 0
        self._capped = False

    def read(self, tree: LexborHTMLParser) -> None:
        if tree.root is None:
            return
        walk = VisibleWalk(tree.root, self._hidden)
        for event, node in walk:
            if event == "text":
                self._inline.append(node.text_content or "")
            elif event == "enter":
                walk.skip = self._enter(node, node.tag or "")
            else:
                self._leave(node.tag or "")
        self._flush()
        self._hidden_count += walk.hidden

    def warnings(self) -> tuple[str, ...]:
        found = [f"left out {self._hidden_count} hidden elements"] if self._hidden_count else []
        if self._capped:
            found.append(f"more than {CELLS_MAX:,} table cells: merged ones were not repeated")
        return tuple(found)

    def _enter(self, node: LexborNode, tag: str) -> bool:
        """Whether to pass over what is inside."""
        if tag in _BLOCKS:
            self._flush()
            return self._enter_block(node, tag)
        if tag == "br":
            self._inline.append("\n" if self._pre else _LINE_BREAK)
        elif tag == "a" and self._heading:
            return node.text().strip() in _PERMALINKS
        elif tag == "sup" and _POWER.fullmatch(node.text().strip()) and node.css_first("a") is None:
            self._inline.append("^")
        elif tag in ("q", "rt"):
            self._inline.append("“" if tag == "q" else "（")
        return False

    def _enter_block(self, node: LexborNode, tag: str) -> bool:
        heading = _HEADING.fullmatch(tag)
        if heading:
            self._heading = (int(heading[1]), _anchor(node))
        elif tag == "pre":
            self._pre += 1
        elif tag in _LISTS:
            if not self._lists:
                self._in_list_block = False
            self._lists.append(_first_number(node) if tag == "ol" else 0)
        elif tag == "li" and self._lists:
            number = self._lists[-1]
            self._marker = f"{number}. " if number else "- "
            self._lists[-1] += bool(number)
        elif tag == "table":
            self._write_rows()
            self._tables.append((Grid(self._cells), []))
        elif tag == "tr" and self._tables and not _is_flow(node):
            self._add_row(node)
            return True
        return False

    def _leave(self, tag: str) -> None:
        if tag in ("q", "rt"):
            self._inline.append("”" if tag == "q" else "）")
        if tag not in _BLOCKS:
            return
        self._flush()
        if _HEADING.fullmatch(tag):
            self._heading = None
        elif tag == "pre":
            self._pre -= 1
        elif tag in _LISTS and self._lists:
            self._lists.pop()
            self._marker = ""
        elif tag == "table" and self._tables:
            self._write_rows()
            self._cells = self._tables.pop()[0].spent

    def _flush(self) -> None:
        raw = "".join(self._inline)
        self._inline.clear()
        text = raw.strip("\n") if self._pre and not self._heading else _collapsed(raw)
        if not text.strip():
            return
        self._write_rows()
        if self._heading:
            level, anchor = self._heading
            self.builder.add("heading", text.replace("\n", " "), level=level, anchor=anchor)
        elif self._pre:
            self.builder.add("code", text)
        elif self._lists:
            self._add_item(text)
            return
        else:
            self.builder.add("paragraph", text)
        self._in_list_block = False

    def _add_item(self, text: str) -> None:
        indent = "  " * (len(self._lists) - 1)
        line = indent + self._marker + text.replace("\n", "\n" + indent + " " * len(self._marker))
        self._marker = " " * len(self._marker)
        if self._in_list_block:
            self.builder.extend(line)
        else:
            before = len(self.builder.found)
            self.builder.add("list", line)
            self._in_list_block = len(self.builder.found) > before

    def _add_row(self, row: LexborNode) -> None:
        grid, rows = self._tables[-1]
        cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
        line = grid.row([cell for cell in cells if not self._is_hidden(cell)], self._cell_text)
        self._cells = grid.spent
        self._capped |= grid.capped
        if line:
            rows.append(line)

    def _is_hidden(self, node: LexborNode) -> bool:
        hidden = node.mem_id in self._hidden or is_hidden(node)
        self._hidden_count += hidden and bool(node.text().strip())
        return hidden

    def _cell_text(self, cell: LexborNode) -> str:
        parts = []
        walk = VisibleWalk(cell, self._hidden)
        for event, node in walk:
            if event == "text":
                parts.append(node.text_content or "")
            elif node.tag == "br" or node.tag in _BLOCKS:
                parts.append(" ")
        self._hidden_count += walk.hidden
        return _collapsed("".join(parts)).replace("\n", " ")

    def _write_rows(self) -> None:
        """The rows so far as one table block."""
        if self._tables and self._tables[-1][1]:
            self.builder.add_rows(self._tables[-1][1])
            self._tables[-1][1].clear()
            self._in_list_block = False


def _as_html(text: str) -> str:
    """XHTML with `<a/>` as `<a></a>`: to HTML the former is an element left open."""
    return _SELF_CLOSED.sub(_closed, text) if _XHTML.search(text[:1000]) else text


def _closed(tag: re.Match[str]) -> str:
    return tag.group() if tag[1].lower() in VOID else f"<{tag[1]}{tag[2] or ''}></{tag[1]}>"


def _collapsed(raw: str) -> str:
    """White space as a browser shows it; a line break between two CJK characters parts nothing."""
    lines = _SPACE.sub(" ", _CJK_BREAK.sub("", raw)).split(_LINE_BREAK)
    return "\n".join(line.strip() for line in lines).strip("\n")


def _is_flow(row: LexborNode) -> bool:
    if row.css_first(_FLOW) is not None:
        return True
    cells = [cell for cell in row.iter() if cell.tag in ("td", "th") and cell.text().strip()]
    return len(cells) == 1 and cells[0].css_first(_FLOW_ALONE) is not None


def _anchor(heading: LexborNode) -> str:
    """The id that links to a heading use: its own, one inside it, or that of the section it opens."""
    own = heading.attributes.get("id")
    if own:
        return own
    inner = heading.css_first("[id], a[name]")
    if inner is not None:
        return inner.attributes.get("id") or inner.attributes.get("name") or ""
    parent = heading.parent
    if parent is not None and parent.tag in ("section", "article", "div"):
        first = next(iter(parent.iter()), None)
        if first is not None and first.mem_id == heading.mem_id:
            return parent.attributes.get("id") or ""
    return ""


def _first_number(ordered: LexborNode) -> int:
    start = ordered.attributes.get("start") or "1"
    return int(start) if start.isascii() and start.isdigit() and 0 < len(start) < 7 else 1


def _head_title(tree: LexborHTMLParser) -> str:
    node = tree.css_first("head > title") or tree.css_first("body > title")
    return _collapsed(clean(node.text())[0]).replace("\n", " ") if node is not None else ""


def _labels(tree: LexborHTMLParser) -> list[str]:
    names = {(node.attributes.get("name") or "").lower() for node in tree.css("meta[name]")}
    return [f"<meta name={name}> is no label; state labels in a sidecar" for name in LABEL_KEYS if name in names]


def _language(tree: LexborHTMLParser) -> str | None:
    attributes = tree.root.attributes if tree.root is not None else {}
    stated = (attributes.get("lang") or attributes.get("xml:lang") or "").strip()
    return stated if _LANGUAGE.fullmatch(stated) else None
