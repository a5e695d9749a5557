"""Groups of columns that act together on a target: screened, tested, corrected for their number.

Half of the level is spent on groups of columns that all depend on the target by themselves (there
are few, and such columns interact more often than others), half on all groups. That is a weighted
Bonferroni correction: whatever the columns are, the family-wise error is at most the level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import chndtr

from komb.engine.fixed_point import FloatArray, Int64Array
from komb.engine.group_screen import MOST_CELLS, GroupScreen
from komb.engine.group_tests import GroupTest, GroupTests, Target
from komb.engine.journal import Journal
from komb.engine.single_columns import test_singles

LISTED, LISTED_LARGE = 200.0, 1.0
"""Groups of a size that the screen lists by chance: up to triples, and of larger ones."""

MOST_FIRST = 1000
"""Groups of columns that all depend on the target by themselves, which are tested first."""

LINKED = 0.05
"""Squared correlation of columns from which one finding may be there for another one."""

OnProgress = Callable[[int, int, int], None]  # size, done, total


class Tested(NamedTuple):
    """A group, and what is known of it."""

    group: tuple[int, ...]
    test: GroupTest
    p_family: float
    p_fdr: float
    n_counted: float  # by which its p-value is multiplied


class SizeReport(NamedTuple):
    """What a search among groups of one size has seen."""

    size: int
    n_groups: int
    n_tested: int
    most_bits: float  # that a group may have and not be a finding, with 95 % confidence


class GroupSearch:
    """Searches the groups of some columns.

    Parameters
    ----------
    codes : array of shape (n_columns, n_rows)
        Each column coded 0 .. levels - 1, and levels where a value is missing.
    levels : int array
    target : Target
    level : float
        The family-wise error.
    is_saturated : bool
        Whether associations are searched, not interactions.
    """

    def __init__(
        self,
        codes: npt.NDArray[Any],
        levels: Int64Array,
        target: Target,
        level: float,
        *,
        is_saturated: bool,
    ) -> None:
        self._codes, self._levels, self._target = codes, levels, target
        self._level, self._is_saturated = level, is_saturated
        self._tests = GroupTests(codes, levels, target)
        self._responses = target.responses()
        self.singles = test_singles(codes, levels, target)

    def run(
        self,
        sizes: Sequence[int],
        is_allowed: Callable[[tuple[int, ...]], bool],
        on_progress: OnProgress | None,
        journal: Journal | None,
        count_allowed: Callable[[int], int] | None = None,
    ) -> tuple[list[Tested], list[SizeReport]]:
        """Return the groups with small p-values, the smallest first, and what was searched."""
        found: list[Tested] = []
        reports = []
        for size in sizes:
            n_groups = math.comb(len(self._levels), size)
            level = min(1.0, (LISTED if size <= 3 else LISTED_LARGE) / n_groups)
            screen = GroupScreen(
                self._codes, self._levels, self._responses, size, level,
                is_saturated=self._is_saturated, least_rows=self._target.least_rows,
            )  # fmt: skip

            def report(done: int, total: int, size: int = size) -> None:
                if on_progress is not None:
                    on_progress(size, done, total)

            listed, n_tested = screen.run_all(report, journal)
            own = [
                group
                for group in combinations(self._find_dependent(size), size)
                if np.prod(self._levels[list(group)]) <= MOST_CELLS
            ]
            groups = {*map(tuple, listed.tolist()), *own}
            first = {*filter(is_allowed, own)}
            n_counting = n_tested if count_allowed is None else min(n_tested, count_allowed(size))
            some = self._correct(filter(is_allowed, groups), first, n_counting, len(sizes))
            found += some
            needed = screen.fields["needed"]
            reports.append(
                SizeReport(
                    size, n_groups, n_tested, self._most_bits(size, some, needed, len(sizes))
                )
            )
        return sorted(
            found, key=lambda each: (each.p_family, each.test.p_value, each.group)
        ), reports

    def _find_dependent(self, size: int) -> tuple[int, ...]:
        """Return the columns that depend on the target by themselves, at most so many."""
        n_columns, p_values, most = len(self._levels), self.singles.p_values, size
        while most < n_columns and math.comb(most + 1, size) <= MOST_FIRST:
            most += 1
        order = np.argsort(p_values, kind="stable")[:most]
        return tuple(sorted(x for x in order.tolist() if p_values[x] * n_columns <= self._level))

    def _correct(
        self, groups: Iterable[tuple[int, ...]], own: set[tuple[int, ...]], n: int, n_sizes: int
    ) -> list[Tested]:
        """Test groups, and correct for how many there are."""
        tests = {g: self._tests.test(g, is_saturated=self._is_saturated) for g in sorted(groups)}
        share = 2.0 * n_sizes if own else 1.0 * n_sizes
        order = sorted(tests, key=lambda group: (tests[group].p_value, group))
        rates = np.array([tests[group].p_value for group in order]) * n
        rates /= np.arange(1, len(order) + 1)
        rates = np.minimum.accumulate(np.minimum(rates, 1.0)[::-1])[::-1]
        counted = {group: share * (len(own) if group in own else n) for group in order}
        return [
            Tested(
                group, tests[group], min(1.0, tests[group].p_value * counted[group]), float(rate),
                counted[group],
            )
            for group, rate in zip(order, rates, strict=True)
        ]  # fmt: skip

    def is_explained(self, group: Tested, first: Tested) -> bool:
        """Whether a finding is none any more beside the cells of another one."""
        beside = self._tests.beside(first.group)
        if beside is None:
            return False
        p_value = beside.test(group.group, is_saturated=self._is_saturated).p_value
        return p_value * group.n_counted > self._level

    def _most_bits(
        self, size: int, found: Sequence[Tested], needed: FloatArray, n_sizes: int
    ) -> float:
        """Return what a group may have that is no finding.

        One that has more would have reached the largest statistic that is no finding, but for a
        chance. After ``F`` findings it is about one of the ``F + 1`` strongest groups; the chances
        of all of these, ``0.05 / (j (j + 1))``, add up to 5 %.
        """
        rank, rest = self._responses.rank, [e for e in found if e.p_family > self._level]
        n_found = len(found) - len(rest)
        chance = 0.05 / (n_sizes * (n_found + 1) * (n_found + 2))
        largest = np.sort(self._levels)[::-1][:size]
        full = int(min(np.prod(largest - 1.0), MOST_CELLS))
        if self._is_saturated:
            full = int(min(np.prod(largest * 1.0), MOST_CELLS)) - 1
        seen = [(each.test.statistic, each.test.df) for each in rest]
        seen += [
            (float(needed[full if size > 3 else df]), df * rank)
            for df in range(1, full + 1)
            if np.isfinite(needed[df])
        ]
        known = self._target.is_known
        lost = (self._codes[:, known] >= self._levels[:, None]).sum(axis=1)
        n_rows = max(int(known.sum() - np.sort(lost)[::-1][:size].sum()), 1)
        most = max(noncentrality(statistic, df, chance) for statistic, df in seen)
        return most / (2.0 * math.log(2.0) * n_rows)


def noncentrality(statistic: float, df: float, chance: float) -> float:
    """Return the noncentrality with which a chi-square is as small as this with some chance."""
    low, high = 0.0, 4.0 * statistic + 100.0
    if df <= 0 or chndtr(statistic, df, low) <= chance:
        return low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if chndtr(statistic, df, middle) > chance else (low, middle)
    return high


def merge_proxies(
    found: Sequence[Tested], likeness: Callable[[int, int], float], least: float,
    is_explained: Callable[[Tested, Tested], bool], level: float,
) -> list[tuple[Tested, list[Tested]]]:  # fmt: skip
    """Put each group with the first one whose columns are like its own, one by one.

    They are alike enough, or they are linked and the first one explains a finding.
    """
    merged: list[tuple[Tested, list[Tested]]] = []
    for each in found:
        for first, proxies in merged:
            if _are_alike(first.group, each.group, likeness, least) or (
                each.p_family <= level
                and _are_alike(first.group, each.group, likeness, min(LINKED, least))
                and is_explained(each, first)
            ):
                proxies.append(each)
                break
        else:
            merged.append((each, []))
    return merged


def _are_alike(
    first: tuple[int, ...], other: tuple[int, ...], likeness: Callable[[int, int], float],
    least: float,
) -> bool:  # fmt: skip
    """Whether the columns of two groups can be paired so that each is like the other."""
    if len(first) != len(other):
        return False
    if not first:
        return True
    return any(
        (x == first[0] or likeness(first[0], x) >= least)
        and _are_alike(first[1:], other[:place] + other[place + 1 :], likeness, least)
        for place, x in enumerate(other)
    )
