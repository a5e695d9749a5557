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

Two things differ in form, neither in any answer. ``find_cond`` is asked of many candidates, and of
many groups, at once, because tests are counted in batches: where the paper returns the first
success in the order of its loops, we take the smallest of the successes in that order. And what the
grow phase has settled is not examined again when the loops start anew. Both loops of
``find_inter_dep`` are one walk through a tree, in batches (:mod:`~komb.search._batched_walk`) or,
for tests that kernels know, in compiled code (:mod:`~komb.sessions.formula_walk`).

A variable is never put into the condition of its own test: where the paper writes ``S \ Z`` for
the pool of separators, the tested variable is left out too.

Cost: one sweep over all sets of up to ``order + 1`` variables, O(n^(order+1)) tables, plus
O(|S|^(order + max_separator)) tables for each candidate that some witness brings up.
"""

from __future__ import annotations

from komb.search._frontier import Frontier
from komb.search.options import MAX_SEPARATOR, ORDER
from komb.search.registry import register_algorithm
from komb.search.task import Found, Task
from komb.sessions.questions import EMPTY, Variables
from komb.sessions.session import Session


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
def find_blanket(session: Session, task: Task, *, order: int = 1, max_separator: int = 1) -> Found:
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
    frontier = Frontier(session, task, order, max_separator)
    frontier.sweep()
    while group := find_interacting_group(frontier):
        frontier.blanket |= group
        frontier.report("grow")
    while True:
        frontier.report("shrink")
        witnesses = find_witness(frontier, frontier.blanket)
        unsupported = frontier.blanket - witnesses.keys() - task.include
        if not unsupported:
            return Found({member: witnesses.get(member) for member in sorted(frontier.blanket)})
        frontier.blanket -= {min(unsupported)}


def drop_redundant(frontier: Frontier, candidate: int, witness: Variables) -> Variables:
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
        if not has_no_separator(frontier, element, (kept - {element}) | {candidate}):
            kept -= {element}
    return kept | {candidate}


def find_interacting_group(frontier: Frontier) -> Variables:
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

    The recursion visits the groups outside the blanket as a tree with the empty group at its root
    (lexicographic, a prefix before its extensions). The first group under which some candidate has
    a witness (:func:`find_witness`) wins, and there the first candidate. Empty when there is none.
    """
    first = frontier.first_witness()
    return EMPTY if first is None else drop_redundant(frontier, *first)


def has_no_separator(frontier: Frontier, candidate: int, witness: Variables) -> bool:
    r"""Algorithm 3, no_seps: whether nothing in the blanket makes the candidate independent.

    ::

        no_seps(Y, X, Z, S, l):
            for S' in the subsets of S \ Z with up to l elements
                if Y and X are independent given Z u S'
                    return False
            return True

    :func:`find_witness` asks the same of many candidates at once.
    """
    return frontier.is_inseparable(candidate, witness)


def find_witness(frontier: Frontier, candidates: Variables) -> dict[int, Variables]:
    r"""Algorithm 3, find_cond: the first witness of each candidate inside the blanket.

    ::

        find_cond(Y, X, bold X, S, k, l):
            for X' in the subsets of S with up to k - |bold X| elements
                Z <- X' u bold X
                if Y and X are dependent given Z
                    if no_seps(Y, X, Z, S, l)
                        return Z
            return bottom

    Here with the empty group, as the shrink phase asks; a candidate is never its own ally. One
    without a witness, the paper's bottom, is not in the result.
    """
    return frontier.witnesses(candidates)
