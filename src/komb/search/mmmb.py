"""MMMB: neighbours by their weakest association with the target, then spouses.

Tsamardinos, Aliferis & Statnikov (2003), "Time and sample efficient discovery of Markov blankets
and direct causal relations", KDD. The neighbours come from MMPC (max-min parents and children): in
every round the candidate enters whose weakest dependence, given any set of those that are in, is
the strongest.

Not sound, for the reason given in :mod:`~komb.search.hiton_mb` (Pena et al. 2007 show it):
neighbours are not checked by a search from them. The true blanket is always part of what correct
answers give.

Cost: as HITON-MB, with somewhat more tests.
"""

from __future__ import annotations

from functools import partial

from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables, strongest
from komb.search._neighbours import Neighbours, prune, search_from_target
from komb.search.options import MAX_CONDITIONING
from komb.search.registry import register_algorithm
from komb.search.task import Found, Task


@register_algorithm(
    "mmmb",
    summary="Neighbours by the max-min heuristic (MMPC), then spouses.",
    citation="Tsamardinos, Aliferis & Statnikov (2003), Time and Sample Efficient Discovery of "
    "Markov Blankets and Direct Causal Relations, KDD",
    year=2003,
    assumes="faithfulness",
    is_sound=False,
    guarantee="Small conditioning sets; loses no true member if no test errs.",
    weakness="May keep false members: descendants that are not children, and false spouses "
    "found through them.",
    options=(MAX_CONDITIONING,),
)
def find_blanket(engine: Engine, task: Task, *, max_conditioning: int = 3) -> Found:
    """MMMB."""
    search = partial(find_neighbours, engine, max_conditioning=max_conditioning)
    return search_from_target(engine, task, search)


def find_neighbours(
    engine: Engine,
    target: int,
    candidates: Variables,
    *,
    max_conditioning: int,
    first: Variables = EMPTY,
    fixed: Variables = EMPTY,
) -> Neighbours:
    """MMPC: grow by the max-min heuristic, then prune.

    Candidates in ``first`` are members from the beginning; so are those in ``fixed``, which stay.
    """
    [alone] = engine.evidence(target, [(candidates, EMPTY)])
    separators = dict.fromkeys(candidates - alone.keys() - fixed, EMPTY)
    members = fixed | first.intersection(alone)
    waiting = {x: bits for x, bits in alone.items() if x not in members}
    waiting, separable = engine.weakest(target, waiting, members, max_conditioning)
    separators |= separable
    while waiting:
        admitted = strongest(waiting)
        del waiting[admitted]
        waiting, separable = engine.weakest(
            target, waiting, members, max_conditioning - 1, core=frozenset({admitted})
        )
        separators |= separable
        members |= {admitted}
    dropped = prune(engine, target, members - fixed, members, max_conditioning)
    return Neighbours(members.difference(dropped), separators | dropped)
