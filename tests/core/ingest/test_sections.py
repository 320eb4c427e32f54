from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.ingest.sections import Found, LineIndex, locate, slug


def test_slugs_keep_every_script() -> None:
    assert slug("Refund limits (2024)!") == "refund-limits-2024"
    assert slug("退款政策：时限") == "退款政策时限"
    assert slug("Größe & Gewicht") == "größe--gewicht"
    assert slug("हिन्दी") == "हिन्दी"
    assert slug("***") == "section"


def test_anchors_are_paths_and_unique() -> None:
    titles = [(1, "Guide"), (2, "Limits"), (2, "Limits"), (3, "Limits"), (1, "Guide"), (2, "Limits"), (2, "Limits-1")]
    found = [Found(n, n + 1, "heading", level, title) for n, (level, title) in enumerate(titles)]
    anchors = [block.section_anchor for block in locate("abcdefg", found)]
    assert anchors == [
        "guide", "guide/limits", "guide/limits-1", "guide/limits-1/limits", "guide-1", "guide-1/limits",
        "guide-1/limits-1",
    ]  # fmt: skip


def test_section_path_and_lines() -> None:
    text = "# A\n\nx\ny\n## B\nz"
    found = [
        Found(0, 3, "heading", 1, "A"), Found(5, 8, "paragraph"), Found(9, 13, "heading", 2, "B"),
        Found(14, 15, "paragraph"),
    ]  # fmt: skip
    blocks = locate(text, found)
    assert blocks[1].provenance == {"lines": ((3, 4),), "section": ("A",)}
    assert blocks[3].provenance == {"lines": ((6, 6),), "section": ("A > B",)}
    assert locate("x", [Found(0, 1, "paragraph")])[0].provenance == {"lines": ((1, 1),)}


@given(st.lists(st.tuples(st.integers(1, 6), st.sampled_from(["a", "a-1", "b", "!", "a 1"])), max_size=40))
def test_anchors_of_headings_are_always_unique(headings: list[tuple[int, str]]) -> None:
    found = [Found(n, n + 1, "heading", level, title) for n, (level, title) in enumerate(headings)]
    anchors = [block.section_anchor for block in locate("x" * len(found), found)]
    assert len(set(anchors)) == len(anchors)


@given(st.text(alphabet="a\n", min_size=1))
def test_lines_count_newlines(text: str) -> None:
    index = LineIndex(text)
    assert [index.line(n) for n in range(len(text))] == [text.count("\n", 0, n) + 1 for n in range(len(text))]
