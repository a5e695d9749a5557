"""Many tests at once, as other tests measure them."""

from __future__ import annotations

import numpy as np

from komb.citests import decision
from komb.citests.measure import Measurement
from komb.citests.mixed.combination import COMPONENTS, combine, scaled_weights
from komb.citests.mixed.components import Components

_DIGITS = 6  # of a logarithm; what rounding errors of sums could change is behind


def measure(tests: Components) -> Measurement:
    """Combine the components of each of some tests."""
    logarithms, deciders = combine(tests.statistic, tests.freedom)
    each = np.arange(len(deciders))
    return Measurement(
        tests.statistic[each, deciders],
        tests.freedom[each, deciders],
        np.asarray((tests.freedom > 0).any(axis=1)),
        np.array(COMPONENTS)[deciders],
        log2_p_value=np.round(logarithms, _DIGITS) + 0.0,
    )


def has_power(test: Components, seen: Components, share: float, alpha: float) -> bool:
    """Whether a test would see a share of the dependence that another one has seen.

    By the component that decided the other one. A dependence on a candidate shrinks with what the
    conditions leave of it.
    """
    [own] = combine(seen.statistic, seen.freedom)[1]
    freedom, seen_freedom = test.freedom[:, own], seen.freedom[:, own]
    if freedom[0] <= 0 or seen_freedom[0] <= 0:
        return False
    left = np.minimum(1.0, test.share_left / np.maximum(seen.share_left, 1e-300))
    excess = np.maximum(0.0, seen.statistic[:, own] - seen_freedom) * share * left
    weight = float(scaled_weights(test.freedom)[0, own])
    measured = Measurement(np.zeros(1), freedom, np.ones(1, np.bool_), COMPONENTS[own])
    return bool(decision.has_power(measured, excess, alpha * weight)[0])
