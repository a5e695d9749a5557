"""PCMB: neighbours that take each other for neighbours, then spouses.

Pena, Nilsson, Bjorkegren & Tegner (2007), "Towards scalable and data efficient learning of Markov
boundaries", International Journal of Approximate Reasoning 45. The search for neighbours is that of
MMMB with pruning at every step; what it finds are neighbours and some descendants. So it is run
from each of them as well, and a pair counts only if both find each other: that makes it sound.

Cost: as MMMB, for all variables within two steps of the target and their likely neighbours.
"""

from __future__ import annotations

from functools import cache, partial

from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables, strongest
from komb.search._neighbours import FindNeighbours, Neighbours, add_spouses, prune
from komb.search.options import MAX_CONDITIONING
from komb.search.registry import register_algorithm
from komb.search.task import Found, Task


@register_algorithm(
    "pcmb",
    summary="Neighbours by max-min, kept if each is found from the other; then spouses.",
    citation="Pena, Nilsson, Bjorkegren & Tegner (2007), Towards Scalable and Data Efficient "
    "Learning of Markov Boundaries, International Journal of Approximate Reasoning 45",
    year=2007,
    assumes="faithfulness",
    is_sound=True,
    guarantee="Exact if no test errs, from small conditioning sets.",
    weakness="Many tests; searching from both variables loses members when data are few.",
    options=(MAX_CONDITIONING,),
)
def find_blanket(engine: Engine, task: Task, *, max_conditioning: int = 3) -> Found:
    """PCMB, table 3 of the paper."""
    everything = task.candidates | {task.target}
    search = partial(find_likely_neighbours, engine, max_conditioning=max_conditioning)

    @cache
    def likely_neighbours_of(variable: int) -> Neighbours:
        if variable == task.target:
            return search(variable, task.candidates, first=task.start, fixed=task.include)
        return search(variable, everything - {variable})

    own = find_neighbours(task.target, likely_neighbours_of, fixed=task.include)
    neighbours_of = cache(lambda variable: find_neighbours(variable, likely_neighbours_of))
    return add_spouses(engine, task, own, neighbours_of)


def find_neighbours(
    target: int, likely_neighbours_of: FindNeighbours, fixed: Variables = EMPTY
) -> Neighbours:
    """GetPC: likely neighbours that have the target among theirs; those in ``fixed`` anyway.

    The others are separated from the target by what separates the target from them.
    """
    likely = likely_neighbours_of(target)
    separators = dict(likely.separators)
    for candidate in likely.members - fixed:
        others = likely_neighbours_of(candidate)
        if target not in others.members:
            separators[candidate] = others.separators[target]
    return Neighbours(likely.members.difference(separators), separators)


def find_likely_neighbours(
    engine: Engine,
    target: int,
    candidates: Variables,
    *,
    max_conditioning: int,
    first: Variables = EMPTY,
    fixed: Variables = EMPTY,
) -> Neighbours:
    """GetPCD: neighbours and some descendants, by the max-min heuristic, pruning all along.

    Candidates in ``first`` are members from the beginning; so are those in ``fixed``, which stay.
    """
    [alone] = engine.evidence(target, [(candidates, EMPTY)])
    separators = dict.fromkeys(candidates - alone.keys() - fixed, EMPTY)
    members = fixed | first.intersection(alone)
    weakest, core = {x: alone[x] for x in alone.keys() - members}, EMPTY
    while True:
        # All sets of members without the one admitted last, the core, have been tried before.
        size = max_conditioning - len(core)
        dropped = prune(engine, target, members - fixed - core, members, size, core=core)
        separators |= dropped
        members = members.difference(dropped)
        if dropped:  # the weakest dependence is one given members: those that left do not count
            weakest, core, size = {x: alone[x] for x in weakest}, EMPTY, max_conditioning
        weakest, separable = engine.weakest(target, weakest, members, size, core=core)
        separators |= separable
        if not weakest:
            return Neighbours(members, separators)
        admitted = strongest(weakest)
        del weakest[admitted]
        members |= {admitted}
        core = frozenset({admitted})
