import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.identifiers import contains_exact, exact_terms
from core.text import (
    fold,
    fold_keeping_case,
    fold_with_offsets,
    glossary_key,
    lines_of,
    query_tokens,
    sentences,
    source_span,
    token_spans,
    tokenizer_fingerprint,
    tokens,
)

GOLDEN = Path(__file__).parents[1] / "golden"

# Characters that fold in every way there is, dense enough for them to meet.
MIXED = st.text(
    st.one_of(
        st.sampled_from("aAbZ019_-./&@'\"#+ \n\t,;:!?éÉßﬁİıøŁ①½²™…’“—‑"),
        st.sampled_from("退款開放平臺薴苧。，「」、　がか\u3099ｶﾞﾊﾟー한\u1112\u1161\u11ab가หนัก"),
        st.sampled_from("e\u0301\u0327\u200b\u200d\u00ad\ufeff\ufe0f\u20e3🙂👍🏽🇩🇪हि\u0940\u064eаЙё\ud800"),
        st.characters(),
    ),
    max_size=40,
)


def golden(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / name).read_text("utf-8").splitlines()]


def matches(query: str, text: str) -> bool:
    shared = set(query_tokens(query, stop_words=True)) & set(tokens(text))
    return bool(shared) or any(contains_exact(term, fold(text)) for term in exact_terms(query))


@pytest.mark.parametrize("case", golden("word_match.jsonl"), ids=lambda case: case["id"])
def test_golden_word_match(case: dict[str, Any]) -> None:
    assert matches(case["query"], case["text"]) is case["match"]


@pytest.mark.parametrize("case", golden("glossary_norm.jsonl"), ids=lambda case: ascii(case["in"]))
def test_golden_glossary_key(case: dict[str, str]) -> None:
    assert glossary_key(case["in"]) == case["out"]


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Ｃａｆé É", "cafe e"),
        ("Café", "cafe"),
        ("STRASSE Straße", "strasse strasse"),
        ("Łódź Ørsted İzmir ısı", "lodz orsted izmir isi"),
        ("Ёлка Άλφα ΣΑΣ", "елка αλφα σασ"),
        ("開放平臺的軟體", "开放平台的软体"),
        ("ｶﾞｷﾞ か\u3099 が か", "ガギ が が か"),
        ("\u1112\u1161\u11ab국", "한국"),
        ("ท่าน हिन्दी", "ท่าน हिन्दी"),
        ("pass\u200bword soft\u00adhyphen \ufeffbom", "password softhyphen bom"),
        ("a\U000e0061b ❤\ufe0f 👩\u200d💻", "ab ❤ 👩💻"),
        ("ERR‑4012 “it’s”", 'err-4012 "it\'s"'),
        ("Windows™ №", "windows  no"),
        ("٣٤", "34"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_fold_is_the_same_for_every_form_of_a_han_character() -> None:
    """薴 is simplified by way of 苧: all three must meet."""
    assert fold("薴") == fold("苧") == fold("苎")


def test_fold_keeps_the_length_of_han() -> None:
    han = "".join(map(chr, range(0x4E00, 0xA000)))
    assert len(fold(han)) == len(han)


@given(MIXED)
def test_fold_twice_is_fold_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(MIXED)
def test_fold_keeping_case_differs_in_case_only(text: str) -> None:
    assert fold(fold_keeping_case(text)) == fold(text)


@given(MIXED)
def test_composed_and_decomposed_fold_alike(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize("keep_case", [False, True])
@given(text=MIXED)
def test_offsets_follow_the_text(text: str, keep_case: bool) -> None:
    folded, offsets = fold_with_offsets(text, keep_case=keep_case)
    assert folded == (fold_keeping_case(text) if keep_case else fold(text))
    assert len(offsets) == len(folded)
    assert list(offsets) == sorted(offsets)
    assert all(0 <= offset < len(text) for offset in offsets)


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("x pass\u200bword y", "password", "pass\u200bword"),
        ("a cafe\u0301.", "cafe", "cafe\u0301"),
        ("der ﬁlter", "filter", "ﬁlter"),
        ("ＡＢＣ１２３", "c12", "Ｃ１２"),
        ("\u00ad退\u00ad款\u00ad", "退款", "退\u00ad款"),
        ("ｶﾞｽ", "ガ", "ｶﾞ"),
        ("這套軟體", "软体", "軟體"),
    ],
)
def test_source_span(text: str, word: str, found: str) -> None:
    folded, offsets = fold_with_offsets(text)
    at = folded.index(word)
    start, end = source_span(text, offsets, at, at + len(word))
    assert text[start:end] == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Customers may be refunded", "custom may be refund"),
        ("RefundService", "refundservic refund servic"),
        ("HTTPServer APIs", "httpserver http server api"),
        ("max_retry_count", "max_retry_count max retri count"),
        ("ERR-4012", "err-4012 err 4012"),
        ("2.3.1 v2.3.1 0.05", "2.3.1 2.3.1 0.05"),
        ("M4 M40", "m4 m40"),
        ("abc123 15kg", "abc123 abc 123 15kg 15 kg"),
        ("high-speed e-mail", "high speed email e mail"),
        ("app/RefundService.java", "app refundservice.java refundservic refund servic java"),
        ("C++ C# C", "c c++ c c# c"),
        ("R&D it's", "r&d r d it s"),
        ("____ __init__", "__init__ init"),
        ("上线ERP系统", "erp 上 线 系 统 上线 系统"),
        ("テスト 한국", "テ ス ト 한 국 テス スト 한국"),
        ("🙂👍🏽 🇩🇪", "🙂 👍 🏽 🇩🇪"),
        ("हिन्दी", "हिन्दी"),
        ("", ""),
        ("?? -- !!", ""),
    ],
)
def test_tokens(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()


@given(MIXED)
def test_tokens_with_spans_are_the_tokens(text: str) -> None:
    cased = fold_keeping_case(text)
    spans = list(token_spans(cased))
    assert sorted(token for token, _, _ in spans) == sorted(tokens(text))
    assert all(0 <= start < end <= len(cased) for _, start, end in spans)


@given(MIXED, MIXED)
def test_tokens_do_not_reach_across_a_line(first: str, second: str) -> None:
    assert sorted(tokens(f"{first}\n{second}")) == sorted([*tokens(first), *tokens(second)])


@example("what is it")
@example("IT部门")
@given(MIXED)
def test_a_query_asks_for_distinct_tokens_that_its_own_text_has(query: str) -> None:
    every = query_tokens(query, stop_words=False)
    fewer = query_tokens(query, stop_words=True)
    assert len(set(every)) == len(every)
    assert set(every) == set(tokens(query))
    assert set(fewer) <= set(every)
    assert bool(fewer) == bool(every) or "'" in fold(query)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what is the refund policy", "refund polici"),
        ("what is it", "what is it"),
        ("IT", "it"),
        ("the WHO guideline", "who guidelin"),
        ("WHO IS THE OWNER", "owner"),
        ("refund AND NOT policy*", "refund polici"),
        ("it's the customer’s plan", "custom plan"),
        ("IT部门", "it 部 部门 门"),
        ("who? who!", "who"),
        ("policy policies", "polici"),
    ],
)
def test_stop_words_leave_a_query_only_while_others_remain(query: str, expected: str) -> None:
    assert query_tokens(query, stop_words=True) == expected.split()


