"""Number formats of spreadsheets and charts (ECMA-376, part 1, 18.8.31): a stored number as it is displayed.

Rendered: sections by sign, digits, decimals, scaling, percent, exponent, text around and inside the
digits, currency signs, dates, times and elapsed times. Not rendered: fractions, conditions such as `[>9]`, names of
months and days in other languages than English, eras; such numbers are written plainly, such dates as ISO 8601.
Dates whose form depends on the reader's system are ISO 8601 as well. Plain numbers keep up to 15 digits. Thousands are
not set apart: `9467` is one word to a search, `9,467` would be two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Literal

from core.ingest.parsers.number_format_date import date_text, elapsed_text

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<ampm>AM/PM|A/P|上午/下午)|(?P<exponent>E[+-])|(?P<date>[ymdhsegbYMDHSEGB]+)"
    r"|(?P<text>@)|(?P<mark>[0#?.,%/])|(?P<plain>.)",
    re.IGNORECASE | re.DOTALL,
)
_CODE_MAX = 1_000
_DECIMALS_MAX = 30
_PRECISE = Context(prec=100)
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_CONDITION = re.compile(r"[<>=]")
_ISO_DATE, _ISO_MOMENT = "yyyy-mm-dd", "yyyy-mm-dd hh:mm"
BUILT_IN: Mapping[int, str] = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: "#,##0;-#,##0", 6: "#,##0;-#,##0",
    7: "#,##0.00;-#,##0.00", 8: "#,##0.00;-#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    14: _ISO_DATE, 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm",
    21: "h:mm:ss", 22: _ISO_MOMENT, 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)", 41: '#,##0;(#,##0);"-"', 42: '#,##0;(#,##0);"-"', 43: '#,##0.00;(#,##0.00);"-"',
    44: '#,##0.00;(#,##0.00);"-"', 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    **dict.fromkeys((27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58), _ISO_DATE),
    **dict.fromkeys((32, 33, 34, 35, 55, 56), "h:mm:ss"),
}  # fmt: skip
"""Formats that a file names by number only; without currency signs, which depend on the reader's system."""

Token = tuple[str, str]
"""Kind (a group of _TOKEN) and text."""


@dataclass(frozen=True, slots=True)
class Section:
    """What a code says of numbers of one sign, or of texts."""

    tokens: tuple[Token, ...]
    kind: Literal["general", "date", "elapsed", "digits", "plain", "text"]
    head: str = ""
    """Text before the digits."""
    body: tuple[Token, ...] = ()
    """Marks of digits, and what stands between them."""
    tail: str = ""
    power: int = 0
    """Of ten, by which a number is scaled before it is written."""
    decimals: str = ""
    """Marks after the point."""
    is_simple: bool = False
    """At most one digit is asked for before the point, and nothing but marks stands between digits."""
    asks_for_zero: bool = False
    """Before the point, where there is nothing else."""


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """A parsed code: its sections in order."""

    sections: tuple[Section, ...]
    is_general: bool
    hides_all: bool
    """Neither numbers nor texts are shown, as with `;;;`."""


GENERAL = NumberFormat((Section((("general", "General"),), "general"),), is_general=True, hides_all=False)


def parse_format(code: str) -> NumberFormat:
    """`code` as a file writes it; one that is over-long or beyond what is rendered is General."""
    sections: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(code[:_CODE_MAX]):
        kind = match.lastgroup or ""
        text = match[kind]
        if kind == "plain" and text == ";":
            sections.append([])
        elif kind == "bracket" and _CONDITION.match(text):
            return GENERAL
        else:
            sections[-1].append((kind, text))
    if len(sections) > 4 or (len(sections) == 1 and [kind for kind, _ in sections[0]] in ([], ["general"])):
        return GENERAL
    hides_all = len(sections) > 3 and not any(sections)
    return NumberFormat(tuple(_section(tuple(tokens)) for tokens in sections), is_general=False, hides_all=hides_all)


def _section(tokens: tuple[Token, ...]) -> Section:
    kinds = {kind for kind, _ in tokens}
    if any(kind == "bracket" and _ELAPSED.fullmatch(text) for kind, text in tokens):
        return Section(tokens, "elapsed")
    if "date" in kinds:
        return Section(tokens, "date")
    marks = [index for index, (kind, text) in enumerate(tokens) if kind == "mark" and text in "0#?"]
    if ("mark", "/") in tokens:
        return Section(tokens, "plain")
    if kinds & {"general", "text"}:
        return Section(tokens, "general")
    if not marks:
        return Section(tokens, "text")
    first, last = marks[0], marks[-1]
    if first and tokens[first - 1] == ("mark", "."):
        first -= 1
    body, tail = tokens[first : last + 1], tokens[last + 1 :]
    thousands = next((place for place, token in enumerate(tail) if token != ("mark", ",")), len(tail))
    point = body.index(("mark", ".")) if ("mark", ".") in body else len(body)
    return Section(
        tokens,
        "digits",
        head=_around(tokens[:first], ""),
        body=body,
        tail=_around(tail, ""),
        power=2 * tokens.count(("mark", "%")) - 3 * thousands,
        decimals="".join(text for kind, text in body[point:] if kind == "mark" and text in "0#?")[:_DECIMALS_MAX],
        is_simple=all(kind == "mark" for kind, _ in body) and body[:point].count(("mark", "0")) < 2,
        asks_for_zero=("mark", "0") in body[:point],
    )


