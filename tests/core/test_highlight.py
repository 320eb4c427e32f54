from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.highlight import highlight, merged


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("refunding", "Customers may be refunded. Refunds!", ["refunded", "Refunds"]),
        ("what is the refund policy", "What the policy is", ["policy"]),
        ("who", "Who knows the WHO", ["Who", "WHO"]),
        ("refund", "RefundService handles", ["Refund"]),
        ("RefundService", "see src/RefundService.java", ["RefundService"]),
        ("retry", "max_retry_count", ["retry"]),
        ("ABC123", "型号ＡＢＣ１２３已停产", ["ＡＢＣ１２３"]),
        ("开放平台", "這是開放平台的接口，平台不開", ["開放平台", "平台"]),
        ("申请退款", "申请了退款", ["申请", "退款"]),
        ("退款流程", "退换流水", []),
        ("税", "纳税人缴税", ["税", "税"]),
        ("cafe", "The cafe\u0301 and Café", ["cafe\u0301", "Café"]),
        ("password", "pass\u200bword rotation", ["pass\u200bword"]),
        ("2.3.1", "2.3.1 2.3.10 1.2.3.1", ["2.3.1"]),
        ("M4", "M4 M40", ["M4"]),
        ('"grace period"', "the grace \n period", ["grace \n period"]),
        ("🙂", "hello 🙂 world", ["🙂"]),
        ("ガス", "都市ｶﾞｽ料金", ["ｶﾞｽ"]),
        ("", "anything", []),
        ("??", "what??", []),
    ],
)
def test_marks(query: str, text: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in highlight(text, query)] == marked


TEXTS = st.text(st.sampled_from('abAé1.-_ \n"退款開é\u0301\u200bｶﾞﬁ한🙂'), max_size=30)


@given(TEXTS, TEXTS)
def test_spans_are_sorted_apart_and_inside(text: str, query: str) -> None:
    spans = highlight(text, query)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(before[1] < after[0] for before, after in pairwise(spans))


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)).map(lambda pair: (pair[0], sum(pair)))))
def test_merged_covers_the_same_characters(spans: list[tuple[int, int]]) -> None:
    def covered(some: object) -> set[int]:
        return {index for start, end in some for index in range(start, end)}  # type: ignore[attr-defined]

    assert covered(merged(spans)) == covered(spans)
