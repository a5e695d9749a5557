"""The screen of sweeps: what is strong passes, and hardly anything else does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from komb.data.table import DiscreteTable
from komb.engine.features.columns import FeatureColumns
from komb.engine.features.screen import Features, Screen

N_ROWS = 300
BITS = 16.0


def draw(kind: str, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Draw a target, a candidate and a condition, without which there is nothing to see."""
    x, z, noise = rng.normal(size=(3, N_ROWS))
    if kind == "product":
        return x * z + 0.5 * noise, x, z
    if kind == "sign of product":
        return np.sign(x * z) + 0.5 * noise, x, z
    if kind == "cancelled":
        return z + 0.3 * noise, x, x + z
    level = rng.integers(0, 3, N_ROWS)
    return np.where(level == 1, x, -x) + 0.3 * noise, x, level


def features_of(values: Any) -> Features:
    """Features of numbers or of levels, in the order of rows that they come in."""
    is_number = values.dtype.kind == "f"
    codes = np.zeros(len(values), np.int64) if is_number else values
    table = DiscreteTable.from_codes(np.column_stack([np.arange(len(values)), codes]))
    return Features.of(FeatureColumns.of(table, {1: values} if is_number else {}, ()), 1)


@pytest.mark.parametrize("kind", ["product", "sign of product", "cancelled", "by level"])
def test_what_is_strong_passes_and_noise_does_not(kind: str) -> None:
    rng = np.random.default_rng(0)
    y, x, z = map(features_of, draw(kind, rng))
    noise = [features_of(values) for values in rng.normal(size=(30, N_ROWS))]
    screen = Screen.of([x, *noise])
    everything = list(range(31))
    passed = screen.possible(y, everything, [z], None, BITS)
    assert passed[0]
    assert passed.sum() <= 5
    assert screen.possible(y, [0], [z], None, BITS).tolist() == [True]
    assert screen.possible(y, everything, [noise[0]], None, BITS).sum() <= 5


def test_rows_without_a_value_are_left_out() -> None:
    rng = np.random.default_rng(1)
    y, x, z = draw("product", rng)
    is_known = np.arange(N_ROWS) % 3 > 0
    z[~is_known] = np.nan
    screen = Screen.of([features_of(x)])
    found = screen.possible(features_of(y), [0], [features_of(z)], is_known, BITS)
    assert found.tolist() == [True]


def test_a_constant_candidate_never_passes() -> None:
    rng = np.random.default_rng(2)
    y, x, z = map(features_of, draw("product", rng))
    screen = Screen.of([x, features_of(np.zeros(N_ROWS))])
    assert screen.possible(y, [0, 1], [z], None, BITS).tolist() == [True, False]


def test_nothing_passes_for_a_target_of_rare_levels() -> None:
    """It has no features: none of its levels is in enough rows."""
    rng = np.random.default_rng(3)
    _, x, z = map(features_of, draw("product", rng))
    rare = features_of(np.where(np.arange(N_ROWS) < 4, 1, 0))
    assert not len(rare.own)
    assert Screen.of([x]).possible(rare, [0], [z], None, BITS).tolist() == [False]
