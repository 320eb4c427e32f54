from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ingest.atoms import TENTHS, Measure
from core.ingest.chunk import chunk_document
from core.ingest.parsers.markdown import MarkdownParser
from core.ingest.parsers.plain import PlainParser
from core.ingest.parsers.table import DelimitedParser
from core.ports import ParsedDocument
from core.settings import Chunking
from core.types import Chunk, chunk_hash, chunk_id

SMALL = Chunking(target_chars=80, max_chars=120)


def markdown(source: str) -> ParsedDocument:
    return MarkdownParser().parse(Path("a.md"), source.encode())


def texts(source: str, settings: Chunking = SMALL) -> list[str]:
    return [chunk.indexed_text.rstrip() for chunk in chunk_document("d", markdown(source), settings)]


def words(count: int, start: int = 0) -> str:
    return " ".join(f"w{n:03}" for n in range(start, start + count))


def test_a_chunk_knows_its_place() -> None:
    parsed = markdown("# A\n\nOne.\n\n## B\n\n" + words(15) + ".\n\n### C\n\n" + words(18) + ".\n")
    chunks = chunk_document("doc", parsed, SMALL)
    assert [chunk.section_anchor for chunk in chunks] == ["a", "a/b", "a/b/c"]
    assert chunks[1].provenance == {"lines": ((5, 7),), "section": ("A > B",)}
    assert [chunk.ordinal for chunk in chunks] == [0, 1, 2]
    for chunk in chunks:
        span = parsed.text[chunk.start : chunk.end]
        assert chunk.indexed_text == span and chunk.chunk_hash == chunk_hash(span)
        assert chunk.chunk_id == chunk_id("doc", chunk.start, chunk.end, span)


def test_sections_stay_apart_unless_tiny() -> None:
    assert texts("## A\n\nTiny.\n\n## B\n\nSmall.\n\n## C\n\n" + words(14)) == [
        "## A\n\nTiny.\n\n## B\n\nSmall.",
        "## C\n\n" + words(14),
    ]
    # a large section takes no tiny one along, on either side
    assert len(texts("## A\n\n" + words(10) + "\n\n## B\n\nTiny.")) == 2
    assert len(texts("## A\n\nTiny.\n\n## B\n\n" + words(10))) == 2
    # deeper headings part nothing while there is room
    assert len(texts("# A\n\none two three four five six\n\n### B\n\none two three four five six")) == 1


def test_a_heading_goes_with_what_is_below() -> None:
    source = words(14) + ".\n\n### Deep\n\n#### Deeper\n\n" + words(16) + "."
    assert texts(source)[1].startswith("### Deep\n\n#### Deeper\n\nw000")
    assert texts("# A\n\n## B\n\n### C\n\n" + words(30))[0].startswith("# A\n\n## B\n\n### C\n\nw000")


def test_cuts_prefer_sentences_to_words() -> None:
    sentence = "Refunds take three working days to arrive."
    for text in texts(" ".join([sentence] * 12)):
        assert text.endswith(".") and text.startswith("Refunds")


def test_chinese_is_cut_at_sentences_and_clauses() -> None:
    sentence = "退款申请须在收到商品后三个工作日内提出，逾期不予受理。"
    assert all(text.endswith("。") for text in texts(sentence * 10))
    pieces = texts("退款申请须在收到商品后三个工作日内提出，逾期不予受理，" * 10)
    assert len(pieces) > 3 and all(text.endswith("，") for text in pieces)


def test_a_chinese_chunk_is_about_400_characters() -> None:
    parsed = markdown("退款申请须在收到商品后三个工作日内提出。" * 300)
    sizes = [len(chunk.indexed_text) for chunk in chunk_document("d", parsed, Chunking())]
    assert all(380 <= size <= 500 for size in sizes[:-1])


def test_rows_are_never_cut_and_long_ones_stand_alone() -> None:
    rows = ["a,b"] + [f"{n},value {n}" for n in range(40)] + ["long," + "x" * 500] + ["z,1"]
    parsed = DelimitedParser().parse(Path("a.csv"), "\n".join(rows).encode())
    chunks = chunk_document("d", parsed, SMALL)
    starts = {block.start for block in parsed.blocks if block.kind == "row"}
    assert {chunk.start for chunk in chunks} <= starts
    assert [c.indexed_text.strip() for c in chunks if len(c.indexed_text.strip()) > 120] == ["long | " + "x" * 500]


def test_a_heading_stays_with_an_overlong_row() -> None:
    row = "| " + "x" * 300 + " |\n|---|"
    assert texts("text " * 20 + "\n\n### Table\n\n" + row)[-1] == "### Table\n\n" + row


def test_code_keeps_its_indent() -> None:
    code = "```\ndef f():\n" + "".join(f"    line = {n:03}\n" for n in range(20)) + "```"
    pieces = texts(code)
    assert len(pieces) > 2 and all(piece.startswith("    line") for piece in pieces[1:-1])


def test_hard_cuts_spare_what_belongs_together() -> None:
    for unit in ("e\u0301", "👩\u200d💻", "🇫🇷", "क्ष", "👍🏽"):
        chunks = chunk_document("d", PlainParser().parse(Path("a.txt"), (unit * 200).encode()), SMALL)
        assert len(chunks) > 1
        assert all(len(chunk.indexed_text) % len(unit) == 0 for chunk in chunks), unit


