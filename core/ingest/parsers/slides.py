"""Presentations: a section a slide under its title, shapes from top to bottom, tables and charts as rows, then notes.

Left out and counted: hidden slides and shapes, shapes beside the slide, text that cannot be seen. Left out: comments,
descriptions of pictures, numbers and dates in footers, footers that repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lxml import etree

from core.errors import UnreadableFile
from core.ingest.builder import TextBuilder
from core.ingest.clean import clean
from core.ingest.parsers.docx_xml import whole
from core.ingest.parsers.ooxml import Relation, main_part, reference, relations
from core.ingest.parsers.sheets_xml import local
from core.ingest.parsers.slides_design import NO_DESIGN, Design, read_design
from core.ingest.parsers.slides_ground import Checks, Ground, background
from core.ingest.parsers.slides_shapes import (
    Shape,
    is_hidden,
    is_off,
    painted,
    reading_order,
    shapes,
    tree_of,
)
from core.ingest.parsers.slides_text import Left, Paragraph, chart_rows, chart_title, paragraphs, table_rows
from core.ingest.parsers.zip_guard import TOTAL_BYTES_MAX, Container, open_container, parse_xml
from core.ingest.sections import locate
from core.ports import ParsedDocument

_SIZE = (12_192_000, 6_858_000)
_FURNITURE = frozenset({"sldNum", "dt", "hdr"})
_NO_POINTS = frozenset({"pres", "parTrans", "sibTrans"})


class SlideParser:
    name = "slides/1"
    extensions: tuple[str, ...] = (".pptx", ".pptm")

    def parse(self, path: Path, data: bytes) -> ParsedDocument:
        """Raises UnreadableFile: no presentation, protected, damaged, beyond a limit, or without text."""
        deck = _Deck(str(path), open_container(str(path), data))
        deck.read()
        builder = deck.builder
        if not deck.has_text:
            reason = "; ".join(["no text in it", *deck.warnings()])
            raise UnreadableFile(str(path), reason, "slides of pictures need text recognition first")
        return ParsedDocument(
            text=builder.text,
            blocks=locate(builder.text, builder.found),
            title=deck.title or path.stem,
            parser=self.name,
            metadata={},
            warnings=(*deck.warnings(), *builder.warnings),
        )


@dataclass(slots=True)
class _LeftOut:
    slides: int = 0
    hidden_shapes: int = 0
    shapes_beside: int = 0
    runs: Left = field(default_factory=Left)


class _Deck:
    """Reads one presentation, slide by slide."""

    def __init__(self, path: str, container: Container) -> None:
        self.builder = TextBuilder()
        self.title = ""
        self.has_text = False
        self._path = path
        self._container = container
        self._left_out = _LeftOut()
        self._checks = Checks(path)
        self._spent = 0
        self._size = _SIZE
        self._designs: dict[str, Design] = {}
        self._footers: set[str] = set()

    def read(self) -> None:
        part = main_part(self._container, self._path)
        root = self._xml(part)
        if local(root) != "presentation":
            raise UnreadableFile(
                self._path, "not what its extension says: it is no presentation", "rename or convert it"
            )
        size = root.find("{*}sldSz")
        if size is not None:
            self._size = (whole(size.get("cx")) or _SIZE[0], whole(size.get("cy")) or _SIZE[1])
        parts = relations(self._container, part)
        seen: set[str] = set()
        for number, item in enumerate(root.iterfind("{*}sldIdLst/{*}sldId"), 1):
            target = parts.get(
                next((str(value) for name, value in item.attrib.items() if str(name).endswith("}id")), "")
            )
            if target is None or target.target in seen:
                raise UnreadableFile(self._path, f"damaged: slide {number} is missing", "open it and save it anew")
            seen.add(target.target)
            self._read_slide(number, target.target)

    def warnings(self) -> tuple[str, ...]:
        left = self._left_out
        counted = (
            (left.slides, "hidden slide", "hidden slides"),
            (left.hidden_shapes, "hidden shape", "hidden shapes"),
            (left.shapes_beside, "shape beside the slide", "shapes beside the slide"),
            (left.runs.runs, "invisible piece of text", "invisible pieces of text"),
        )
        parts = [f"{number} {one if number == 1 else more}" for number, one, more in counted if number]
        return (f"left out {', '.join(parts)}",) if parts else ()

    def _xml(self, part: str) -> etree._Element:
        """A part, counted as often as it is read."""
        data = self._container.read(part)
        self._spent += len(data)
        if self._spent > TOTAL_BYTES_MAX:
            raise UnreadableFile(self._path, f"holds more than {TOTAL_BYTES_MAX // 1_000_000} MB of text", "divide it")
        return parse_xml(data, self._path, part)

    def _read_slide(self, number: int, part: str) -> None:
        root = self._xml(part)
        if root.get("show") in ("0", "false"):
            self._left_out.slides += 1
            return
        self.builder.place = {"slide": (str(number),), "pages": (str(number),)}
        parts = relations(self._container, part)
        by_kind = {relation.kind: relation.target for relation in parts.values()}
        design = self._design(by_kind.get("slideLayout", ""))
        tree = tree_of(root)
        found = shapes(tree, design.boxes) if tree is not None else ()
        back = background([root, *design.backgrounds], design.names)
        ground = Ground(found, design.filled, back, design.names, self._checks)
        slide = _SlideReader(self, number, ground, parts)
        slide.read(found)
        if "notesSlide" in by_kind:
            self._read_notes(self._xml(by_kind["notesSlide"]))

    def _design(self, layout: str) -> Design:
        if layout not in self._designs:
            self._designs[layout] = read_design(layout, self._container, self._xml) if layout else NO_DESIGN
        return self._designs[layout]

    def _read_notes(self, root: etree._Element) -> None:
        tree = tree_of(root)
        lines = []
        for shape in painted(shapes(tree, {})) if tree is not None else ():
            body = shape.element.find("{*}txBody")
            if shape.role == "body" and body is not None and not is_hidden(shape):
                lines += [item.text for item in paragraphs(body, lambda run: False, self._left_out.runs)]
        if lines:
            self.builder.add("paragraph", "Notes: " + "\n".join(lines))
            self.has_text = True

    # What a reader of a slide reports.

    def left_out(self, shape: Shape) -> bool:
        """Whether a shape is not shown; counted where it holds text."""
        hidden = is_hidden(shape)
        beside = shape.kind != "grpSp" and is_off(shape.box, *self._size)
        if (hidden or beside) and _has_text(shape):
            self._left_out.hidden_shapes += hidden
            self._left_out.shapes_beside += beside and not hidden
        return hidden or beside

    @property
    def runs(self) -> Left:
        return self._left_out.runs

    def part(self, relation: Relation) -> etree._Element:
        return self._xml(relation.target)

    def is_new_footer(self, text: str) -> bool:
        new = text not in self._footers
        self._footers.add(text)
        return new


class _SlideReader:
    def __init__(self, deck: _Deck, number: int, ground: Ground, parts: dict[str, Relation]) -> None:
        self._deck = deck
        self._number = number
        self._ground = ground
        self._parts = parts

    def read(self, found: Sequence[Shape]) -> None:
        """The title, then all other shapes in the order of reading."""
        shown = self._shown(found)
        titles = [shape for shape in painted(shown) if shape.placeholder and shape.placeholder[0] == "title"]
        title = next((shape for shape in titles if self._text(shape, Left())), None)
        text = " ".join(clean(" ".join(self._text(title, self._deck.runs)))[0].split()) if title else ""
        self._deck.builder.add("heading", text or f"Slide {self._number}", level=1)
        self._deck.has_text |= bool(text)
        self._deck.title = self._deck.title or text
        self._write(shown, title.element if title else None)

    def _shown(self, found: Sequence[Shape]) -> list[Shape]:
        return [shape for shape in found if not self._deck.left_out(shape)]

    def _text(self, shape: Shape, left: Left) -> list[str]:
        body = shape.element.find("{*}txBody")
        unseen = partial(self._ground.hides, shape=shape)
        return [item.text for item in paragraphs(body, unseen, left)] if body is not None else []

    def _write(self, shown: Sequence[Shape], title: etree._Element | None) -> None:
        for shape in reading_order(shown):
            if shape.kind == "grpSp":
                self._write(self._shown(shape.children), title)
            elif shape.element is title or shape.role in _FURNITURE:
                continue
            elif shape.kind == "graphicFrame":
                self._write_frame(shape)
            else:
                self._write_text(shape)

    def _write_text(self, shape: Shape) -> None:
        body = shape.element.find("{*}txBody")
        if body is None:
            return
        found = paragraphs(body, partial(self._ground.hides, shape=shape), self._deck.runs)
        if not found or (shape.role == "ftr" and not self._deck.is_new_footer(found[0].text)):
            return
        self._write_paragraphs(found, "-" if shape.role in ("obj", "body") and len(found) > 1 else "")

    def _write_paragraphs(self, found: Sequence[Paragraph], default: str) -> None:
        """Runs of paragraphs with a marker as lists, of others as paragraphs."""
        lines: list[str] = []
        marked = False
        for item in found:
            marker = default if item.marker == "?" else item.marker
            if lines and bool(marker) != marked:
                self._add(marked, lines)
                lines = []
            marked = bool(marker)
            indent = "  " * item.level if marked else ""
            head = f"{indent}{marker} " if marked else ""
            lines.append(head + item.text.replace("\n", "\n" + " " * len(head)))
        self._add(marked, lines)

    def _add(self, is_list: bool, lines: Sequence[str]) -> None:
        if lines:
            self._deck.builder.add("list" if is_list else "paragraph", "\n".join(lines))
            self._deck.has_text = True

    def _write_frame(self, shape: Shape) -> None:
        content = shape.element.find("{*}graphic/{*}graphicData")
        child = next(iter(content), None) if content is not None else None
        if child is None:
            return
        writers: dict[str, Callable[[Shape, etree._Element], None]] = {
            "tbl": self._write_table,
            "chart": self._write_chart,
            "relIds": self._write_diagram,
        }
        writer = writers.get(local(child))
        if writer:
            writer(shape, child)

    def _write_table(self, shape: Shape, table: etree._Element) -> None:
        unseen = partial(self._ground.hides_in_cell, shape=shape)
        rows = table_rows(table, unseen, self._deck.runs)
        self._deck.builder.add_rows(rows)
        self._deck.has_text |= bool(rows)

    def _write_chart(self, shape: Shape, mark: etree._Element) -> None:
        relation = self._parts.get(reference(mark))
        if relation is None:
            return
        root = self._deck.part(relation)
        self._add(False, list(filter(None, [chart_title(root)])))
        rows = chart_rows(root)
        self._deck.builder.add_rows(rows)
        self._deck.has_text |= bool(rows)

    def _write_diagram(self, shape: Shape, mark: etree._Element) -> None:
        relation = self._parts.get(reference(mark, "dm"))
        if relation is None:
            return
        found: list[Paragraph] = []
        for point in self._deck.part(relation).iterfind("{*}ptLst/{*}pt"):
            body = point.find("{*}t")
            if body is not None and point.get("type", "node") not in _NO_POINTS:
                found += paragraphs(body, partial(self._ground.hides, shape=shape), self._deck.runs)
        self._write_paragraphs(found, "-")


def _has_text(shape: Shape) -> bool:
    return any((item.text or "").strip() for item in shape.element.iter("{*}t")) or (
        shape.kind == "graphicFrame" and shape.element.find("{*}graphic/{*}graphicData/{*}chart") is not None
    )
