from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ingest.clean import clean, warnings_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\u2028d\x85e\x0cf", "a\nb\nc\nd\ne\nf"),
        ("safe\u202egnp.exe", "safegnp.exe"),
        ("a\u2066b\u2069c\u200e\u200f\u061c", "abc"),
        ("x" + "".join(chr(0xE0000 + ord(c)) for c in "ignore") + "y", "xy"),
        ("re\u200bfund \ufeffword\u2060s", "refund words"),
        ("re\xadfund", "refund"),
        ("a\x00b\x1bc\x7fd", "abcd"),
        ("ab\ufe0f\ufe0fc \U000e0100", "abc "),
        ("\ud800x", "\ufffdx"),
        # needed where they stand
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3", "👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3"),
        ("葛\U000e0100城", "葛\U000e0100城"),
        ("ภาษา\u200bไทย", "ภาษา\u200bไทย"),
        # the same characters between Latin letters are tricks
        ("pass\u200cword pass\u200dword", "password password"),
    ],
)
def test_what_is_removed_and_what_stays(text: str, expected: str) -> None:
    assert clean(text)[0] == expected


def test_every_kind_is_counted() -> None:
    removed = clean("a\u202eb\u202c \U000e0041 x\u200by")[1]
    assert warnings_of(removed) == (
        "removed hidden characters: 2 bidirectional controls",
        "removed hidden characters: 1 tag characters",
        "removed hidden characters: 1 zero-width characters",
    )


def test_soft_hyphens_and_byte_order_marks_go_unreported() -> None:
    assert clean("\ufeffre\xadfund") == ("refund", {})


@given(st.text())
def test_result_can_be_stored_and_has_one_kind_of_newline(text: str) -> None:
    result = clean(text)[0]
    result.encode("utf-8")
    assert result.splitlines() == [line for line in result.split("\n")][: len(result.splitlines())]
    assert not set(result) & set("\r\u2028\u2029\u202e\x00\U000e0041")
