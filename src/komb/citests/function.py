"""A test that is a function of the user's own: codes in, a p-value out.

The function is called as ``function(x, y, z)`` with integer codes: ``x`` of the candidate and ``y``
of the target, one element per row, and ``z`` of the columns held fixed, one row per row and one
column per condition (none at first). Rows in which one of these values is missing are left out. It
returns a p-value.

This is the slow path: one call per test, on rows, where the tests of komb work on counts of
thousands of tests at a time. Every test is computed once, whatever a search asks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.citests.contract import CITest, TestOptions
from komb.engine.measurement import Measurement
from komb.engine.test_sums import TestSums
from komb.errors import ParameterError

PValueFunction = Callable[[Any, Any, Any], float]
Codes = npt.NDArray[np.int64]

SMALLEST = 1e-300  # a p-value of 0 counts as this


class FunctionTest(CITest):
    """Asks a function for p-values.

    The statistic that goes with a p-value is the chi-square with one degree of freedom that has it.
    """

    def __init__(self, function: PValueFunction) -> None:
        check_signature(function)
        super().__init__(TestOptions())  # what it is built with is the function's own affair
        self.name = name_of(function)
        self._function = function
        self._known: dict[tuple[int, int, frozenset[int]], tuple[float, bool]] = {}

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch, one test after the other."""
        from scipy.special import chdtri

        known = [self._p_value(sums, test) for test in range(len(sums))]
        p_values = np.array([p_value for p_value, _ in known])
        return Measurement(
            statistic=chdtri(1.0, p_values),
            freedom=np.ones(len(p_values)),
            is_reliable=np.array([has_rows for _, has_rows in known]),
            decider=self.name,
            log2_p_value=np.log2(p_values),
        )

    def _p_value(self, sums: TestSums, test: int) -> tuple[float, bool]:
        """Return the p-value of a test, and whether there is any complete row."""
        target, candidate, given = sums.variables(test)
        key = (target, candidate, frozenset(given))
        if key not in self._known:
            y, x, *z = sums.rows(test)
            conditions = np.stack(z, axis=1) if z else np.empty((len(y), 0), dtype=np.int64)
            p_value = self._function(x, y, conditions) if len(y) else 1.0
            self._known[key] = self._checked(p_value), len(y) > 0
        return self._known[key]

    def _checked(self, p_value: Any) -> float:
        number = float("nan")
        if not isinstance(p_value, bool | np.bool_ | str | bytes):  # a decision is no p-value
            with suppress(TypeError, ValueError):
                number = float(p_value)
        if not 0 <= number <= 1:
            raise ParameterError.because(
                "test",
                f"return a p-value, a number from 0 to 1 (function {self.name!r})",
                p_value,
                "It is called as function(x, y, z) with integer codes and returns the p-value of "
                "'x is independent of y given z'.",
            )
        return max(number, SMALLEST)


def check_signature(function: object) -> None:
    """Raise unless something can be called as a test is."""
    shown = name_of(function) if callable(function) else function
    remedy = "Define it as function(x, y, z), with integer codes, and return a p-value."
    rule = "be a function of x, y and z"
    if not callable(function) or isinstance(function, type):
        raise ParameterError.because("test", rule, shown, remedy)
    try:
        signature = inspect.signature(function)
    except ValueError:  # some compiled functions do not say
        return
    try:
        signature.bind(0, 0, 0)
    except TypeError:
        raise ParameterError.because("test", rule, shown, remedy) from None


def name_of(function: Callable[..., Any]) -> str:
    """Return what a function or class is called."""
    return str(getattr(function, "__name__", type(function).__name__))
