"""What goes into a model and what comes out of it, made safe to keep."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import EmbedderUnavailable
from core.ports import Vectors

UNIT_TOLERANCE = 1e-3
"""A vector this near to unit length is one that lost digits (float16, say); beyond it something else is wrong."""

ROUNDING = 1e-6
"""A float32 vector this near to unit length is left as it is, so that scaling twice changes nothing."""

TINY = 1e-12


def unit_rows(raw: Any, count: int, dimension: int, *, any_length: bool = False) -> Vectors:
    """`raw` as float32 of shape (count, dimension), each row of unit length or all zero.

    With `any_length` rows of any length are scaled; without it, only those within UNIT_TOLERANCE of 1.
    Each row depends on that row alone. Raises EmbedderUnavailable for another shape, for NaN or infinity,
    and for rows that cannot be scaled.
    """
    try:
        rows = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError):
        raise _unusable("rows of unequal length or no numbers") from None
    if rows.shape != (count, dimension):
        raise _unusable(f"shape {rows.shape} where ({count}, {dimension}) was due")
    if not np.isfinite(rows).all():
        raise _unusable("NaN or infinity")
    with np.errstate(over="ignore"):
        lengths = np.sqrt((rows * rows).sum(axis=1))
    lengths[~rows.any(axis=1)] = 1.0
    off = np.abs(lengths - 1.0)
    if not np.isfinite(lengths).all() or (lengths < TINY).any() or (not any_length and (off > UNIT_TOLERANCE).any()):
        raise _unusable("vectors that are not of unit length")
    scale = np.where(off > ROUNDING, lengths, 1.0)
    return np.ascontiguousarray(rows / scale[:, None], dtype=np.float32)


def encodable(text: str) -> str:
    """The text without what tokenizers choke on: lone surrogates become `?`, NUL a space."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def _unusable(what: str) -> EmbedderUnavailable:
    return EmbedderUnavailable(f"the embedder gave {what}", "install the model again, or name another embedder")
