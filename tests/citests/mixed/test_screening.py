"""The screen of sweeps: what is strong passes, and hardly anything else does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from komb.citests.mixed.features import Features, nominal_features, numeric_features
from komb.citests.mixed.screening import Screen

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
    return numeric_features(values) if values.dtype.kind == "f" else nominal_features(values, 3)


@pytest.mark.parametrize("kind", ["product", "sign of product", "cancelled", "by level"])
def test_what_is_strong_passes_and_noise_does_not(kind: str) -> None:
    rng = np.random.default_rng(0)
    y, x, z = map(features_of, draw(kind, rng))
    noise = [numeric_features(values) for values in rng.normal(size=(30, N_ROWS))]
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
    screen = Screen.of([numeric_features(x)])
    found = screen.possible(numeric_features(y), [0], [numeric_features(z)], is_known, BITS)
    assert found.tolist() == [True]


def test_a_constant_candidate_never_passes() -> None:
    rng = np.random.default_rng(2)
    y, x, z = map(numeric_features, draw("product", rng))
    screen = Screen.of([x, numeric_features(np.zeros(N_ROWS))])
    assert screen.possible(y, [0, 1], [z], None, BITS).tolist() == [True, False]


def test_nothing_passes_for_a_target_of_rare_levels() -> None:
    """It has no features: none of its levels is in enough rows."""
    rng = np.random.default_rng(3)
    _, x, z = map(numeric_features, draw("product", rng))
    rare = nominal_features(np.where(np.arange(N_ROWS) < 4, 1, 0), 2)
    assert not len(rare.own)
    assert Screen.of([x]).possible(rare, [0], [z], None, BITS).tolist() == [False]
