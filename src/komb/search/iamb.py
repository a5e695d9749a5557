"""IAMB: as GS, but the candidate with the strongest dependence is added first.

Tsamardinos, Aliferis & Statnikov (2003), "Algorithms for large scale Markov blanket discovery",
FLAIRS-16. The published runs of kOMB began from its blanket.

The paper leaves open how association is measured. Here it is the evidence against independence in
bits (see :meth:`~komb.sessions.session.Session.strengths`), which unlike mutual information
does not favour columns with many levels. Cost: n tests for each variable that enters, O(|blanket|
n), each given the whole set.
"""

from __future__ import annotations

from komb.search._growth import can_grow, separated_by, shrink, strongest
from komb.search.options import MAX_CONDITIONING
from komb.search.registry import register_algorithm
from komb.search.task import Found, Task
from komb.sessions.session import Session


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
def find_blanket(session: Session, task: Task, *, max_conditioning: int | None = None) -> Found:
    """IAMB, figure 2 of the paper."""
    blanket = task.start | task.include
    while can_grow(blanket, max_conditioning):
        task.report(session, "grow", blanket)
        outside = task.candidates - blanket
        dependents = session.strengths(task.target, [(outside, blanket)])[0]
        if not dependents:
            break
        blanket |= {strongest(dependents)}
    return shrink(session, task, blanket, separated_by(task, blanket, max_conditioning))
