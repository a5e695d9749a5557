"""The neighbours of variables, each searched as far as a question calls for.

Two variables are neighbours if no set separates them. Max-min parents and children (MMPC;
Tsamardinos, Aliferis & Statnikov 2003) looks for separators among the neighbours of one of the two.
A test without power may wrongly separate neighbours, but rarely in both searches, so two variables
are neighbours here if the search from **either** of them finds no separator.

A region belongs to an engine, not to a target: what is learnt about a variable for one target
serves all others.
"""

from __future__ import annotations

import heapq
import math
from bisect import insort
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from weakref import proxy

from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables, strongest

LARGEST_POOL = 15
"""Separators of a variable are made of this many neighbours, those that depend on it most."""

CLOSENESS_RATIO = 2.0
"""If a single separator depends on a variable by this many times the bits of the target, it
decides, and no search starts from the other variable."""

FEW_WAITING = 64
"""Among so many variables the search from one of two is quick, and settles alone whether they are
joined."""

COPIED_SHARE = 0.95
"""From this share of a variable's variation on, another one tells nearly all of it."""

_PRUNED_AT_ONCE = 16  # members; one that goes is no longer in the pools of the next


def is_copied(engine: Engine, x: int, others: Variables) -> bool:
    """Tell whether one of some variables tells nearly all of another: little is left to see."""
    return any(share >= COPIED_SHARE for share in engine.explained_shares(x, sorted(others)))


@dataclass(slots=True)
class NeighbourSearch:
    """A search for the neighbours of one variable (MMPC).

    Members are admitted by the max-min heuristic, the one whose weakest dependence is strongest
    first; those waiting are then conditioned on it and some of the members before it. When none is
    waiting, each member is conditioned on the others. What becomes of one variable does not depend
    on when the others are tested, so the one that is asked about is tested first, and once it is
    separated the rest can wait.
    """

    region: Region
    variable: int
    separators: dict[int, Variables]  # others, each with what separates it
    # those admitted so far, with the bits of their weakest dependence
    members: dict[int, float] = field(default_factory=dict)
    _waiting: dict[int, float] = field(default_factory=dict)
    _first: list[int] = field(default_factory=list)
    _fixed: Variables = EMPTY
    _admitted: int = -1  # the last one
    _untested: set[int] = field(default_factory=set)  # those waiting, given that one
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
        if other in self._untested and not self.region.engine.allowance.is_spent:
            self._condition({other})
        else:
            self._go_on()

    def finish(self) -> NeighbourSearch:
        """Search to the end."""
        while not self._is_complete:
            self._go_on()
        return self

    def _go_on(self) -> None:
        if self.region.engine.allowance.is_spent:  # those waiting stay undecided, and outside
            self._waiting.clear()
            self._untested.clear()
        if self._untested:
            self._condition(set(self._untested))
        elif self._waiting:
            self._admit()
        else:
            self._prune()

    def _admit(self) -> None:
        """Take the one whose weakest dependence is strongest, after those asked to be first."""
        first = [x for x in self._first if x in self._waiting]
        self._admitted = first[0] if first else strongest(self._waiting)
        self.members[self._admitted] = self._waiting.pop(self._admitted)
        waiting = self._waiting.keys() - self._fixed  # the fixed stay, whatever the tests say
        if len(self.members) <= LARGEST_POOL:
            self._untested = waiting
        else:  # only those to which it is among the nearest
            self._untested = {x for x in waiting if self._is_near(x)}

    def _is_near(self, x: int) -> bool:
        """Whether the one admitted last is among the members that depend on a variable most."""
        alone = self.region.alone(x)
        near = self._nearest.get(x)
        if near is None:
            others = [(alone.get(z, 0.0), -z) for z in self.members if z != self._admitted]
            near = self._nearest[x] = sorted(others)[-LARGEST_POOL:]
        entry = alone.get(self._admitted, 0.0), -self._admitted
        if entry <= near[0]:
            return False
        del near[0]
        insort(near, entry)
        return True

    def _condition(self, tested: set[int]) -> None:
        """Condition some of those waiting on the one admitted last and members before it."""
        core = frozenset({self._admitted})
        pool: Variables | dict[int, Variables] = frozenset(self.members) - core
        if len(self.members) > LARGEST_POOL:
            pool = {x: frozenset(-z for _, z in self._nearest[x]) - core for x in tested}
        least, separated = self.region.engine.weakest(
            self.variable,
            {x: self._waiting[x] for x in sorted(tested)},
            pool,
            self.region.max_separator - 1,
            core=core,
        )
        self._waiting |= least
        for x in separated:
            del self._waiting[x]
        self.separators |= separated
        self._untested -= tested

    def _prune(self) -> None:
        """Drop members that others separate, those admitted after them included."""
        left = sorted(self.members)
        while left:
            n_at_once = 1 if self.region.is_pool(self.members) else _PRUNED_AT_ONCE
            left = self._prune_some(left[:n_at_once]) + left[n_at_once:]
        self._is_complete = True

    def _prune_some(self, some: list[int]) -> list[int]:
        """Condition some members on the others, up to one that goes; returns those left."""
        members, region = frozenset(self.members), self.region
        pools = {x: region.nearest(x, members - {x}) for x in some}
        bits = {x: self.members[x] for x in some}
        least, separated = region.engine.weakest(self.variable, bits, pools, region.max_separator)
        for number, member in enumerate(some, start=1):
            self._keep_or_drop(member, least, separated)
            if member not in self.members:
                return some[number:]
        return []

    def _keep_or_drop(
        self, member: int, least: Mapping[int, float], separated: Mapping[int, Variables]
    ) -> None:
        """Note what became of a member."""
        if member in least:
            self.members[member] = least[member]
            return
        self.separators[member] = separated[member]
        if member not in self._fixed:
            del self.members[member]


