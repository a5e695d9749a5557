"""What a conditional-independence test is.

A test has a rule, which the compiled judge knows how to follow (:class:`RuleTest`), or it measures
sums over contingency tables in Python (:class:`CITest`). What else it has to say about itself has
defaults that suit a plain test with p-values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from komb.engine.measurement import Measurement
from komb.engine.rule import Rule
from komb.engine.test_sums import TestSums

DF_RULES = ("observed", "adjusted")


@dataclass(frozen=True, slots=True)
class TestOptions:
    """What a test is built with; most need little of it.

    Attributes
    ----------
    df : {"observed", "adjusted"}
        Rule for the degrees of freedom.
    seed : int
        Of random numbers.
    alpha : float
        Level that p-values must be able to reach. Comparing with it is not for a test to do.
    """

    __test__ = False

    df: str = "observed"
    seed: int = 0
    alpha: float = 0.01


class AnyTest:
    """What all tests have to say about themselves.

    Parameters
    ----------
    options : TestOptions

    Attributes
    ----------
    has_df_rule : bool
        Whether the option ``df`` makes a difference.
    is_random : bool
        Whether it draws random numbers, so that its answers depend on the seed.
    takes_numbers : bool
        Whether numeric columns with many values are tested by their values, where those are at
        hand; tests that count see their bins.
    fallback : str or None
        What the test that decided is called where a fall-back for sparse tables did.
    symbols : mapping
        What the statistic is called in print, for each decider: ``{"g": "G"}``.
    unreliable_note : str
        What it means, and what helps, if tests were unreliable. ``{tests}`` stands for how many of
        how many tests, such as "3 of 120 tests"; ``{test}`` for the name of the test.
    """

    has_df_rule: ClassVar[bool] = False
    is_random: ClassVar[bool] = False
    takes_numbers: ClassVar[bool] = False
    fallback: ClassVar[str | None] = None
    symbols: ClassVar[Mapping[str, str]] = MappingProxyType({})
    unreliable_note: ClassVar[str] = (
        "Caution: {tests} had too few rows per cell for test {test} to be trusted. Collect more "
        "rows, merge rare levels or exclude columns with many levels, or use test auto."
    )

    def __init__(self, options: TestOptions) -> None:
        self.options = options

    @property
    def smallest_p_value(self) -> float:
        """The smallest p-value that it can give; 0 if there is no limit."""
        return 0.0


class CITest(AnyTest, ABC):
    """A statistic for conditional independence, made from sums over contingency tables or rows.

    Only :meth:`measure` has to be written.
    """

    @abstractmethod
    def measure(self, sums: TestSums) -> Measurement:
        """Turn sums into a statistic for each test of the batch."""


class RuleTest(AnyTest, ABC):
    """A statistic that the compiled judge knows; only :meth:`rule` has to be written."""

    @abstractmethod
    def rule(self, alpha: float) -> Rule:
        """Say which statistic, with which degrees of freedom, decides."""
