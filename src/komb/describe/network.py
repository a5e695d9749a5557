"""The partially directed network that the blankets of many targets make.

Two variables are joined if no set of members of a blanket separates them. Colliders are looked for
in triples whose ends are not joined: the common neighbour of two variables is a collider if it is
not part of what separates them, and they depend on each other given it as well. With the blankets
of all variables, and tests that never err, the result is the completed partially directed graph
that all networks have in common in which the same variables are independent (Verma & Pearl 1990,
*Equivalence and synthesis of causal models*; Meek 1995): a spouse of a variable is separated from
it by other members of its blanket, and so is every variable outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from komb.describe.partial_graph import NO_DIRECTIONS, Directions, Edge, PartialGraph, Triple
from komb.describe.roles import known_directions
from komb.describe.separations import find_separators, largest_separator
from komb.sessions.questions import Variables
from komb.sessions.session import Session

if TYPE_CHECKING:
    import networkx as nx

    from komb.api.run import Run
    from komb.results.blanket import Blanket

Symmetry = Literal["and", "or"]
Witnesses = Mapping[int, Variables | None]


@dataclass(frozen=True, slots=True)
class Network:
    """Variables that are joined, and what is known of the direction."""

    edges: tuple[Edge, ...]  # the lower number first
    directed: frozenset[Edge]  # those of which the direction is known, from cause to effect
    groups: tuple[Variables, ...]  # variables that depend on each other only together


def join(run: Run, blankets: Iterable[Blanket], symmetry: Symmetry, network: nx.DiGraph) -> None:
    """Add the edges and groups of the network that some blankets make to its nodes."""
    found = {run.data.index(each.target): run.witnesses_of(each) for each in blankets}
    session = run.open_session()
    bound = largest_separator(session, max(map(len, found.values())))
    known = known_directions(run, {*found}.union(*found.values()))
    joined = find_network(session, found, bound, symmetry, known)
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
    session: Session,
    blankets: Mapping[int, Witnesses],
    max_separator: int,
    symmetry: Symmetry = "and",
    directions: Directions = NO_DIRECTIONS,
) -> Network:
    """Join the variables of some blankets to a network."""
    return _Joining(session, blankets, max_separator, symmetry).join(directions)


class _Joining:
    """The steps from blankets to a network."""

    def __init__(
        self,
        session: Session,
        blankets: Mapping[int, Witnesses],
        max_separator: int,
        symmetry: Symmetry,
    ) -> None:
        self.session = session
        self.blankets = blankets
        self.max_separator = max_separator
        self.symmetry = symmetry
        self.separators = {
            target: find_separators(
                session, target, members.keys(), frozenset(members), max_separator
            )
            for target, members in blankets.items()
        }

    def join(self, directions: Directions) -> Network:
        """Find edges, colliders and what follows from them."""
        edges = sorted(self._edges())
        joined: dict[int, set[int]] = {}
        for a, b in edges:
            joined.setdefault(a, set()).add(b)
            joined.setdefault(b, set()).add(a)
        colliders, others = self._triples(joined)
        direct = {way for a, b in edges for way in ((a, b), (b, a))}
        graph = PartialGraph(joined, direct)
        graph.orient(colliders, others, directions.implied(edges))
        return Network(tuple(edges), frozenset(graph.directed()), self._groups(joined))

    def _edges(self) -> Iterator[Edge]:
        pairs = {(min(y, x), max(y, x)) for y, members in self.blankets.items() for x in members}
        for a, b in pairs:
            opinions = [self._is_neighbour(y, x) for y, x in ((a, b), (b, a)) if y in self.blankets]
            if all(opinions) if self.symmetry == "and" else any(opinions):
                yield a, b

    def _is_neighbour(self, target: int, x: int) -> bool:
        return x in self.blankets[target] and x not in self.separators[target]

    def _triples(self, joined: Mapping[int, set[int]]) -> tuple[list[Triple], list[Triple]]:
        """Triples whose ends are not joined, with a collider in the middle, and without."""
        colliders, others = [], []
        for middle, around in sorted(joined.items()):
            for a, b in combinations(sorted(around), 2):
                if b in joined[a]:
                    continue
                separator = self._separator(a, b, middle)
                if separator is None or middle in separator:
                    others.append((a, middle, b))
                elif self.session.is_dependent(a, b, separator | {middle}):
                    colliders.append((a, middle, b))
        return colliders, others

    def _separator(self, a: int, b: int, middle: int) -> Variables | None:
        """Return what separates two variables; None if that takes more than a few of a blanket."""
        for y, x in ((a, b), (b, a)):
            if x not in self.separators.get(y, {x: None}):
                self.separators[y] |= self._find(y, x, frozenset(self.blankets[y]))
            if x in self.separators.get(y, ()):
                return self.separators[y][x]
        if a in self.blankets or b in self.blankets:
            return None
        pool = frozenset(self.blankets[middle]) | {middle}
        return self._find(a, b, pool - {a}).get(b)

    def _find(self, target: int, x: int, pool: Variables) -> dict[int, Variables]:
        return find_separators(self.session, target, {x}, pool, self.max_separator)

    def _groups(self, joined: Mapping[int, set[int]]) -> tuple[Variables, ...]:
        """Variables with a witness that they are not joined to, and their targets."""
        groups = {
            frozenset({target, x, *witness})
            for target, members in self.blankets.items()
            for x, witness in members.items()
            if witness and x in self.separators[target] and not self._is_spouse(target, x, joined)
        }
        return tuple(sorted(groups, key=sorted))

    def _is_spouse(self, target: int, x: int, joined: Mapping[int, set[int]]) -> bool:
        return bool(joined.get(target, set()) & joined.get(x, set()))
