"""What stands in a line of a Word document, as inline HTML: visible text alone, with what it refers to."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from lxml import etree

from core.ingest.parsers.docx_math import linear
from core.ingest.parsers.docx_number_forms import written
from core.ingest.parsers.docx_shapes import boxes_with_grounds
from core.ingest.parsers.docx_styles import Styles, is_invisible
from core.ingest.parsers.docx_xml import ALTERNATIVES, MATH, WORD, chosen, text_of, value

_WRAPPERS = frozenset(
    WORD + name for name in "hyperlink ins moveTo smartTag customXml sdtContent fldSimple dir bdo rubyBase rt".split()
)
_GONE = frozenset({WORD + "del", WORD + "moveFrom"})
_DRAWINGS = frozenset({WORD + "drawing", WORD + "pict", WORD + "object"})
_SPACES = {WORD + "tab": " ", WORD + "ptab": " ", WORD + "br": "<br>", WORD + "cr": "<br>", WORD + "noBreakHyphen": "-"}
_NOTES = {WORD + "footnoteReference": "footnote", WORD + "endnoteReference": "endnote"}
# Of the fonts Wingdings and Symbol the few that carry meaning in running text.
_SYMBOLS = {
    "wingdings": {0x6C: "●", 0x6E: "■", 0x6F: "□", 0xA7: "▪", 0xA8: "□", 0xD8: "➢", 0xE0: "→", 0xE8: "➔", 0xFB: "✗",
                  0xFC: "✓", 0xFD: "☒", 0xFE: "☑"},
    "symbol": {0x61: "α", 0x62: "β", 0x64: "δ", 0x67: "γ", 0x6C: "λ", 0x6D: "μ", 0x70: "π", 0x73: "σ", 0x44: "Δ",
               0x53: "Σ", 0x57: "Ω", 0xA3: "≤", 0xA5: "∞", 0xAE: "→", 0xB0: "°", 0xB1: "±", 0xB3: "≥", 0xB4: "×",
               0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBB: "≈"},
}  # fmt: skip


@dataclass(slots=True)
class Line:
    """A paragraph as it is read: pieces of HTML, and what is to follow the paragraph."""

    pieces: list[str] = field(default_factory=list)
    boxes: list[tuple[etree._Element, str]] = field(default_factory=list)
    """Text boxes, and the colour of the ground they give their text."""
    notes: list[tuple[str, str, str]] = field(default_factory=list)
    """Kind, id and label of notes."""

    @property
    def html(self) -> str:
        return "".join(self.pieces)


class Inline:
    """Reads lines in the order of the document. `hidden` counts passages left out."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self.hidden = 0
        self._was_hidden = False
        self._note_counts = {"footnote": 0, "endnote": 0}
        self._fields: list[bool] = []
        """Of every open field whether its instruction, which is not shown, is being read."""
        self._instructions = 0
        self._fields_whole = True

    def begin_story(self, root: etree._Element) -> None:
        """Before a part or note: fields left open do not reach into it."""
        self._fields, self._instructions = [], 0
        kinds = [char.get(WORD + "fldCharType") for char in root.iter(WORD + "fldChar")]
        self._fields_whole = kinds.count("begin") == kinds.count("end")

    def read(self, paragraph: etree._Element, style: str | None, ground: str, line: Line) -> None:
        """Add what is seen of a paragraph in `style` on `ground` to `line`."""
        self._was_hidden = False
        self._children(paragraph, style, ground, line)

    def _children(self, parent: etree._Element, style: str | None, ground: str, line: Line) -> None:
        for child in parent:
            tag = child.tag
            if tag == WORD + "r":
                self._run(child, style, ground, line)
            elif tag in _WRAPPERS:
                self._children(child, style, ground, line)
            elif tag == WORD + "sdt":
                content = child.find(WORD + "sdtContent")
                if content is not None:
                    self._children(content, style, ground, line)
            elif tag in _GONE:
                self.leave_out(child)
            elif tag in (MATH + "oMath", MATH + "oMathPara"):
                line.pieces.append(escape(linear(child)))
            elif tag == ALTERNATIVES + "AlternateContent":
                branch = chosen(child)
                if branch is not None:
                    self._children(branch, style, ground, line)

    def leave_out(self, element: etree._Element) -> None:
        """Count an element that is not shown, if it has text; neighbours within a paragraph count once."""
        if text_of(element).strip():
            self.hidden += not self._was_hidden
            self._was_hidden = True

    def _run(self, run: etree._Element, style: str | None, ground: str, line: Line) -> None:
        properties = run.find(WORD + "rPr")
        look = self._styles.look(style, properties)
        if is_invisible(look, ground):
            for mark in run.iter(WORD + "fldChar"):
                self._field(mark)
            self.leave_out(run)
            return
        if properties is not None and properties.find(WORD + "del") is not None:
            self.leave_out(run)
            return
        raised = value(properties, "vertAlign") == "superscript"
        before = len(line.pieces)
        for child in run:
            self._piece(child, style, ground, line)
        if "".join(line.pieces[before:]).strip():
            self._was_hidden = False
            if raised:
                line.pieces[before:] = ["<sup>", *line.pieces[before:], "</sup>"]

    def _piece(self, child: etree._Element, style: str | None, ground: str, line: Line) -> None:
        tag = child.tag
        if tag == WORD + "fldChar":
            self._field(child)
        elif self._fields_whole and self._instructions:
            return
        elif tag == WORD + "t":
            line.pieces.append(escape(child.text or "", quote=False))
        elif tag in _SPACES:
            line.pieces.append(_SPACES[tag])
        elif tag == WORD + "sym":
            line.pieces.append(escape(_symbol(child)))
        elif tag in _NOTES:
            self._note(child, _NOTES[tag], line)
        elif tag in _DRAWINGS:
            line.boxes += boxes_with_grounds(child)
        else:
            self._compound(child, style, ground, line)

    def _compound(self, child: etree._Element, style: str | None, ground: str, line: Line) -> None:
        if child.tag == WORD + "ruby":
            self._ruby(child, style, ground, line)
        elif child.tag == ALTERNATIVES + "AlternateContent":
            branch = chosen(child)
            for inner in branch if branch is not None else ():
                self._piece(inner, style, ground, line)

    def _field(self, mark: etree._Element) -> None:
        kind = mark.get(WORD + "fldCharType")
        if kind == "begin":
            self._fields.append(True)
            self._instructions += 1
        elif self._fields and kind in ("separate", "end"):
            self._instructions -= self._fields.pop()
            self._fields += [False] if kind == "separate" else []

    def _note(self, reference: etree._Element, kind: str, line: Line) -> None:
        own_mark = reference.get(WORD + "customMarkFollows", "0") not in ("0", "false", "off")
        label = ""
        if not own_mark:
            self._note_counts[kind] += 1
            label = f"[{written(self._note_counts[kind], 'decimal' if kind == 'footnote' else 'lowerRoman')}]"
        line.pieces.append(label)
        line.notes.append((kind, reference.get(WORD + "id", ""), label))

    def _ruby(self, ruby: etree._Element, style: str | None, ground: str, line: Line) -> None:
        for name, before, after in (("rubyBase", "", ""), ("rt", "（", "）")):
            part = ruby.find(WORD + name)
            inner = Line()
            if part is not None:
                self._children(part, style, ground, inner)
            if inner.html.strip():
                line.pieces += [before, inner.html, after]


def _symbol(element: etree._Element) -> str:
    code = element.get(WORD + "char", "")
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    known = _SYMBOLS.get(element.get(WORD + "font", "").lower(), {})
    if number & 0xFF in known and (number < 0x100 or 0xF000 <= number <= 0xF0FF):
        return known[number & 0xFF]
    shown = 0x20 <= number < 0xD800 or 0xF900 <= number < 0xFFFE
    return chr(number) if shown else ""