def test_overlap_repeats_whole_sentences() -> None:
    sentences = [f"Sentence number {n} is here." for n in range(20)]
    plain = chunk_document("d", markdown(" ".join(sentences)), SMALL)
    overlapped = chunk_document("d", markdown(" ".join(sentences)), Chunking(80, 120, 40))
    assert [chunk.end for chunk in plain] == [chunk.end for chunk in overlapped]
    for before, chunk in pairwise(overlapped):
        assert before.start < chunk.start < before.end
        assert chunk.indexed_text.startswith("Sentence number") and len(chunk.indexed_text.rstrip()) <= 120


def test_overlap_does_not_cross_a_heading() -> None:
    source = "## A\n\n" + words(18) + ".\n\n## B\n\n" + words(18) + "."
    assert [c.start for c in chunk_document("d", markdown(source), Chunking(80, 120, 60))] == [
        c.start for c in chunk_document("d", markdown(source), SMALL)
    ]


def test_many_headings_without_text_are_still_divided() -> None:
    pieces = texts("\n\n".join(f"### Heading number {n}" for n in range(40)))
    assert len(pieces) > 3 and all(len(piece) <= 120 for piece in pieces)


@pytest.mark.parametrize(
    "text", ["x" * 300_000, "x " * 150_000, "退款，" * 100_000, "a\u0301" * 100_000, "x\n" * 100_000]
)
def test_long_runs_take_linear_time(text: str) -> None:
    chunks = chunk_document("d", PlainParser().parse(Path("a.txt"), text.encode()), Chunking())
    assert len(chunks) > 50


LINE = st.sampled_from(
    [
        "# A",
        "## B",
        "### C",
        "#### D",
        "",
        "",
        "Short line.",
        "- item one",
        "  - inner",
        "```",
        "| a | b |",
        "|---|---|",
        "| 1 | " + "x" * 150 + " |",
        "| 1 | 2 |",
        "退款申请须在三日内提出。逾期不予受理！",
        "word " * 40,
        "x" * 130,
        "    code",
        "> quote",
        "[r]: http://x",
        "한국어 문장입니다. 또 하나.",
        "e\u0301" * 70,
        "---",
        "Two sentences. In one line, with clauses; many.",
    ]
)
SETTINGS = st.sampled_from(
    [SMALL, Chunking(50, 50), Chunking(200, 60), Chunking(60, 300), Chunking(), Chunking(80, 120, 50)]
)


@given(st.lists(LINE, min_size=1, max_size=30).map("\n".join).filter(lambda source: source.strip(" \n-")), SETTINGS)
def test_laws(source: str, settings: Chunking) -> None:
    if source.lstrip("\n").startswith("---"):
        return
    parsed = markdown(source)
    chunks = chunk_document("d", parsed, settings)
    assert chunks == chunk_document("d", parsed, settings)
    _check_order(parsed, chunks, settings)
    _check_rows(parsed, chunks)
    _check_lengths(parsed, chunks, settings)


def _check_order(parsed: ParsedDocument, chunks: tuple[Chunk, ...], settings: Chunking) -> None:
    text = parsed.text
    assert not text[: chunks[0].start].strip() and chunks[-1].end == len(text)
    for before, after in pairwise(chunks):
        if settings.overlap_chars:
            assert before.start < after.start <= before.end < after.end
        else:
            assert after.start == before.end
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    for chunk in chunks:
        assert chunk.indexed_text == text[chunk.start : chunk.end] and chunk.indexed_text.strip()
        last = chunk.start + len(chunk.indexed_text.rstrip())
        lines = (text.count("\n", 0, chunk.start) + 1, text.count("\n", 0, last) + 1)
        assert chunk.provenance["lines"] == (lines,)


def _check_rows(parsed: ParsedDocument, chunks: tuple[Chunk, ...]) -> None:
    for block in parsed.blocks:
        if block.kind == "row":
            assert any(chunk.start <= block.start and block.end <= chunk.end for chunk in chunks)


def _check_lengths(parsed: ParsedDocument, chunks: tuple[Chunk, ...], settings: Chunking) -> None:
    measure = Measure(parsed.text)
    rows = [block for block in parsed.blocks if block.kind == "row"]
    for chunk in chunks:
        length = measure.length(chunk.start, chunk.start + len(chunk.indexed_text.rstrip()))
        if length > settings.max_chars * TENTHS:
            inside = [row for row in rows if chunk.start <= row.start < chunk.end]
            assert len(inside) == 1 and not parsed.text[inside[0].end : chunk.end].strip()
            above = parsed.text[chunk.start : inside[0].start].split("\n")
            assert all(line.startswith("#") or not line.strip() for line in above)


@given(st.lists(LINE, min_size=1, max_size=30).map("\n".join))
def test_no_chunk_ends_with_a_heading(source: str) -> None:
    if source.lstrip("\n").startswith("---") or not source.strip(" \n-"):
        return
    parsed = markdown(source)
    chunks = chunk_document("d", parsed, Chunking())
    headings = {block.end for block in parsed.blocks if block.kind == "heading"}
    for chunk in chunks[:-1]:
        assert chunk.start + len(chunk.indexed_text.rstrip()) not in headings
