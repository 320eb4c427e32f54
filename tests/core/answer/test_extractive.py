from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answer.citations import parse_citations
from core.answer.extractive import MAX_CHARS, Extract, extract
from tests.support import ROOT

ENGLISH = [
    "# Refund policy\n\nWe sell lamps and chairs. A refund is paid within three working days. "
    "Refunds above 200 EUR need the approval of a manager.",
    "# Shipping\n\nParcels leave the warehouse every morning. Shipping to Norway costs 12 EUR.",
    "# About us\n\nThe company was founded in Bergen in 1890. It employs 40 people.",
]
CHINESE = [
    "# 退款规定\n\n本店出售灯具和椅子。退款将在三个工作日内到账。超过二百欧元的退款须经经理批准。",
    "# 配送\n\n包裹每天早上从仓库发出。寄往挪威的运费为12欧元。",
    "# 关于我们\n\n公司于1890年在卑尔根成立。现有员工40人。",
]


def answered(query: str, passages: list[str]) -> Extract:
    got = extract(query, passages)
    assert got is not None
    return got


@pytest.mark.parametrize(
    ("query", "passages", "first"),
    [
        ("How long does a refund take to be paid?", ENGLISH, "A refund is paid within three working days. [1]"),
        ("who approves refunds above 200 EUR", ENGLISH, "Refunds above 200 EUR need the approval of a manager. [1]"),
        ("What does shipping to Norway cost?", ENGLISH, "Shipping to Norway costs 12 EUR. [2]"),
        ("When was the company founded?", ENGLISH, "The company was founded in Bergen in 1890. [3]"),
        ("退款多久到账？", CHINESE, "退款将在三个工作日内到账。[1]"),
        ("超过二百欧元的退款由谁批准？", CHINESE, "超过二百欧元的退款须经经理批准。[1]"),
        ("寄往挪威的运费是多少？", CHINESE, "寄往挪威的运费为12欧元。[2]"),
        ("公司是什么时候成立的？", CHINESE, "公司于1890年在卑尔根成立。[3]"),
        ("公司是什麼時候成立的？", CHINESE, "公司于1890年在卑尔根成立。[3]"),
    ],
)
def test_the_sentence_that_answers_comes_first(query: str, passages: list[str], first: str) -> None:
    assert answered(query, passages).text.startswith(first)


@pytest.mark.parametrize("query", ["How do I reset my password?", "如何重置登录密码？", "", "???", "🙂"])
@pytest.mark.parametrize("passages", [ENGLISH, CHINESE, [], [""]])
def test_no_answer_where_nothing_covers_the_query(query: str, passages: list[str]) -> None:
    assert extract(query, passages) is None


def test_two_parts_of_a_question_from_two_passages() -> None:
    passages = ["The Atlas pump weighs 12 kg in all versions.", "The Atlas pump needs 230 volts to run at full speed."]
    got = answered("weight in kg and volts of the Atlas pump", passages)
    assert got.citations == (2, 1) or got.citations == (1, 2)
    assert "12 kg" in got.text and "230 volts" in got.text
    assert 0.0 < got.coverage <= 1.0


def test_a_stray_word_elsewhere_brings_no_second_sentence() -> None:
    passages = ["The Atlas pump was tested in Bergen.", "The choir sang in spring, after the rain had stopped."]
    assert answered("Was the Atlas pump tested in Bergen in spring?", passages).citations == (1,)


def test_the_answer_below_a_question_or_a_heading() -> None:
    asked = ["We like questions.\n\nHow do I cancel my subscription?\n\nWrite to us a week before it ends."]
    assert answered("How do I cancel my subscription?", asked).text == "Write to us a week before it ends. [1]"
    headed = ["## Parental leave\n\nTwelve weeks, fully paid.\n\n## Sick leave\n\nFrom the first day on."]
    assert answered("parental leave", headed).text.startswith("Twelve weeks, fully paid. [1]")


def test_a_heading_is_never_the_answer() -> None:
    assert extract("refund policy", ["# Refund policy\n\n", "Refund policy"]) is None


