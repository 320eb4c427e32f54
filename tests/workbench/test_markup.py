from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from workbench.services.document_view import Line
from workbench.services.search_view import AnswerPart
from workbench.view import markup

NASTY = st.text(st.sampled_from(list("<>&\"'/=`$*_[]()!:\\ \n\r\u2028\u202e\x00\ud800abc漢字😀")), max_size=60)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def _parsed(body: str) -> _Tags:
    tags = _Tags()
    tags.feed(body)
    tags.close()
    return tags


def _spans(text: str, numbers: list[int]) -> list[tuple[int, int]]:
    places = sorted({number % (len(text) + 1) for number in numbers})
    return [(start, end) for start, end in zip(places[::2], places[1::2], strict=False) if start < end]


@given(NASTY, st.lists(st.integers(0, 1000)))
def test_marked_text_is_the_text_and_nothing_but_marks(text: str, numbers: list[int]) -> None:
    tags = _parsed(markup.marked(text, _spans(text, numbers)))
    assert {tag for tag, _ in tags.seen} <= {"mark"}
    assert tags.text == html.unescape(markup.escaped(text))
    assert len(tags.text) <= len(text)
    markup.marked(text, []).encode("utf-8")


@given(NASTY, NASTY)
def test_only_allowed_tags_and_anchors_come_out(one: str, other: str) -> None:
    lines = [Line(7, one, (0, len(one)), (), True), Line(8, other, (0, 1) if other else None, (), False)]
    body = markup.document_lines(lines) + markup.title(one, other) + markup.outline([(1, one)]) + markup.line(other)
    body += markup.answer([AnswerPart(one), AnswerPart("[1]", (1,)), AnswerPart(other)])
    for tag, attributes in _parsed(body).seen:
        assert tag in ("p", "span", "mark", "a")
        assert set(attributes) <= {"style", "dir", "id", "href"}
        assert attributes.get("href", "#") == "#" or re.fullmatch(r"#passage-[0-9]+", attributes["href"] or "")


@given(NASTY)
def test_plain_text_survives_markdown_as_text(text: str) -> None:
    body = MarkdownIt("commonmark", {"linkify": False}).renderInline(markup.plain(text))
    assert "<" not in body
    shown = html.unescape(body).replace("\u2060", "")
    assert shown == " ".join(markup._shown(text).split())


@pytest.mark.parametrize(
    "text", ["https://evil.example", "www.evil.example", "a@evil.example", ":material/home:", ":red[x]"]
)
def test_what_streamlit_looks_for_after_markdown_is_broken_up(text: str) -> None:
    shown = MarkdownIt().renderInline(markup.plain(text))
    assert not re.search(r"https?://|www\.|\w@\w|:material/|:red\[", shown)


@given(st.text("ab \n。漢", max_size=300), st.lists(st.integers(0, 1000), max_size=12), st.integers(10, 80))
def test_an_excerpt_is_short_and_marks_the_same_words(text: str, numbers: list[int], limit: int) -> None:
    spans = _spans(text, numbers)
    cut, marks = markup.excerpt(text, spans, limit)
    assert len(cut) <= limit + 4
    assert cut.removeprefix("… ").removesuffix(" …") in re.sub(r"\n(?:[ \t]*\n)+", "\n", text)
    assert all(0 <= start < end <= len(cut) for start, end in marks)
    words = {re.sub(r"\s+", "", text[start:end]) for start, end in spans}
    for start, end in marks:
        assert any(re.sub(r"\s+", "", cut[start:end]) in word for word in words)


def test_an_excerpt_shows_where_most_words_are() -> None:
    text = "one " * 200 + "refund takes three days. " + "one " * 200
    start = text.index("refund")
    cut, marks = markup.excerpt(text, [(0, 3), (start, start + 6), (start + 7, start + 12)])
    assert [cut[first:last] for first, last in marks] == ["refund", "takes"]
    assert cut.startswith("… ")
    assert cut.endswith(" …")
