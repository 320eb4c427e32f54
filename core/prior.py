"""Quality prior: a document's own quality moves its chunks a little, never past what relevance decides clearly."""

from __future__ import annotations

from collections.abc import Sequence

from core.types import Ranked


def apply_quality(
    candidates: Sequence[Ranked],
    qualities: Sequence[float | None],
    weight: float,
    floor: float | None,
    front: int | None = None,
) -> list[Ranked]:
    """`fused / max(fused) + weight · (smoothstep(quality / 100) − ½)`, best first; ties keep the order given.

    `candidates` carry fused scores; `qualities` belong to them one by one, 0–100 (clamped), None (or NaN): unscored,
    which is neutral. `floor` drops scored candidates below it first; all else is as if they had not been there.
    With no scored candidate left, order and scores stay untouched to the byte.

    The first `front` candidates stay ahead of the rest, each part being ordered by itself (those that the floor drops
    leave their part shorter): a selection made before, such as `diversify.select`, thereby outlasts the prior, and
    one scored document does not undo it. None: one part.

    Additive and centred, as document priors combine with scores of another scale: Craswell, Robertson, Zaragoza,
    Taylor: Relevance weighting for query independent evidence, SIGIR 2005.
    Raises ValueError where candidates and qualities differ in number.
    """
    rows = [
        (position, item, _known(quality))
        for position, (item, quality) in enumerate(zip(candidates, qualities, strict=True))
    ]
    if floor is not None:
        rows = [row for row in rows if row[2] is None or row[2] >= floor]
    if all(quality is None for _, _, quality in rows):
        return [item for _, item, _ in rows]
    best = max(item.score for _, item, _ in rows)
    edge = len(candidates) if front is None else front
    scored = [
        (position >= edge, Ranked(item.key, (item.score / best if best > 0 else 0.0) + weight * _lift(quality)))
        for position, item, quality in rows
    ]
    return [item for _, item in sorted(scored, key=lambda pair: (pair[0], -pair[1].score))]


def smoothstep(x: float) -> float:
    """`3x² − 2x³` of x clamped to 0–1: flat at both ends, so that extremes of quality gain little."""
    x = min(1.0, max(0.0, x))
    return x * x * (3.0 - 2.0 * x)


def _known(quality: float | None) -> float | None:
    return None if quality is None or quality != quality else quality


def _lift(quality: float | None) -> float:
    return 0.0 if quality is None else smoothstep(quality / 100.0) - 0.5
