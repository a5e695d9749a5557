"""HITON-MB: neighbours in the order of their association with the target, then spouses.

Aliferis, Tsamardinos & Statnikov (2003), "HITON: a novel Markov blanket algorithm for optimal
variable selection", AMIA. Two things differ from that paper. Its last phase, which drops members
as long as a classifier does not get worse, is left out: it needs a classifier, and no later account
has it. And one test each decides on spouses, as in the authors' later account (Aliferis et al.
2010, "Local causal and Markov blanket induction", JMLR 11).

Not sound: a descendant of the target that is no child can pass for a neighbour, for the sets that
separate it need not consist of neighbours; and what is found beyond it can pass for a spouse. The
true blanket is always part of what correct answers give. PCMB repairs that.

Cost: O(n 2^|PC|) tests per variable whose neighbours are searched, or O(n |PC|^max_conditioning).
"""

from __future__ import annotations

from functools import partial

from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables
from komb.search._neighbours import Neighbours, prune, search_from_target
from komb.search.options import MAX_CONDITIONING
from komb.search.registry import register_algorithm
from komb.search.task import Found, Task


@register_algorithm(
    "hiton-mb",
    summary="Neighbours by decreasing association, pruned at every step; then spouses.",
    citation="Aliferis, Tsamardinos & Statnikov (2003), HITON: A Novel Markov Blanket Algorithm "
    "for Optimal Variable Selection, AMIA",
    year=2003,
    assumes="faithfulness",
    is_sound=False,
    guarantee="Small conditioning sets; loses no true member if no test errs.",
    weakness="May keep false members: descendants that are not children, and false spouses "
    "found through them.",
    options=(MAX_CONDITIONING,),
)
def find_blanket(engine: Engine, task: Task, *, max_conditioning: int = 3) -> Found:
    """HITON-MB."""
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
    """HITON-PC: take candidates in turn, strongest first, and prune the set after each.

    Candidates in ``first`` go before all others; those in ``fixed`` are members from the beginning
    and stay.
    """
    [alone] = engine.evidence(target, [(candidates, EMPTY)])
    separators = dict.fromkeys(candidates - alone.keys() - fixed, EMPTY)
    members = fixed
    waiting = sorted(alone.keys() - fixed, key=lambda x: (x not in first, -alone[x], x))
    while waiting:
        separable = engine.separators(
            target, waiting, members, max_conditioning, min_size=1, is_in_turn=True
        )
        separators |= separable
        del waiting[: len(separable)]
        if waiting:
            # Whatever this one makes separable has it in its separator.
            admitted = frozenset({waiting.pop(0)})
            dropped = prune(
                engine, target, members - fixed, members, max_conditioning - 1, core=admitted
            )
            separators |= dropped
            members = members.difference(dropped) | admitted
    return Neighbours(members, separators)
