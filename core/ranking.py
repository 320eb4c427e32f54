"""From a candidate set and a query to one order of passages: the stages in their sequence, nothing released yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core import recall_bm25, recall_dense, recall_exact
from core.candidates import CandidateSet
from core.diversify import select
from core.fuse import convex, rrf
from core.fuse import relevance as relative
from core.identifiers import exact_terms
from core.merge import MergedSpan, SpanChunk, merge
from core.prior import apply_quality
from core.scripts import is_wide
from core.settings import Retrieval
from core.text import query_tokens
from core.types import CHANNELS, Channel, Ranked

Array = npt.NDArray[Any]
Lists = Mapping[Channel, Sequence[Ranked]]


Guarded = Callable[[str, Callable[[], Any]], Any]
"""Runs a channel by name; None in place of its result: the channel is left out."""


def unguarded(channel: str, work: Callable[[], Any]) -> Any:
    return work()


class Clock:
    """Milliseconds by stage; a stage entered twice adds up."""

    def __init__(self) -> None:
        self.ms: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.ms[stage] = self.ms.get(stage, 0.0) + (now - self._last) * 1000
        self._last = now


@dataclass(frozen=True, slots=True)
class Ranking:
    """What every stage made of one query. Keys are chunk ids; `rows` gives their snapshot rows."""

    lists: Lists
    """Each channel's list, down to the window or to `depth`, whichever is deeper."""
    fused: tuple[Ranked, ...]
    """All of the windows, best first."""
    diversified: tuple[Ranked, ...]
    """The candidates, the diverse selection in front; scores are relevance, 0–1."""
    prior: tuple[Ranked, ...]
    merged: tuple[MergedSpan, ...]
    """Passages of the candidates in production order; `document` holds the document's number as text."""
    tail: tuple[str, ...]
    """Chunks below all passages, in order, down to `depth`."""
    rows: Mapping[str, int]

    @property
    def order(self) -> tuple[tuple[str, ...], ...]:
        """Chunk ids of each passage in production order, then those of the tail, one by one."""
        return (*(span.chunks for span in self.merged), *((key,) for key in self.tail))


def rank(
    candidates: CandidateSet,
    query: str,
    vector: Array | None,
    settings: Retrieval,
    depth: int = 0,
    clock: Clock | None = None,
    guard: Guarded = unguarded,
) -> Ranking:
    """Rank one query. `vector` is its embedding, float32 (d,), or None where the dense channel takes no part."""
    vectors = None if vector is None else vector[np.newaxis]
    (ranking,) = rank_batch(candidates, [query], vectors, settings, depth, clock, guard)
    return ranking


def rank_batch(
    candidates: CandidateSet,
    queries: Sequence[str],
    vectors: Array | None,
    settings: Retrieval,
    depth: int = 0,
    clock: Clock | None = None,
    guard: Guarded = unguarded,
) -> list[Ranking]:
    """Rank many queries, with one matrix product for the dense channel; each result equals that of `rank`.

    `vectors`: float32 (queries, d). `depth`: how far down channels and order are read, beyond what the windows hold.
    """
    clock = clock or Clock()
    reach = max(settings.window, depth)
    dense: list[tuple[Array, Array]] | None = None
    if vectors is not None and "dense" in settings.channels:
        dense = guard("dense", lambda: recall_dense.rank(candidates, vectors, reach))
    clock.lap("dense")
    return [
        _rank(candidates, query, dense[index] if dense else None, settings, depth, clock, guard)
        for index, query in enumerate(queries)
    ]


def recall(
    candidates: CandidateSet, query: str, vector: Array | None, settings: Retrieval, depth: int, guard: Guarded
) -> list[Array]:
    """The rows of every channel's list alone, best first, down to `depth`."""
    vectors = None if vector is None or "dense" not in settings.channels else vector[np.newaxis]
    dense = None if vectors is None else guard("dense", lambda: recall_dense.rank(candidates, vectors, depth))
    found = _recall(candidates, query, dense[0] if dense else None, settings, depth, Clock(), guard)
    return [rows for rows, _ in found.values()]


def _rank(
    candidates: CandidateSet,
    query: str,
    dense: tuple[Array, Array] | None,
    settings: Retrieval,
    depth: int,
    clock: Clock,
    guard: Guarded,
) -> Ranking:
    rows: dict[str, int] = {}
    found = _recall(candidates, query, dense, settings, max(settings.window, depth), clock, guard)
    lists = {channel: _named(candidates, *found[channel], rows) for channel in CHANNELS if channel in found}
    fused = _fuse(lists, settings, _silent(candidates, query, lists, settings.window, rows))
    clock.lap("fuse")
    chosen = _floored(candidates, fused, settings, rows)[: settings.candidates]
    diversified = _diversify(candidates, chosen, settings, rows)
    clock.lap("diversify")
    qualities = [_quality(candidates, rows[item.key]) for item in diversified]
    front = settings.mmr_keep if settings.mmr else None
    prior = apply_quality(diversified, qualities, settings.quality_weight, None, front=front)
    clock.lap("prior")
    merged = _merge(candidates, prior, settings, rows)
    clock.lap("merge")
    placed = {item.key for item in prior}
    return Ranking(
        lists=lists,
        fused=tuple(fused),
        diversified=tuple(diversified),
        prior=tuple(prior),
        merged=tuple(merged),
        tail=_tail(lists, fused, placed, depth),
        rows=rows,
    )


