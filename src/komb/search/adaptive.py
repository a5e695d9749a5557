"""kOMB with nothing to choose: neighbours seen from both sides, spouses, then groups by need.

What a fixed order and a fixed bound leave to the user is decided here, from what the tests say:

* **Neighbours.** A variable is a neighbour of another if no set of the other's neighbours separates
  the two (MMPC, :mod:`~komb.search.mmmb`). Two variables are joined if *either* search says so: a
  separator found by a test without power takes a neighbour away from one side, rarely from both.
* **Spouses.** Neighbours of neighbours that depend on the target once the common child is given.
* **Groups.** Variables that show only in combination, of order 1, then 2, ..., as in Algorithm 2,
  but of all variables at once and with the multiplicity of the sweep paid for.

Chance is kept out in two steps, for every family of tests (the candidates of a target, the spouses,
the groups of one order). A *gate*: unless one p-value of the family is small enough for the whole
family, ``GATE / m`` with ``m`` tests, nothing of it is believed; so pure noise gives an empty
blanket in all but ``GATE`` of cases, however many columns there are. Behind an open gate those count
that Benjamini & Hochberg's rule keeps at ``FALSE_SHARE``, or that ``CHANCE_MEMBERS`` expected chance
members allow, but none above the level of the session. In a family so small that its level lets in
less than half a chance member, the level itself is the rule.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field

from komb.citests.session import EMPTY, Session, Variables
from komb.search.growing import strongest
from komb.search.task import Found, Task

GATE = 0.02
"""Chance that a family of tests without any dependence is believed."""

FALSE_SHARE = 0.1
"""Share of false ones among the dependences of a family that is believed."""

CHANCE_MEMBERS = 1.0
"""Chance members that a family may have all the same, on average."""

_HALF_A_MEMBER = 0.5


def least_bits(bits: Collection[float], n_tests: int, alpha: float) -> float:
    """Return how clear a dependence of a family must be, in bits of evidence.

    Parameters
    ----------
    bits
        Of the dependences at level ``alpha``; a p-value of 2^-b is b bits.
    n_tests
        All tests of the family, those that said "independent" included.
    alpha
        Level of the tests.

    Returns
    -------
    float
        Infinite if chance can explain the whole family.

    Examples
    --------
    >>> least_bits([5.0], n_tests=4, alpha=0.05), least_bits([5.0], n_tests=1000, alpha=0.05)
    (0.0, inf)
    >>> round(least_bits([5.0, 7.0, 40.0], n_tests=100, alpha=0.05), 2)
    6.64
    """
    if n_tests * alpha < _HALF_A_MEMBER:
        return 0.0  # the level of the tests is enough
    clearest = sorted(bits, reverse=True)
    if not clearest or clearest[0] < math.log2(n_tests / GATE):
        return math.inf
    kept = math.log2(n_tests / CHANCE_MEMBERS)
    for rank, each in enumerate(clearest, start=1):
        if each >= math.log2(n_tests / (rank * FALSE_SHARE)):
            kept = min(kept, each)
    return kept


@dataclass(slots=True)
class Side:
    """The neighbours of one variable as it sees them, searched as far as somebody asks (MMPC).

    Members are admitted by the max-min heuristic, the one whose weakest dependence is clearest
    first; those waiting are then tested given the newcomer and some of the members before it. When
    nobody waits, the members are weeded out. What becomes of one variable does not depend on when
    the others are tested given a newcomer, so the one that is asked about is tested first, and once
    it is separated the rest can wait.
    """

    session: Session
    variable: int
    max_separator: int
    separators: dict[int, Variables]
    waiting: dict[int, float]
    members: dict[int, float] = field(default_factory=dict)
    newcomer: int = -1
    untested: set[int] = field(default_factory=set)  # those waiting, given the newcomer
    is_complete: bool = False

    def bits(self, other: int) -> float:
        """How clear the weakest dependence of a neighbour is; 0 if it is none."""
        while not self.is_complete and other not in self.separators:
            if other in self.untested:
                self._confront({other})
            else:
                self._go_on()
        return self.members.get(other, 0.0) if other not in self.separators else 0.0

    def finish(self) -> dict[int, float]:
        """All neighbours, with the bits of their weakest dependence."""
        while not self.is_complete:
            self._go_on()
        return self.members

    def _go_on(self) -> None:
        if self.untested:
            self._confront(set(self.untested))
        elif self.waiting:
            self._admit(strongest(self.waiting))
        else:
            self._weed_out()

    def _admit(self, newcomer: int) -> None:
        self.members[newcomer] = self.waiting.pop(newcomer)
        self.newcomer = newcomer
        self.untested = set(self.waiting)

    def _confront(self, tested: set[int]) -> None:
        """Test some of those that wait given the newcomer and members before it."""
        pool = frozenset(self.members) - {self.newcomer}
        least, separable = self.session.weakest(
            self.variable, {x: self.waiting[x] for x in tested}, pool, self.max_separator - 1,
            core=frozenset({self.newcomer}),
        )  # fmt: skip
        self.waiting.update(least)
        for x in separable:
            del self.waiting[x]
        self.separators |= separable
        self.untested -= tested

    def _weed_out(self) -> None:
        """Drop members that others separate, those admitted after them included."""
        for member in sorted(self.members):
            pool = frozenset(self.members) - {member}
            least, separable = self.session.weakest(
                self.variable, {member: self.members[member]}, pool, self.max_separator
            )
            self.separators |= separable
            self.members |= least
            if separable:
                del self.members[member]
        self.is_complete = True


@dataclass(slots=True)
class Region:
    """What is known around a target, found when it is asked for."""

    session: Session
    variables: Variables
    alpha: float
    max_separator: int
    _sides: dict[int, Side] = field(default_factory=dict)
    _alone: dict[int, dict[int, float]] = field(default_factory=dict)
    _levels: dict[int, float] = field(default_factory=dict)

    def dependents(self, variable: int) -> dict[int, float]:
        """Variables that depend on one without any condition, in bits."""
        if variable not in self._alone:
            others = self.variables - {variable}
            self._alone[variable] = self.session.strengths(variable, [(others, EMPTY)])[0]
        return self._alone[variable]

    def level(self, variable: int) -> float:
        """Bits that a neighbour of a variable needs."""
        if variable not in self._levels:
            bits = self.dependents(variable).values()
            self._levels[variable] = least_bits(bits, len(self.variables) - 1, self.alpha)
        return self._levels[variable]

    def side(self, variable: int) -> Side:
        """The neighbours of a variable, as it sees them."""
        if variable not in self._sides:
            waiting = dict(self.dependents(variable))
            if math.isinf(self.level(variable)):
                waiting = {}
            separators = dict.fromkeys(self.variables - waiting.keys() - {variable}, EMPTY)
            self._sides[variable] = Side(
                self.session, variable, self.max_separator, separators, waiting
            )
        return self._sides[variable]

    def neighbours(self, variable: int) -> dict[int, float]:
        """Variables that are joined with one, by what either says, with their bits alone."""
        alone = self.dependents(variable)
        return {x: bits for x, bits in alone.items() if self.are_joined(variable, x)}

    def are_joined(self, variable: int, other: int) -> bool:
        """Whether either of two says that they are neighbours, clearly enough for the first."""
        level = self.level(variable)
        if self.dependents(variable).get(other, 0.0) < level:
            return False  # no dependence is clearer than its weakest
        own = self.side(variable).finish().get(other, 0.0)
        return (own > 0 and own >= level) or self.side(other).bits(variable) >= max(level, 1e-9)


SPOUSE="family"
def find_spouses(region: Region, target: int, neighbours: Collection[int]) -> dict[int, Variables]:
    """Neighbours of neighbours that depend on the target given a common child, with that set."""
    others = region.variables - set(neighbours) - {target}
    shown: dict[int, tuple[float, Variables]] = {}
    for child in sorted(neighbours):
        for x, own in _moved_by(region, target, child, others).items():
            if not region.are_joined(child, x):
                continue
            entry = min(own, _from_beyond(region, target, x, child))
            if entry[0] > shown.get(x, (0.0, EMPTY))[0]:
                shown[x] = entry
    import math as m
    if SPOUSE=="none": needed=0.
    elif SPOUSE=="all": needed=least_bits([bits for bits, _ in shown.values()], len(others), region.alpha)
    elif SPOUSE=="shown": needed=least_bits([bits for bits, _ in shown.values()], len(shown), region.alpha)
    else: needed=-m.log2(float(SPOUSE))
    return {x: given for x, (bits, given) in sorted(shown.items()) if bits >= needed}


def _moved_by(
    region: Region, target: int, child: int, others: Collection[int]
) -> dict[int, tuple[float, Variables]]:
    """Those that depend on the target given what separates them from it, and a child."""
    by_given: dict[Variables, set[int]] = {}
    for x in others:
        given = region.side(target).separators.get(x, EMPTY) | {child}
        by_given.setdefault(given, set()).add(x)
    questions = [(asked, given) for given, asked in by_given.items()]
    answers = region.session.strengths(target, questions)
    return {
        x: (bits, given)
        for (_, given), answer in zip(questions, answers, strict=True)
        for x, bits in answer.items()
    }


def _from_beyond(region: Region, target: int, x: int, child: int) -> tuple[float, Variables]:
    """How clear the dependence is given what separates the target from ``x``, and a child."""
    region.side(x).bits(target)
    given = region.side(x).separators.get(target, EMPTY) | {child}
    answer = region.session.strengths(target, [({x}, given)])[0]
    return answer.get(x, 0.0), given


def find_nearby(session: Session, task: Task, *, alpha: float, max_separator: int = 3) -> Found:
    """Neighbours and spouses of the target, chance kept out."""
    region = Region(session, task.candidates | {task.target}, alpha, max_separator)
    neighbours = region.neighbours(task.target)
    task.report(session, "spouses", frozenset(neighbours))
    spouses = find_spouses(region, task.target, neighbours)
    witnesses: dict[int, Variables | None] = dict(spouses)
    witnesses |= dict.fromkeys(neighbours, EMPTY)
    return Found(dict(sorted(witnesses.items())))
