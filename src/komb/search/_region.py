"""The neighbours of variables, each searched as far as a question calls for.

Two variables are neighbours if no set separates them. Max-min parents and children (MMPC;
Tsamardinos, Aliferis & Statnikov 2003) looks for separators among the neighbours of one of the two.
A test without power may wrongly separate neighbours, but rarely in both searches, so two variables
are neighbours here if the search from **either** of them finds no separator.

A region belongs to a session, not to a target: what is learnt about a variable for one target
serves all others.
"""

from __future__ import annotations

import heapq
import math
from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from komb.search._growth import strongest
from komb.sessions.questions import EMPTY, Dependence, Variables, subsets
from komb.sessions.session import Session

LARGEST_POOL = 15
"""Separators of a variable are made of this many neighbours, those that depend on it most."""

CLOSENESS_RATIO = 2.0
"""If a single separator depends on a variable by this many times the bits of the target, it
decides, and no search starts from the other variable."""

FEW_WAITING = 64
"""Among so many variables the search from one of two is quick, and settles alone whether they are
joined."""

_TESTS_PER_LOT = 4096  # asked at once where candidates have pools of their own
_WEEDED_TOGETHER = 16  # members; one that goes is no longer in the pools of the next


@dataclass(slots=True)
class NeighbourSearch:
    """A search for the neighbours of one variable (MMPC).

    Members are admitted by the max-min heuristic, the one whose weakest dependence is strongest
    first; those waiting are then tested given the newcomer and some of the members before it. When
    none is waiting, each member is tested given the others. What becomes of one variable does not
    depend on when the others are tested given a newcomer, so the one that is asked about is tested
    first, and once it is separated the rest can wait.
    """

    region: Region
    variable: int
    separators: dict[int, Variables]  # others, each with what separates it
    # those admitted so far, with the bits of their weakest dependence
    members: dict[int, float] = field(default_factory=dict)
    _waiting: dict[int, float] = field(default_factory=dict)
    _first: list[int] = field(default_factory=list)
    _fixed: Variables = EMPTY
    _newcomer: int = -1
    _untested: set[int] = field(default_factory=set)  # those waiting, given the newcomer
    _nearest: dict[int, list[tuple[float, int]]] = field(default_factory=dict)
    _is_complete: bool = False

    def bits(self, other: int) -> float:
        """How strong the weakest dependence of a neighbour is; 0 if it is none."""
        while not self.is_settled(other):
            self.approach(other)
        return 0.0 if other in self.separators else self.members.get(other, 0.0)

    def is_settled(self, other: int) -> bool:
        """Whether it is known if another variable is a neighbour."""
        return self._is_complete or other in self.separators

    def approach(self, other: int) -> None:
        """Go one step towards knowing whether another variable is a neighbour."""
        if other in self._untested:
            self._confront({other})
        else:
            self._go_on()

    def finish(self) -> NeighbourSearch:
        """Search to the end."""
        while not self._is_complete:
            self._go_on()
        return self

    def _go_on(self) -> None:
        if self._untested:
            self._confront(set(self._untested))
        elif self._waiting:
            self._admit()
        else:
            self._weed_out()

    def _admit(self) -> None:
        """Take the one whose weakest dependence is strongest, after those asked to be first."""
        first = [x for x in self._first if x in self._waiting]
        self._newcomer = first[0] if first else strongest(self._waiting)
        self.members[self._newcomer] = self._waiting.pop(self._newcomer)
        waiting = self._waiting.keys() - self._fixed  # the fixed stay, whatever the tests say
        if len(self.members) <= LARGEST_POOL:
            self._untested = waiting
        else:  # only those to which the newcomer is among the nearest
            self._untested = {x for x in waiting if self._is_near(x)}

    def _is_near(self, x: int) -> bool:
        """Whether the newcomer is among the members that depend on a variable most."""
        alone = self.region.alone(x)
        near = self._nearest.get(x)
        if near is None:
            others = [(alone.get(z, 0.0), -z) for z in self.members if z != self._newcomer]
            near = self._nearest[x] = sorted(others)[-LARGEST_POOL:]
        entry = alone.get(self._newcomer, 0.0), -self._newcomer
        if entry <= near[0]:
            return False
        del near[0]
        insort(near, entry)
        return True

    def _confront(self, tested: set[int]) -> None:
        """Test some of those that wait given the newcomer and members before it."""
        size = self.region.max_separator - 1
        core = frozenset({self._newcomer})
        strengths = {x: self._waiting[x] for x in tested}
        if len(self.members) <= LARGEST_POOL:
            pool = frozenset(self.members) - core
            least, separable = self.region.session.separators.weakest(
                self.variable, strengths, pool, size, core=core
            )
        else:
            pools = {x: frozenset(-z for _, z in self._nearest[x]) - core for x in sorted(tested)}
            least, separable = self._weakest_in_pools(strengths, pools, size, core)
        self._waiting |= least
        for x in separable:
            del self._waiting[x]
        self.separators |= separable
        self._untested -= tested

    def _weakest_in_pools(
        self,
        strengths: Mapping[int, float],
        pools: Mapping[int, Variables],
        max_size: int,
        core: Variables = EMPTY,
    ) -> tuple[dict[int, float], dict[int, Variables]]:
        """As :meth:`SeparatorFinder.weakest <komb.sessions.separators.SeparatorFinder.weakest>`.

        Every candidate has a pool of its own. All of them are asked about together, first given the
        smallest sets.
        """
        least, separable = dict(strengths), dict[int, Variables]()
        for size in range(max_size + 1):
            tests = [
                (x, core | given)
                for x, pool in pools.items()
                if x in least
                for given in subsets(pool, size, size)
            ]
            for first in range(0, len(tests), _TESTS_PER_LOT):
                lot = tests[first : first + _TESTS_PER_LOT]
                for (x, given), bits in zip(lot, self._weigh(lot), strict=True):
                    if bits:
                        least[x] = min(least.get(x, bits), bits)
                    else:
                        separable.setdefault(x, given)
            least = {x: bits for x, bits in least.items() if x not in separable}
        return least, separable

    def _weigh(self, tests: Sequence[Dependence]) -> list[float]:
        """Return the bits of some tests, 0 where there is no dependence."""
        by_given: dict[Variables, set[int]] = {}
        for x, given in tests:
            by_given.setdefault(given, set()).add(x)
        questions = [(asked, given) for given, asked in by_given.items()]
        answers = self.region.session.strengths(self.variable, questions)
        strengths = dict(zip(by_given, answers, strict=True))
        return [strengths[given].get(x, 0.0) for x, given in tests]

    def _weed_out(self) -> None:
        """Drop members that others separate, those admitted after them included."""
        left = sorted(self.members)
        while left:
            if len(self.members) <= LARGEST_POOL:
                member, *left = left
                pool = frozenset(self.members) - {member}
                least, separable = self.region.session.separators.weakest(
                    self.variable, {member: self.members[member]}, pool, self.region.max_separator
                )
                self._keep_or_drop(member, least, separable)
            else:
                left = self._weed_out_together(left)
        self._is_complete = True

    def _weed_out_together(self, left: list[int]) -> list[int]:
        """Examine some of the members that are left, up to one that goes; returns the others."""
        members, nearest = frozenset(self.members), self.region.nearest
        pools = {member: nearest(member, members - {member}) for member in left[:_WEEDED_TOGETHER]}
        least, separable = self._weakest_in_pools(
            {member: self.members[member] for member in pools}, pools, self.region.max_separator
        )
        for number, member in enumerate(pools, start=1):
            self._keep_or_drop(member, least, separable)
            if member not in self.members:
                return left[number:]
        return left[len(pools) :]

    def _keep_or_drop(
        self, member: int, least: Mapping[int, float], separable: Mapping[int, Variables]
    ) -> None:
        """Note what became of a member."""
        if member in least:
            self.members[member] = least[member]
            return
        self.separators[member] = separable[member]
        if member not in self._fixed:
            del self.members[member]