def shown_number(value: float, form: NumberFormat, date_1904: bool = False) -> str:
    """`value` as displayed; empty where its section is empty. `date_1904`: day 0 is the first of 1904."""
    if form.is_general:
        return plain_number(value)
    place = 0
    if value < 0 and len(form.sections) > 1:
        place = 1
    elif value == 0 and len(form.sections) > 2:
        place = 2
    section = form.sections[place]
    if section.kind == "digits":
        text = _number(abs(value), section)
        text = f"-{text}" if value < 0 and not place else text
    elif section.kind == "elapsed":
        text = elapsed_text(value, section.tokens) or plain_number(value)
    elif section.kind == "date":
        text = date_text(value, section.tokens, date_1904) or plain_number(value)
    elif section.kind == "plain":
        text = plain_number(value)
    elif section.kind == "general":
        text = _around(section.tokens, plain_number(abs(value) if place else value))
    else:
        text = _around(section.tokens, "")
    return " ".join(text.split())


def shown_text(value: str, form: NumberFormat) -> str:
    """A text as displayed: with what the fourth section puts around it."""
    if len(form.sections) > 3:
        return _around(form.sections[3].tokens, value)
    if len(form.sections) == 1 and any(kind == "text" for kind, _ in form.sections[0].tokens):
        return _around(form.sections[0].tokens, value)
    return value


def plain_number(value: float) -> str:
    """Up to 15 significant digits, without an exponent from 1e-9 up to 1e21."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = format(value, ".15g")
    if "e" in text and 1e-9 <= abs(value) < 1e21:
        return format(Decimal(text), "f")
    return text.replace("e", "E")


def _around(section: tuple[Token, ...], value: str) -> str:
    return "".join(value if kind in ("text", "general") else _literal(kind, text) for kind, text in section)


def _literal(kind: str, text: str) -> str:
    if kind in ("quoted", "escaped", "plain", "date", "ampm"):
        return text
    if kind == "space":
        return " "
    if kind == "bracket" and text.startswith("$"):
        return text[1:].partition("-")[0]
    return text if kind == "mark" and text == "%" else ""


def _number(value: float, section: Section) -> str:
    if value >= 1e21:
        return plain_number(value)
    number = Decimal(format(value, ".15g")).scaleb(section.power, _PRECISE)
    if ("exponent", "E+") in section.body or ("exponent", "E-") in section.body:
        return section.head + _scientific(number, section) + section.tail
    number = number.quantize(Decimal((0, (1,), -len(section.decimals))), ROUND_HALF_UP, _PRECISE)
    if not section.is_simple:
        return section.head + _digits(number, section) + section.tail
    text = format(number, "f")
    if section.decimals.strip("0"):
        text = _without_optional(text, section.decimals)
    if text[0] == "0" and not section.asks_for_zero:
        text = text[1:]
    return section.head + text + section.tail


def _without_optional(text: str, decimals: str) -> str:
    """Without zeros at the end where the code does not ask for them."""
    whole, _, fraction = text.partition(".")
    while fraction and fraction[-1] == "0" and decimals[len(fraction) - 1] != "0":
        fraction = fraction[:-1]
    return f"{whole}.{fraction}" if fraction else whole


def _scientific(number: Decimal, section: Section) -> str:
    body = section.body
    place = next(place for place, (kind, _) in enumerate(body) if kind == "exponent")
    point = body.index(("mark", ".")) if ("mark", ".") in body[:place] else place
    decimals = sum(kind == "mark" and text in "0#?" for kind, text in body[point:place])
    mantissa, _, exponent = format(number, f".{decimals}E").partition("E")
    width = sum(kind == "mark" for kind, _ in body[place:])
    sign = exponent[0] if exponent[0] == "-" or body[place] == ("exponent", "E+") else ""
    return f"{mantissa}E{sign}{exponent[1:].zfill(width)}"


def _digits(number: Decimal, section: Section) -> str:
    whole, _, fraction = _without_optional(format(number, "f"), section.decimals).partition(".")
    body = section.body
    point = body.index(("mark", ".")) if ("mark", ".") in body else len(body)
    between = "".join(_literal(kind, text) for kind, text in body[point:] if kind != "mark")
    return _whole(whole, body[:point]) + (f".{fraction}" if fraction else "") + between


def _whole(digits: str, body: tuple[Token, ...]) -> str:
    """The digits before the point, laid into the marks from the right; what is over stands at the first mark."""
    marks = [text for kind, text in body if kind == "mark" and text in "0#?"]
    digits = digits.lstrip("0").rjust(marks.count("0"), "0")
    if any(token == ("mark", ",") for token in body):
        return digits + "".join(_literal(kind, text) for kind, text in body if kind != "mark")
    parts: list[str] = []
    left = len(marks)
    for kind, text in reversed(body):
        if kind == "mark" and text in "0#?":
            left -= 1
            parts.append(digits if not left else digits[-1:])
            digits = "" if not left else digits[:-1]
        elif kind != "mark":
            parts.append(_literal(kind, text))
    return "".join(reversed(parts))
