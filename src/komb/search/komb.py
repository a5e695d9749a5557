r"""kOMB: Markov blankets under k-order faithfulness.

Lee, Krishnamoorthy & Piatkowski (2026), "High-Order Markov Blanket Discovery via a k-Order
Relaxation of the Faithfulness Assumption", UAI. This file holds the paper's Algorithms 1 to 3, its
functions in its order, each with its pseudo-code:

====================  ==============================  =============================================
paper                 here                            meaning
====================  ==============================  =============================================
kOMB                  :func:`find_blanket`            Algorithm 1: grow, then shrink
make_strict           :func:`drop_redundant`          Algorithm 2: keep what the dependence needs
find_inter_dep        :func:`find_interacting_group`  Algorithm 2: variables that depend together
no_seps               :func:`has_no_separator`        Algorithm 3: no small set explains it away
find_cond             :func:`find_witness`            Algorithm 3: a set that shows a dependence
Y, X                  ``target``, ``candidate``
bold X, X'            ``group``, ``allies``           the witness's part outside, inside the blanket
Z, S, S'              ``witness``, ``blanket``, ``separator``
k, l                  ``order``, ``max_separator``
====================  ==============================  =============================================

Two things differ in form, neither in any answer. The recursion of ``find_inter_dep`` is written as
the groups that it visits, in its order, and the engine is asked for the first witness under many of
them at once. And groups that take no allies are not visited again once it was in vain
(:class:`GroupTree`); which candidates depend on the target given them is listed beforehand where
there are very many.

A variable is never put into the condition of its own test: where the paper writes ``S \ Z`` for
the pool of separators, the tested variable is left out too.

Cost: the tests of all sets of up to ``order + 1`` variables, O(n^(order+1)), plus
O(|S|^(order + max_separator)) for each candidate that some witness brings up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from komb.engine.engine import AllSets, Engine, Query
from komb.engine.questions import EMPTY, Variables
from komb.search.options import MAX_SEPARATOR, ORDER
from komb.search.registry import register_algorithm
from komb.search.separated import find_separators
from komb.search.task import Found, Task

_GROUPS_AT_ONCE = 64
_FEW_TESTS = 100_000  # given groups of full size: so many are made as they come


@register_algorithm(
    "komb",
    summary="k-order Markov blanket: finds members that are visible only in combination.",
    citation="Lee, Krishnamoorthy & Piatkowski (2026), High-Order Markov Blanket Discovery via a "
    "k-Order Relaxation of the Faithfulness Assumption, UAI",
    year=2026,
    assumes="k-order faithfulness",
    is_sound=True,
    guarantee="Finds every member that is dependent given up to k others.",
    weakness="The number of tests grows like (columns)^(k + 1), and tables get sparser with k.",
    options=(ORDER, MAX_SEPARATOR),
)
def find_blanket(engine: Engine, task: Task, *, order: int = 1, max_separator: int = 1) -> Found:
    r"""Algorithm 1, kOMB: grow the blanket by interacting groups, then drop what has no witness.

    ::

        S <- {}
        repeat
            V' <- V \ (Y u S)
            X' <- find_inter_dep(Y, {}, S, V', k, l)
            S  <- S u X'
        until X' = {}
        while there is an X in S with find_cond(Y, X, {}, S \ X, k, l) = bottom
            S <- S \ X
        return S
    """
    blanket = task.start | task.include
    tree = GroupTree(task.candidates, order, list_dependences(engine, task, order))
    while group := find_interacting_group(engine, task, tree, blanket, max_separator):
        blanket |= group
    while True:
        task.report(engine, "shrink", blanket)
        witnesses: dict[int, Variables | None] = {}
        for x in sorted(blanket):
            witnesses[x] = find_witness(engine, task.target, x, blanket, order, max_separator)
            if witnesses[x] is None and x not in task.include:
                blanket -= {x}
                break
        else:
            outside = task.candidates - blanket
            separators = find_separators(engine, task.target, outside, blanket, max_separator)
            return Found(witnesses, separators=separators)


def drop_redundant(
    engine: Engine,
    target: int,
    candidate: int,
    witness: Variables,
    blanket: Variables,
    max_separator: int,
) -> Variables:
    r"""Algorithm 2, make_strict: the candidate with those of its witness that depend in turn.

    ::

        make_strict(Y, X, Z, S, k, l):
            for Z in bold Z
                if not no_seps(Y, Z, X u bold Z \ Z, S, l)
                    remove Z from bold Z
            return X u bold Z
    """
    kept = witness
    for element in sorted(witness):
        others = kept - {element} | {candidate}
        if not has_no_separator(engine, target, element, others, blanket, max_separator):
            kept -= {element}
    return kept | {candidate}


def find_interacting_group(
    engine: Engine, task: Task, tree: GroupTree, blanket: Variables, max_separator: int
) -> Variables:
    r"""Algorithm 2, find_inter_dep: variables outside the blanket that depend on the target.

    ::

        find_inter_dep(Y, bold X, S, V', k, l):
            if |bold X| > k
                return {}
            for X in V \ (Y u S u bold X)
                Z <- find_cond(Y, X, bold X, S, k, l)
                if Z != bottom
                    return make_strict(Y, X, Z, S, k, l)
            for X in V' \ (Y u S u bold X)
                V' <- V' \ X
                X' <- find_inter_dep(Y, bold X u X, S, V', k, l)
                if X' != {}
                    return X'
            return {}

    The first group under which a candidate has a witness wins, and there the first candidate.
    """
    for queries in tree.visits(blanket):
        task.report(engine, "grow", blanket, tree.n_closed, tree.n_full)
        found = engine.first_witness(task.target, queries, blanket, max_separator)
        if found is not None:
            tree.close(queries[: found.query])
            _, candidate, witness = found
            return drop_redundant(engine, task.target, candidate, witness, blanket, max_separator)
        tree.close(queries)
    return EMPTY


class GroupTree:
    """The groups that ``find_inter_dep`` visits, each followed by those that extend it.

    A group of full size takes no allies. While the blanket grows, nothing new can depend on the
    target given that group, and more and more is separated. So once it was visited in vain, it is
    closed for good.
    """

    def __init__(
        self,
        candidates: Variables,
        order: int,
        dependent: Mapping[Variables, Sequence[int]] | None = None,
    ) -> None:
        self.n_full = math.comb(len(candidates), order)  # groups of full size
        self.n_closed = 0  # of these
        self._candidates = candidates
        self._order = order
        self._dependent = dependent  # given each group of full size, if they were listed
        self._last_closed: tuple[int, ...] | None = None

    def visits(self, blanket: Variables) -> Iterator[list[Query]]:
        """Yield queries for the open groups outside a blanket, many behind the empty group."""
        outside = tuple(sorted(self._candidates - blanket))
        groups = self._extend((), outside)
        n_at_once = 1  # for most often the empty group is a success
        while some := list(islice(groups, n_at_once)):
            yield [self._query(frozenset(group), outside, blanket) for group in some]
            n_at_once = _GROUPS_AT_ONCE

    def _extend(
        self, group: tuple[int, ...], following: Sequence[int]
    ) -> Iterator[tuple[int, ...]]:
        if len(group) < self._order:
            yield group
            for place, x in enumerate(following, 1):
                yield from self._extend((*group, x), following[place:])
        elif self._last_closed is None or group > self._last_closed:
            yield group

    def _query(self, group: Variables, outside: Sequence[int], blanket: Variables) -> Query:
        if len(group) < self._order or self._dependent is None:
            return Query(outside, group, self._order - len(group))
        return Query([x for x in self._dependent.get(group, ()) if x not in blanket], group)

    def close(self, queries: Sequence[Query]) -> None:
        """Note groups that were visited in vain."""
        full = [query.group for query in queries if len(query.group) == self._order]
        if full:
            self.n_closed += len(full)
            self._last_closed = tuple(sorted(full[-1]))


def list_dependences(engine: Engine, task: Task, order: int) -> dict[Variables, list[int]] | None:
    """List the candidates that depend on the target given each group of full size.

    An engine that knows what it has to list rules most dependences out before it tests them. None
    if there are only few tests.
    """
    n_tests = (order + 1) * math.comb(len(task.candidates), order + 1)
    if order == 0 or n_tests <= _FEW_TESTS:
        return None

    def report(done: int, total: int) -> None:
        task.report(engine, "sweep", task.start, done, total)

    everything = AllSets(task.candidates, task.candidates, order)
    found: dict[Variables, list[int]] = {}
    for _, x, group in engine.strong(task.target, everything, 0.0, on_progress=report):
        found.setdefault(group, []).append(x)
    return {group: sorted(dependent) for group, dependent in found.items()}


def has_no_separator(
    engine: Engine,
    target: int,
    candidate: int,
    witness: Variables,
    blanket: Variables,
    max_separator: int,
) -> bool:
    r"""Algorithm 3, no_seps: whether nothing in the blanket makes the candidate independent.

    ::

        no_seps(Y, X, Z, S, l):
            for S' in the subsets of S \ Z with up to l elements
                if Y and X are independent given Z u S'
                    return False
            return True
    """
    query = Query((candidate,), witness)
    return engine.first_witness(target, [query], blanket, max_separator) is not None


def find_witness(
    engine: Engine, target: int, candidate: int, blanket: Variables, order: int, max_separator: int
) -> Variables | None:
    r"""Algorithm 3, find_cond: the first witness of a candidate inside the blanket.

    ::

        find_cond(Y, X, bold X, S, k, l):
            for X' in the subsets of S with up to k - |bold X| elements
                Z <- X' u bold X
                if Y and X are dependent given Z
                    if no_seps(Y, X, Z, S, l)
                        return Z
            return bottom

    Here with the empty group, as the shrink phase asks.
    """
    query = Query((candidate,), EMPTY, order)
    found = engine.first_witness(target, [query], blanket, max_separator)
    return None if found is None else found.witness
