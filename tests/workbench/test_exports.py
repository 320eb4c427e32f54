from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.settings import Settings
from core.types import ChunkRef, Passage, SearchResult
from workbench.services import exports
from workbench.services.search_view import SearchView, view_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = st.text(st.sampled_from(list("=+-@＝＠|%\t\r\n ,;\"'`~#<>[]()!a1漢\ud800")), max_size=40)


def _view(*texts: str, query: str = "q") -> SearchView:
    passages = tuple(
        Passage(
            rank=rank,
            evidence_id=f"ev-t-{rank:03d}",
            collection="small",
            document_id="d" * 32,
            path=text,
            title=text,
            source_uri=text,
            start=0,
            end=len(text),
            lines=(1, 2),
            text=text,
            location=text,
            classification="public",
            status="active",
            score=1.0,
            rerank_score=None,
            retrieved_at=NOW,
            chunk_refs=(ChunkRef("c" * 32, "k", "1", "", "sha256:0"),),
        )
        for rank, text in enumerate(texts, start=1)
    )
    result = SearchResult("t", query, ("small",), {"small": 1}, "memory", NOW, passages, None, (), None, {}, (), ())
    return view_of(result, Settings())


@given(st.lists(TEXT, min_size=1, max_size=3))
def test_no_cell_begins_a_formula(texts: list[str]) -> None:
    data = exports.to_csv(_view(*texts))
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert len(rows) == len(texts) + 1
    assert all(len(row) == len(exports.COLUMNS) for row in rows)
    for row in rows[1:]:
        for cell in row:
            assert not cell.lstrip().startswith(("=", "+", "-", "@", "＝", "＠"))
            assert not cell.startswith(("\t", "\r", "\n"))


def test_harmless_cells_stay_as_they_are() -> None:
    assert exports.guarded("Refund policy") == "Refund policy"
    assert exports.guarded(" =1+1") == "' =1+1"
    assert exports.guarded("") == ""


def test_json_is_the_result() -> None:
    view = _view("退款", "x")
    assert json.loads(exports.to_json_file(view)) == view.result.to_dict()


@given(TEXT, TEXT)
def test_markdown_renders_no_document_text(text: str, query: str) -> None:
    tokens = MarkdownIt("commonmark").parse(exports.to_markdown(_view(text, query=query)).decode())
    kinds = {token.type for token in tokens}
    assert kinds <= {"fence", "heading_open", "heading_close", "inline", "paragraph_open", "paragraph_close"}
    children = {child.type for token in tokens for child in token.children or ()}
    assert children <= {"text"}
