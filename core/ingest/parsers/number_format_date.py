"""Day numbers of spreadsheets as dates, times and elapsed times. Months and days of the week have English names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_DAYS_END = 2_958_465.99999  # of the year 9999
_UNITS = re.compile(r"(.)\1*", re.IGNORECASE)

Token = tuple[str, str]


def moment(value: float, date_1904: bool) -> datetime | None:
    """The moment that a day number stands for, to the millisecond; None: none.

    Day 60 of the system of 1900 is a 29 February that never was: days before it are counted from a day later.
    """
    if not 0 <= value < _DAYS_END:
        return None
    first = datetime(1899, 12, 30) if value >= 60 else datetime(1899, 12, 31)
    base = datetime(1904, 1, 1) if date_1904 else first
    try:
        return base + timedelta(milliseconds=round(value * 86_400_000))
    except OverflowError:
        return None


def date_text(value: float, section: Sequence[Token], date_1904: bool) -> str:
    """Empty for a number that is no date."""
    at = moment(value, date_1904)
    if at is None:
        return ""
    units = _units(section)
    # Displayed seconds are rounded where no fraction of them is displayed.
    if not any(kind == "fraction" for kind, _ in units):
        at += timedelta(milliseconds=500 if any(text[0] in "sS" for kind, text in units if kind == "unit") else 1)
    half = any(kind == "ampm" for kind, _ in units)
    return "".join(_unit(units, place, at, half) for place in range(len(units)))


def elapsed_text(value: float, section: Sequence[Token]) -> str:
    """Hours, minutes or seconds beyond the day, as `[h]:mm:ss` writes them; empty beyond the days that have dates."""
    if abs(value) >= _DAYS_END:
        return ""
    total = round(abs(value) * 86_400)
    largest = 0
    parts = []
    units = _units(section)
    for place, (kind, text) in enumerate(units):
        size = _size(units, place) if kind in ("unit", "elapsed") else 0
        if not size:
            parts.append(text if kind == "literal" else "")
            continue
        count = total // size if kind == "elapsed" or not largest else total % largest // size
        largest = size
        parts.append(str(count).zfill(len(text)))
    return ("-" if value < 0 else "") + "".join(parts)


def _units(section: Sequence[Token]) -> list[Token]:
    """Kinds: unit (`yyyy`), elapsed (`h` of `[h]`), fraction (digits of a second), ampm, literal."""
    units: list[Token] = []
    for kind, text in section:
        if kind == "date":
            units += [("unit", match[0]) for match in _UNITS.finditer(text)]
        elif kind == "bracket":
            units += [("elapsed", text)] if text[:1] in "hmsHMS" and text else []
        elif kind == "mark" and text == "0" and units and units[-1][0] in ("point", "fraction"):
            units.append(("fraction", "0"))
        elif kind == "mark" and text == ".":
            units.append(("point", "."))
        elif kind == "space":
            units.append(("literal", " "))
        elif kind in ("quoted", "escaped", "plain", "mark"):
            units.append(("literal", text))
        elif kind == "ampm":
            units.append(("ampm", text))
    return units


def _size(units: Sequence[Token], place: int) -> int:
    letter = units[place][1][0].lower()
    return {"h": 3_600, "m": 60, "s": 1}.get(letter, 0)


def _is_minute(units: Sequence[Token], place: int) -> bool:
    """`m` stands for minutes after hours and before seconds, else for months."""
    letters = [text[0].lower() if kind in ("unit", "elapsed") else "" for kind, text in units]
    before = next((letter for letter in reversed(letters[:place]) if letter), "")
    after = next((letter for letter in letters[place + 1 :] if letter), "")
    return before == "h" or after == "s"


def _unit(units: Sequence[Token], place: int, at: datetime, half: bool) -> str:
    kind, text = units[place]
    if kind == "ampm":
        first, _, second = text.partition("/")
        return second if at.hour >= 12 else first
    if kind == "fraction":
        digits = 1 + sum(1 for _ in _run_before(units, place))
        return f"{at.microsecond // 1000:03d}"[digits - 1 : digits]
    if kind != "unit":
        return text if kind in ("literal", "point") else ""
    letter, width = text[0].lower(), len(text)
    if letter == "m" and not _is_minute(units, place):
        return _month(at, width)
    if letter == "d" and width > 2:
        return _DAYS[at.weekday()][: 3 if width == 3 else None]
    if letter in "ye":
        return f"{at.year % 100:02d}" if letter == "y" and width <= 2 else f"{at.year:04d}"
    hour = (at.hour % 12 or 12) if half else at.hour
    number = {"d": at.day, "h": hour, "m": at.minute, "s": at.second}.get(letter)
    return "" if number is None else str(number).zfill(min(width, 2))


def _run_before(units: Sequence[Token], place: int) -> list[Token]:
    run = []
    while place and units[place - 1][0] == "fraction":
        place -= 1
        run.append(units[place])
    return run


def _month(at: datetime, width: int) -> str:
    if width <= 2:
        return str(at.month).zfill(width)
    name = _MONTHS[at.month - 1]
    return name[:3] if width == 3 else name[:1] if width == 5 else name
