from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.ingest.parsers.plain import PlainParser
from core.ports import ParsedDocument


def test_paragraphs_end_at_blank_lines(checked: Callable[[ParsedDocument], ParsedDocument]) -> None:
    data = "\n\n  first\r\nline\r\n \t\r\n第二段\n\n\n\tthird  \n\n"
    parsed = checked(PlainParser().parse(Path("notes/退款.txt"), data.encode()))
    assert [parsed.text[b.start : b.end] for b in parsed.blocks] == ["  first\nline", "第二段", "\tthird"]
    assert parsed.title == "退款"
    assert parsed.blocks[1].provenance == {"lines": ((4, 4),)}


def test_a_long_line_of_spaces_takes_no_time() -> None:
    text = "a\n" + " " * 2_000_000 + "\nb"
    assert len(PlainParser().parse(Path("a.txt"), text.encode()).blocks) == 2
