import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.identifiers import contains_exact, count_exact, exact_spans, exact_terms
from core.text import fold, tokens


def phrases(query: str) -> list[str]:
    return [term.phrase for term in exact_terms(query)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what does ERR-4012 mean?", [("err-4012", "code")]),
        ("M4, ABC123 and utf-8", [("m4", "code"), ("abc123", "code"), ("utf-8", "code")]),
        ("型号ＡＢＣ１２３停产的原因是什么", [("abc123", "code")]),
        ("order 20230115 of 2024-01-15", [("20230115", "code"), ("2024-01-15", "code")]),
        ("release 2.3.1 or v1.0", [("2.3.1", "version"), ("1.0", "version")]),
        ("2.3.1-rc1", [("2.3.1-rc1", "version")]),
        ("use RefundService now", [("refundservice", "name")]),
        ("max_retry_count __init__", [("max_retry_count", "name"), ("__init__", "name")]),
        ("config.yaml of com.example.app", [("config.yaml", "name"), ("com.example.app", "name")]),
        ("std::vector in C++", [("std::vector", "name"), ("c++", "name")]),
        ("pass --max-retries here", [("--max-retries", "name")]),
        ("mail me@example.com", [("me@example.com", "name")]),
        ("see /etc/passwd.", [("/etc/passwd", "path")]),
        ("src/Main.java?", [("src/main.java", "path"), ("main.java", "name")]),
        ("https://example.org/a?b=1", [("https://example.org/a?b=1", "path"), ("example.org", "name")]),
        ('the "grace  period" of', [("grace period", "phrase")]),
        ("“宽限期” 「退款」『到账』《民法典》", [(word, "phrase") for word in ("宽限期", "退款", "到账", "民法典")]),
        ("開放平台", [("开放平台", "phrase")]),
        ("退款？", [("退款", "phrase")]),
        ("ERP系统", [("erp系统", "phrase")]),
    ],
)
def test_terms(query: str, expected: list[tuple[str, str]]) -> None:
    assert [(term.phrase, term.kind) for term in exact_terms(query)] == expected


@pytest.mark.parametrize(
    "query",
    [
        "",
        "??? -- !!",
        "what is the refund policy",
        "refund AND NOT policy*",
        "and/or 24/7 km/h TCP/IP",
        "the 1st, 20TH, 1960s, 10kg, a 14-year-old",
        "e.g. the U.S. in 2021, 1.5 or 10-20",
        "state-of-the-art APIs",
        '" " "--"',
        "退",
        "退款流程说明文档怎么写",
        "退款 政策",
    ],
)
def test_plain_words_are_no_terms(query: str) -> None:
    assert exact_terms(query) == ()


def test_source_is_the_form_in_the_query() -> None:
    query = "型号ＡＢＣ１２３与“開放\n 平台”"
    assert [(term.source, term.phrase) for term in exact_terms(query)] == [
        ("開放\n 平台", "开放 平台"),
        ("ＡＢＣ１２３", "abc123"),
    ]


def test_a_term_counts_once() -> None:
    assert phrases("ERR-4012 err-4012 “ERR-4012”") == ["err-4012"]


@pytest.mark.parametrize(
    ("query", "text", "count"),
    [
        ("M4", "The M40 motorway, XM4, M4.5 and m4_x", 0),
        ("M4", "M4. (m4) M4/M4-x", 4),
        ("2.3.1", "2.3.10 1.2.3.1 2.3.1.4 12.3.1 a2.3.1", 0),
        ("2.3.1", "In 2.3.1. And v2.3.1, client-2.3.1.jar", 3),
        ("ERR-4012", "ERR-40123 XERR-4012 ERR_4012 ERR 4012", 0),
        ("ERR-4012", "错误ERR-4012的说明：ｅｒｒ－４０１２", 2),
        ("RefundService", "gitlab://ocp/payment/src/RefundService.java", 1),
        ("RefundService", "RefundServiceImpl MyRefundService", 0),
        ('"grace period"', "grace\n  period; a grace period, gracE\u3000Period", 3),
        ('"grace period"', "grace periods, disgrace period, grace, period", 0),
        ("開放平台", "在开放平台上，開放平台", 2),
        ("哈哈", "哈哈哈哈哈", 2),
        ("/etc/passwd", "cat /etc/passwd; /etc/passwd-old", 2),
        ("--max-retries", "x --max-retries=3", 1),
        ("C++", "C++11 and C++", 2),
        ('".5 mm"', "2.5 mm, .5 mm", 1),
        ('"mm 5."', "mm 5.2, mm 5.", 1),
        ('"हि_हि"', "हि_हिन हि_हिा", 0),
    ],
)
def test_whole_matches(query: str, text: str, count: int) -> None:
    (term,) = exact_terms(query)
    folded = fold(text)
    assert count_exact(term, folded) == count
    assert contains_exact(term, folded) is (count > 0)
    assert len(exact_spans(term, folded)) == count


