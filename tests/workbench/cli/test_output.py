"""What reaches the terminal: nothing that steers it, nothing wider than it."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.cli.output import harmless, one_line, print_json, table, width, wrapped

TEXTS = st.text(st.characters() | st.sampled_from("\x1b[]m31;\x9b\x07\r\n\t 退款\u202e\u0301"), max_size=200)


@given(TEXTS)
def test_what_is_printed_steers_no_terminal(text: str) -> None:
    shown = harmless(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") and c not in "\n\t"]
    assert not set("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") & set(shown)
    assert harmless(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b2Jgone", "gone"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0\x1b\\after", "after"),
        ("a\x1b(Bb\x1bcc", "abc"),
        ("one\r\ntwo\rthree\x85four", "one\ntwo\nthree\nfour"),
        ("退款 政策\t👍", "退款 政策\t👍"),
    ],
)
def test_escape_sequences_go_and_text_stays(text: str, shown: str) -> None:
    assert harmless(text) == shown


@given(TEXTS, st.integers(2, 60))
def test_wrapped_lines_fit_and_lose_nothing_but_white_space(text: str, columns: int) -> None:
    lines = wrapped(text, "", columns).split("\n")
    assert all(width(line) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(harmless(text).split())


def test_wrapping_keeps_words_and_breaks_between_han_characters() -> None:
    assert wrapped("a refund takes three days", "  ", 14) == "  a refund\n  takes three\n  days"
    assert wrapped("微信支付退款一个工作日", "", 8) == "微信支付\n退款一个\n工作日"
    assert wrapped("微信支付。退款", "", 8) == "微信支\n付。退款"
    assert wrapped("one\n\n  two", "> ", 20) == "> one\n>\n>   two"
    assert wrapped("x" * 25, "", 10) == "xxxxxxxxxx\nxxxxxxxxxx\nxxxxx"


def test_a_table_lines_up_by_width() -> None:
    lines = table(("name", "n"), [("退款", "1"), ("a\nb", "22")]).split("\n")
    assert lines == ["name  n", "退款  1", "a b   22"]


@given(st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_json_reads_back_and_steers_no_terminal(value: dict[str, str]) -> None:
    # capsys lives for a whole test, hypothesis runs many: printed into a file of its own
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) as out:
        print_json(value)
    printed = out.getvalue()
    assert json.loads(printed) == value
    assert not [c for c in printed if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") and c != "\n"]


def test_one_line_is_one_line() -> None:
    assert one_line(" a\n\tb\x1b[1m  c ") == "a b c"
