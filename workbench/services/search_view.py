"""The Search page's one call: a search, and what the page shows of it as plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.answer.citations import parse_citations
from core.highlight import highlight
from core.home import Workbench
from core.pipeline import STAGES_MS
from core.settings import Settings
from core.types import CHANNELS, Channel, Location, Passage, Principal, SearchResult, TraceRow, Twin, to_json
from workbench.services.page_labels import expand_pages
from workbench.services.search_state import SearchState
from workbench.services.settings_choice import effective

Spans = tuple[tuple[int, int], ...]
Place = tuple[str, int, int]
"""Document id, and start and end of a passage in it."""

RANK_STAGES: tuple[str, ...] = ("exact", "bm25", "dense", "fused", "diversified", "prior", "merged")
LOST_SHOWN = 5
"""Chunks that were not released and still get a line of their own, nearest first."""


@dataclass(frozen=True, slots=True)
class Card:
    """A released passage as it is shown."""

    passage: Passage
    marks: Spans
    """Parts of the passage's text that match the query."""
    channels: tuple[tuple[Channel, int | None], ...]
    """Best rank of its chunks in each channel that took part; None: not in that list."""
    citation: str
    """Evidence id and chunk references as JSON."""

    @property
    def number(self) -> int:
        return self.passage.rank

    @property
    def place(self) -> Place:
        return self.passage.document_id, self.passage.start, self.passage.end

    @property
    def also_in(self) -> tuple[Twin, ...]:
        return self.passage.also_in


@dataclass(frozen=True, slots=True)
class RankLine:
    """Where a passage, or a chunk that was not released, stood after each of RANK_STAGES; None: not in that list."""

    number: int | None
    """Of the passage; None for a chunk that was not released."""
    title: str
    ranks: tuple[int | None, ...]
    lost_at: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerPart:
    text: str
    numbers: tuple[int, ...] = ()
    """Passages that it cites: the text is then a citation mark."""


@dataclass(frozen=True, slots=True)
class SearchView:
    result: SearchResult
    cards: tuple[Card, ...]
    answer: tuple[AnswerPart, ...]
    """Empty where there is no answer."""
    lines: tuple[RankLine, ...]
    latency: tuple[tuple[str, float], ...]
    """Stages that took time, in their order, in milliseconds; without the total."""

    @property
    def order(self) -> tuple[Place, ...]:
        return tuple(card.place for card in self.cards)


def search(workbench: Workbench, state: SearchState, collections: Sequence[str], principal: Principal) -> SearchView:
    """Raises InputError for a state that cannot be meant; everything else that goes wrong is the result's refusal."""
    settings = effective(workbench.settings, state)
    result = workbench.search(
        state.query,
        collections=collections,
        principal=principal,
        location=location_of(state),
        settings=settings,
        explain=True,
        answer=True,
    )
    return view_of(result, settings)


def location_of(state: SearchState) -> Location | None:
    """Raises InputError for pages that are none."""
    if not (state.document or state.pages or state.sheet):
        return None
    return Location(state.document or None, expand_pages(state.pages), state.sheet or None)


def view_of(result: SearchResult, settings: Settings) -> SearchView:
    rows = {row.chunk_id: row for row in result.trace or ()}
    taking_part = [channel for channel in CHANNELS if channel in settings.retrieval.channels]
    return SearchView(
        result=result,
        cards=tuple(_card(passage, result.query, rows, taking_part) for passage in result.passages),
        answer=_answer_parts(result),
        lines=_lines(result, rows),
        latency=tuple(
            (stage, result.latency_ms[stage]) for stage in STAGES_MS if result.latency_ms.get(stage, 0.0) > 0
        ),
    )


def moves(before: Sequence[Place], after: Sequence[Place]) -> tuple[int | None, ...]:
    """For each place of `after`, how many ranks it rose since `before` (negative: fell); None: it was not there.

    Passages are cut anew by every search: those that share text are the same, the best of `before` first.
    """
    left = dict(enumerate(before))
    found: list[int | None] = []
    for rank, place in enumerate(after):
        same = next((old for old, other in left.items() if _overlap(place, other)), None)
        found.append(None if same is None else same - rank)
        left.pop(-1 if same is None else same, None)
    return tuple(found)


def _overlap(one: Place, other: Place) -> bool:
    return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]


def _card(passage: Passage, query: str, rows: Mapping[str, TraceRow], channels: Sequence[Channel]) -> Card:
    found = [rows[ref.chunk_id] for ref in passage.chunk_refs if ref.chunk_id in rows]
    citation = {"evidence_id": passage.evidence_id, "chunk_refs": to_json(passage.chunk_refs)}
    return Card(
        passage=passage,
        marks=highlight(passage.text, query),
        channels=tuple((channel, _best(found, channel)) for channel in channels),
        citation=json.dumps(citation, ensure_ascii=False, indent=1),
    )


def _best(rows: Sequence[TraceRow], stage: str) -> int | None:
    return min((rank for row in rows if (rank := getattr(row, stage)) is not None), default=None)


def _lines(result: SearchResult, rows: Mapping[str, TraceRow]) -> tuple[RankLine, ...]:
    lines = []
    released: set[str] = set()
    for passage in result.passages:
        keys = [ref.chunk_id for ref in passage.chunk_refs]
        released.update(keys)
        found = [rows[key] for key in keys if key in rows]
        lines.append(RankLine(passage.rank, passage.title, tuple(_best(found, stage) for stage in RANK_STAGES)))
    titles = {passage.document_id: passage.title for passage in result.passages}
    lost = sorted((row for key, row in rows.items() if key not in released), key=_nearest)[:LOST_SHOWN]
    for row in lost:
        ranks = tuple(getattr(row, stage) for stage in RANK_STAGES)
        lines.append(RankLine(None, titles.get(row.document_id, ""), ranks, row.lost_at))
    return tuple(lines)


def _nearest(row: TraceRow) -> tuple[int, str]:
    """Chunks by the best rank they had anywhere."""
    ranks = [rank for stage in RANK_STAGES if (rank := getattr(row, stage)) is not None]
    return min(ranks, default=1_000_000), row.chunk_id


def _answer_parts(result: SearchResult) -> tuple[AnswerPart, ...]:
    if result.answer is None:
        return ()
    text, shown = result.answer.text, len(result.passages)
    parts: list[AnswerPart] = []
    position = 0
    for mark in parse_citations(text, shown).marks:
        known = tuple(number for number in mark.numbers if number <= shown)
        if known:
            parts += [AnswerPart(text[position : mark.start]), AnswerPart(text[mark.start : mark.end], known)]
            position = mark.end
    parts.append(AnswerPart(text[position:]))
    return tuple(part for part in parts if part.text)
