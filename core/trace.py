"""The trace: for every chunk that a search met, where it stood after each stage, and which stage lost it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from core.ranking import Ranking
from core.settings import Retrieval
from core.types import Ranked, TraceRow

_Loss = tuple[str | None, float | None]


def trace(
    ranking: Ranking, settings: Retrieval, released: int, document_of: Callable[[str], str]
) -> tuple[TraceRow, ...]:
    """Rows in production order. `released`: number of passages released; `document_of` gives a chunk's document id."""
    channels: dict[str, dict[str, int]] = {name: _ranks(found) for name, found in ranking.lists.items()}
    fused, diversified, prior = _ranks(ranking.fused), _ranks(ranking.diversified), _ranks(ranking.prior)
    merged = {key: rank for rank, span in enumerate(ranking.merged, start=1) for key in span.chunks}
    keys = [key for keys in ranking.order for key in keys]
    rows = []
    for key in dict.fromkeys([*keys, *fused, *(key for ranks in channels.values() for key in ranks)]):
        if key in merged or key in fused:
            lost_at, margin = _lost(key, ranking, settings, released, merged, fused)
        else:
            lost_at, margin = _lost_in_channel(key, ranking, channels, settings.window)
        rows.append(
            TraceRow(
                chunk_id=key,
                document_id=document_of(key),
                exact=channels.get("exact", {}).get(key),
                bm25=channels.get("bm25", {}).get(key),
                dense=channels.get("dense", {}).get(key),
                fused=fused.get(key),
                diversified=diversified.get(key),
                prior=prior.get(key),
                merged=merged.get(key),
                lost_at=lost_at,
                margin=margin,
            )
        )
    return tuple(rows)


def _ranks(ranked: Sequence[Ranked]) -> dict[str, int]:
    return {item.key: rank for rank, item in enumerate(ranked, start=1)}


def _lost(
    key: str,
    ranking: Ranking,
    settings: Retrieval,
    released: int,
    merged: Mapping[str, int],
    fused: Mapping[str, int],
) -> _Loss:
    """First stage that dropped a chunk which fusion saw, and how far its score there lay below the last one kept.

    What stood above the last one kept, or was not kept while there was room, fell to the quality floor.
    """
    if key in merged:
        if merged[key] <= released:
            return None, None
        last = ranking.merged[released - 1].score if released else None
        here = ranking.merged[merged[key] - 1].score
        return "top_k", None if last is None else min(0.0, here - last)
    last_kept = max((fused[item.key] for item in ranking.prior), default=0)
    if len(ranking.prior) < min(settings.candidates, len(ranking.fused)) or fused[key] < last_kept:
        return "prior", None
    return "fused", ranking.fused[fused[key] - 1].score - ranking.fused[last_kept - 1].score


def _lost_in_channel(key: str, ranking: Ranking, channels: Mapping[str, Mapping[str, int]], window: int) -> _Loss:
    """The channel that came nearest to letting a chunk into its window; fusion, where one did that weighs nothing."""
    rank, name = min((ranks[key], name) for name, ranks in channels.items() if key in ranks)
    if rank <= window:
        return "fused", None
    found = next(ranking.lists[channel] for channel in ranking.lists if channel == name)
    return name, found[rank - 1].score - found[min(window, len(found)) - 1].score
