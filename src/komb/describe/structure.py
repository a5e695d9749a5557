"""What variables are to each other: the roles of members, and the network of many blankets.

Two variables are *joined* if no set of others separates them. "Independent" on data may mean that a
test had no chance to detect a dependence, and what is wrongly separated is taken for no neighbour.
So a set separates two variables only if the test given it had the power to detect half of the
dependence that they show without any condition.

**Roles.** A member of a blanket is one of these to the target:

* A *neighbour* is joined to it. In a Bayesian network it is a parent or a child, and other members
  are enough to tell: a variable that is no neighbour is separated from the target by those members
  that are neighbours of the target in the moral graph of the ancestors of both (the variable itself
  is not among them, or it would be its own ancestor).
* A *spouse* is separated from the target by a set, and depends on it once a neighbour joins the
  condition that is joined to both and not in that set: their common child.
* A *partner* depends on the target only together with other members, none of which is such a
  child: as ``X1`` and ``X2`` of ``Y = X1 xor X2``.

Only the blanket is looked at, so other variables may be common causes of two members, and edges
among members need not be edges of the network; the rules for directions in
:mod:`~komb.describe.partial_graph` allow for that. Edges of the target *are* edges of the network,
so what does not cause the target is an effect, and what the target does not cause is a cause. A
direction that only variables outside of the blanket could tell remains undecided, and on data so
does one that fewer than 8 of 10 half-samples confirm.

**The network.** With the blankets of all variables, and tests that never err, edges and directions
are the completed partially directed graph that all networks have in common in which the same
variables are independent (Verma & Pearl 1990, *Equivalence and synthesis of causal models*; Meek
1995): a spouse of a variable is separated from it by other members of its blanket, and so is every
variable outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from komb.data.names import Name
from komb.data.table import DiscreteTable
from komb.describe.partial_graph import NO_DIRECTIONS, Directions, Edge, PartialGraph, Triple
from komb.describe.stability import same_halves
from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables, count_subsets, subsets
from komb.results.roles import Direction, Kind, Role, Roles
from komb.search._thresholds import power_to_detect

if TYPE_CHECKING:
    import networkx as nx

    from komb.api.run import Run
    from komb.results.blanket import Blanket

SHARE_TO_DETECT = 0.5
"""Of the dependence of two variables, what a test must be able to detect to separate them."""

MAX_SEPARATOR = 3
"""Members in a separator, at most, if the answers come from data."""

MOST_TESTS = 50_000
"""Tests to find roles, at most: fewer members are allowed in a separator where it takes more."""

HALVES = 10
"""Half-samples in which directions are looked for again."""

CONFIRMED = 8
"""Of these, how many have to confirm a direction."""

Symmetry = Literal["and", "or"]
Witnesses = Mapping[int, Variables | None]


# --------------------------------------------------------------------------------------- separators


def largest_separator(engine: Engine, n_members: int) -> int:
    """How many members a separator may have: with an oracle all, as far as that is affordable."""
    size = n_members if engine.n_rows is None else min(MAX_SEPARATOR, n_members)
    n_pairs = n_members * (n_members + 1) // 2
    while size > 1 and n_pairs * count_subsets(n_members - 1, size) > MOST_TESTS:
        size -= 1
    return size


class Separations:
    """What separates pairs of variables; each pair is examined when it is first asked about.

    Examples
    --------
    >>> import networkx as nx
    >>> from komb.engine.oracle import DSeparationEngine
    >>> engine = DSeparationEngine(nx.DiGraph([(0, 2), (1, 2)]), range(3))
    >>> separations = Separations(engine, {0: frozenset({1, 2})}, 1)
    >>> separations.of(0, 1), separations.of(0, 2)
    (frozenset(), None)
    """

    def __init__(self, engine: Engine, pools: Mapping[int, Variables], max_separator: int) -> None:
        self.engine = engine
        self._pools = pools  # what separates a variable from others is made of
        self._max_separator = max_separator
        self._found: dict[Edge, Variables | None] = {}

    def of(self, target: int, x: int) -> Variables | None:
        """Return the first set out of the target's pool that separates the two, if any does."""
        if (target, x) not in self._found:
            self._found[target, x] = self.find(target, x, self._pools[target])
        return self._found[target, x]

    def of_pair(self, a: int, b: int) -> Variables | None:
        """Return it for two variables with equal pools, whichever of them is the target."""
        return self._found[b, a] if (b, a) in self._found else self.of(a, b)

    def of_ends(self, a: int, middle: int, b: int) -> Variables | None:
        """Return it for two variables that are joined to a third, which may have the only pool."""
        for target, x in ((a, b), (b, a)):
            if target in self._pools and (found := self.of(target, x)) is not None:
                return found
        if a in self._pools or b in self._pools:
            return None
        return self.find(a, b, self._pools[middle] | {middle})

    def find(self, target: int, x: int, pool: Variables) -> Variables | None:
        """Return the first set that separates two variables by a test with enough power."""
        pool, power = pool - {target, x}, power_to_detect(SHARE_TO_DETECT)
        if self.engine.first_separator(target, x, pool, self._max_separator) is None:
            return None
        for given in subsets(pool, self._max_separator):
            if not self.engine.is_dependent(target, x, given) and (
                not given or self.engine.can_detect(target, x, given, EMPTY, power)
            ):
                return given
        return None

    def is_collider(self, a: int, middle: int, b: int, separator: Variables) -> bool:
        """Whether a variable that is joined to both of two separated ones is caused by both.

        That is so if it is not needed to separate them, and they depend on each other given it.
        """
        return middle not in separator and self.engine.is_dependent(a, b, separator | {middle})

    def orient(
        self,
        joined: dict[int, set[int]],
        direct: Collection[Edge],
        known: Collection[Edge],
        separator_of: Callable[[int, int, int], Variables | None],
    ) -> set[Edge]:
        """Return the edges whose direction colliders tell, and what is known of directions.

        Where tests contradict each other, a triple of variables is neither a collider nor none.
        """
        colliders, others = list[Triple](), list[Triple]()
        for middle in sorted(joined):
            for a, b in combinations(sorted(joined[middle]), 2):
                if b in joined[a]:
                    continue
                separator = separator_of(a, middle, b)
                if separator is None or middle in separator:
                    others.append((a, middle, b))
                elif self.is_collider(a, middle, b, separator):
                    colliders.append((a, middle, b))
        graph = PartialGraph(joined, direct)
        graph.orient(colliders, others, known)
        return set(graph.directed())


