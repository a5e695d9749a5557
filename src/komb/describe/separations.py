"""Which variables of a set are separated by others of it, and colliders among them.

"Independent" on data may mean that a test had no chance to see a dependence, and what is wrongly
separated is taken for no neighbour. So a set separates two variables only if the test given it had
the power to see half of the dependence that they show without any condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import combinations, islice

from komb.describe.partial_graph import Triple
from komb.search._power import power_to_see
from komb.sessions.questions import EMPTY, Variables, count_subsets, subsets
from komb.sessions.session import Session

SHARE_TO_DETECT = 0.5
"""Of the dependence of two variables, what a test must be able to see to separate them."""

MAX_SEPARATOR = 3
"""Members in a separator, at most, if the answers come from data."""

MOST_TESTS = 50_000
"""Tests to find roles, at most: fewer members are allowed in a separator where it takes more."""

_SETS_PER_LOT = 64  # tried at once


def find_separators(
    session: Session, target: int, candidates: AbstractSet[int], pool: Variables, max_size: int
) -> dict[int, Variables]:
    """For each candidate that can be separated from the target, the first set that does it.

    Sets are the subsets of ``pool`` without the candidate, by size and then in table order.
    """
    found: dict[int, Variables] = {}
    waiting = set(candidates)
    for lot in _lots(pool, max_size):
        answers = session.ask(target, [(waiting - given, given) for given in lot])
        for given, dependent in zip(lot, answers, strict=True):
            for x in sorted((waiting - given).difference(dependent)):
                if _counts(session, target, x, given):
                    found[x] = given
                    waiting.discard(x)
        if not waiting:
            break
    return found


def _lots(pool: Variables, max_size: int) -> Iterator[list[Variables]]:
    """Subsets of a pool, some at a time; none of two sizes, as most are separated by small ones."""
    for size in range(max_size + 1):
        sets = subsets(pool, size, size)
        while lot := list(islice(sets, _SETS_PER_LOT)):
            yield lot


def _counts(session: Session, target: int, x: int, given: Variables) -> bool:
    """Whether a test that says "independent" could have seen a dependence."""
    return not given or session.can_detect(target, x, given, EMPTY, power_to_see(SHARE_TO_DETECT))


class Separations:
    """Separators of pairs, each looked for when it is first asked for.

    Examples
    --------
    >>> import networkx as nx
    >>> from komb.sessions.graph import DSeparationOracle
    >>> oracle = DSeparationOracle(nx.DiGraph([(0, 2), (1, 2)]), range(3))
    >>> separations = Separations(oracle, frozenset({0, 1, 2}), 1)
    >>> separations.are_joined(0, 1), separations.is_collider(0, 2, 1)
    (False, True)
    """

    def __init__(self, session: Session, variables: Variables, max_separator: int) -> None:
        self.session = session
        self.variables = variables  # what pairs and separators are made of
        self.max_separator = max_separator  # how many variables a separator may have
        self._found: dict[int, dict[int, Variables]] = {}

    def of(self, variable: int) -> dict[int, Variables]:
        """For each variable that is separated from this one, the first set that does it."""
        if variable not in self._found:
            known = {x: found[variable] for x, found in self._found.items() if variable in found}
            unknown = self.variables - self._found.keys() - {variable}
            pool = self.variables - {variable}
            found = find_separators(self.session, variable, unknown, pool, self.max_separator)
            self._found[variable] = dict(sorted({**known, **found}.items()))
        return self._found[variable]

    def are_joined(self, a: int, b: int) -> bool:
        """Whether nothing separates two variables."""
        return a != b and b not in self.of(a)

    def is_collider(self, a: int, middle: int, b: int) -> bool:
        """Whether a variable that is joined to both of two separated ones is caused by both.

        That is so if it is not needed to separate them, and they depend on each other given it.
        """
        separator = self.of(a)[b]
        return middle not in separator and self.session.is_dependent(a, b, separator | {middle})

    def triples(self, joined: Mapping[int, set[int]]) -> tuple[list[Triple], list[Triple]]:
        """Triples whose ends are not joined, with a collider in the middle, and without.

        Where tests contradict each other, a triple is in neither.
        """
        colliders, others = [], []
        for middle in sorted(joined):
            for a, b in combinations(sorted(joined[middle]), 2):
                if b in joined[a]:
                    continue
                if middle in self.of(a)[b]:
                    others.append((a, middle, b))
                elif self.is_collider(a, middle, b):
                    colliders.append((a, middle, b))
        return colliders, others


def largest_separator(session: Session, n_members: int) -> int:
    """How many members a separator may have: with an oracle all, as far as that is affordable."""
    size = n_members if session.n_rows is None else min(MAX_SEPARATOR, n_members)
    n_pairs = n_members * (n_members + 1) // 2
    while size > 1 and n_pairs * count_subsets(n_members - 1, size) > MOST_TESTS:
        size -= 1
    return size
