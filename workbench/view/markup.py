"""Values as inert markup.

Everything that comes from documents, people or addresses is escaped here before it becomes HTML or Markdown. HTML is
built of `p`, `span`, `mark` and `a href="#…"` only; its styles are constants of this file, readable on light and dark.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from workbench.services.document_view import Line
from workbench.services.search_view import AnswerPart, Card

EXCERPT_CHARS = 420

_MARK = "background:rgba(99,102,241,.30);color:inherit;border-radius:2px"
_TEXT = "margin:0;white-space:pre-wrap;overflow-wrap:anywhere"
_TIGHT = "margin:0;overflow-wrap:anywhere"
_FAINT = "opacity:.72"
_STRONG = "font-weight:600"
_NUMBER = "display:inline-block;min-width:3.2em;padding-right:1em;text-align:right;opacity:.55;user-select:none"
_LINE = "margin:0;padding:0 .5em 0 0;white-space:pre-wrap;overflow-wrap:anywhere"
_PASSAGE_LINE = f"{_LINE};background:rgba(99,102,241,.12);box-shadow:inset 3px 0 0 rgb(99,102,241)"

# Controls have no glyph; line and paragraph separators would break lines where the text has none.
_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")


def escaped(text: str) -> str:
    """For the inside of an HTML element or attribute."""
    return html.escape(_shown(text), quote=True)


def plain(text: str) -> str:
    """Text that Markdown shows as it is, in one line: no emphasis, link, image, formula, colour or icon comes of it.

    A word joiner follows `:` and the dot of `www.`, since Streamlit and GFM look for icons, colours and addresses
    once more when escapes are gone.
    """
    line = " ".join(_shown(text).split())
    escaped_line = _MARKDOWN.sub(r"\\\1", line)
    return re.sub(r"\\[:@]", "\\g<0>\u2060", re.sub(r"(?i)(www)\\\.", "\\1\u2060\\.", escaped_line))


def anchor(number: int) -> str:
    return f"passage-{number}"


def marked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Escaped text with the spans (sorted and apart) in `mark`."""
    parts = []
    position = 0
    for start, end in spans:
        parts += [escaped(text[position:start]), f'<mark style="{_MARK}">{escaped(text[start:end])}</mark>']
        position = end
    return "".join([*parts, escaped(text[position:])])


def card_heading(card: Card) -> str:
    passage = card.passage
    first, last = passage.lines
    lines = f"L{first}" if first == last else f"L{first}–{last}"
    place = " · ".join(part for part in (passage.path, passage.location, lines) if part)
    return (
        f'<p id="{anchor(card.number)}" dir="auto" style="{_TIGHT}">'
        f'<span style="{_STRONG}">[{card.number}] {escaped(passage.title)}</span></p>'
        f'<p dir="auto" style="{_TIGHT};{_FAINT};font-size:.87em">{escaped(place)}</p>'
    )


def card_text(card: Card) -> str:
    text, marks = excerpt(card.passage.text, card.marks)
    return f'<p dir="auto" style="{_TEXT}">{marked(text, marks)}</p>'


def also_in(card: Card, label: str) -> str:
    paths = " · ".join(escaped(twin.path) for twin in card.also_in)
    return f'<p style="{_TIGHT};{_FAINT};font-size:.87em">{escaped(label)} <span dir="auto">{paths}</span></p>'


def answer(parts: Sequence[AnswerPart]) -> str:
    """The answer, each citation a link to its card."""
    return f'<p dir="auto" style="{_TEXT};font-size:1.07em">{"".join(map(_answer_part, parts))}</p>'


def line(text: str, *, faint: bool = False) -> str:
    """One paragraph of plain text."""
    return f'<p dir="auto" style="{_TEXT}{";" + _FAINT if faint else ""}">{escaped(text)}</p>'


def title(text: str, below: str) -> str:
    return (
        f'<p dir="auto" style="{_TIGHT};{_STRONG};font-size:1.2em">{escaped(text)}</p>'
        f'<p dir="auto" style="{_TIGHT};{_FAINT}">{escaped(below)}</p>'
    )


def outline(headings: Sequence[tuple[int, str]]) -> str:
    return "".join(
        f'<p style="{_LINE}"><span style="{_NUMBER}">{number}</span><span dir="auto">{escaped(text)}</span></p>'
        for number, text in headings
    )


def document_lines(lines: Sequence[Line]) -> str:
    return "".join(map(_document_line, lines)) or f'<p style="{_LINE}"></p>'


def excerpt(
    text: str, marks: Sequence[tuple[int, int]], limit: int = EXCERPT_CHARS
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The stretch of about `limit` characters that holds most of the marked text, with `…` where it was cut."""
    text_end = len(text)
    if text_end <= limit:
        return _stripped(text, marks)
    begin = _best_window(marks, limit, text_end)
    begin = 0 if begin < limit // 4 else _at_gap(text, begin)
    end = min(text_end, begin + limit)
    inside = [(max(start, begin), min(stop, end)) for start, stop in marks if start < end and stop > begin]
    before, after = ("… " if begin else ""), (" …" if end < text_end else "")
    cut, shifted = _stripped(text[begin:end], [(start - begin, stop - begin) for start, stop in inside])
    return before + cut + after, tuple((start + len(before), stop + len(before)) for start, stop in shifted)


def _best_window(marks: Sequence[tuple[int, int]], limit: int, length: int) -> int:
    """Where a window should begin; a third of what is left over stands before the first mark in it."""
    best, best_weight = 0, -1
    last = weight = 0
    for first, (start, stop) in enumerate(marks):
        while last < len(marks) and marks[last][1] <= start + limit:
            weight += marks[last][1] - marks[last][0]
            last += 1
        if weight > best_weight:
            left_over = limit - (marks[max(first, last - 1)][1] - start)
            best, best_weight = start - max(0, left_over) // 3, weight
        weight -= stop - start if last > first else 0
        last = max(last, first + 1)
    return max(0, min(best, length - limit))


def _at_gap(text: str, position: int) -> int:
    """The beginning of a word or sentence near `position`, if there is one close by."""
    found = re.compile(r"[\s。！？；，、]").search(text, position, position + 40)
    return found.end() if found else position


def _stripped(text: str, marks: Sequence[tuple[int, int]]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Without white space at the ends."""
    shift = len(text) - len(text.lstrip())
    clean = text.strip()
    moved = ((max(0, start - shift), min(len(clean), stop - shift)) for start, stop in marks)
    return clean, tuple((start, stop) for start, stop in moved if start < stop)


def _answer_part(part: AnswerPart) -> str:
    if not part.numbers:
        return escaped(part.text)
    return "".join(f'<a href="#{anchor(number)}">[{number}]</a>' for number in part.numbers)


def _document_line(item: Line) -> str:
    style = _PASSAGE_LINE if item.passage else _LINE
    weight = f";{_STRONG}" if item.heading else ""
    return (
        f'<p dir="auto" style="{style}{weight}"><span style="{_NUMBER}">{item.number}</span>'
        f"{marked(item.text, item.marks)}</p>"
    )


def _shown(text: str) -> str:
    return _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n"))