@dataclass(slots=True, weakref_slot=True)
class Region:
    """What has been learnt about neighbours in an engine."""

    engine: Engine
    variables: Variables  # everything, targets included
    max_separator: int  # how many variables a separator may have
    _searches: dict[int, NeighbourSearch] = field(default_factory=dict)
    _alone: dict[int, dict[int, float]] = field(default_factory=dict)
    _copied: dict[tuple[int, int], bool] = field(default_factory=dict)

    @classmethod
    def of(cls, engine: Engine, variables: Variables, max_separator: int) -> Region:
        """Return the region of an engine: the one it has, or a new one."""
        if not math.isinf(engine.allowance.most):  # then what is learnt depends on the target
            return cls(engine, variables, max_separator)
        known: dict[tuple[Variables, int], Region]
        known = engine.notes.setdefault("region", {})
        key = variables, max_separator
        if key not in known:
            known[key] = cls(engine, variables, max_separator)
        return known[key]

    def alone(self, variable: int) -> Mapping[int, float]:
        """Variables that depend on one without any condition, in bits."""
        if variable not in self._alone:
            others = self.variables - {variable}
            [self._alone[variable]] = self.engine.evidence(variable, [(others, EMPTY)])
        return self._alone[variable]

    def is_copied(self, variable: int, others: Variables) -> bool:
        """Whether one of others tells nearly all of a variable."""
        near = [x for x in sorted(others) if x in self.alone(variable)]
        for x in near:
            if (variable, x) not in self._copied:
                self._copied[variable, x] = is_copied(self.engine, variable, frozenset({x}))
        return any(self._copied[variable, x] for x in near)

    def is_pool(self, variables: Collection[int]) -> bool:
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
            proxy(self),  # or engines would be gone only when garbage is collected
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
        alone = self._alone.get(other)
        if alone is None:  # of hundreds of variables only these two matter here
            [alone] = self.engine.evidence(other, [({middle, variable}, EMPTY)])
        return _is_closer(alone.get(middle, 0.0), alone.get(variable, 0.0))


def _is_closer(bits: float, others: float) -> bool:
    """Whether a dependence is so much stronger than another that it explains it."""
    # an oracle's evidence is infinite, so to it nothing is closer
    return bits >= CLOSENESS_RATIO * others < math.inf
