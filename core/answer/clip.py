"""A sentence too long to quote, cut to the clauses that matter."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from core.text import tokens

_CLAUSE_END = re.compile(r"[，、；：]|[,;:](?=\s)|\s(?=[–—-]\s)")


def clip(text: str, weights: Mapping[str, float], max_chars: int) -> str:
    """`text` if it is no longer than `max_chars`, else its best consecutive clauses, `…` where something was cut.

    Best: the largest sum of `weights` (by token) of the distinct tokens in them; ties to the longer, then the earlier.
    The result is no longer than `max_chars`, which must be at least 3.
    """
    if len(text) <= max_chars:
        return text
    spans = _clauses(text, max_chars - 2)
    held = [frozenset(tokens(text[start:end])) & weights.keys() for start, end in spans]
    best = (-1.0, 0, 0, 0)
    for first in range(len(spans)):
        last = first
        while last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= max_chars - 2:
            last += 1
        score = math.fsum(weights[token] for token in frozenset().union(*held[first : last + 1]))
        length = spans[last][1] - spans[first][0]
        best = max(best, (score, length, -spans[first][0], spans[last][1]))
    start, end = -best[2], best[3]
    return ("…" if start else "") + text[start:end].strip() + ("…" if end < len(text) else "")


def _clauses(text: str, max_chars: int) -> list[tuple[int, int]]:
    """Spans that cover `text`; a clause longer than `max_chars` is cut at white space, or where it must be."""
    cuts = [match.end() for match in _CLAUSE_END.finditer(text)]
    spans = []
    start = 0
    for end in [*cuts, len(text)]:
        while end - start > max_chars:
            space = text.rfind(" ", start + 1, start + max_chars)
            cut = space + 1 if space > 0 else start + max_chars
            spans.append((start, cut))
            start = cut
        if end > start:
            spans.append((start, end))
        start = end
    return spans
