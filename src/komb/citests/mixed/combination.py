"""One p-value out of several components.

Each component has a weight; the weights of those that a test has are scaled to sum up to 1. The
component with the smallest ``p / w`` decides. If ``q`` is that smallest value, and components are
independent, it is so small by chance with probability ``1 - prod(1 - w q)`` (Sidak 1967).
"""

from __future__ import annotations

import numpy as np

from komb.citests.decision import log2_p_values
from komb.counts.fixedpoint import FloatArray, Int64Array

COMPONENTS = ("linear", "quadratic", "higher", "interaction")

WEIGHTS = np.array([0.76, 0.09, 0.07, 0.08])
"""Of the components. Most is linear, or nearly, so that costs least."""

_TINY = -30.0  # bits from which on probabilities add up


def combine(statistic: FloatArray, freedom: FloatArray) -> tuple[FloatArray, Int64Array]:
    """Logarithms of the p-values of some tests, to base 2, and which component decided each."""
    has_freedom = freedom > 0
    single = np.zeros(statistic.shape)
    single[has_freedom] = log2_p_values(statistic[has_freedom], freedom[has_freedom])
    weights = scaled_weights(freedom)
    with np.errstate(divide="ignore"):
        corrected = np.where(has_freedom, single - np.log2(weights), np.inf)
    deciders = corrected.argmin(axis=1)
    least = np.minimum(corrected.min(axis=1), 0.0)
    likely = np.maximum(least, _TINY)
    combined = 1.0 - np.prod(1.0 - weights * np.exp2(likely)[:, None], axis=1)
    logarithms = np.where(least > _TINY, np.log2(np.maximum(combined, 2.0**_TINY)), least)
    return np.where(has_freedom.any(axis=1), logarithms, 0.0), deciders


def scaled_weights(freedom: FloatArray) -> FloatArray:
    """Weights of the components that tests have, which sum up to 1."""
    weights = np.where(freedom > 0, WEIGHTS, 0.0)
    total = weights.sum(axis=1, keepdims=True)
    return weights / np.where(total > 0, total, 1.0)