def known_directions(run: Run, columns: Iterable[int]) -> Directions:
    """Return what background knowledge says of causes and effects among some columns."""
    knowledge = run.search.knowledge
    if knowledge is None:
        return NO_DIRECTIONS
    position = {run.names[x]: x for x in columns}
    tier_of = {name: number for number, tier in enumerate(knowledge.tiers) for name in tier}
    in_tiers = [(x, tier_of[name]) for name, x in position.items() if name in tier_of]
    return Directions(
        required=frozenset(
            (position[cause], position[effect])
            for cause, effect in knowledge.required
            if cause in position and effect in position
        ),
        forbidden=frozenset(
            (a, b) for a, late in in_tiers for b, early in in_tiers if late > early
        ),
    )


# -------------------------------------------------------------------------------------------- roles


def find_roles(run: Run, blanket: Blanket) -> Roles:
    """Say what each member of a blanket is to the target."""
    target, witnesses = run.data.index(blanket.target), run.witnesses_of(blanket)
    parts = _keep_stable(run, target, witnesses, _parts_in(run, target, witnesses))
    roles = {
        run.names[x]: Role(
            name=run.names[x],
            kind=part.kind,
            direction=part.direction,
            separator=None if part.separator is None else run.named(part.separator),
            children=run.named(part.children),
            partners=run.named(part.partners),
        )
        for x, part in parts.items()
    }
    return Roles(blanket.target, roles)


def _parts_in(run: Run, target: int, witnesses: Witnesses) -> dict[int, Part]:
    """Say what each member is to the target, by the tests of a run."""
    engine, known = run.open_engine(), known_directions(run, {target, *witnesses})
    bound = largest_separator(engine, len(witnesses))
    return find_parts(engine, target, witnesses, bound, known)


def _keep_stable(
    run: Run, target: int, witnesses: Witnesses, parts: dict[int, Part]
) -> dict[int, Part]:
    """Leave directions undecided that too few half-samples confirm, where data are in memory.

    One wrong test turns several directions, so thresholds for single tests do not help: of what is
    claimed in 500 rows of benchmark networks, 86 to 92 % is right with any of them.
    """
    is_split = isinstance(run.data, DiscreteTable) and run.data.is_in_memory
    claimed = {x for x, part in parts.items() if part.direction in ("cause", "effect")}
    if not (is_split and claimed):
        return parts
    votes = Counter[tuple[Name, Direction | None]]()
    for rows in same_halves(run.table, HALVES):
        half = run.on_rows(rows, target, frozenset(witnesses))
        if half is not None:
            own, place = half
            found = _parts_in(own, place, _moved(run, own, witnesses))
            votes.update((own.names[x], part.direction) for x, part in found.items())
    doubtful = {x for x in claimed if votes[run.names[x], parts[x].direction] < CONFIRMED}
    return {
        x: replace(part, direction="undecided") if x in doubtful else part
        for x, part in parts.items()
    }


def _moved(run: Run, half: Run, witnesses: Witnesses) -> dict[int, Variables | None]:
    """Return members and witnesses where a half-sample has them; without those it has not."""
    place = {run.data.index(name): x for x, name in enumerate(half.names)}
    return {
        place[x]: None if own is None else frozenset(place[z] for z in own if z in place)
        for x, own in witnesses.items()
        if x in place
    }


@dataclass(frozen=True, slots=True)
class Part:
    """What one member is to the target; variables are positions."""

    kind: Kind  # ``"undecided"`` if a set separates the member and nothing tells why it is one
    direction: Direction | None = None  # of a neighbour
    # what separates the member from the target; ``None`` if nothing does
    separator: Variables | None = None
    # of a spouse: the children that it has in common with the target
    children: tuple[int, ...] = ()
    partners: tuple[int, ...] = ()  # members together with which it depends on the target


