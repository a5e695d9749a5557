"""Rows that stand for more than themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from komb.data.covariates import hold_fixed
from komb.data.reading import table as read
from komb.data.table import DiscreteTable
from komb.data.weights import MOST_EXCESS, excess, find_scale, repeated_rows, thin
from komb.errors import MemoryLimitError
from tests.optional import pandas as pd

RNG = np.random.default_rng(0)
DATA: dict[str, Any] = {
    "x": RNG.normal(size=60).round(2),
    "y": RNG.integers(0, 2, 60),
    "n": RNG.integers(1, 5, 60),
}


@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_frequencies_are_repeated_rows(make: Any) -> None:
    """Cut points and strata included."""
    longer = {name: np.repeat(DATA[name], DATA["n"]) for name in ("x", "y")}
    cut: dict[str, Any] = {"discretize": "quantile", "bins": 3, "missing": "error"}
    for options in (cut, {}):
        weighted, plain = read(make(DATA), weights="n", **options), read(make(longer), **options)
        assert weighted == plain
        assert hold_fixed(weighted, ["x"]) == hold_fixed(plain, ["x"])


def test_the_order_of_rows_does_not_matter() -> None:
    codes = RNG.integers(0, 2, (200, 2))  # few different rows, most of them more than once
    weights = RNG.choice([0.5, 1.5, 2.5], 200)
    order = RNG.permutation(200)
    table, moved = DiscreteTable.from_codes(codes), DiscreteTable.from_codes(codes[order])
    first = sorted(map(tuple, codes[thin(table, weights)].tolist()))
    assert first == sorted(map(tuple, codes[order][thin(moved, weights[order])].tolist()))


def test_rows_are_drawn_by_weight() -> None:
    codes = np.arange(4000).reshape(-1, 1) % 7
    weights = RNG.choice([1.0, 4.0], 4000)
    drawn = thin(DiscreteTable.from_codes(codes), weights)
    share = np.mean(weights[drawn] == 4.0)
    expected = weights[weights == 4.0].sum() / weights.sum()
    assert share == pytest.approx(expected, abs=0.01)
    assert excess(weights * find_scale(weights)) <= MOST_EXCESS


def test_equal_weights_take_all_rows() -> None:
    table = DiscreteTable.from_codes(RNG.integers(0, 3, (50, 2)))
    assert thin(table, np.full(50, 0.3)).tolist() == list(range(50))


def test_frequencies_that_no_memory_holds() -> None:
    with pytest.raises(MemoryLimitError, match="rows needs about"):
        repeated_rows(np.array([1e15, 1.0]), 10)
