from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.answer.quotable import quotable


def pairs(passage: str) -> list[tuple[str, str]]:
    return [(sentence.text, sentence.context) for sentence in quotable(passage)]


def rows(passage: str) -> list[tuple[str, str, str]]:
    return [(sentence.text, sentence.context, sentence.header) for sentence in quotable(passage)]


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
        ("Norway | 200", "Limits"),
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


def test_a_row_knows_its_columns_and_what_introduces_its_table() -> None:
    table = "| Country | Limit |\n|---|---|\n| Norway | 200 |"
    assert rows(f"# Limits\n\nEach day:\n\n{table}\n\nAfter that, ask.") == [
        ("Norway | 200", "Limits Each day:", "Country | Limit"),
        ("After that, ask.", "Limits", ""),
    ]
    assert rows(f"# Limits\n\nHow much? A little.\n\n{table}") == [
        ("A little.", "Limits How much?", ""),
        ("Norway | 200", "Limits", "Country | Limit"),
    ]


def test_rows_without_borders() -> None:
    assert rows("Part | Price\nW1, new | 3.50\nW2. Old | 4") == [
        ("W1, new | 3.50", "", "Part | Price"),
        ("W2. Old | 4", "", "Part | Price"),
    ]
    # from the middle of a table, or one without numbers: nothing says that the first row is a header
    assert rows("W1 | 3.50\nW2 | 4") == [("W1 | 3.50", "", ""), ("W2 | 4", "", "")]
    assert rows("Ann | Bern\nBo | Oslo") == [("Ann | Bern", "", ""), ("Bo | Oslo", "", "")]
    assert rows("Pipe it: cat a | grep b.\nThat is all.") == [
        ("Pipe it: cat a | grep b.", "", ""),
        ("That is all.", "", ""),
    ]


def test_inline_marks_are_taken_off_across_sentences() -> None:
    passage = "**Keep this. And this.** Call `a.b()` or __ask__ `x[1]` now."
    assert [text for text, _ in pairs(passage)] == ["Keep this.", "And this.", "Call a.b() or __ask__ `x[1]` now."]


def squeezed(text: str) -> str:
    """Less what may go: white space, quotation and inline marks."""
    return "".join(text.translate(dict.fromkeys(map(ord, ">`*_"))).split())


@given(st.text("ab。.?: \n|#-=`>1、*_", max_size=80))
def test_what_is_quoted_stands_in_the_passage(passage: str) -> None:
    for sentence in quotable(passage):
        assert sentence.text == " ".join(sentence.text.split()) and sentence.text
        assert squeezed(sentence.text) in squeezed(passage)