def _recall(
    candidates: CandidateSet,
    query: str,
    dense: tuple[Array, Array] | None,
    settings: Retrieval,
    reach: int,
    clock: Clock,
    guard: Guarded,
) -> dict[Channel, tuple[Array, Array]]:
    """Rows and scores of each channel that takes part."""
    found: dict[Channel, tuple[Array, Array] | None] = {"dense": dense}
    scores = guard("bm25", lambda: _bm25(candidates, query, settings))
    if scores is not None and "bm25" in settings.channels:
        found["bm25"] = guard("bm25", lambda: recall_bm25.rank(candidates, scores, reach))
    clock.lap("bm25")
    if "exact" in settings.channels:
        order = np.zeros(len(candidates.snapshot)) if scores is None else scores
        found["exact"] = guard("exact", lambda: recall_exact.rank(candidates, exact_terms(query), order, reach))
    clock.lap("exact")
    return {channel: ranked for channel in CHANNELS if (ranked := found.get(channel)) is not None}


def _bm25(candidates: CandidateSet, query: str, settings: Retrieval) -> Array:
    """float64 (n,): of every row in scope, the terms of feedback included."""
    terms = recall_bm25.weighted(query_tokens(query, stop_words=settings.stop_words))
    scores = recall_bm25.scores(candidates, terms, settings)
    if settings.feedback_documents and terms:
        added = recall_bm25.feedback(candidates, terms, scores, settings)
        scores = recall_bm25.scores(candidates, added, settings, onto=scores)
    return scores


def _named(candidates: CandidateSet, at: Array, scores: Array, rows: dict[str, int]) -> list[Ranked]:
    keys = [identity.decode("ascii") for identity in candidates.snapshot.ids[at].tolist()]
    rows.update(zip(keys, at.tolist(), strict=True))
    return [Ranked(key, score) for key, score in zip(keys, scores.tolist(), strict=True)]


def _silent(
    candidates: CandidateSet, query: str, lists: Lists, window: int, rows: Mapping[str, int]
) -> Mapping[Channel, Set[str]]:
    """By channel, the chunks on which it cannot tell: for words, those of the dense window in another script than the
    query, which they could not have found.

    Only where the words' best find is in the query's script and no identifier or quotation was found: else the words
    of the query do stand in texts of the other script, and their absence counts.
    """
    words = lists.get("bm25", ())
    if not words or lists.get("exact"):
        return {}
    own = is_wide(query.encode("utf-8", "replace"))
    wide = candidates.snapshot.wide
    if wide[rows[words[0].key]] != own:
        return {}
    window_rows = [rows[item.key] for item in lists.get("dense", ())[:window]]
    others = wide[window_rows] != own
    return {"bm25": {item.key for item, other in zip(lists.get("dense", ()), others.tolist(), strict=False) if other}}


def _fuse(lists: Lists, settings: Retrieval, silent: Mapping[Channel, Set[str]]) -> list[Ranked]:
    weights = {"exact": settings.weight_exact, "bm25": settings.weight_bm25, "dense": settings.weight_dense}
    windows = [list(ranking[: settings.window]) for ranking in lists.values()]
    shares = [weights[channel] for channel in lists]
    if settings.fusion == "convex":
        mute = [silent.get(channel, frozenset()) for channel in lists]
        return convex(windows, shares, mute) if sum(shares) > 0 else []
    return rrf(windows, shares, settings.rrf_k)


def _floored(
    candidates: CandidateSet, fused: Sequence[Ranked], settings: Retrieval, rows: Mapping[str, int]
) -> list[Ranked]:
    """Relevance (0–1) of what the quality floor leaves; the maximum is taken after the floor."""
    floor = settings.quality_floor
    if floor is None:
        return relative(fused)

    def stays(item: Ranked) -> bool:
        quality = _quality(candidates, rows[item.key])
        return quality is None or quality >= floor

    return relative([item for item in fused if stays(item)])


def _diversify(
    candidates: CandidateSet, chosen: list[Ranked], settings: Retrieval, rows: Mapping[str, int]
) -> list[Ranked]:
    if not settings.mmr or not 0 < settings.mmr_keep < len(chosen):
        return chosen
    vectors = candidates.snapshot.vectors(np.array([rows[item.key] for item in chosen]))
    return select(chosen, vectors, settings.mmr_lambda, settings.mmr_keep)


def _quality(candidates: CandidateSet, row: int) -> float | None:
    snapshot = candidates.snapshot
    quality = float(snapshot.documents.quality[snapshot.document[row]])
    return None if quality != quality else quality


def _merge(
    candidates: CandidateSet, prior: Sequence[Ranked], settings: Retrieval, rows: Mapping[str, int]
) -> list[MergedSpan]:
    """Passages in the order of their best chunk. `merge` sorts by score, and a selection that stands in front may
    hold lower scores than what follows it, so position takes the score's place until the passages are made."""
    at = np.array([rows[item.key] for item in prior], np.int64)
    snapshot = candidates.snapshot
    columns = (snapshot.document[at].tolist(), snapshot.start[at].tolist(), snapshot.end[at].tolist())
    chunks = [
        SpanChunk(item.key, str(document), start, end, -float(position))
        for position, (item, document, start, end) in enumerate(zip(prior, *columns, strict=True))
    ]
    spans = merge(chunks, settings.merge_gap, settings.passage_max_chars)
    return [MergedSpan(s.document, s.start, s.end, prior[int(-s.score)].score, s.chunks) for s in spans]


def _tail(lists: Lists, fused: Sequence[Ranked], placed: set[str], depth: int) -> tuple[str, ...]:
    """What stands below the candidates: the rest of the fused list, then the channels by best rank."""
    if not depth:
        return ()
    rest = [item.key for item in fused if item.key not in placed]
    seen = placed | set(rest)
    best: dict[str, int] = {}
    for ranking in lists.values():
        for position, item in enumerate(ranking):
            if item.key not in seen:
                best[item.key] = min(position, best.get(item.key, position))
    rest += sorted(best, key=lambda key: (best[key], key))
    return tuple(rest[: max(0, depth)])