def test_stop_words_can_stay() -> None:
    assert query_tokens("what is the refund policy", stop_words=False) == ["what", "is", "the", "refund", "polici"]


def test_long_compounds_are_cut_short() -> None:
    """A blob of joined words costs its parts, not a token as long as itself."""
    assert max(map(len, tokens("ab1.cd2-" * 5_000))) < 100


def test_fingerprint_names_the_rules_and_the_libraries() -> None:
    assert unicodedata.unidata_version in tokenizer_fingerprint()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Mr. Smith paid 3.5, e.g. to Dr. Who. See Fig. 3 and No. 5! Is 2.3.1 out?",
            ["Mr. Smith paid 3.5, e.g. to Dr. Who.", "See Fig. 3 and No. 5!", "Is 2.3.1 out?"],
        ),
        (
            'He said "no." Then left. Was it J. Doe? No. Yes.',
            ['He said "no."', "Then left.", "Was it J. Doe?", "No.", "Yes."],
        ),
        ("Wait... maybe. Wait... Maybe.", ["Wait... maybe.", "Wait...", "Maybe."]),
        ("one line\ngoes on. And\nends", ["one line\ngoes on.", "And\nends"]),
        ("a title\n\nA text", ["a title", "A text"]),
        ("Items:\n- one\n  more\n- two. Three\n1. Four", ["Items:", "- one\n  more", "- two.", "Three", "1. Four"]),
        ("# Head\nText\n| a | b |\n| c. | d |\nEnd", ["# Head", "Text", "| a | b |", "| c.", "| d |", "End"]),
        (
            "退款是什么？三天到账；否则联系客服。“好！”他说……走了",
            ["退款是什么？", "三天到账；", "否则联系客服。", "“好！”", "他说……", "走了"],
        ),
        ("版本2.3.1已发布。升级ERP.然后重启", ["版本2.3.1已发布。", "升级ERP.", "然后重启"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


@given(st.text(st.sampled_from('ab A1.!?…。；\n-|# "”)）退款eg'), max_size=60))
def test_sentences_cover_all_but_white_space_in_order(text: str) -> None:
    spans = sentences(text)
    covered = 0
    for start, end in spans:
        assert covered <= start < end
        assert text[covered:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        covered = end
    assert text[covered:].strip() == ""


def test_lines_of() -> None:
    text = "one\ntwo\nthree"
    assert lines_of(text, 0, 3) == (1, 1)
    assert lines_of(text, 0, 4) == (1, 1)
    assert lines_of(text, 0, 5) == (1, 2)
    assert lines_of(text, 5, len(text)) == (2, 3)
    assert lines_of(text, 4, 4) == (2, 2)
