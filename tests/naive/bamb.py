"""Twin of BAMB."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from tests.naive.counts import Set
from tests.naive.sessions import WeighingSession
from tests.naive.steps import Witnesses, prune, separable


@dataclass
class Bamb:
    """Two sets that grow together: neighbours, and for each the spouses it brings."""

    session: WeighingSession
    y: int
    most: int
    include: Set
    neighbours: Set
    separators: dict[int, Set]  # of all that was looked at and is no neighbour
    spouses: dict[int, Set] = field(default_factory=dict)

    def blanket(self) -> Set:
        return self.neighbours.union(*self.spouses.values())

    def look_for_spouses(self, child: int, among: Collection[int]) -> None:
        """Those that depend given separator and child, unless the child and others separate."""
        doubtful = [
            x
            for x in sorted(among)
            if not self.session.independent(self.y, x, self.separators[x] | {child})
        ]
        own = self.spouses.get(child, frozenset()) | frozenset(doubtful)
        self.spouses[child] = own
        self.drop_spouses(child, frozenset(doubtful), self.neighbours | own)

    def drop_spouses(self, child: int, doubtful: Set, pool: Set) -> bool:
        core = frozenset({child})
        dropped = prune(self.session, self.y, doubtful, pool, self.most - 1, core)
        self.spouses[child] = self.spouses[child].difference(dropped)
        return len(dropped) > 0

    def drop_neighbours(self, doubtful: Set, pool: Set, most: int, core: Set) -> bool:
        """What is separated now may be the spouse of another neighbour."""
        dropped = prune(self.session, self.y, doubtful - self.include, pool, most, core)
        self.neighbours = self.neighbours.difference(dropped)
        for x, separator in dropped.items():
            self.separators[x] = separator
            self.spouses.pop(x, None)
        if dropped:
            for child in sorted(self.neighbours):
                self.look_for_spouses(child, dropped)
        return len(dropped) > 0

    def examine(self, x: int) -> None:
        separator = separable(self.session, self.y, x, self.neighbours, self.most, least=1)
        if separator is not None:
            self.separators[x] = separator
            for child in sorted(self.neighbours):
                self.look_for_spouses(child, {x})
            return
        before = self.neighbours
        self.neighbours = before | {x}
        self.look_for_spouses(x, self.separators.keys())
        pool = self.neighbours | self.spouses[x]
        self.drop_neighbours(before, pool, self.most - 1, frozenset({x}))

    def weed_out(self) -> None:
        while True:
            has_changed = self.drop_neighbours(
                self.neighbours, self.blanket(), self.most, frozenset()
            )
            for child in sorted(self.spouses):
                if self.drop_spouses(child, self.spouses[child], self.blanket()):
                    has_changed = True
            if not has_changed:
                return


def bamb(
    session: WeighingSession, variables: Iterable[int], y: int, most: int, start: Set, include: Set
) -> Witnesses:
    v = frozenset(variables) - {y}
    strengths = {x: session.strength(y, x, frozenset()) for x in v}
    irrelevant = [x for x in sorted(v - include) if strengths[x] == 0]
    search = Bamb(session, y, most, include, include, {x: frozenset() for x in irrelevant})
    for child in sorted(include):
        search.look_for_spouses(child, irrelevant)
    waiting = v - include - set(irrelevant)
    for x in sorted(waiting, key=lambda x: (x not in start, -strengths[x], x)):
        search.examine(x)
    search.weed_out()
    found: Witnesses = {}
    for x in search.neighbours:
        found[x] = None if strengths[x] == 0 else frozenset()
    for child in sorted(search.spouses):
        for x in sorted(search.spouses[child]):
            if x not in found:
                found[x] = search.separators[x] | {child}
    return found
