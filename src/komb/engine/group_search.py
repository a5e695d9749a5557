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
from komb.engine.single_columns import SingleTests, test_singles

LISTED, LISTED_LARGE = 200.0, 1.0
"""Groups of a size that the screen lists by chance: up to triples, and of larger ones."""

MOST_FIRST = 1000
"""Groups of columns that all depend on the target by themselves, which are tested first."""

LINKED = 0.05
"""Squared correlation of columns from which one finding may be there for another one."""

MOST_LISTED = 1_000
"""Groups that are not significant, at most."""

MOST_AGAIN = 5_000_000
"""Groups that are searched again beside what has been found, at most."""

OnProgress = Callable[[int, int, int], None]  # size, done, total


class Tested(NamedTuple):
    """A group, and what is known of it."""

    group: tuple[int, ...]
    test: GroupTest
    p_family: float
    p_fdr: float
    n_counted: float  # by which its p-value is multiplied


Finding = tuple[Tested, list[Tested]]
"""A group, and those that are the same finding."""


class Alike(NamedTuple):
    """Which groups are near-copies: those whose columns can be paired so that each is like one."""

    likeness: Callable[[int, int], float]
    least: float

    @property
    def linked(self) -> Alike:
        """Return what says which groups are linked at all."""
        return self._replace(least=min(LINKED, self.least))

    def groups(self, first: tuple[int, ...], other: tuple[int, ...]) -> bool:
        """Whether two groups are alike."""
        if len(first) != len(other):
            return False
        if not first:
            return True
        return any(
            (x == first[0] or self.likeness(first[0], x) >= self.least)
            and self.groups(first[1:], other[:place] + other[place + 1 :])
            for place, x in enumerate(other)
        )


class SizeReport(NamedTuple):
    """What a search among groups of one size has seen."""

    size: int
    n_groups: int
    n_tested: int
    most_bits: float  # that a group may have and not be a finding, with 95 % confidence


