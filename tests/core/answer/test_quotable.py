from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.answer.quotable import Sentence, quotable


def pairs(passage: str) -> list[tuple[str, str]]:
    return [(sentence.text, sentence.context) for sentence in quotable(passage)]


def test_markdown() -> None:
    passage = """# Refunds

Refunds take three days. Send the form
by mail, please, and keep a copy of it.

## Limits ##
Each needs:

- [ ] a receipt
- the *original* box
  with its label

| Country | Limit |
|:--------|------:|
| Norway  | 200   |

After that, ask.

```
refund(1)
```
> Quoted words.
"""
    assert pairs(passage) == [
        ("Refunds take three days.", "Refunds"),
        ("Send the form by mail, please, and keep a copy of it.", "Refunds"),
        ("a receipt", "Limits Each needs:"),
        ("the *original* box with its label", "Limits Each needs:"),
        ("Norway | 200", "Limits Country | Limit"),
        ("After that, ask.", "Limits"),
        ("Quoted words.", "Limits"),
    ]


def test_plain_lines() -> None:
    passage = (
        "Opening hours\nMonday to Friday, nine to five, in every branch of\nthe bank.\nPhone: 555 0100\nFax: none\n"
    )
    assert pairs(passage) == [
        ("Monday to Friday, nine to five, in every branch of the bank.", "Opening hours"),
        ("Phone: 555 0100", "Opening hours"),
        ("Fax: none", "Opening hours"),
    ]


def test_chinese_wraps_leave_no_space() -> None:
    passage = "退款规定\n客户应在收到货物之日起七天之内提出退款的书面申请，\n逾期不予受理。退款需要多久？三个工作日。"
    assert pairs(passage) == [
        ("客户应在收到货物之日起七天之内提出退款的书面申请，逾期不予受理。", "退款规定"),
        ("三个工作日。", "退款规定 退款需要多久？"),
    ]


def test_underlined_heading_and_bare_rule() -> None:
    assert pairs("Limits\n======\nAt most 5.\n\n---\n\nNone here.") == [
        ("At most 5.", "Limits"),
        ("None here.", "Limits"),
    ]


def test_nothing() -> None:
    assert quotable("") == quotable("# Only a heading\n") == quotable("```\nx = 1\n") == []


@given(st.text("ab。.?: \n|#-=`>1、", max_size=80))
def test_what_is_quoted_stands_in_the_passage(passage: str) -> None:
    squeezed = "".join(passage.replace(">", "").split())
    for sentence in quotable(passage):
        assert sentence == Sentence(" ".join(sentence.text.split()), sentence.context) and sentence.text
        assert "".join(sentence.text.replace(">", "").split()) in squeezed
