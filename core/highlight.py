"""Which parts of a text to mark for a query."""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.folding import fold, fold_with_offsets, source_span
from core.identifiers import exact_spans, exact_terms
from core.tokens import UNSPACED, query_tokens, token_spans

_SINGLE = re.compile(f"[{UNSPACED}]")


def highlight(text: str, query: str) -> tuple[tuple[int, int], ...]:
    """Spans of `text`, in characters, sorted and apart, where it has words of `query`.

    Words match by stem, Han, kana and Hangul by pairs of characters (one alone only if it is the whole query), exact
    terms whole; width, case, accents and Traditional forms do not matter.
    """
    wanted = _wanted(query)
    terms = exact_terms(query)
    found: list[tuple[int, int]] = []
    if wanted:
        cased, offsets = fold_with_offsets(text, keep_case=True)
        spans = ((start, end) for token, start, end in token_spans(cased) if token in wanted)
        found += (source_span(text, offsets, start, end) for start, end in spans)
    if terms:
        folded, offsets = fold_with_offsets(text)
        for term in terms:
            found += (source_span(text, offsets, start, end) for start, end in exact_spans(term, folded))
    return merged(found)


def merged(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Spans in order, those that overlap or touch joined."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return tuple(result)


def _wanted(query: str) -> frozenset[str]:
    found = query_tokens(query, stop_words=True)
    if len(fold(query).strip()) == 1:
        return frozenset(found)
    return frozenset(token for token in found if not (len(token) == 1 and _SINGLE.match(token)))
