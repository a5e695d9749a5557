"""GS: grow a set by whatever depends on the target given the set so far, then shrink it.

Margaritis & Thrun (1999), "Bayesian network induction via local neighborhoods", NIPS 12. The first
method to find a Markov blanket by tests alone, and the plainest.

Candidates are taken in the order of the table; the paper leaves the order open. Cost: about one
test per candidate and round, O(|blanket| n) in all, each given the whole set.
"""

from __future__ import annotations

from komb.engine.engine import Engine
from komb.search._growth import grow_in_turn, separated_by, shrink
from komb.search.options import MAX_CONDITIONING
from komb.search.registry import register_algorithm
from komb.search.task import Found, Task


@register_algorithm(
    "gs",
    summary="Grow-Shrink: adds whatever depends given the set so far, then removes.",
    citation="Margaritis & Thrun (1999), Bayesian Network Induction via Local Neighborhoods, "
    "NIPS 12",
    year=1999,
    assumes="composition",
    is_sound=True,
    guarantee="Exact if no test errs, in few tests.",
    weakness="Conditions on the whole set so far, in table order: irrelevant columns enter early "
    "and make every later table sparser.",
    options=(MAX_CONDITIONING,),
)
def find_blanket(engine: Engine, task: Task, *, max_conditioning: int | None = None) -> Found:
    """Grow-Shrink, figure 2 of the paper."""
    blanket = task.start | task.include
    while True:
        task.report(engine, "grow", blanket)
        outside = sorted(task.candidates - blanket)
        grown = grow_in_turn(engine, task.target, outside, blanket, max_conditioning)
        if grown == blanket:
            return shrink(engine, task, blanket, separated_by(task, blanket, max_conditioning))
        blanket = grown
