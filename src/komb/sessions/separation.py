"""Which dependences no small set undoes, and what undid the others.

A dependence is a candidate and a given set; a separator undoes it when the candidate is independent
of the target given both together. Whether *some* separator does is all a search wants to know, so
they may be tried in any order: those that worked for the same candidate come first, the latest
before the others, for what explains a variable once explains it again. What is learnt about a
dependence is kept: the separator that undid it, or the pool it has withstood.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice

Variables = frozenset[int]
Dependence = tuple[int, Variables]  # candidate, given set

#: Dependences remembered from one question to the next; all are forgotten beyond.
DEPENDENCES_REMEMBERED = 1 << 19


def subsets(items: Iterable[int], max_size: int, min_size: int = 0) -> Iterator[Variables]:
    """All subsets of ``min_size`` to ``max_size`` elements, by size and then in table order.

    Examples
    --------
    >>> [sorted(subset) for subset in subsets({1, 2, 3}, 2)]
    [[], [1], [2], [3], [1, 2], [1, 3], [2, 3]]
    """
    ordered = sorted(items)
    for size in range(min_size, min(max_size, len(ordered)) + 1):
        yield from map(frozenset, combinations(ordered, size))


def count_subsets(n_items: int, max_size: int) -> int:
    """How many subsets of up to ``max_size`` elements there are.

    Examples
    --------
    >>> count_subsets(3, 2)
    7
    """
    return sum(math.comb(n_items, size) for size in range(max_size + 1))


@dataclass(frozen=True, slots=True)
class Separators:
    """All subsets of a pool up to a size."""

    pool: Variables
    max_size: int

    def __contains__(self, separator: Variables) -> bool:
        return len(separator) <= self.max_size and separator <= self.pool


@dataclass(slots=True)
class SeparationMemory:
    """What is known about one target's dependences."""

    _undone_by: dict[Dependence, Variables] = field(default_factory=dict)
    _withstood: dict[Dependence, Separators] = field(default_factory=dict)
    # separators that worked, for each candidate and for any; the latest is last
    _worked_for: dict[int, dict[Variables, None]] = field(default_factory=dict)
    _worked: dict[Variables, None] = field(default_factory=dict)

    def __len__(self) -> int:
        """Count the dependences and separators that are remembered."""
        own = sum(map(len, self._worked_for.values()))
        return own + len(self._undone_by) + len(self._withstood) + len(self._worked)

    def make_room(self) -> None:
        """Forget what is too much to remember.

        Only between questions: a line passes over what it finds here as undone, and would wait for
        ever for what is forgotten as fast as it is noted.
        """
        for memory in (self._undone_by, self._withstood, self._worked):
            if len(memory) >= DEPENDENCES_REMEMBERED:
                memory.clear()

    def is_undone(self, dependence: Dependence, separators: Separators) -> bool:
        """Whether one of the separators is known to undo a dependence."""
        separator = self._undone_by.get(dependence)
        return separator is not None and separator in separators

    def note_undone(self, dependence: Dependence, separator: Variables) -> None:
        """Remember what undid a dependence."""
        self._undone_by[dependence] = separator
        for worked in (self._worked_for.setdefault(dependence[0], {}), self._worked):
            worked.pop(separator, None)
            worked[separator] = None

    def note_withstood(self, dependence: Dependence, separators: Separators) -> None:
        """Remember that none of the separators undoes a dependence."""
        self._withstood[dependence] = separators

    def latest(self, dependence: Dependence, separators: Separators) -> Variables | None:
        """Return the separator that worked last for the candidate and could work here."""
        candidate, given = dependence
        for separator in reversed(self._worked_for.get(candidate, {})):
            if separator.isdisjoint(given) and separator in separators:
                return separator
        return None

    def to_try(self, dependence: Dependence, separators: Separators) -> Iterator[Variables]:
        """Separators that a dependence is not known to withstand, the most promising first."""
        candidate, given = dependence
        taken = given | {candidate}
        withstood = self._withstood.get(dependence, ())
        tried = set()
        # lists, for the memory changes while these separators are tried
        for worked in (list(self._worked_for.get(candidate, ())), list(self._worked)):
            for separator in reversed(worked):
                if (
                    separator.isdisjoint(taken)
                    and separator in separators
                    and separator not in tried
                    and separator not in withstood
                ):
                    tried.add(separator)
                    yield separator
        for separator in subsets(separators.pool - taken, separators.max_size):
            if separator not in tried and separator not in withstood:
                yield separator


@dataclass(slots=True)
class Line:
    """Dependences of one candidate, in the order in which one that stands is wanted."""

    candidate: int
    givens: Sequence[Variables]
    place: int = 0  # everything before is undone
    window: int = 1  # so many are looked at together

    @property
    def front(self) -> Dependence | None:
        """The first dependence that is not undone; None if all are."""
        if self.place == len(self.givens):
            return None
        return self.candidate, self.givens[self.place]

    def ahead(self) -> Iterator[Dependence]:
        """Yield the dependences to look at next."""
        for given in islice(self.givens, self.place, self.place + self.window):
            yield self.candidate, given

    def advance(self, memory: SeparationMemory, separators: Separators) -> None:
        """Pass over what is undone."""
        while (front := self.front) is not None and memory.is_undone(front, separators):
            self.place += 1


@dataclass(slots=True)
class Trial:
    """A dependence on which separators are tried, a few at a time."""

    dependence: Dependence
    separators: Iterator[Variables]

    def next(self, count: int) -> list[tuple[Variables, Variables]]:
        """Return the next separators, each with the given set it makes."""
        given = self.dependence[1]
        return [(separator, given | separator) for separator in islice(self.separators, count)]
