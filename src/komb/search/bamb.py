"""BAMB: neighbours and spouses in turn, each used to prune the other.

Ling, Yu, Wang, Liu, Ding & Wu (2019), "BAMB: a balanced Markov blanket discovery approach to
feature selection", ACM Transactions on Intelligent Systems and Technology 10. Candidates are taken
by decreasing association. As soon as one enters as a neighbour, its spouses are looked for among
all that is separated from the target, and the two sets are pruned together, so that both stay
small.

Two things are made explicit that soundness needs. A candidate that is separated only later is
looked at as a spouse of the neighbours that are already in. And when all candidates have had their
turn, both sets are pruned once more, with separators out of all that is left.

Cost: O(n |blanket|^max_conditioning) tests, the target alone being looked at.
"""

from __future__ import annotations

from collections.abc import Iterable

from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables
from komb.search._neighbours import Neighbours, neighbours_and_spouses, prune
from komb.search.options import MAX_CONDITIONING
from komb.search.registry import register_algorithm
from komb.search.task import Found, Task


@register_algorithm(
    "bamb",
    summary="Neighbours by decreasing association, spouses at once, each pruning the other.",
    citation="Ling, Yu, Wang, Liu, Ding & Wu (2019), BAMB: A Balanced Markov Blanket Discovery "
    "Approach to Feature Selection, ACM Transactions on Intelligent Systems and Technology 10",
    year=2019,
    assumes="faithfulness",
    is_sound=True,
    guarantee="Exact if no test errs, from small conditioning sets around the target alone.",
    weakness="A neighbour missed early takes its spouses with it.",
    options=(MAX_CONDITIONING,),
)
def find_blanket(engine: Engine, task: Task, *, max_conditioning: int = 3) -> Found:
    """BAMB."""
    search = _Search(engine, task, max_conditioning)
    [alone] = engine.evidence(task.target, [(task.candidates, EMPTY)])
    search.separators = dict.fromkeys(task.candidates - alone.keys() - task.include, EMPTY)
    for child in sorted(task.include):
        search.link([child], search.separators)
    in_order = sorted(alone, key=lambda x: (x not in task.start, -alone[x], x))
    waiting = [x for x in in_order if x not in task.include]
    while waiting:
        waiting = search.examine(waiting)
        task.report(engine, "grow", search.blanket)
    search.prune()
    own = Neighbours(search.neighbours, search.separators)
    return neighbours_and_spouses(engine, task, own, search.witnesses())


class _Search:
    """The state of one search."""

    def __init__(self, engine: Engine, task: Task, max_conditioning: int) -> None:
        self.engine = engine
        self.task = task
        self.target = task.target
        self.max_conditioning = max_conditioning
        self.neighbours = task.include
        self.spouses: dict[int, Variables] = {}  # by the child they share with the target
        self.separators: dict[int, Variables] = {}  # of all that is no neighbour

    @property
    def blanket(self) -> Variables:
        """Neighbours and spouses."""
        return self.neighbours.union(*self.spouses.values())

    def examine(self, candidates: list[int]) -> list[int]:
        """Take candidates up to the first that is a neighbour, and what follows for the others.

        Returns the candidates after it.
        """
        separable = self.engine.separators(
            self.target, candidates, self.neighbours, self.max_conditioning,
            min_size=1, is_in_turn=True,
        )  # fmt: skip
        self.separators |= separable
        for candidate in separable:
            self.link(self.neighbours, [candidate])
        left = candidates[len(separable) :]
        if left:
            admitted = left[0]
            self.neighbours |= {admitted}
            self.link([admitted], self.separators)
            own = self.spouses.get(admitted, EMPTY)
            self.drop_neighbours(self.neighbours | own, frozenset({admitted}))
        return left[1:]

    def link(self, children: Iterable[int], candidates: Iterable[int]) -> None:
        """Note as spouses the candidates that depend on the target once a child is given.

        Those that the child together with some neighbours and other spouses separates are no
        spouses after all.
        """
        tried = sorted(candidates)
        for child in sorted(children):
            questions = [({x}, self.separators[x] | {child}) for x in tried]
            answers = self.engine.evidence(self.target, questions, wants_bits=False)
            linked = {x for x, dependent in zip(tried, answers, strict=True) if dependent}
            self.spouses[child] = self.spouses.get(child, EMPTY) | linked
            self.drop_spouses(child, frozenset(linked), self.neighbours | self.spouses[child])

    def drop_spouses(self, child: int, doubtful: Variables, pool: Variables) -> bool:
        """Drop spouses that a set out of the pool, with the child in it, separates."""
        dropped = prune(
            self.engine,
            self.target,
            doubtful,
            pool,
            self.max_conditioning - 1,
            core=frozenset({child}),
        )
        self.spouses[child] = self.spouses[child].difference(dropped)
        return bool(dropped)

    def drop_neighbours(self, pool: Variables, core: Variables = EMPTY) -> bool:
        """Drop neighbours that a set out of the pool separates; they may still be spouses."""
        dropped = prune(
            self.engine,
            self.target,
            self.neighbours - self.task.include - core,
            pool,
            self.max_conditioning - len(core),
            core=core,
        )
        self.separators |= dropped
        self.neighbours = self.neighbours.difference(dropped)
        for child in dropped:
            self.spouses.pop(child, None)
        if dropped:
            self.link(self.neighbours, dropped)
        return bool(dropped)

    def prune(self) -> None:
        """Prune both sets with separators out of all that is left, until nothing changes."""
        has_changed = True
        while has_changed:
            self.task.report(self.engine, "shrink", self.blanket)
            has_changed = self.drop_neighbours(self.blanket)
            for child in sorted(self.spouses):
                has_changed |= self.drop_spouses(child, self.spouses[child], self.blanket)

    def witnesses(self) -> dict[int, Variables]:
        """Spouses, each with its separator and the first child it shares with the target."""
        found: dict[int, Variables] = {}
        for child in sorted(self.spouses):
            for spouse in sorted(self.spouses[child] - self.neighbours):
                found.setdefault(spouse, self.separators[spouse] | {child})
        return found
