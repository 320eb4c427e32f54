"""Values as inert markup.

Everything that comes from documents, people or addresses is escaped here before it becomes HTML or Markdown. HTML is
built of `p`, `span`, `mark` and `a href="#…"` only; its styles are constants of this file, readable on light and dark.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from workbench.services.document_view import Line
from workbench.services.search_view import AnswerPart, Card

EXCERPT_CHARS = 420
LEAD_CHARS = 100
"""How far before its best window an excerpt may begin, to begin with a sentence."""

_MARK = "background:rgba(99,102,241,.30);color:inherit;border-radius:2px"
_TEXT = "margin:0;white-space:pre-wrap;overflow-wrap:anywhere"
_TIGHT = "margin:0;overflow-wrap:anywhere"
# Where a link jumps to, the app's own header would cover the first lines.
_TARGET = "scroll-margin-top:5rem"
_FAINT = "opacity:.72"
_STRONG = "font-weight:600"
_NUMBER = "display:inline-block;width:2.4em;margin-right:1em;text-indent:0;text-align:right;opacity:.6;user-select:none"
_LINE = "margin:0;padding:0 .5em 0 3.9em;text-indent:-3.4em;white-space:pre-wrap;overflow-wrap:anywhere"
_PASSAGE = "background:rgba(99,102,241,.12)"
_PASSAGE_LINE = f"{_LINE};{_PASSAGE};box-shadow:inset 3px 0 0 rgb(99,102,241)"

# Controls have no glyph; line and paragraph separators would break lines where the text has none.
_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_SENTENCE_START = re.compile(r"\n|[.!?]\s+|[。！？；]")
_GAP = re.compile(r"[\s，、。！？；]")
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
        f'<p id="{anchor(card.number)}" dir="auto" style="{_TIGHT};{_TARGET}">'
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
    """The stretch of about `limit` characters with the most different marked words, without empty lines; `…` stands
    where it was cut. The marks come along."""
    text, spans = _without_empty_lines(text, marks)
    if len(text) <= limit:
        return _stripped(text, spans)
    begin = _at_beginning(text, _best_window(text, spans, limit))
    end = begin + limit
    if end < len(text):
        gaps = [found.start() for found in _GAP.finditer(text, end - 30, end)]
        end = gaps[-1] if gaps else end
    inside = [
        (max(start, begin) - begin, min(stop, end) - begin) for start, stop in spans if start < end and stop > begin
    ]
    before, after = ("… " if begin else ""), (" …" if end < len(text) else "")
    cut, shifted = _stripped(text[begin:end], inside)
    return before + cut + after, tuple((start + len(before), stop + len(before)) for start, stop in shifted)


def _best_window(text: str, marks: Sequence[tuple[int, int]], limit: int) -> int:
    """Where a window of `limit` characters should begin; the earliest of the best."""
    words = [text[start:stop].casefold() for start, stop in marks]
    held: dict[str, int] = {}
    best, best_worth, last = 0, (-1, -1), 0
    for first, (start, _) in enumerate(marks):
        while last < len(marks) and marks[last][1] <= start + limit:
            held[words[last]] = held.get(words[last], 0) + 1
            last += 1
        worth = (len(held), last - first)
        if worth > best_worth:
            left_over = limit - (marks[max(first, last - 1)][1] - start)
            best, best_worth = start - max(0, left_over) // 3, worth
        if last > first:
            held[words[first]] -= 1
            if not held[words[first]]:
                del held[words[first]]
        last = max(last, first + 1)
    return max(0, min(best, len(text) - limit))


def _at_beginning(text: str, position: int) -> int:
    """The beginning of a line or sentence a little before `position`, else of a word after it."""
    if position < LEAD_CHARS:
        return 0
    starts = [found.end() for found in _SENTENCE_START.finditer(text, position - LEAD_CHARS, position + 1)]
    if starts:
        return starts[-1]
    found = _GAP.search(text, position, position + 30)
    return found.end() if found else position


def _without_empty_lines(text: str, marks: Sequence[tuple[int, int]]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Runs of line breaks become one; the marks move with their words."""
    parts: list[str] = []
    cuts: list[tuple[int, int]] = []
    position = removed = 0
    for found in _EMPTY_LINES.finditer(text):
        parts.append(text[position : found.start()] + "\n")
        removed += found.end() - found.start() - 1
        cuts.append((found.end(), removed))
        position = found.end()
    parts.append(text[position:])
    ends = [end for end, _ in cuts]

    def moved(place: int) -> int:
        index = bisect_right(ends, place)
        return place - (cuts[index - 1][1] if index else 0)

    whole = "".join(parts)
    spans = ((moved(start), min(moved(stop), len(whole))) for start, stop in marks)
    return whole, tuple((start, stop) for start, stop in spans if start < stop)


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
    """A line wholly in the passage is tinted from edge to edge, else the part of it that is."""
    text = marked(item.text, item.marks)
    whole = item.passage == (0, len(item.text))
    if item.passage and not whole:
        start, end = item.passage
        within = marked(item.text[start:end], [(first - start, last - start) for first, last in item.marks])
        text = f'{escaped(item.text[:start])}<span style="{_PASSAGE}">{within}</span>{escaped(item.text[end:])}'
    style = f"{_PASSAGE_LINE if whole else _LINE}{f';{_STRONG}' if item.heading else ''}"
    return f'<p dir="auto" style="{style}"><span style="{_NUMBER}">{item.number}</span>{text}</p>'


def _shown(text: str) -> str:
    return _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n"))