class Outcome(NamedTuple):
    """What a search has found."""

    findings: list[Finding]  # the groups that are significant come first
    reports: list[SizeReport]
    singles: SingleTests
    fit: float  # of the columns and groups that matter, to compare scales


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
    n_searches : int
        How many searches share the level.
    """

    def __init__(
        self,
        codes: npt.NDArray[Any],
        levels: Int64Array,
        target: Target,
        level: float,
        *,
        is_saturated: bool,
        n_searches: int = 1,
    ) -> None:
        self._codes, self._levels, self._target = codes, levels, target
        self._level, self._is_saturated, self._n_searches = level, is_saturated, n_searches
        self.singles = test_singles(codes, levels, target)
        tests = GroupTests(codes, levels, target)
        self._strong = () if is_saturated or target.n_levels else self._find_strong(tests)
        self._tests = tests.beside((x,) for x in self._strong) or tests

    def run(
        self,
        sizes: Sequence[int],
        is_allowed: Callable[[tuple[int, ...]], bool],
        on_progress: OnProgress | None,
        journal: Journal | None,
        alike: Alike,
        count_allowed: Callable[[int], int] | None = None,
    ) -> Outcome:
        """Return groups with small p-values and their proxies, and what was searched.

        The strongest finding comes first; others have to be findings beside its cells. A measured
        target is searched again beside all of them, as long as that is little work: findings
        explain what is noise for others.
        """
        searched = is_allowed, count_allowed, journal
        found, reports = self._search(self._tests, sizes, on_progress, *searched)
        n_found = sum(map(self._is_finding, found))
        merged = self._merge([], found[: n_found + MOST_LISTED], alike)
        n_before, heads = 0, self._heads(merged)
        while len(heads) > n_before and self._is_searched_again(max(sizes)):
            tests = self._tests.beside(heads)
            if tests is None:
                break
            more, _ = self._search(tests, sizes, None, *searched)
            known = {each.group for head, own in merged for each in (head, *own)
                     if self._is_finding(head)}  # fmt: skip
            new = [each for each in more if self._is_finding(each) and each.group not in known]
            n_before, merged = len(heads), self._merge(merged, new, alike)
            heads = self._heads(merged)
        merged.sort(key=lambda each: _order(each[0]))
        return Outcome(merged, reports, self.singles, self.fit(heads))

    def fit(self, groups: Iterable[tuple[int, ...]] = ()) -> float:
        """Return how well strong columns and some groups explain the target, on any scale."""
        return self._target.fit(self._tests.cells_of([*((x,) for x in self._strong), *groups]))

    def _heads(self, merged: Iterable[Finding]) -> list[tuple[int, ...]]:
        return [head.group for head, _ in merged if self._is_finding(head)]

    def _is_searched_again(self, size: int) -> bool:
        return not self._target.n_levels and math.comb(len(self._levels), size) <= MOST_AGAIN

    def _merge(
        self, merged: Sequence[Finding], found: Sequence[Tested], alike: Alike
    ) -> list[Finding]:
        """Put each group with the first one that it is a proxy of, if there is one.

        Their columns are alike, one by one; or they are linked and a finding is none any more
        beside the cells of those before it. If these leave nothing to test, unlinked ones stay.
        """
        again = {each.group for each in found}
        heads = [own for own in merged if self._is_finding(own[0])]
        others = [own for own in merged if not (self._is_finding(own[0]) or own[0].group in again)]
        for each in found:
            place = _find_alike([*heads, *others], each, alike)
            linked = _find_alike(heads, each, alike.linked) if self._is_finding(each) else None
            if place is None and heads and self._is_finding(each):
                beside = self._beside(each, [head for head, _ in heads])
                if linked is not None or (beside.test.df and not self._is_saturated):
                    each = beside
                place = None if self._is_finding(each) else linked
            if place is not None:
                [*heads, *others][place][1].append(each)
            else:
                (heads if self._is_finding(each) else others).append((each, []))
        return [*heads, *others]

    def _is_finding(self, each: Tested) -> bool:
        return each.p_family <= self._level

    def _beside(self, each: Tested, heads: Iterable[Tested]) -> Tested:
        """Test a group once more, beside the cells of findings."""
        tests = self._tests.beside(head.group for head in heads)
        if tests is None:
            return each
        test = tests.test(each.group, is_saturated=self._is_saturated)
        return each._replace(test=test, p_family=min(1.0, test.p_value * each.n_counted))

    def _find_strong(self, alone: GroupTests) -> tuple[int, ...]:
        """Return columns that depend on the target beside one another."""
        chosen: list[int] = []
        left = [*self._find_dependent(2)]
        while left:
            tests = alone.beside((x,) for x in chosen)
            if tests is None:
                break
            singles = test_singles(self._codes[left], self._levels[left], tests.target)
            best = int(singles.p_values.argmin())
            if singles.p_values[best] * len(self._levels) > self._level:
                break
            chosen.append(left.pop(best))
        return tuple(chosen)

    def _search(
        self, tests: GroupTests, sizes: Sequence[int], on_progress: OnProgress | None,
        is_allowed: Callable[[tuple[int, ...]], bool], count_allowed: Callable[[int], int] | None,
        journal: Journal | None,
    ) -> tuple[list[Tested], list[SizeReport]]:  # fmt: skip
        responses = tests.target.responses()
        found: list[Tested] = []
        reports = []
        for size in sizes:
            n_groups = math.comb(len(self._levels), size)
            level = min(1.0, (LISTED if size <= 3 else LISTED_LARGE) / n_groups)
            screen = GroupScreen(
                self._codes, self._levels, responses, size, level,
                is_saturated=self._is_saturated, least_rows=tests.target.least_rows,
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
            some = self._correct(tests, filter(is_allowed, groups), first, n_counting, len(sizes))
            found += some
            needed = screen.fields["needed"]
            reports.append(
                SizeReport(
                    size, n_groups, n_tested, self._most_bits(size, some, needed, len(sizes))
                )
            )
        return sorted(found, key=_order), reports

    def _find_dependent(self, size: int) -> tuple[int, ...]:
        """Return the columns that depend on the target by themselves, at most so many."""
        n_columns, p_values, most = len(self._levels), self.singles.p_values, size
        while most < n_columns and math.comb(most + 1, size) <= MOST_FIRST:
            most += 1
        order = np.argsort(p_values, kind="stable")[:most]
        return tuple(sorted(x for x in order.tolist() if p_values[x] * n_columns <= self._level))

    def _correct(
        self, judge: GroupTests, groups: Iterable[tuple[int, ...]], own: set[tuple[int, ...]],
        n: int, n_sizes: int,
    ) -> list[Tested]:  # fmt: skip
        """Test groups, and correct for how many there are."""
        tests = {g: judge.test(g, is_saturated=self._is_saturated) for g in sorted(groups)}
        share = float((2 if own else 1) * n_sizes * self._n_searches)
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

    def _most_bits(
        self, size: int, found: Sequence[Tested], needed: FloatArray, n_sizes: int
    ) -> float:
        """Return what a group may have that is no finding.

        One that has more would have reached the largest statistic that is no finding, but for a
        chance. After ``F`` findings it is about one of the ``F + 1`` strongest groups; the chances
        of all of these, ``0.05 / (j (j + 1))``, add up to 5 %.
        """
        rank = max(self._target.n_levels - 1, 1)
        rest = [each for each in found if not self._is_finding(each)]
        n_found = len(found) - len(rest)
        chance = 0.05 / (self._n_searches * n_sizes * (n_found + 1) * (n_found + 2))
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


def _order(each: Tested) -> tuple[float, float, tuple[int, ...]]:
    return each.p_family, each.test.p_value, each.group


def _find_alike(merged: Sequence[Finding], each: Tested, alike: Alike) -> int | None:
    """Return the place of the first group whose columns are like those of another, one by one."""
    return next((i for i, (x, _) in enumerate(merged) if alike.groups(x.group, each.group)), None)
