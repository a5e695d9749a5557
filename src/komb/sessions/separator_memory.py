"""What is known about dependences: the separator that removed each, or the pool without one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from komb.sessions.questions import Dependence, Variables, subsets

#: Dependences remembered from one question to the next; all are forgotten beyond.
DEPENDENCES_REMEMBERED = 1 << 19


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

    _separated_by: dict[Dependence, Variables] = field(default_factory=dict)
    _inseparable_in: dict[Dependence, Separators] = field(default_factory=dict)
    # separators that worked, for each candidate and for any; the latest is last
    _worked_for: dict[int, dict[Variables, None]] = field(default_factory=dict)
    _worked: dict[Variables, None] = field(default_factory=dict)

    def __len__(self) -> int:
        """Count the dependences and separators that are remembered."""
        own = sum(map(len, self._worked_for.values()))
        return own + len(self._separated_by) + len(self._inseparable_in) + len(self._worked)

    def make_room(self) -> None:
        """Forget what is too much to remember.

        Only between questions: a line passes over what it finds here as separated, and would wait
        for ever for what is forgotten as fast as it is noted.
        """
        for memory in (self._separated_by, self._inseparable_in, self._worked):
            if len(memory) >= DEPENDENCES_REMEMBERED:
                memory.clear()

    def is_separated(self, dependence: Dependence, separators: Separators) -> bool:
        """Whether one of the separators is known to remove a dependence."""
        separator = self._separated_by.get(dependence)
        return separator is not None and separator in separators

    def note_separated(self, dependence: Dependence, separator: Variables) -> None:
        """Remember what removed a dependence."""
        self._separated_by[dependence] = separator
        for worked in (self._worked_for.setdefault(dependence[0], {}), self._worked):
            worked.pop(separator, None)
            worked[separator] = None

    def note_inseparable(self, dependence: Dependence, separators: Separators) -> None:
        """Remember that none of the separators removes a dependence."""
        self._inseparable_in[dependence] = separators

    def latest(self, dependence: Dependence, separators: Separators) -> Variables | None:
        """Return the separator that worked last for the candidate and could work here."""
        candidate, given = dependence
        for separator in reversed(self._worked_for.get(candidate, {})):
            if separator.isdisjoint(given) and separator in separators:
                return separator
        return None

    def to_try(self, dependence: Dependence, separators: Separators) -> Iterator[Variables]:
        """Separators not yet known to fail on a dependence, the most promising first."""
        candidate, given = dependence
        taken = given | {candidate}
        excluded = self._inseparable_in.get(dependence, ())
        tried = set()
        # lists, for the memory changes while these separators are tried
        for worked in (list(self._worked_for.get(candidate, ())), list(self._worked)):
            for separator in reversed(worked):
                if (
                    separator.isdisjoint(taken)
                    and separator in separators
                    and separator not in tried
                    and separator not in excluded
                ):
                    tried.add(separator)
                    yield separator
        for separator in subsets(separators.pool - taken, separators.max_size):
            if separator not in tried and separator not in excluded:
                yield separator


@dataclass(slots=True)
class Line:
    """Dependences of one candidate, in the order in which an inseparable one is wanted."""

    candidate: int
    givens: Sequence[Variables]
    place: int = 0  # everything before is separated
    window: int = 1  # how many are examined together

    @property
    def front(self) -> Dependence | None:
        """The first dependence that is not separated; None if all are."""
        if self.place == len(self.givens):
            return None
        return self.candidate, self.givens[self.place]

    def ahead(self) -> Iterator[Dependence]:
        """Yield the dependences to look at next."""
        for given in islice(self.givens, self.place, self.place + self.window):
            yield self.candidate, given

    def advance(self, memory: SeparationMemory, separators: Separators) -> None:
        """Pass over what is separated."""
        while (front := self.front) is not None and memory.is_separated(front, separators):
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
