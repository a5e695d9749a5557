"""Why a search chose what it chose, and left out what it left out: facts, in numbers.

:mod:`komb.views.choices_text` has the words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from komb.search.task import Choice, Omission


class Kind(Enum):
    """What a fact is about; its numbers are named behind."""

    ORDER_SEARCHED = auto()  # order, tests
    ORDER_OMITTED = auto()  # order
    TIME_SPENT = auto()  # seconds, tests that are left
    TOO_MANY_TESTS = auto()  # tests, limit
    TOO_MUCH_WORK = auto()  # tests
    TOO_MANY_SETS = auto()  # sets of columns, limit
    DETERMINED = auto()
    LARGEST_ORDER = auto()
    EXHAUSTED = auto()
    ASKED = auto()
    DEFAULT = auto()
    SEPARATOR_NEEDED = auto()  # columns
    NOTHING_BELOW = auto()  # p-value, tests
    DEPENDENT = auto()  # columns that are, all columns
    FALSE_SHARE = auto()  # at most
    FALLS_WITH = auto()  # rows, columns


class Fact(NamedTuple):
    """One fact behind a choice or an omission."""

    kind: Kind
    numbers: tuple[float, ...] = ()


def fact(kind: Kind, *numbers: float) -> Fact:
    """Return a fact with its numbers."""
    return Fact(kind, numbers)


@dataclass(frozen=True, slots=True)
class GroundedChoice(Choice):
    """A choice whose reason is still to be put into words."""

    reason: str = field(default="", init=False)
    facts: tuple[Fact, ...] = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class GroundedOmission(Omission):
    """An omission whose reason is still to be put into words."""

    reason: str = field(default="", init=False)
    limit: Fact = field(kw_only=True)
