"""Steps shared by the searches that grow one set and shrink it again: GS, IAMB and LRH."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from komb.engine.engine import Engine
from komb.engine.questions import Variables
from komb.search.separated import of_those_outside
from komb.search.task import Found, Task


def can_grow(blanket: Variables, max_conditioning: int | None) -> bool:
    """Whether a candidate may still be tested given the blanket."""
    return max_conditioning is None or len(blanket) <= max_conditioning


def separated_by(
    task: Task, blanket: Variables, max_conditioning: int | None
) -> dict[int, Variables]:
    """Candidates outside a blanket that has stopped growing, which separates them if it may."""
    outside = task.candidates - blanket if can_grow(blanket, max_conditioning) else ()
    return dict.fromkeys(outside, blanket)


def grow_in_turn(
    engine: Engine,
    target: int,
    waiting: Sequence[int],
    blanket: Variables,
    max_conditioning: int | None,
) -> Variables:
    """Test each candidate given the blanket, which a dependent one enters before the next.

    The longer none has entered, the more candidates are tested at once: few tests are in vain.
    """
    n_at_once = 1
    while waiting and can_grow(blanket, max_conditioning):
        some = waiting[:n_at_once]
        dependent = engine.dependents(target, frozenset(some), blanket)
        entered = next((place for place, x in enumerate(some, 1) if x in dependent), None)
        if entered is not None:
            blanket |= {some[entered - 1]}
        n_at_once = 2 * n_at_once if entered is None else 1
        waiting = waiting[entered or len(some) :]
    return blanket


def shrink_in_turn(
    engine: Engine, target: int, members: Iterable[int], blanket: Variables
) -> tuple[Variables, dict[int, Variables]]:
    """Test members given the rest of a blanket, which an independent one leaves before the next.

    Returns what is left, and for those that left what separated them.
    """
    separators: dict[int, Variables] = {}
    for member in members:
        others = blanket - {member}
        if not engine.is_dependent(target, member, others):
            blanket = separators[member] = others
    return blanket, separators


def shrink(
    engine: Engine, task: Task, blanket: Variables, separators: Mapping[int, Variables]
) -> Found:
    """Drop every variable that the others make independent of the target, until none is left.

    Every member then has all others as witness: the test that kept it.
    """
    known = dict(separators)
    while True:
        task.report(engine, "shrink", blanket)
        members = sorted(blanket - task.include)
        blanket, dropped = shrink_in_turn(engine, task.target, members, blanket)
        known |= dropped
        if not dropped:
            break
    # one that is in the blanket by request alone has no witness
    witnesses = {
        x: blanket - {x} if engine.is_dependent(task.target, x, blanket - {x}) else None
        for x in sorted(blanket)
    }
    return Found(witnesses, separators=of_those_outside(task, witnesses, known))