def find_parts(
    engine: Engine,
    target: int,
    witnesses: Witnesses,
    max_separator: int,
    directions: Directions = NO_DIRECTIONS,
) -> dict[int, Part]:
    """Say what each member of a blanket is to the target."""
    variables = frozenset(witnesses) | {target}
    separations = Separations(engine, dict.fromkeys(variables, variables), max_separator)
    between = separations.of_pair
    own = {x: separator for x in sorted(witnesses) if (separator := between(target, x)) is not None}
    neighbours = sorted(witnesses.keys() - own.keys())
    parts = dict.fromkeys(neighbours, Part("neighbour", "undecided"))
    for x, separator in own.items():
        joined = [c for c in neighbours if between(x, c) is None]
        children = tuple(c for c in joined if separations.is_collider(target, c, x, separator))
        kind: Kind = "partner" if witnesses[x] else "undecided"
        kind = "spouse" if children else "by request" if witnesses[x] is None else kind
        parts[x] = Part(kind, None, separator, children)
    edges = [(x, target) for x in neighbours]
    directed = separations.orient(
        {a: {b for b in variables - {a} if between(a, b) is None} for a in sorted(variables)},
        {*edges, *((target, x) for x in neighbours)},
        directions.implied(edges),
        lambda a, _, b: between(a, b),
    )
    for cause, effect in directed:
        if effect == target:
            parts[cause] = replace(parts[cause], direction="cause")
        elif cause == target:
            parts[effect] = replace(parts[effect], direction="effect")
    return _with_partners(dict(sorted(parts.items())), witnesses)


def _with_partners(parts: Mapping[int, Part], witnesses: Witnesses) -> dict[int, Part]:
    """Add to each member those that it depends on the target with, whichever of them needs it."""
    groups: dict[int, set[int]] = {x: set() for x in parts}
    for x, part in parts.items():
        if part.kind == "partner":
            group = {x, *(witnesses[x] or ())} & parts.keys()
            for one in group:
                groups[one] |= group - {one}
    return {x: replace(part, partners=tuple(sorted(groups[x]))) for x, part in parts.items()}


# -------------------------------------------------------------------------------------- the network


@dataclass(frozen=True, slots=True)
class Network:
    """Variables that are joined, and what is known of the direction."""

    edges: tuple[Edge, ...]  # the lower number first
    directed: frozenset[Edge]  # those of which the direction is known, from cause to effect
    groups: tuple[Variables, ...]  # variables that depend on each other only together


def join(run: Run, blankets: Iterable[Blanket], symmetry: Symmetry, network: nx.DiGraph) -> None:
    """Add the edges and groups of the network that some blankets make to its nodes."""
    found = {run.data.index(each.target): run.witnesses_of(each) for each in blankets}
    engine = run.open_engine()
    bound = largest_separator(engine, max(map(len, found.values())))
    known = known_directions(run, {*found}.union(*found.values()))
    joined = find_network(engine, found, bound, symmetry, known)
    for a, b in joined.edges:
        for cause, effect in ((a, b), (b, a)):
            if (effect, cause) not in joined.directed:
                is_directed = (cause, effect) in joined.directed
                network.add_edge(run.names[cause], run.names[effect], directed=is_directed)
    groups = [run.named(group) for group in joined.groups]
    network.graph["groups"] = groups
    for name, attributes in network.nodes.items():
        attributes["groups"] = [group for group in groups if name in group]


def find_network(
    engine: Engine,
    blankets: Mapping[int, Witnesses],
    max_separator: int,
    symmetry: Symmetry = "and",
    directions: Directions = NO_DIRECTIONS,
) -> Network:
    """Join the variables of some blankets to a network."""
    pools = {target: frozenset(members) for target, members in blankets.items()}
    separations = Separations(engine, pools, max_separator)
    edges = sorted(_edges(separations, pools, symmetry))
    joined: dict[int, set[int]] = {}
    for a, b in edges:
        joined.setdefault(a, set()).add(b)
        joined.setdefault(b, set()).add(a)
    direct = {way for a, b in edges for way in ((a, b), (b, a))}
    directed = separations.orient(joined, direct, directions.implied(edges), separations.of_ends)
    groups = {
        frozenset({target, x, *witness})
        for target, members in blankets.items()
        for x, witness in members.items()
        if witness and separations.of(target, x) is not None
        if joined.get(target, set()).isdisjoint(joined.get(x, set()))  # else it is a spouse
    }
    return Network(tuple(edges), frozenset(directed), tuple(sorted(groups, key=sorted)))


def _edges(
    separations: Separations, pools: Mapping[int, Variables], symmetry: Symmetry
) -> Iterator[Edge]:
    for a, b in {(min(y, x), max(y, x)) for y, members in pools.items() for x in members}:
        opinions = [
            x in pools[y] and separations.of(y, x) is None
            for y, x in ((a, b), (b, a))
            if y in pools
        ]
        if all(opinions) if symmetry == "and" else any(opinions):
            yield a, b
