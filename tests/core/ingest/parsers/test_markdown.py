from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableFile
from core.ingest.parsers.markdown import MarkdownParser
from core.ports import ParsedDocument

Check = Callable[[ParsedDocument], ParsedDocument]


def parse(source: str) -> ParsedDocument:
    return MarkdownParser().parse(Path("folder/name.md"), source.encode())


def shown(parsed: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, parsed.text[block.start : block.end]) for block in parsed.blocks]


def test_blocks_are_spans_of_the_source(checked: Check) -> None:
    source = "\n\n# Refunds\n\nTwo lines\nof *text*.\n\n- one\n  - two\n\n```py\nx = 1\n```\n\n> quoted\n\n"
    source += "Sub\n---\n\nend\n"
    parsed = checked(parse(source))
    assert parsed.text == source.strip("\n")
    assert shown(parsed) == [
        ("heading", "# Refunds"),
        ("paragraph", "Two lines\nof *text*."),
        ("list", "- one\n  - two"),
        ("code", "```py\nx = 1\n```"),
        ("paragraph", "> quoted"),
        ("heading", "Sub\n---"),
        ("paragraph", "end"),
    ]
    assert parsed.blocks[-1].provenance == {"lines": ((18, 18),), "section": ("Refunds > Sub",)}
    assert parsed.blocks[-1].section_anchor == "refunds/sub"
    assert parsed.title == "Refunds"


def test_table_rows_tile_the_table(checked: Check) -> None:
    parsed = checked(parse("Limits:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nafter"))
    assert shown(parsed)[1:5] == [
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"),
        ("row", "| a | b |\n|---|---|"),
        ("row", "| 1 | 2 |"),
        ("row", "| 3 | 4 |"),
    ]


def test_headings_are_read_without_markup_and_may_name_their_anchor() -> None:
    parsed = parse("# The `api` *guide* ##\n\n## Limits {#caps}\n\n## [Link](http://x) &amp; more\n\nx")
    headings = [block for block in parsed.blocks if block.kind == "heading"]
    assert [h.provenance["section"][0].split(" > ")[-1] for h in headings] == ["The api guide", "Limits", "Link & more"]
    assert [h.section_anchor for h in headings] == [
        "the-api-guide", "the-api-guide/caps", "the-api-guide/link--more"
    ]  # fmt: skip


def test_headings_inside_quotes_lists_and_code_open_no_section() -> None:
    parsed = parse("# A\n\n> # no\n\n- # no\n\n```\n# no\n```\n\nx")
    assert {block.section_anchor for block in parsed.blocks} == {"a"}


def test_front_matter_is_read_and_left_out(checked: Check) -> None:
    matter = "title: Refund policy\nrevision: 1.10\nacl_deny: [interns]\ntags:\n- a\n"
    parsed = checked(parse(f"---\n{matter}---\n# Other\n\nText"))
    assert parsed.metadata == {
        "title": "Refund policy", "revision": "1.10", "acl_deny": ["interns"], "tags": ["a"]
    }  # fmt: skip
    assert parsed.text == "# Other\n\nText"
    assert parsed.title == "Refund policy"
    assert parsed.blocks[0].provenance["lines"] == ((1, 1),)


@pytest.mark.parametrize("source", ["---\n\nText\n\n---\n\nmore", "---\nText\n---\n", "x\n---\na: b\n---\n"])
def test_a_thematic_break_is_no_front_matter(source: str) -> None:
    parsed = parse(source)
    assert parsed.metadata == {} and "---" in parsed.text


@pytest.mark.parametrize(
    "matter", ["acl_deny: [a", "a: b: c", "acl_deny: [a]\nacl_deny: []", "a: &x b\nc: *x", "x: |\n  " + "y" * 100_001]
)
def test_front_matter_that_cannot_be_read_is_refused(matter: str) -> None:
    with pytest.raises(UnreadableFile, match="front matter"):
        parse(f"---\n{matter}\n---\n\ntext")


@pytest.mark.parametrize(
    "source", ["---\nclassification: restricted\n\n# Title\n", "---\n# labels\nacl_allow:\n  - boss\ntext\n"]
)
def test_front_matter_that_is_not_closed_is_refused_as_it_may_hold_labels(source: str) -> None:
    with pytest.raises(UnreadableFile, match="no closing line"):
        parse(source)


@pytest.mark.parametrize("source", ["---\nAt 12:30, see https://x.y\n", "---\n\n# Head\n\nNote: prose\n", "---\n"])
def test_a_break_before_prose_is_not_taken_for_unclosed_front_matter(source: str) -> None:
    assert parse(f"{source}\nmore").metadata == {}


def test_nothing_but_front_matter_is_empty() -> None:
    with pytest.raises(UnreadableFile, match="empty"):
        parse("---\na: b\n---\n\n")


def test_comments_are_left_out_but_not_in_code(checked: Check) -> None:
    source = "a <!-- one --> b `<!-- code -->`\n\n<!-- block\n\nstill -->\n\n```\n<!-- fence -->\n```\n\nend"
    parsed = checked(parse(source))
    assert "one" not in parsed.text and "still" not in parsed.text
    assert "`<!-- code -->`" in parsed.text and "<!-- fence -->" in parsed.text
    assert parsed.warnings == ("removed 2 HTML comments",)


def test_a_comment_that_also_stands_in_code_is_reported() -> None:
    parsed = parse("`<!-- x -->` and <!-- x -->")
    assert parsed.warnings == ("kept 1 HTML comments that stand beside code",)


def test_title_falls_back_to_the_file_name() -> None:
    assert parse("no heading").title == "name"


@given(st.text(alphabet="#-|`>* ab1\n<!{}[]()_~\t", max_size=120))
def test_no_character_but_comments_and_front_matter_is_lost(source: str) -> None:
    if "<!" in source or source.startswith("---") or not source.strip():
        return
    parsed = parse(source)
    assert "".join(parsed.text.split()) == "".join(source.split())
    previous = 0
    for block in parsed.blocks:
        assert block.start >= (previous if block.kind != "row" else 0)
        previous = block.end if block.kind not in ("row", "table") else previous
        assert parsed.text[block.start : block.end].strip()
