"""Markdown: the canonical text is the source without front matter and comments, so that no mark-up is lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.errors import UnreadableFile
from core.ingest.decode import decode
from core.ingest.parsers.plain import without_blank_ends
from core.ingest.sections import Found, Kind, LineIndex, locate
from core.ingest.yaml_strict import load_yaml
from core.ports import ParsedDocument

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FRONT_MATTER_MAX = 100_000
_UNCLOSED = re.compile(r"---[ \t]*\n(?:#.*\n)*[\w-]+[ \t]*:(?:[ \t]|$)", re.MULTILINE)
"""A key straight after the opening line, where no line closes: a break is followed by prose."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING_ID = re.compile(r"[ \t]*\{#([^\s{}]+)\}$")
_KINDS: Mapping[str, Kind] = {
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "fence": "code",
    "code_block": "code",
}


class MarkdownParser:
    name = "markdown/1"
    extensions: tuple[str, ...] = (".md", ".markdown", ".mdown", ".mkd")

    def parse(self, path: Path, data: bytes) -> ParsedDocument:
        """Raises UnreadableFile, also for front matter that cannot be read: it may hold access labels."""
        decoded = decode(str(path), data)
        metadata, body = _front_matter(str(path), decoded.text)
        body, warnings = _without_comments(body)
        text = without_blank_ends(body)
        if not text:
            raise UnreadableFile(str(path), "empty: nothing but front matter", "remove it, or write its text")
        found = list(_blocks(text))
        return ParsedDocument(
            text=text,
            blocks=locate(text, found),
            title=_title(metadata, found) or path.stem,
            parser=self.name,
            metadata=metadata,
            warnings=(*decoded.warnings, *warnings),
        )


def _front_matter(path: str, text: str) -> tuple[dict[str, Any], str]:
    """The mapping between two `---` lines at the very top, and what follows. A thematic break is no front matter."""
    match = _FRONT_MATTER.match(text)
    remedy = "mend it, or begin the file with a blank line if it is none"
    if not match:
        if _UNCLOSED.match(text):
            raise UnreadableFile(path, "front matter has no closing line ---", remedy)
        return {}, text
    if len(match[1]) > _FRONT_MATTER_MAX:
        raise UnreadableFile(path, f"front matter is longer than {_FRONT_MATTER_MAX} characters", remedy)
    try:
        values = load_yaml(match[1])
    except ValueError as error:
        raise UnreadableFile(path, f"front matter is not readable as YAML: {error}", remedy) from None
    if values is None:
        return {}, text[match.end() :]
    return (values, text[match.end() :]) if isinstance(values, dict) else ({}, text)


def _without_comments(text: str) -> tuple[str, tuple[str, ...]]:
    """`text` without HTML comments, which no reader sees. Those in code stay, as they are read there."""
    if "<!--" not in text:
        return text, ()
    lines = LineIndex(text)
    cuts: list[tuple[int, int]] = []
    kept = 0
    for token in MarkdownIt("commonmark", {"html": True}).enable("table").parse(text):
        if not token.map or token.type not in ("html_block", "inline"):
            continue
        start, end = _span(text, lines, token.map)
        comments = list(_COMMENT.finditer(text, start, end))
        if token.type == "inline":
            real = Counter(child.content for child in token.children or () if child.type == "html_inline")
            there = Counter(match.group() for match in comments)
            sure = [match for match in comments if real[match.group()] == there[match.group()]]
            kept += sum(count for comment, count in real.items() if comment.startswith("<!--")) - len(sure)
            comments = sure
        cuts += [match.span() for match in comments]
    warnings = [f"removed {len(cuts)} HTML comments"] if cuts else []
    if kept:
        warnings.append(f"kept {kept} HTML comments that stand beside code")
    return _cut(text, cuts), tuple(warnings)


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> str:
    parts, position = [], 0
    for start, end in sorted(spans):
        parts.append(text[position:start])
        position = max(position, end)
    return "".join([*parts, text[position:]])


def _blocks(text: str) -> Iterator[Found]:
    lines = LineIndex(text)
    tokens = MarkdownIt("commonmark", {"html": False}).enable("table").parse(text)
    for place, token in enumerate(tokens):
        if token.level or not token.map or token.nesting < 0:
            continue
        start, end = _span(text, lines, token.map)
        if token.type == "heading_open":
            title = _plain(tokens[place + 1].children or ())
            named = _HEADING_ID.search(title)
            anchor = named[1] if named else ""
            yield Found(start, end, "heading", int(token.tag[1:]), _HEADING_ID.sub("", title), anchor)
        elif token.type == "table_open":
            yield Found(start, end, "table")
            yield from _rows(text, lines, tokens[place:], end)
        elif end > start:
            yield Found(start, end, _KINDS.get(token.type, "paragraph"))


def _rows(text: str, lines: LineIndex, tokens: Sequence[Token], table_end: int) -> Iterator[Found]:
    """Rows that tile the table: the line of dashes goes with the header."""
    starts = []
    for token in tokens:
        if token.type == "table_close":
            break
        if token.type == "tr_open" and token.map:
            starts.append(lines.start(token.map[0] + 1))
    for start, following in zip(starts, [*starts[1:], table_end], strict=True):
        yield Found(start, start + len(text[start:following].rstrip()), "row")


def _span(text: str, lines: LineIndex, line_map: Sequence[int]) -> tuple[int, int]:
    """Offsets of a token's lines, without the white space after them."""
    start = lines.start(line_map[0] + 1)
    end = lines.start(line_map[1] + 1) if line_map[1] < lines.count else len(text)
    return start, start + len(text[start:end].rstrip())


def _plain(children: Sequence[Token]) -> str:
    """What is read of inline mark-up."""
    parts = [" " if child.type in ("softbreak", "hardbreak") else child.content for child in children]
    return " ".join("".join(parts).split())


def _title(metadata: Mapping[str, Any], found: Sequence[Found]) -> str:
    stated = metadata.get("title")
    if isinstance(stated, str) and stated.strip():
        return stated.strip()
    headings = [item for item in found if item.kind == "heading" and item.title]
    return min(headings, key=lambda item: item.level).title if headings else ""
