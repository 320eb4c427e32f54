from __future__ import annotations

from collections.abc import Callable

import pytest

from core.ports import ParsedDocument


@pytest.fixture(scope="session")
def checked() -> Callable[[ParsedDocument], ParsedDocument]:
    """Gives its argument back after checking what holds for every parser's result."""
    return _checked


def _checked(parsed: ParsedDocument) -> ParsedDocument:
    text = parsed.text
    assert text and text == text.rstrip() and "\r" not in text
    assert parsed.title and parsed.parser.count("/") == 1
    leaf_end, table_end = 0, 0
    for block in parsed.blocks:
        assert 0 <= block.start < block.end <= len(text)
        assert text[block.start : block.end].strip()
        first, last = block.provenance["lines"][0]
        assert text.count("\n", 0, block.start) + 1 == first
        assert text.count("\n", 0, block.end - 1) + 1 == last
        if block.kind == "row":
            assert block.end <= table_end
        if block.kind == "table":
            table_end = block.end
            assert block.start >= leaf_end
        else:
            assert block.start >= leaf_end
            leaf_end = block.end
    return parsed
