from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.answer.clip import clip

LONG = "The bank was founded in 1890, its head office is in Bergen, it has nine branches, and refunds take three days."


def test_short_text_stays() -> None:
    assert clip(LONG, {}, len(LONG)) == LONG


def test_the_clauses_that_matter_stay() -> None:
    assert clip(LONG, {"refund": 1.0}, 60) == "…it has nine branches, and refunds take three days."
    assert clip(LONG, {"bergen": 1.0}, 40) == "…its head office is in Bergen,…"
    assert clip(LONG, {"1890": 1.0}, 35) == "The bank was founded in 1890,…"


def test_chinese() -> None:
    assert clip("本行成立于一八九〇年，总部设在卑尔根，退款需要三天。", {"退款": 1.0}, 12) == "…退款需要三天。"


def test_without_clauses_words_are_cut() -> None:
    assert clip("word " * 100, {}, 23) == "word word word word…"
    assert clip("字" * 100, {}, 10) == "字" * 8 + "…"


@given(st.text("ab ,，、字.-–", max_size=120), st.integers(3, 60))
def test_no_longer_than_asked_and_a_part_of_the_text(text: str, max_chars: int) -> None:
    got = clip(text, {"a": 1.0, "字": 2.0}, max_chars)
    assert len(got) <= max_chars
    assert got.removeprefix("…").removesuffix("…") in text
