"""Merging: chunks that touch become one passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True, slots=True)
class SpanChunk:
    """A candidate and the span of its document's canonical text, `[start, end)`; keys are unique."""

    key: str
    document: str
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class MergedSpan:
    """`[start, end)` of a document's canonical text; `chunks` are the keys in it, in text order."""

    document: str
    start: int
    end: int
    score: float
    """Of its best chunk."""
    chunks: tuple[str, ...]


def merge(chunks: Sequence[SpanChunk], gap: int, max_chars: int | None) -> list[MergedSpan]:
    """Passages that hold each chunk once, ordered by score (best first), document, start.

    Chunks of one document join where `next.start <= end + gap`. A run of them longer than `max_chars` is cut between
    chunks, around the best: the best-scored chunk of the run takes its neighbours, each time the better-scored of
    the one before and the one after that still fits (ties: the one after), until neither fits; then the best of what
    is left does the same. So what answers best brings the text around it along, and no passage is longer than
    `max_chars` or its longest chunk, whichever is more. Two passages share text only where their chunks overlap.

    The result depends on the set of chunks, not on their order. `gap` counts characters. `max_chars` None: no cut.
    """
    ordered = sorted(chunks, key=lambda chunk: (chunk.document, chunk.start, chunk.end, chunk.key))
    spans = []
    for _, group in groupby(ordered, key=lambda chunk: chunk.document):
        for run in _runs(list(group), gap):
            whole = _span(run)
            if max_chars is None or len(run) == 1 or whole.end - whole.start <= max_chars:
                spans.append(whole)
            else:
                spans += _cut(run, gap, max_chars)
    return sorted(spans, key=lambda span: (-span.score, span.document, span.start, span.end, span.chunks))


def _runs(chunks: Sequence[SpanChunk], gap: int) -> list[list[SpanChunk]]:
    runs: list[list[SpanChunk]] = []
    end = 0
    for chunk in chunks:
        if runs and chunk.start <= end + gap:
            runs[-1].append(chunk)
            end = max(end, chunk.end)
        else:
            runs.append([chunk])
            end = chunk.end
    return runs


def _cut(run: Sequence[SpanChunk], gap: int, max_chars: int) -> list[MergedSpan]:
    spans = []
    free = [True] * len(run)
    # Text order decides between equal scores: `sorted` is stable.
    for seed in sorted(range(len(run)), key=lambda position: -run[position].score):
        if not free[seed]:
            continue
        first = last = seed
        while (grown := _grow(run, free, first, last, gap, max_chars)) is not None:
            first, last = grown
        free[first : last + 1] = [False] * (last + 1 - first)
        spans.append(_span(run[first : last + 1]))
    return spans


def _grow(
    run: Sequence[SpanChunk], free: Sequence[bool], first: int, last: int, gap: int, max_chars: int
) -> tuple[int, int] | None:
    """The block `first … last` with the better neighbour that fits, or None."""
    here = _span(run[first : last + 1])
    choices = []
    for position, block in ((last + 1, (first, last + 1)), (first - 1, (first - 1, last))):
        if not (0 <= position < len(run) and free[position]):
            continue
        chunk = run[position]
        touches = chunk.start <= here.end + gap and here.start <= chunk.end + gap
        length = max(here.end, chunk.end) - min(here.start, chunk.start)
        # A chunk that holds the other entirely adds no text, so the limit does not part them.
        if touches and length <= max(max_chars, here.end - here.start, chunk.end - chunk.start):
            choices.append((chunk.score, block))
    return max(choices, key=lambda choice: choice[0])[1] if choices else None


def _span(chunks: Sequence[SpanChunk]) -> MergedSpan:
    return MergedSpan(
        document=chunks[0].document,
        start=min(chunk.start for chunk in chunks),
        end=max(chunk.end for chunk in chunks),
        score=max(chunk.score for chunk in chunks),
        chunks=tuple(chunk.key for chunk in chunks),
    )
