"""Why a search chose what it chose, and left out what it left out, in numbers.

:mod:`komb.views.choices_text` has the words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from komb.search.task import Choice, Omission


@dataclass(frozen=True, slots=True)
class TimeSpent:
    """The time budget was spent before these tests."""

    seconds: float
    n_tests: int


@dataclass(frozen=True, slots=True)
class TooMany:
    """The work would exceed a limit."""

    count: int
    limit: int
    unit: Literal["test", "set of columns"] = "test"


Limit = TimeSpent | TooMany


@dataclass(frozen=True, slots=True)
class OrderGrounds:
    """Where the orders that were searched end; ``n_tests`` are those of order 1, 2 and so on."""

    n_tests: tuple[int, ...]
    end: Literal["asked", "largest", "exhausted"] | Limit
    omitted: int | None = None  # the order that a limit left out


@dataclass(frozen=True, slots=True)
class SeparatorGrounds:
    """How many columns the largest separator has, and who set the bound."""

    needed: int
    is_asked: bool


@dataclass(frozen=True, slots=True)
class ThresholdGrounds:
    """How many columns are marginally dependent at the false discovery rate."""

    n_dependent: int
    n_tests: int
    false_share: float


@dataclass(frozen=True, slots=True)
class NothingBelow:
    """No marginal p-value is below what the number of tests calls for."""

    p_value: float
    n_tests: int


@dataclass(frozen=True, slots=True)
class AlphaGrounds:
    """What the level of single tests falls with."""

    n_rows: int
    n_columns: int


Grounds = OrderGrounds | SeparatorGrounds | ThresholdGrounds | NothingBelow | AlphaGrounds


@dataclass(frozen=True, slots=True)
class GroundedChoice(Choice):
    """A choice whose reason is still to be put into words."""

    reason: str = field(default="", init=False)
    grounds: Grounds = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class GroundedOmission(Omission):
    """An omission whose reason is still to be put into words."""

    reason: str = field(default="", init=False)
    limit: Limit = field(kw_only=True)
