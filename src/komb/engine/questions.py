"""What a search asks an engine, and the answers.

Variables are integers and sets of them frozensets; names and levels belong to the layers above.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import astuple, dataclass
from itertools import combinations
from operator import add, sub
from typing import NamedTuple

from komb.errors import ParameterError

Variables = frozenset[int]
EMPTY: Variables = frozenset()

Question = tuple[AbstractSet[int], Variables]  # candidates, given set
Candidates = tuple[Sequence[int], Variables]  # the same in an order: those that have to be tested
Dependence = tuple[int, Variables]  # candidate, given set
StrongDependence = tuple[float, int, Variables]  # bits, candidate, given set
OnProgress = Callable[[int, int], None]  # done, in all


TESTS_PER_REPORT = 20_000
"""Tests that are decided between two reports of progress."""


class Branch(NamedTuple):
    """A group of variables, with candidates that it may make visible, alone or with allies."""

    group: Variables
    candidates: Variables
    n_allies: int  # at most

    def before(self, candidate: int) -> Branch:
        """Return the branch with the candidates in front of this one."""
        return self._replace(candidates=frozenset(x for x in self.candidates if x < candidate))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one conditional-independence test said."""

    independent: bool
    statistic: float | None  # none when an oracle answered
    # degrees of freedom; None when the deciding test has none. Of test ``auto`` the mean of its
    # statistic under independence, a real number
    df: float | None
    p_value: float | None  # none when the deciding test has none
    test: str  # which test decided
    reliable: bool  # whether the table was thick enough for the deciding test to be trusted


@dataclass(frozen=True, slots=True)
class WorkCounts:
    """How much work an engine has done."""

    tests: int  # different (target, candidate, given set) decided
    tables: int  # joint tables counted to decide them
    fallbacks: int  # tests decided by the fall-back for thin tables
    unreliable: int  # tests decided on a table too thin for the test

    def __add__(self, other: WorkCounts) -> WorkCounts:
        """Work of both."""
        return WorkCounts(*map(add, astuple(self), astuple(other)))

    def __sub__(self, earlier: WorkCounts) -> WorkCounts:
        """Work done since ``earlier``."""
        return WorkCounts(*map(sub, astuple(self), astuple(earlier)))


def subsets(items: Iterable[int], max_size: int, min_size: int = 0) -> Iterator[Variables]:
    """All subsets of ``min_size`` to ``max_size`` elements, by size and then in table order."""
    ordered = sorted(items)
    for size in range(min_size, min(max_size, len(ordered)) + 1):
        yield from map(frozenset, combinations(ordered, size))


def count_subsets(n_items: int, max_size: int) -> int:
    """How many subsets of up to ``max_size`` elements there are."""
    return sum(math.comb(n_items, size) for size in range(max_size + 1))


def check_variables(asked: AbstractSet[int], everything: Variables) -> None:
    """Raise if a search asks about variables that do not exist: kernels do not look."""
    if not asked <= everything:
        rule = f"be asked about variables from 0 to {len(everything) - 1}"
        wrong = min(asked - everything)
        raise ParameterError.because("engine", rule, wrong, "Correct the algorithm that asks.")


@dataclass(slots=True)
class Allowance:
    """Work of tests that were asked for, and how much of it there may be.

    What is remembered counts as if it were new, so nothing depends on what was asked before.
    """

    spent: int = 0
    most: float = math.inf

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left of it."""
        return self.spent > self.most


def by_strength(dependence: StrongDependence) -> tuple[float, int, list[int]]:
    """Order dependences by their bits, the strongest first, then by their variables."""
    bits, candidate, given = dependence
    return -bits, candidate, sorted(given)


def strongest(bits: Mapping[int, float]) -> int:
    """Return the candidate with the strongest dependence on the target, of several the first."""
    return max(sorted(bits), key=bits.__getitem__)


def find_strong(
    weigh: Callable[[Sequence[Question]], Sequence[Mapping[int, float]]],
    questions: Sequence[Question],
    on_progress: OnProgress | None,
) -> list[StrongDependence]:
    """Weigh questions, which leaves what is strong; return it, the strongest first."""
    found: list[StrongDependence] = []
    done = 0
    for batch in _cut(questions):
        if on_progress is not None:
            on_progress(done, len(questions))
        done += len(batch)
        for (_, given), strong in zip(batch, weigh(batch), strict=True):
            found += [(own, x, given) for x, own in strong.items()]
    return sorted(found, key=by_strength)


def _cut(questions: Iterable[Question]) -> Iterator[list[Question]]:
    """Cut questions into batches."""
    batch: list[Question] = []
    n_tests = 0
    for question in questions:
        batch.append(question)
        n_tests += len(question[0])
        if n_tests >= TESTS_PER_REPORT:
            yield batch
            batch, n_tests = [], 0
    if batch:
        yield batch
