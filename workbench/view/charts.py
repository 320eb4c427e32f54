"""Rank waterfall and latency bars, as plain Plotly figures. Colours are readable on light and dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.services.search_view import RANK_STAGES, RankLine

Figure = dict[str, Any]

ACCENT = "#6366f1"
OTHER = "rgba(140,140,150,.55)"
LOST = "rgba(140,140,150,.28)"
BAND = "rgba(140,140,150,.12)"

_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
_FONT = {"size": 13}
_EMPHASIS: Figure = {
    "mode": "lines+markers+text",
    "line": {"color": ACCENT, "width": 3.5, "dash": "solid"},
    "marker": {"color": ACCENT, "size": 9},
    "textposition": "bottom center",
    "textfont": {"size": 13, "color": ACCENT},
}


def waterfall(lines: Sequence[RankLine], selected: int | None, words: Mapping[str, str]) -> Figure:
    """One line a passage or lost chunk over the stages; rank 1 is on top, on a logarithmic axis.

    Lines of one look are one trace with gaps between them: a browser draws three traces several times as fast as
    thirty.

    `selected`: number of the passage that stands out. `words`: names of the stages, `absent` for the band below the
    axis, `passage` and `lost` for what the pointer shows.
    """
    deepest = max((rank for line in lines for rank in line.ranks if rank is not None), default=1)
    absent = _depth(max(10, deepest)) + 0.28
    lost = [line for line in lines if line.number is None]
    emphasised = [line for line in lines if line.number is not None and line.number == selected]
    others = [line for line in lines if line.number is not None and line.number != selected]
    traces = [
        _trace(lost, LOST, "dot", absent, words),
        _trace(others, OTHER, "solid", absent, words),
        {**_trace(emphasised, ACCENT, "solid", absent, words), **_EMPHASIS},
    ]
    ticks = [tick for tick in _TICKS if tick <= max(10, deepest)]
    return {
        "data": [trace for trace in traces if trace["x"]],
        "layout": {
            "height": 340,
            "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
            "showlegend": False,
            "hovermode": "closest",
            "dragmode": False,
            "xaxis": {
                "tickvals": list(range(len(RANK_STAGES))),
                "ticktext": [words[stage] for stage in RANK_STAGES],
                "range": [-0.35, len(RANK_STAGES) - 0.65],
                "showgrid": True,
                "zeroline": False,
                "fixedrange": True,
                "tickfont": {"size": 12},
                "tickangle": 0,
                "automargin": True,
            },
            "yaxis": {
                "tickvals": [*map(_depth, ticks), absent],
                "ticktext": [*(f"#{tick}" for tick in ticks), words["absent"]],
                "range": [absent + 0.16, -0.14],
                "showgrid": False,
                "zeroline": False,
                "fixedrange": True,
                "tickfont": _FONT,
                "automargin": True,
            },
            "shapes": [
                {
                    "type": "rect",
                    "xref": "paper",
                    "x0": 0,
                    "x1": 1,
                    "y0": absent - 0.13,
                    "y1": absent + 0.16,
                    "fillcolor": BAND,
                    "line": {"width": 0},
                    "layer": "below",
                }
            ],
        },
    }


def latency(stages: Sequence[tuple[str, float]], words: Mapping[str, str]) -> Figure:
    """Horizontal bars in milliseconds, in the order of the pipeline."""
    values = [ms for _, ms in stages]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "y": [words.get(stage, stage) for stage, _ in stages],
                "x": values,
                "text": [f"{ms:.1f}" for ms in values],
                "textposition": "outside",
                "textfont": _FONT,
                "cliponaxis": False,
                "marker": {"color": ACCENT},
                "width": 0.6,
                "hoverinfo": "skip",
            }
        ],
        "layout": {
            "height": 40 + 22 * len(stages),
            "margin": {"l": 8, "r": 44, "t": 4, "b": 4},
            "dragmode": False,
            "xaxis": {"visible": False, "fixedrange": True, "range": [0, 1.12 * max(values, default=1.0) or 1.0]},
            "yaxis": {"autorange": "reversed", "fixedrange": True, "tickfont": _FONT, "automargin": True},
        },
    }


def _trace(lines: Sequence[RankLine], colour: str, dash: str, absent: float, words: Mapping[str, str]) -> Figure:
    """Several lines, each with a gap behind it."""
    places: list[int | None] = []
    depths: list[float | None] = []
    texts: list[str] = []
    names: list[str] = []
    for line in lines:
        ranks = line.ranks
        places += [*range(len(ranks)), None]
        depths += [*(absent if rank is None else _depth(rank) for rank in ranks), None]
        texts += [*("–" if rank is None else f"#{rank}" for rank in ranks), ""]
        names += [_hover(line, words)] * (len(ranks) + 1)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": places,
        "y": depths,
        "line": {"color": colour, "width": 1.5, "dash": dash},
        "marker": {"color": colour, "size": 5},
        "text": texts,
        "customdata": names,
        "connectgaps": False,
        "cliponaxis": False,
        "hovertemplate": "%{customdata}<br>%{x}: %{text}<extra></extra>",
    }


def _hover(line: RankLine, words: Mapping[str, str]) -> str:
    """Plotly reads a few tags in this text and fills in what stands in braces: neither may come from a document."""
    title = "".join(" " if character in "<>&%{}" else character for character in line.title)[:60]
    if line.number is not None:
        return f"[{line.number}] {title}"
    return f"{words['lost']} {title}".strip()


def _depth(rank: int) -> float:
    return math.log10(rank)
