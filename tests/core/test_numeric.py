from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.numeric import SCRATCH_VALUES, row_dots, tree_dot, tree_sum

Matrix = npt.NDArray[np.float32]


def matrix(seed: int, count: int, dimension: int) -> Matrix:
    return np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)


def same_bytes(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> bool:
    return a.shape == b.shape and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


shapes = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(0, 70))


@given(shapes, st.data())
def test_a_row_does_not_know_its_batch(shape: tuple[int, int, int], data: st.DataObject) -> None:
    seed, count, dimension = shape
    rows, query = matrix(seed, count, dimension), matrix(seed + 1, 1, dimension)[0]
    whole = row_dots(rows, query)
    order = np.array(data.draw(st.permutations(range(count))), dtype=np.intp)
    subset = order[: data.draw(st.integers(0, count))]
    cut = data.draw(st.integers(0, count))
    assert same_bytes(row_dots(rows[subset], query), whole[subset])
    assert same_bytes(np.concatenate([row_dots(rows[:cut], query), row_dots(rows[cut:], query)]), whole)
    assert same_bytes(row_dots(rows[::-1], query), whole[::-1])
    assert same_bytes(row_dots(np.asfortranarray(rows), query), whole)


def test_rows_beyond_one_scratch_block() -> None:
    dimension = 48
    count = 3 * (SCRATCH_VALUES // dimension) + 7
    rows, query = matrix(1, count, dimension), matrix(2, 1, dimension)[0]
    whole = row_dots(rows, query)
    assert whole == pytest.approx(rows.astype(np.float64) @ query.astype(np.float64))
    single = np.concatenate([row_dots(rows[i : i + 1], query) for i in range(0, count, 97)])
    assert same_bytes(single, whole[::97])


@given(shapes, st.integers(0, 9))
def test_all_pairs_are_the_single_products(shape: tuple[int, int, int], others: int) -> None:
    seed, count, dimension = shape
    a, b = matrix(seed, count, dimension), matrix(seed + 1, others, dimension)
    pairs = tree_dot(a, b)
    assert pairs.shape == (count, others)
    assert same_bytes(pairs, tree_dot(b, a).T)
    for column in range(others):
        assert same_bytes(pairs[:, column], tree_dot(a, b[column]))


@given(hnp.arrays(np.float32, st.integers(0, 33), elements=st.floats(-1e3, 1e3, width=32)))
def test_close_to_the_exact_value(vector: npt.NDArray[np.float32]) -> None:
    exact = sum((Fraction(float(x)) ** 2 for x in vector), Fraction())
    assert row_dots(vector[np.newaxis], vector)[0] == pytest.approx(float(exact), rel=1e-14, abs=1e-300)


def test_the_tree_is_fixed() -> None:
    column: Any = [1e16, 1.0, -1e16, 1.0, 1.0]
    expected = ((column[0] + column[4]) + column[2]) + (column[1] + column[3])
    assert tree_sum(np.array(column)[:, np.newaxis])[0] == expected != math.fsum(column)


def test_no_dimensions_and_no_rows() -> None:
    assert row_dots(np.zeros((3, 0), np.float32), np.zeros(0, np.float32)).tolist() == [0.0] * 3
    assert row_dots(np.zeros((0, 4), np.float32), np.zeros(4, np.float32)).tolist() == []


def test_shapes_must_fit() -> None:
    with pytest.raises(ValueError, match="4 dimensions"):
        row_dots(np.zeros((3, 4), np.float32), np.zeros(5, np.float32))
