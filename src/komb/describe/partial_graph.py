r"""A graph some of whose edges have a direction, and the rules by which others get one.

An edge joins variables that no set separates. It has a mark at each end: an *arrowhead* at ``b`` of
``a -> b`` says that ``b`` does not cause ``a``, a *tail* at ``a`` that ``a`` causes ``b``, and no
mark that neither is known.

The first marks come from **colliders**: ``a`` and ``b`` are not joined, ``c`` is joined to both,
and what separates ``a`` and ``b`` does not contain ``c``, so ``c`` causes neither. From there on
three rules spread them (rules 1 to 3 of Zhang 2008, *On the completeness of orientation rules for
causal discovery in the presence of latent confounders and selection bias*, which is where no
variable is left out the first three of Meek 1995, *Causal inference and causal explanation with
background knowledge*; his fourth matters only for directions that are known beforehand):

1. ``a *-> b --* c``, where ``a`` and ``c`` are not joined and ``b`` is no collider: ``b -> c``.
2. ``a -> b *-> c`` or ``a *-> b -> c``, and ``a`` and ``c`` are joined: ``a *-> c``.
3. ``a *-> b <-* c``, ``d`` is joined to all three, ``a`` and ``c`` are not, and ``d`` is no
   collider between them: ``d *-> b``.
4. ``d`` is joined to all of ``a -> b -> c``, ``a`` and ``c`` are not, and ``d`` is no collider
   between them: ``d -> c``.

They hold among any variables of a larger network: the others may be hidden common causes. Where an
edge is *direct*, an edge of the network itself, an arrowhead at one end means a tail at the other;
the fourth rule is for such edges only.

Tests on data contradict each other at times. A mark that the rules would set in two ways at once is
not set at all, so nothing depends on the order in which edges are looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import NamedTuple

Edge = tuple[int, int]  # from, to
Triple = tuple[int, int, int]  # of which the one in the middle is joined to the others


class Directions(NamedTuple):
    """Directions that are known beforehand, as pairs of a cause and its effect."""

    required: frozenset[Edge] = frozenset()
    forbidden: frozenset[Edge] = frozenset()

    def implied(self, edges: Iterable[Edge]) -> frozenset[Edge]:
        """Return the directions that these edges must have, each edge named in one order."""
        both = [pair for a, b in edges for pair in ((a, b), (b, a))]
        return frozenset(
            (a, b) for a, b in both if (a, b) in self.required or (b, a) in self.forbidden
        )


NO_DIRECTIONS = Directions()


@dataclass(slots=True)
class PartialGraph:
    """Edges with marks at their ends.

    Examples
    --------
    A collider at 2, and what follows for 3: 2 -> 3.

    >>> joined = {0: {2}, 1: {2}, 2: {0, 1, 3}, 3: {2}}
    >>> graph = PartialGraph(joined, direct={(a, b) for a in joined for b in joined[a]})
    >>> graph.orient(colliders=[(0, 2, 1)], others=[(0, 2, 3), (1, 2, 3)])
    >>> sorted(graph.directed())
    [(0, 2), (1, 2), (2, 3)]
    """

    neighbours: dict[int, set[int]]  # for each variable those that it is joined to
    direct: Collection[Edge]  # edges that are edges of the network itself, in both orders
    heads: set[Edge] = field(default_factory=set)  # ``(a, b)`` for an arrowhead at ``b``
    tails: set[Edge] = field(default_factory=set)  # ``(a, b)`` for a tail at ``a``
    _others: set[Triple] = field(default_factory=set)  # triples in both orders, no colliders

    def orient(
        self,
        colliders: Iterable[Triple],
        others: Iterable[Triple],
        known: Collection[Edge] = (),
    ) -> None:
        """Set all marks that follow."""
        self._others = {way for a, c, b in others for way in ((a, c, b), (b, c, a))}
        self._set(set(known), set(known))
        self._set({edge for a, c, b in colliders for edge in ((a, c), (b, c))}, set())
        while True:
            heads, tails = self._implied()
            if not self._set(heads - self.heads, tails - self.tails):
                break
        self._break_cycles(known)

    def directed(self) -> Iterator[Edge]:
        """Edges that are known to lead from the first to the second."""
        return (edge for edge in self.heads if edge in self.tails)

    def _set(self, heads: set[Edge], tails: set[Edge]) -> bool:
        """Set marks that contradict neither each other nor those that are there."""
        heads = heads | {edge for edge in tails if edge in self.direct}
        tails = tails | {edge for edge in heads if edge in self.direct}
        all_heads, all_tails = self.heads | heads, self.tails | tails
        # at b, the edge of a and b cannot have a head, (a, b), and a tail, (b, a)
        new_heads = {(a, b) for a, b in heads - self.heads if (b, a) not in all_tails}
        new_tails = {(a, b) for a, b in tails - self.tails if (b, a) not in all_heads}
        self.heads |= new_heads
        self.tails |= new_tails
        return bool(new_heads or new_tails)

    def _implied(self) -> tuple[set[Edge], set[Edge]]:
        """Heads and tails that follow from those that are there."""
        heads, tails = set[Edge](), set[Edge]()
        for a, b in self.heads:
            for c in self.neighbours[b]:
                if (a, b, c) in self._others:  # the first rule
                    heads.add((b, c))
                    tails.add((b, c))
                is_chain = (b, c) in self.heads and ((a, b) in self.tails or (b, c) in self.tails)
                if is_chain and c in self.neighbours[a]:  # the second
                    heads.add((a, c))
        return heads | set(self._by_third_rule()), tails | set(self._by_fourth_rule())

    def _by_third_rule(self) -> Iterator[Edge]:
        for b, joined in self.neighbours.items():
            pointing = sorted(a for a in joined if (a, b) in self.heads)
            for a, c in combinations(pointing, 2):
                yield from ((d, b) for d in joined if (a, d, c) in self._others)

    def _by_fourth_rule(self) -> Iterator[Edge]:
        directed = set(self.directed())
        for a, b in directed:
            for c in self.neighbours[b]:
                if (b, c) in directed:
                    yield from (
                        (d, c)
                        for d in self.neighbours[b]
                        if (a, d, c) in self._others and (d, c) in self.direct
                    )

    def _break_cycles(self, known: Collection[Edge]) -> None:
        """Take back the directions of edges that lead in a circle: some test was wrong."""
        import networkx as nx

        directed = nx.DiGraph(list(self.directed()))
        for circle in nx.strongly_connected_components(directed):
            if len(circle) > 1:
                taken = set(permutations(circle, 2)).difference(known)
                self.heads -= taken
                self.tails -= taken
