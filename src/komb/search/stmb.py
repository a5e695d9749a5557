"""STMB: neighbours first; spouses then tell which of those are false.

Gao & Ji (2017), "Efficient Markov blanket discovery and its application", IEEE Transactions on
Cybernetics 47. A descendant that passes for a neighbour is not exposed by a search from it, as in
PCMB, but by the spouses it comes with: together with one of them, some neighbours separate it from
the target (the paper's coexistence property). In the end everything is tested given all the rest.

The paper lets any search for neighbours begin; here it is the one by growing size of the separators
(as in IPC-MB, Fu & Desmarais 2008). A false neighbour that was found out may still be a spouse: it
is looked at again as such. As the search begins from all candidates, ``start`` changes nothing.

Cost: O(n |PC|^max_conditioning) tests, the target alone being looked at, and O(|blanket|) tests
given the whole blanket.
"""

from __future__ import annotations

from komb.engine.engine import Engine
from komb.engine.questions import Variables
from komb.search._growth import shrink, shrink_in_turn
from komb.search._neighbours import Neighbours, prune
from komb.search.options import MAX_CONDITIONING
from komb.search.registry import register_algorithm
from komb.search.task import Found, Task


@register_algorithm(
    "stmb",
    summary="Neighbours, then spouses, which expose false neighbours; then each given the rest.",
    citation="Gao & Ji (2017), Efficient Markov Blanket Discovery and Its Application, IEEE "
    "Transactions on Cybernetics 47",
    year=2017,
    assumes="faithfulness",
    is_sound=True,
    guarantee="Exact if no test errs, without searches for other targets.",
    weakness="Ends with tests given the whole blanket, which needs rows exponential in its size.",
    options=(MAX_CONDITIONING,),
)
def find_blanket(engine: Engine, task: Task, *, max_conditioning: int = 3) -> Found:
    """STMB."""
    likely = find_likely_neighbours(engine, task, max_conditioning)
    task.report(engine, "spouses", likely.members)
    own, spouses = find_spouses(engine, task, likely, max_conditioning)
    blanket = own.members.union(task.include, *spouses.values())
    doubtful = sorted(blanket - own.members - task.include)  # spouses go first, then neighbours
    kept, dropped = shrink_in_turn(engine, task.target, doubtful, blanket)
    return shrink(engine, task, kept, {**own.separators, **dropped})


def find_likely_neighbours(engine: Engine, task: Task, max_conditioning: int) -> Neighbours:
    """Drop candidates that small sets separate, then larger ones, out of those that are left."""
    members = task.candidates
    separators: dict[int, Variables] = {}
    for size in range(max_conditioning + 1):
        dropped = prune(engine, task.target, members - task.include, members, size, min_size=size)
        separators |= dropped
        members = members.difference(dropped)
        task.report(engine, "neighbours", members)
        if len(members) <= size + 1:
            break
    return Neighbours(members, separators)


def find_spouses(
    engine: Engine, task: Task, likely: Neighbours, max_conditioning: int
) -> tuple[Neighbours, dict[int, set[int]]]:
    """Return the true neighbours, and spouses by the child they share with the target.

    A candidate that depends on the target once a neighbour joins its separator is a spouse, unless
    the neighbour can be separated with its help: then that one is false.
    """
    neighbours, separators = likely.members, dict(likely.separators)
    spouses: dict[int, set[int]] = {}
    candidates = sorted(separators)
    while candidates:
        false: dict[int, Variables] = {}
        for child in sorted(neighbours):
            others = neighbours - {child}
            for candidate in _linked(engine, task.target, child, candidates, separators):
                core = frozenset({candidate})
                size = max_conditioning - 1 if child not in task.include else -1
                separable = engine.separators(task.target, {child}, others, size, core=core)
                if separable:
                    false |= separable
                    break
                spouses.setdefault(child, set()).add(candidate)
        neighbours = neighbours.difference(false)
        separators |= false
        for child in false:
            spouses.pop(child, None)
        candidates = sorted(false)
    return Neighbours(neighbours, separators), spouses


def _linked(
    engine: Engine, target: int, child: int, candidates: list[int], separators: dict[int, Variables]
) -> list[int]:
    """Candidates that depend on the target once the child is in the condition."""
    questions = [({x}, separators[x] | {child}) for x in candidates]
    answers = engine.evidence(target, questions, wants_bits=False)
    return [x for x, dependent in zip(candidates, answers, strict=True) if dependent]
