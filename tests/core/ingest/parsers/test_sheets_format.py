from __future__ import annotations

import math
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ingest.parsers.number_format import BUILT_IN, parse_format, plain_number, shown_number, shown_text

NOON = 45_107.5  # 2023-06-30 12:00


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (1234.5, "General", "1234.5"),
        (0.1 + 0.2, "General", "0.3"),
        (123456789012345, "General", "123456789012345"),
        (1e-7, "General", "0.0000001"),
        (9467, r"#,##0\ ;\(#,##0\)", "9467"),
        (-197, r"#,##0\ ;\(#,##0\)", "(197)"),
        (0, '_(* #,##0_);_(* \\(#,##0\\);_(* "—"_);_(@_)', "—"),
        (1234567.891, "#,##0.00", "1234567.89"),
        (2.5, "0", "3"),
        (1.005, "0.00", "1.01"),
        (-2.5, "0.0", "-2.5"),
        (0.256, "0.0%", "25.6%"),
        (0.5, "0.##", "0.5"),
        (12, "0.##", "12"),
        (0.5, "#.00", ".50"),
        (1234567, '#,##0,"K"', "1235K"),
        (1234567, '0.0,,"M"', "1.2M"),
        (7, "0000", "0007"),
        (1234.5, "[$€-407] #,##0.00", "€ 1234.50"),
        (1234.5, '"$"#,##0.00', "$1234.50"),
        (1234.5, "#,##0.00 [$€-407]", "1234.50 €"),
        (3, '0" pieces"', "3 pieces"),
        (5551234, "000-0000", "555-1234"),
        (12345, "0.00E+00", "1.23E+04"),
        (0.25, "# ?/?", "0.25"),
        (5, "[>9]0.0;0", "5"),
        (5, "[Red]0.0", "5.0"),
        (5, ";;;", ""),
        (5, '"text only"', "text only"),
        (NOON, "yyyy-mm-dd hh:mm", "2023-06-30 12:00"),
        (NOON, "dd/mm/yy", "30/06/23"),
        (NOON, "d. mmmm yyyy", "30. June 2023"),
        (NOON, "[$-409]ddd, mmm d", "Fri, Jun 30"),
        (NOON, 'yyyy"年"m"月"d"日"', "2023年6月30日"),
        (NOON, "yyyy年m月d日", "2023年6月30日"),
        (NOON, "h:mm AM/PM", "12:00 PM"),
        (0.999_999, "hh:mm:ss", "00:00:00"),
        (0.5 + 1.5 / 86_400, "mm:ss.0", "00:01.5"),
        (1.5, "[h]:mm", "36:00"),
        (1 / 24, "[mm]:ss", "60:00"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (-1, "yyyy-mm-dd", "-1"),
        (1e9, "yyyy-mm-dd", "1000000000"),
    ],
)
def test_numbers_as_displayed(value: float, code: str, shown: str) -> None:
    assert shown_number(value, parse_format(code)) == shown


def test_days_from_1904() -> None:
    assert shown_number(0, parse_format("yyyy-mm-dd"), date_1904=True) == "1904-01-01"


def test_texts_as_displayed() -> None:
    assert shown_text("a", parse_format("0.00")) == "a"
    assert shown_text("a", parse_format('0;0;0;"Item "@')) == "Item a"
    assert shown_text("a", parse_format("@")) == "a"
    assert parse_format(";;;").hides_all and not parse_format("0;;").hides_all


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(sorted(set(BUILT_IN.values()))))
def test_built_in_formats_show_every_number(value: float, code: str) -> None:
    assert shown_number(value, parse_format(code))


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_decimals_are_right_to_half_a_unit(value: float, decimals: int) -> None:
    shown = shown_number(value, parse_format("#,##0" + ("." + "0" * decimals if decimals else "")))
    assert math.isclose(float(shown.replace(",", "")), value, rel_tol=1e-14, abs_tol=0.500001 * 10.0**-decimals)


@given(st.floats(-1e20, 1e20))
def test_plain_numbers_keep_15_digits(value: float) -> None:
    assert math.isclose(float(plain_number(value)), value, rel_tol=1e-14, abs_tol=1e-300)


@given(st.datetimes(datetime(1900, 3, 1), datetime(9999, 12, 31)))
def test_days_and_back(at: datetime) -> None:
    at = at.replace(microsecond=0)
    days = (at - datetime(1899, 12, 30)) / timedelta(days=1)
    assert shown_number(days, parse_format("yyyy-mm-dd hh:mm:ss")) == at.isoformat(" ")


@given(
    st.text(alphabet='0#?.,%/E+-;ymdhs@"\\_*[]$ Aa年', max_size=14), st.floats(allow_nan=False, allow_infinity=False)
)
def test_no_code_raises(code: str, value: float) -> None:
    form = parse_format(code)
    assert isinstance(shown_number(value, form), str)
    assert isinstance(shown_text("x", form), str)
