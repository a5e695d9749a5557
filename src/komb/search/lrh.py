"""LRH: as IAMB, but a candidate that its rivals separate from the target has to wait.

Liu & Liu (2016), "Swamping and masking in Markov boundary discovery", Machine Learning 104. The
letters stand for lessening swamping (false members), resisting masking (missed members) and
highlighting true positives. Each round has three steps: *select* the candidates that depend on the
target given the blanket so far; *exclude* those that become independent given the blanket and some
of the others selected; *include* the strongest of the rest, or of all selected if none is left.

Only the strongest one that is not separated is wanted, so rivals are tried on the strongest
candidate first and the step ends with the first that they do not separate: the same answer in far
fewer tests.

Cost: O(|blanket| n) tests to select, and up to O(m^max_conditioning) for each candidate looked at
in the second step, where m candidates are selected.
"""

from __future__ import annotations

from collections.abc import Mapping

from komb.engine.engine import Engine
from komb.engine.questions import Variables
from komb.search._growth import separated_by, shrink
from komb.search.options import MAX_CONDITIONING
from komb.search.registry import register_algorithm
from komb.search.task import Found, Task


@register_algorithm(
    "lrh",
    summary="IAMB that defers a candidate which other candidates separate from the target.",
    citation="Liu & Liu (2016), Swamping and Masking in Markov Boundary Discovery, Machine "
    "Learning 104",
    year=2016,
    assumes="composition",
    is_sound=True,
    guarantee="Exact if no test errs; fewer false members on the way than IAMB.",
    weakness="Many more tests than IAMB; like it, conditions on the whole set so far.",
    options=(MAX_CONDITIONING,),
)
def find_blanket(engine: Engine, task: Task, *, max_conditioning: int = 3) -> Found:
    """LRH: select, exclude, include; then shrink."""
    blanket = task.start | task.include
    while True:
        task.report(engine, "grow", blanket)
        [selected] = engine.evidence(task.target, [(task.candidates - blanket, blanket)])
        if not selected:
            return shrink(engine, task, blanket, separated_by(task, blanket, None))
        blanket |= {_choose(engine, task, blanket, selected, max_conditioning)}


def _choose(
    engine: Engine,
    task: Task,
    blanket: Variables,
    selected: Mapping[int, float],
    max_conditioning: int,
) -> int:
    """Return the strongest candidate that no few rivals separate, or else the strongest of all."""
    in_order = sorted(selected, key=lambda x: (-selected[x], x))
    separable = engine.separators(
        task.target, in_order, frozenset(selected), max_conditioning,
        min_size=1, core=blanket, is_in_turn=True,
    )  # fmt: skip
    # what is separated comes first, up to the one that is not
    return in_order[len(separable) % len(in_order)]