@dataclass(slots=True)
class Region:
    """What a session has learnt about neighbours."""

    session: Session
    variables: Variables  # everything, targets included
    max_separator: int  # how many variables a separator may have
    _searches: dict[int, NeighbourSearch] = field(default_factory=dict)
    _alone: dict[int, dict[int, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, session: Session, variables: Variables, max_separator: int) -> Region:
        """Return the region of a session: the one it has, or a new one."""
        known: dict[tuple[Variables, int], Region]
        known = session.knowledge.setdefault("region", {})
        key = variables, max_separator
        if key not in known:
            known[key] = cls(session, variables, max_separator)
        return known[key]

    def alone(self, variable: int) -> Mapping[int, float]:
        """Variables that depend on one without any condition, in bits."""
        if variable not in self._alone:
            others = self.variables - {variable}
            self._alone[variable] = self.session.strengths(variable, [(others, EMPTY)])[0]
        return self._alone[variable]

    def is_pool(self, variables: Variables) -> bool:
        """Whether separators of any variable may be made of all of these."""
        return len(variables) <= LARGEST_POOL

    def nearest(self, variable: int, pool: Variables, most: int | None = None) -> Variables:
        """Those of a pool that depend on a variable most, as many as separators are made of."""
        most = LARGEST_POOL if most is None else most
        if len(pool) <= most:
            return pool
        alone = self.alone(variable)
        return frozenset(heapq.nlargest(most, sorted(pool), key=lambda z: alone.get(z, 0.0)))

    def search_from(self, variable: int) -> NeighbourSearch:
        """Return the search for the neighbours of a variable."""
        if variable not in self._searches:
            self._searches[variable] = self.begin_search(variable)
        return self._searches[variable]

    def begin_search(
        self, variable: int, first: Variables = EMPTY, fixed: Variables = EMPTY
    ) -> NeighbourSearch:
        """Begin a search, perhaps with some variables first and some that stay."""
        waiting = dict(self.alone(variable))
        waiting |= {x: waiting.get(x, 0.0) for x in fixed}
        return NeighbourSearch(
            self,
            variable,
            separators=dict.fromkeys(self.variables - waiting.keys() - {variable}, EMPTY),
            _waiting=waiting,
            _first=sorted(first | fixed),
            _fixed=fixed,
        )

    def joint_bits(self, own: NeighbourSearch, other: int, least: float = 0.0) -> float:
        """How strong the weakest dependence of two is, in the search that finds no separator.

        0 if both find one, or if the dependence has fewer than ``least`` bits.
        """
        variable = own.variable
        if self.alone(variable).get(other, 0.0) < least:
            return 0.0  # no dependence is stronger than its weakest
        bits = own.bits(other)
        if bits == 0.0:
            if self._is_explained(variable, other, own.separators.get(other, EMPTY)):
                return 0.0
            bits = self.search_from(other).bits(variable)
        return bits if bits >= least else 0.0

    def are_joined(self, variable: int, other: int) -> bool:
        """Whether one of two variables, which depend on each other, finds no separator.

        That is whether :meth:`joint_bits` of the search from ``variable`` are positive. One of the
        two may have hundreds of neighbours, and the other one a few. So both search, the one with
        fewer members so far first, unless the search from ``variable`` is quick anyway. A search
        that finds no separator settles it, unless the other one could yet find one that explains
        the dependence.
        """
        own = self.search_from(variable)
        is_quick = len(self.alone(variable)) <= FEW_WAITING
        if is_quick or self._could_be_explained(variable, other):
            return self.joint_bits(own, other) > 0.0
        back = self.search_from(other)
        while not (own.is_settled(other) or back.is_settled(variable)):
            if len(back.members) < len(own.members):
                back.approach(variable)
            else:
                own.approach(other)
        if own.is_settled(other):
            return self.joint_bits(own, other) > 0.0
        return back.bits(variable) > 0.0 or self.joint_bits(own, other) > 0.0

    def _could_be_explained(self, variable: int, other: int) -> bool:
        """Whether any single separator would be close enough to the other one."""
        alone = self.alone(other)
        closest = max((bits for x, bits in alone.items() if x != variable), default=0.0)
        return _is_closer(closest, alone.get(variable, 0.0))

    def _is_explained(self, variable: int, other: int, separator: Variables) -> bool:
        """Whether a single variable separates two, and is much closer to the other one."""
        if len(separator) != 1:
            return not separator  # without any, they are independent
        [middle] = separator
        # of hundreds of variables only these two matter here
        [alone] = self.session.strengths(other, [({middle, variable}, EMPTY)])
        return _is_closer(alone.get(middle, 0.0), alone.get(variable, 0.0))


def _is_closer(bits: float, others: float) -> bool:
    """Whether a dependence is so much stronger than another that it explains it."""
    # an oracle's evidence is infinite, so to it nothing is closer
    return bits >= CLOSENESS_RATIO * others < math.inf
