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
from collections.abc import Collection, Mapping
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


@dataclass(frozen=True, slots=True)
class Side:
    """Neighbours as one variable sees them.

    Attributes
    ----------
    members : mapping
        Neighbours, with the bits of their weakest dependence given any set of others.
    separators : mapping
        Every other variable, with the set that separates it.
    """

    members: Mapping[int, float]
    separators: Mapping[int, Variables]


@dataclass(slots=True)
class Region:
    """What is known around a target, found when it is asked for."""

    session: Session
    variables: Variables
    alpha: float
    max_separator: int
    sides: dict[int, Side] = field(default_factory=dict)
    alone: dict[int, dict[int, float]] = field(default_factory=dict)
    levels: dict[int, float] = field(default_factory=dict)

    def dependents(self, variable: int) -> dict[int, float]:
        """Variables that depend on one without any condition, in bits."""
        if variable not in self.alone:
            others = self.variables - {variable}
            self.alone[variable] = self.session.strengths(variable, [(others, EMPTY)])[0]
        return self.alone[variable]

    def level(self, variable: int) -> float:
        """Bits that a neighbour of a variable needs."""
        if variable not in self.levels:
            bits = self.dependents(variable).values()
            self.levels[variable] = least_bits(bits, len(self.variables) - 1, self.alpha)
        return self.levels[variable]

    def side(self, variable: int) -> Side:
        """The neighbours of a variable, as it sees them."""
        if variable not in self.sides:
            self.sides[variable] = self._find_side(variable)
        return self.sides[variable]

    def _find_side(self, variable: int) -> Side:
        """MMPC: grow by the max-min heuristic, then weed out; with the weakest bits of each."""
        waiting = self.dependents(variable)
        separators = dict.fromkeys(self.variables - waiting.keys() - {variable}, EMPTY)
        if math.isinf(self.level(variable)):
            return Side({}, separators | dict.fromkeys(waiting, EMPTY))
        waiting = dict(waiting)
        members: dict[int, float] = {}
        while waiting:
            newcomer = strongest(waiting)
            bits = waiting.pop(newcomer)
            waiting, separable = self.session.weakest(
                variable, waiting, frozenset(members), self.max_separator - 1,
                core=frozenset({newcomer}),
            )  # fmt: skip
            separators |= separable
            members[newcomer] = bits
        for member in sorted(members):
            pool = frozenset(members) - {member}
            least, separable = self.session.weakest(
                variable, {member: members[member]}, pool, self.max_separator
            )
            separators |= separable
            members |= least
            if separable:
                del members[member]
        return Side(members, separators)

    def neighbours(self, variable: int) -> dict[int, float]:
        """Variables that are joined with one, by what either says."""
        joined = dict(self.side(variable).members)
        for other in self.dependents(variable):
            bits = self.side(other).members.get(variable)
            if bits is not None:
                joined[other] = max(bits, joined.get(other, 0.0))
        return {x: bits for x, bits in joined.items() if bits >= self.level(variable)}


def find_spouses(region: Region, target: int, neighbours: Collection[int]) -> dict[int, Variables]:
    """Neighbours of neighbours that depend on the target given a common child, with that set."""
    shown: dict[int, tuple[float, Variables]] = {}
    for child in sorted(neighbours):
        beyond = sorted(region.neighbours(child).keys() - set(neighbours) - {target})
        for x in beyond:
            bits, given = _weaker_side(region, target, x, child)
            if bits > shown.get(x, (-1.0, EMPTY))[0]:
                shown[x] = bits, given
    bits_of = [bits for bits, _ in shown.values() if bits]
    needed = least_bits(bits_of, len(shown), region.alpha) if shown else math.inf
    return {x: given for x, (bits, given) in sorted(shown.items()) if bits and bits >= needed}


def _weaker_side(region: Region, target: int, x: int, child: int) -> tuple[float, Variables]:
    """The less clear of two dependences: given what separates either from the other."""
    own = region.side(target).separators.get(x)
    other = region.side(x).separators.get(target, EMPTY)
    givens = {(other if own is None else own) | {child}, other | {child}}
    answers = region.session.strengths(
        target, [({x}, given) for given in sorted(givens, key=sorted)]
    )
    found = [
        (answer.get(x, 0.0), given) for answer, given in zip(answers, sorted(givens, key=sorted))
    ]
    return min(found, key=lambda entry: entry[0])


def find_nearby(session: Session, task: Task, *, alpha: float, max_separator: int = 3) -> Found:
    """Neighbours and spouses of the target, chance kept out."""
    region = Region(session, task.candidates | {task.target}, alpha, max_separator)
    neighbours = region.neighbours(task.target)
    task.report(session, "spouses", frozenset(neighbours))
    spouses = find_spouses(region, task.target, neighbours)
    witnesses: dict[int, Variables | None] = dict(spouses)
    witnesses |= dict.fromkeys(neighbours, EMPTY)
    return Found(dict(sorted(witnesses.items())))
