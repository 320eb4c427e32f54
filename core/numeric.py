"""Dot products whose bits depend on the two vectors alone.

A BLAS product or a NumPy reduction may add in another order when the batch, the memory layout or the machine's
kernels change, which moves the last bits of a score and with them the order of near ties. Here products are taken
element by element in float64 and summed along one fixed tree by element-wise additions, each of which IEEE 754
rounds in one way only. So permuting, subsetting or batching the rows leaves every value as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
"""float32 or float64; the products of float32 values are exact in float64."""

SCRATCH_VALUES = 1 << 16
"""Products held at once: 512 KiB, which stays in a core's cache."""


def row_dots(rows: Floats, query: Floats) -> npt.NDArray[np.float64]:
    """Dot product of each row with `query`: shapes (n, d) and (d,) to (n,).

    `row_dots(a, b[j])[i]` equals `row_dots(b, a[i])[j]` to the bit. Raises ValueError on shapes that do not fit.
    """
    count, dimension = rows.shape
    if query.shape != (dimension,):
        raise ValueError(f"rows have {dimension} dimensions, the query has shape {query.shape}")
    out = np.empty(count, dtype=np.float64)
    factor = query.astype(np.float64)[:, np.newaxis]
    step = max(1, SCRATCH_VALUES // max(1, dimension))
    scratch = np.empty((dimension, min(step, count)), dtype=np.float64)
    for start in range(0, count, step):
        part = rows[start : start + step].T
        products = scratch[:, : part.shape[1]]
        np.copyto(products, part)
        products *= factor
        out[start : start + step] = tree_sum(products)
    return out


def tree_dot(a: Floats, b: Floats) -> npt.NDArray[np.float64]:
    """Dot products of vectors of one dimension: (n, d)·(d,) to (n,), or of all pairs, (n, d)·(m, d) to (n, m).

    Scratch memory stays below a mebibyte (or one row, if that is larger) whatever n and m.
    """
    if b.ndim == 1:
        return row_dots(a, b)
    out = np.empty((len(a), len(b)), dtype=np.float64)
    for column, vector in enumerate(b):
        out[:, column] = row_dots(a, vector)
    return out


def tree_sum(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Sum down the columns of (d, n) to (n,), overwriting `values`; of an odd height the last row goes to the first.

    Vectors stand in columns so that every addition runs over contiguous memory.
    """
    height = len(values)
    if height == 0:
        return np.zeros(values.shape[1], dtype=np.float64)
    while height > 1:
        half = height // 2
        if height % 2:
            values[0] += values[height - 1]
        values[:half] += values[half : 2 * half]
        height = half
    total: npt.NDArray[np.float64] = values[0]
    return total
