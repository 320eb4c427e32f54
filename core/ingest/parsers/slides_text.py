"""Text, tables and charts of a slide's shapes as lines."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from lxml import etree

from core.ingest.parsers.docx_xml import whole
from core.ingest.parsers.number_format import NumberFormat, parse_format, shown_number
from core.ingest.parsers.sheets_xml import local

_LEVEL_MAX = 8
_POINTS_MAX = 20_000
_SERIES_MAX = 255  # as the programs that draw charts have it
_REPEATED_MAX = 200

IsUnseen = Callable[[etree._Element], bool]
"""Tells of a run whether it cannot be seen."""


@dataclass(slots=True)
class Left:
    """Runs of text that were left out."""

    runs: int = 0


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str
    level: int
    marker: str
    """`-`, `1.` or empty, as far as the paragraph itself says; `?`: it does not."""


def paragraphs(body: etree._Element, unseen: IsUnseen, left: Left) -> list[Paragraph]:
    """Those with text. Numbers of numbered ones count on while their level stays."""
    found: list[Paragraph] = []
    numbers: dict[int, int] = {}
    for element in body.iterfind("{*}p"):
        text = _text(element, unseen, left)
        if not text:
            continue
        properties = element.find("{*}pPr")
        level = min(whole(properties.get("lvl")) or 0, _LEVEL_MAX) if properties is not None else 0
        marker = _marker(properties)
        numbers = {key: number for key, number in numbers.items() if key < level or (key == level and marker == "1.")}
        if marker == "1.":
            start = properties.find("{*}buAutoNum") if properties is not None else None
            first = (whole(start.get("startAt")) if start is not None else None) or 1
            numbers[level] = numbers.get(level, first - 1) + 1
            marker = f"{numbers[level]}."
        found.append(Paragraph(text, max(level, 0), marker))
    return found


def _marker(properties: etree._Element | None) -> str:
    for child in properties if properties is not None else ():
        name = local(child)
        if name in ("buChar", "buBlip"):
            return "-"
        if name == "buAutoNum":
            return "1."
        if name == "buNone":
            return ""
    return "?"


def _text(paragraph: etree._Element, unseen: IsUnseen, left: Left) -> str:
    """Line breaks as such; formulas as their letters."""
    parts: list[str] = []
    for element in paragraph:
        name = local(element)
        if name == "br":
            parts.append("\n")
        elif name in ("r", "fld"):
            text = element.findtext("{*}t") or ""
            if text.strip() and unseen(element):
                left.runs += 1
            else:
                parts.append(text)
        elif name not in ("pPr", "endParaRPr"):  # a formula, in one of two readings
            choice = element.find("{*}Choice")
            parts += [item.text or "" for item in (element if choice is None else choice).iter("{*}t")]
    return "\n".join(" ".join(line.split()) for line in "".join(parts).replace("\v", "\n").split("\n")).strip("\n")


def table_rows(
    table: etree._Element, unseen: Callable[[etree._Element, etree._Element], bool], left: Left
) -> list[str]:
    """`a | b | c` a row; a merged cell stands wherever it reaches. `unseen` tells of a run in a cell."""
    rows: list[str] = []
    above: list[str] = []
    for row in table.iterfind("{*}tr"):
        values: list[str] = []
        own = 0
        for place, cell in enumerate(row.iterfind("{*}tc")):
            if cell.get("vMerge") in ("1", "true"):
                values.append(above[place] if place < len(above) else "")
            elif cell.get("hMerge") in ("1", "true"):
                values.append(values[-1] if values else "")
            else:
                text = _cell(cell, unseen, left)
                own += bool(text)
                values.append(text)
        above = [value if len(value) <= _REPEATED_MAX else "" for value in values]
        if own == 1 and len(set(filter(None, values))) == 1 and values[0]:
            values = values[:1]
        line = _line(values)
        if own and line:
            rows.append(line)
    return rows


def _cell(cell: etree._Element, unseen: Callable[[etree._Element, etree._Element], bool], left: Left) -> str:
    body = cell.find("{*}txBody")
    if body is None:
        return ""
    return " ".join(" ".join(p.text.split()) for p in paragraphs(body, lambda run: unseen(cell, run), left))


def chart_title(root: etree._Element) -> str:
    title = root.find("{*}chart/{*}title")
    texts = [item.text or "" for item in title.iter("{*}t", "{*}v")] if title is not None else []
    return " ".join("".join(texts).split())


def chart_rows(root: etree._Element) -> list[str]:
    """The data a chart was drawn from: a row a category, a column a series."""
    columns: list[dict[int, str]] = []
    names = [""]
    categories: dict[int, str] = {}
    for series in islice(root.iterfind("{*}chart/{*}plotArea/*/{*}ser"), _SERIES_MAX):
        names.append(" ".join(_points(series.find("{*}tx")).values()))
        own = _points(_first(series, "cat", "xVal"))
        if categories and own and own != categories:  # of another axis: as a column of its own
            names.insert(-1, "")
            columns.append(own)
        else:
            categories = categories or own
        columns.append(_points(_first(series, "val", "yVal")))
    places = sorted({place for column in (categories, *columns) for place in column})[:_POINTS_MAX]
    rows = [[categories.get(place, ""), *(column.get(place, "") for column in columns)] for place in places]
    lines = (_line(row) for row in ([names, *rows] if any(names) else rows))
    return [line for line in lines if line]


def _line(values: list[str]) -> str:
    """`a | b | c`; empty values at the end are left out."""
    while values and not values[-1]:
        values.pop()
    return " | ".join(values)


def _first(series: etree._Element, *names: str) -> etree._Element | None:
    return next((child for name in names if (child := series.find(f"{{*}}{name}")) is not None), None)


def _points(data: etree._Element | None) -> dict[int, str]:
    """Values by place, numbers as displayed; of categories with levels the innermost."""
    if data is None:
        return {}
    holder = data.find("{*}multiLvlStrRef/{*}multiLvlStrCache/{*}lvl")
    if holder is None:
        holder = next((item for item in data.iter("{*}numCache", "{*}strCache", "{*}numLit", "{*}strLit")), data)
    form = parse_format(holder.findtext("{*}formatCode") or "General")
    found: dict[int, str] = {}
    for point in islice(holder.iterfind("{*}pt"), _POINTS_MAX):
        place, text = whole(point.get("idx")), point.findtext("{*}v") or ""
        if place is not None and text.strip():
            found[place] = " ".join((_number(text, form) if "num" in local(holder) else text).split())
    single = data.findtext("{*}v")
    return found or ({0: single} if single else {})


def _number(text: str, form: NumberFormat) -> str:
    try:
        value = float(text)
    except ValueError:
        return text
    return shown_number(value, form) if math.isfinite(value) else text
