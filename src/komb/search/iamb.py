"""IAMB: as GS, but the candidate with the strongest dependence is added first.

Tsamardinos, Aliferis & Statnikov (2003), "Algorithms for large scale Markov blanket discovery",
FLAIRS-16. The published runs of kOMB began from its blanket.

The paper leaves open how association is measured. Here it is the evidence against independence in
bits (a p-value of 2^-b counts as b), which unlike mutual information does not favour columns with
many levels. Cost: n tests for each variable that enters, O(|blanket| n), each given the whole set.
"""

from __future__ import annotations

from komb.engine.engine import Engine
from komb.engine.questions import strongest
from komb.search._growth import can_grow, separated_by, shrink
from komb.search.options import MAX_CONDITIONING
from komb.search.registry import register_algorithm
from komb.search.task import Found, Task


@register_algorithm(
    "iamb",
    summary="Incremental association: adds the strongest dependence first, then removes.",
    citation="Tsamardinos, Aliferis & Statnikov (2003), Algorithms for Large Scale Markov Blanket "
    "Discovery, FLAIRS-16",
    year=2003,
    assumes="composition",
    is_sound=True,
    guarantee="Exact if no test errs; fast, also with very many columns.",
    weakness="Conditions on the whole set so far: needs a number of rows exponential in the size "
    "of the blanket, and stops early with fewer.",
    options=(MAX_CONDITIONING,),
)
def find_blanket(engine: Engine, task: Task, *, max_conditioning: int | None = None) -> Found:
    """IAMB, figure 2 of the paper."""
    blanket = task.start | task.include
    while can_grow(blanket, max_conditioning):
        task.report(engine, "grow", blanket)
        [dependents] = engine.evidence(task.target, [(task.candidates - blanket, blanket)])
        if not dependents:
            break
        blanket |= {strongest(dependents)}
    return shrink(engine, task, blanket, separated_by(task, blanket, max_conditioning))
