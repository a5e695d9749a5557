"""What a test of a user's own measures, and where that is compared with a level.

A statistic with degrees of freedom says "dependent" when its p-value is at most ``alpha``; with no
freedom left (df 0) it never does. A statistic without degrees of freedom, such as a difference of
code lengths, says "dependent" when it is positive. A test that brings p-values along, of a sample
or of a distribution of its own, says "dependent" when they are at most ``alpha``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from komb.engine.fixed_point import FloatArray, Int64Array
from komb.engine.kernels.judge import POWER_DEVIATIONS
from komb.engine.questions import Outcome
from komb.errors import ParameterError

BoolArray = npt.NDArray[np.bool_]

NO_FREEDOM = -1
"""Stands for "this statistic has no degrees of freedom"."""


class Resampled(NamedTuple):
    """The position of each test of a batch in a sample of its distribution under independence."""

    p_value: FloatArray
    smallest: float  # p-value that a sample of this size can give
    mean: FloatArray  # of the statistic, in the sample
    variance: FloatArray


@dataclass(frozen=True, slots=True)
class Measurement:
    """A statistic for each test of a batch.

    Attributes
    ----------
    statistic : float array
    freedom : int or float array
        Degrees of freedom; ``NO_FREEDOM`` where the statistic decides by its sign.
    is_reliable : bool array
        Whether there are rows enough for the test to be trusted.
    decider : str or array of str
        Which test decided, one name for all or one each.
    resampled : Resampled, optional
        If p-values come from a sample, not from a chi-square distribution.
    log2_p_value : float array, optional
        If the test has p-values of its own, their logarithms.
    """

    statistic: FloatArray
    freedom: Int64Array | FloatArray
    is_reliable: BoolArray
    decider: npt.NDArray[np.str_] | str
    resampled: Resampled | None = None
    log2_p_value: FloatArray | None = None


def check_measurement(measured: object, n_tests: int) -> None:
    """Raise unless a test measured as it should: it may come from outside."""
    remedy = "Correct the method 'measure' of the test: it returns a Measurement of arrays."
    if not isinstance(measured, Measurement):
        raise ParameterError.because("test", "return a Measurement", measured, remedy)
    for name in ("statistic", "freedom", "is_reliable", "log2_p_value"):
        values = getattr(measured, name)
        if values is None:
            continue
        shape = np.shape(values)
        if shape != (n_tests,):
            rule, got = f"measure {n_tests} statistics, one per test", shape[0] if shape else name
            raise ParameterError.because("test", rule, got, remedy)
        if np.isnan(np.asarray(values, dtype=np.float64)).any():
            raise ParameterError.because("test", f"measure numbers, in {name!r}", math.nan, remedy)
    wrong = measured.freedom[(measured.freedom < 0) & (measured.freedom != NO_FREEDOM)]
    if wrong.size:
        rule = f"have degrees of freedom of 0 or more, or NO_FREEDOM ({NO_FREEDOM})"
        raise ParameterError.because("test", rule, float(wrong[0]), remedy)


def weigh(measured: Measurement, alpha: float) -> FloatArray:
    """Evidence for dependence of each test of a batch, in bits; 0 where it says "independent".

    A p-value of 2^-b is b bits. A code that saves b bits is as rare under independence as a p-value
    of 2^-b, or rarer, so the two kinds of statistics are on one scale.
    """
    if measured.resampled is not None:
        bits = _resampled_bits(measured.statistic, measured.resampled)
        depends = measured.resampled.p_value <= alpha
    else:
        bits = -_log2_p_values(measured)
        depends = bits >= -math.log2(alpha)
        by_sign = measured.freedom == NO_FREEDOM
        if measured.log2_p_value is None and by_sign.any():
            bits = np.where(by_sign, measured.statistic, bits)
            depends = np.where(by_sign, bits > 0, depends)
    return np.where(depends, bits, 0.0)


def outcomes(measured: Measurement, alpha: float) -> Iterator[Outcome]:
    """Everything that each test of a batch has to say."""
    p_values = np.exp2(_log2_p_values(measured))
    if measured.resampled is not None:
        p_values = measured.resampled.p_value
    has_p_value = measured.resampled is not None or measured.log2_p_value is not None
    deciders = np.broadcast_to(measured.decider, p_values.shape)
    for independent, statistic, df, p_value, decider, reliable in zip(
        (weigh(measured, alpha) == 0.0).tolist(), measured.statistic.tolist(),
        measured.freedom.tolist(), p_values.tolist(), deciders.tolist(),
        measured.is_reliable.tolist(), strict=True,
    ):  # fmt: skip
        yield Outcome(
            independent,
            statistic,
            None if df == NO_FREEDOM else df,
            p_value if has_p_value or df != NO_FREEDOM else None,
            decider,
            reliable,
        )


def has_power(measured: Measurement, noncentrality: FloatArray, alpha: float) -> BoolArray:
    """Whether each test would see a dependence of some noncentrality in four cases of five.

    A statistic with mean ``m`` and variance ``v`` under independence has, roughly, mean ``m + c``
    and variance ``v + 4 c`` under a dependence of noncentrality ``c``, and stays above its mean
    less 0.84 standard deviations in four cases of five.
    """
    freedom = np.maximum(np.asarray(measured.freedom, dtype=np.float64), 0.0)
    spread = np.sqrt(2.0 * freedom + 4.0 * noncentrality)
    low = np.maximum(freedom + noncentrality - POWER_DEVIATIONS * spread, 0.0)
    return log2_tails(low, freedom) <= math.log2(alpha)


def excess(measured: Measurement) -> FloatArray:
    """How far each statistic is above its mean under independence; 0 if it is below.

    That estimates the noncentrality of a dependence. A statistic without degrees of freedom has
    none.
    """
    over = np.where(measured.freedom > 0, measured.statistic - measured.freedom, 0.0)
    return np.maximum(over, 0.0)


def _log2_p_values(measured: Measurement) -> FloatArray:
    if measured.log2_p_value is not None:
        return np.asarray(measured.log2_p_value, dtype=np.float64)
    return log2_tails(measured.statistic, measured.freedom)


def log2_tails(statistic: FloatArray, freedom: Int64Array | FloatArray) -> FloatArray:
    """Logarithms of p-values by chi-square, also of those that underflow; 0 without freedom."""
    from komb.engine.kernels import tails

    logarithms, is_free = np.zeros(len(statistic)), np.asarray(freedom) > 0
    own = np.empty(int(is_free.sum()))
    tails.log2_p_values(
        np.ascontiguousarray(statistic[is_free], dtype=np.float64),
        np.ascontiguousarray(freedom[is_free], dtype=np.float64),
        tails.tail_functions(),
        own,
    )
    logarithms[is_free] = own
    return logarithms


def _resampled_bits(statistics: FloatArray, resampled: Resampled) -> FloatArray:
    """Bits of p-values that were found by sampling.

    Many are the smallest that the sample can give. Those differ by less than one bit:
    ``b / (1 + b)`` with the bits ``b`` that the tail of a scaled chi-square with the mean and the
    variance of the sample would give.
    """
    bits: FloatArray = -np.log2(resampled.p_value)
    is_tied = (resampled.p_value <= resampled.smallest) & (resampled.variance > 0)
    mean, variance = resampled.mean[is_tied], resampled.variance[is_tied]
    scale = variance / (2 * mean)
    beyond = -log2_tails(statistics[is_tied] / scale, mean / scale)
    bits[is_tied] += beyond / (1 + beyond)
    return bits
