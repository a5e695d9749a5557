"""The one place where a statistic is compared with a threshold.

A statistic with degrees of freedom says "dependent" when its p-value is at most ``alpha``, that is
when it reaches the critical value; with no freedom left (df 0) it never does. A statistic without
degrees of freedom (a difference of code lengths) says "dependent" when it is positive.
"""

from __future__ import annotations

import functools

import numpy as np

from komb.citests.measure import NO_FREEDOM, BoolArray, Measurement
from komb.counts.fixedpoint import FloatArray, Int64Array

_TABLED = 1024  # critical values kept in an array; larger freedoms are looked up one by one
_SMALLEST_POSITIVE = 5e-324


@functools.lru_cache(maxsize=32)
def _critical_table(alpha: float) -> FloatArray:
    from scipy.special import chdtri

    table: FloatArray = chdtri(np.arange(_TABLED, dtype=np.float64), alpha)
    table[0] = np.inf
    return table


@functools.lru_cache(maxsize=1 << 16)
def _critical_value(freedom: int, alpha: float) -> float:
    from scipy.special import chdtri

    return float(chdtri(float(freedom), alpha))


def thresholds(freedom: Int64Array, alpha: float) -> FloatArray:
    """Smallest statistic that counts as dependence, for each number of degrees of freedom.

    Examples
    --------
    >>> thresholds(np.array([1, 0, NO_FREEDOM]), 0.05).round(4).tolist()
    [3.8415, inf, 0.0]
    """
    tabled = np.minimum(freedom, _TABLED - 1)
    result: FloatArray = _critical_table(alpha)[np.maximum(tabled, 0)]
    result[freedom == NO_FREEDOM] = _SMALLEST_POSITIVE
    for index in (freedom >= _TABLED).nonzero()[0]:
        result[index] = _critical_value(int(freedom[index]), alpha)
    return result


def is_dependent(measured: Measurement, alpha: float) -> BoolArray:
    """Decide every test of a batch."""
    decisions: BoolArray = measured.statistic >= thresholds(measured.freedom, alpha)
    return decisions


def p_value(statistic: float, freedom: int) -> float | None:
    """Chance of a statistic at least this large under independence; None without freedom.

    Examples
    --------
    >>> round(p_value(3.841458820694124, 1), 6)
    0.05
    >>> p_value(0.0, 0)
    1.0
    """
    from scipy.special import chdtrc

    if freedom == NO_FREEDOM:
        return None
    return 1.0 if freedom == 0 else float(chdtrc(float(freedom), statistic))