def test_spans_are_of_the_text_as_given() -> None:
    (term,) = exact_terms('"grace period"')
    text = "  a grace \n\t period of\ngrace period"
    assert [text[start:end] for start, end in exact_spans(term, text)] == ["grace \n\t period", "grace period"]


PIECES = st.sampled_from(
    [
        *(
            "M4",
            "M40",
            "2.3.1",
            "1.2",
            "v2",
            "v1.2.3",
            ".5",
            "4",
            "ERR-4012",
            "RefundService",
            "max_retry",
            "_",
            "__",
            "a",
        ),
        *(
            "refunded",
            "policy",
            "C++",
            "R&D",
            "x@y",
            "退款",
            "退",
            "款項",
            "が",
            "か\u3099",
            "한",
            "ั",
            "ि",
            "हि",
            "é",
            "e\u0301",
        ),
        *(
            " ",
            " ",
            "  ",
            "\n",
            ".",
            "-",
            "/",
            "'",
            ":",
            "://",
            "#",
            "+",
            "&",
            "，",
            "🙂",
            "🇩🇪",
            "™",
            "\u200b",
            "ﬁ",
            "①",
            "²",
        ),
    ]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)


@settings(max_examples=400)
@given(before=TEXTS, inner=TEXTS, after=TEXTS, quoted=st.booleans())
def test_what_contains_a_term_has_its_tokens(before: str, inner: str, after: str, quoted: bool) -> None:
    """Postings of `tokens` may be used to look for candidates without losing one."""
    for term in exact_terms(f'"{inner}"' if quoted else inner):
        text = f"{before}{inner}{after}"
        assert term.tokens
        if contains_exact(term, fold(text)):
            assert set(term.tokens) <= set(tokens(text))


@given(TEXTS, TEXTS)
def test_a_term_is_in_its_own_query(before: str, after: str) -> None:
    query = f"{before} {after}"
    for term in exact_terms(query):
        assert contains_exact(term, fold(f"x\n{term.source}\ny"))


@given(TEXTS, TEXTS, TEXTS)
def test_count_contains_and_spans_agree(inner: str, first: str, second: str) -> None:
    folded = fold(f"{first}{inner}{second}{inner}")
    for term in exact_terms(f'"{inner}"'):
        spans = exact_spans(term, folded)
        assert count_exact(term, folded) == len(spans)
        assert contains_exact(term, folded) is bool(spans)
        assert all(" ".join(folded[start:end].split()) == term.phrase for start, end in spans)


@pytest.mark.parametrize(
    "unit", ["a", "a ", "1.", "a-1", "1-", '"a', "「", "a/", "_", "a_", "aA", "::a", "退", ".", "v1."]
)
def test_hostile_queries_and_texts_cost_linear_time(unit: str) -> None:
    """What takes quadratic time here would not end within the time limit of a test."""
    query = unit * (4_000 // len(unit))
    text = fold(unit * (50_000 // len(unit)) + "!")
    long = unit * (280 // len(unit))
    for term in exact_terms(f"{query}!") + exact_terms(f'"{query}!" "{unit}" "{long}"') + exact_terms(long):
        assert count_exact(term, text) == len(exact_spans(term, text))
    assert sum(map(len, tokens(text))) < 10 * len(text)


def test_what_nobody_repeats_to_the_letter_is_no_term() -> None:
    assert phrases(f'"{"word " * 59}"') == [("word " * 59).strip()]
    assert phrases(f'"{"word " * 61}"') == []