def test_a_table_row_answers() -> None:
    table = ["| Model | Price |\n|---|---|\n| M40 | 200 EUR |\n| M4 | 90 EUR |"]
    assert answered("price of model M4", table).text == "M4 | 90 EUR [1]"


def test_a_row_says_its_columns_with_its_cells() -> None:
    text = (
        "# Travel\n\n| City | Hotel, a night | Meals |\n|---|---|---|\n| London | £180 | £48 |\n| Bath | £135 | £42 |"
        "\n\nThe flat costs nothing, so please ask for it before you book a hotel."
    )
    assert answered("What may a hotel cost in London?", [text]).text.startswith("London | £180 | £48 [1]")
    # but a row about something else is no answer, whatever its columns are called
    assert extract("What may breakfast cost in a hotel in Oslo?", [text.split("\n\nThe flat")[0]]) is None


@pytest.mark.parametrize(
    ("query", "file", "first"),
    [
        ("微信支付退款多久到账？", "policies/退款政策.md", "微信支付、支付宝 | 1 个工作日 | 原路退回[1]"),
        ("礼品卡退款多久到账？", "policies/退款政策.md", "礼品卡 | 10 个工作日 | 补发新的电子礼品卡[1]"),
        ("What may a hotel cost in London?", "policies/travel.md", "London | £180 | £48 [1]"),
        ("How long does a refund to a credit card take?", "policies/refunds.md", "A refund to a debit or credit card"),
    ],
)
def test_questions_of_the_demo(query: str, file: str, first: str) -> None:
    text = (ROOT / "workbench" / "demo" / "documents" / file).read_text("utf-8").split("---\n", 2)[2]
    assert answered(query, [text]).text.startswith(first)


def test_rows_of_a_table_without_borders_answer_one_by_one() -> None:
    table = "Part | Price\nTW-PAD-01 | 11.50\nTW-PAD-02 | 18.50\nTW-PAD-03 | 19.50"
    assert answered("price of TW-PAD-02", [table]).text.startswith("TW-PAD-02 | 18.50 [1]")


def test_markup_is_not_quoted() -> None:
    got = answered("How often is every pack serviced?", ["**Decision:** every pack is serviced every `12` months."])
    assert got.text == "Decision: every pack is serviced every 12 months. [1]"


def test_near_duplicates_are_quoted_once() -> None:
    passages = [
        "Refunds are paid within three days by bank transfer.",
        "Refunds are paid within three days by transfer.",
    ]
    assert answered("How are refunds paid, within how many days?", passages).citations == (1,)


def test_marks_of_the_source_are_not_ours() -> None:
    got = answered("When did the bridge open?", ["The bridge opened in 1932.[2] It is long.", "Other bridges exist."])
    assert got.text == "The bridge opened in 1932. [1]"


def test_code_in_a_sentence_does_not_hide_the_mark() -> None:
    got = answered("key that opens the menu", ["Press ` to open the menu with the key."])
    assert parse_citations(got.text, 1).cited == (1,)


def test_long_sentences_are_cut() -> None:
    long = (
        "The museum, "
        + "which has many rooms, " * 40
        + "opened its doors in 1911, "
        + "and then some more, " * 40
        + "ended."
    )
    got = answered("When did it open its doors?", [long])
    assert "opened its doors in 1911" in got.text
    assert len(got.text) <= MAX_CHARS + len(" [1]")


words = st.lists(
    st.sampled_from(
        ["refund", "paid", "three", "days", "[1]", "`", "[[2]1]", "退款", "到账。", "end.", "\n", "|", "**", "`[1]`"]
    )
)
texts = words.map(" ".join)


@given(texts, st.lists(texts, max_size=4), st.integers(1, 4))
def test_whatever_comes(query: str, passages: list[str], most: int) -> None:
    got = extract(query, passages, max_sentences=most, min_coverage=0.0)
    assert got == extract(query, list(passages), max_sentences=most, min_coverage=0.0)
    if got is not None:
        parsed = parse_citations(got.text, len(passages))
        assert parsed.cited == got.citations and not parsed.unknown
        assert 1 <= len(parsed.marks) <= most
        assert 0.0 <= got.coverage <= 1.0 + 1e-9
