from __future__ import annotations

import pytest

from core.scripts import is_wide


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("退款三天", True),
        ("退款 refund", False),
        ("什么是 API", True),
        ("日本語のテキスト", True),
        ("한국어", True),
        ("refund “three” — days…", False),
        ("Возврат", False),
        ("ERR-4012", False),
        ("🙂🙂", False),
        ("", True),
    ],
)
def test_is_wide(text: str, wide: bool) -> None:
    assert is_wide(text.encode()) is wide


def test_a_text_cut_within_a_character() -> None:
    assert is_wide("退款三天".encode()[:-2])
