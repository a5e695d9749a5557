"""Steps shared by the searches that grow one set and shrink it again: GS, IAMB and LRH."""

from __future__ import annotations

from collections.abc import Mapping

from komb.search.separated import of_those_outside
from komb.search.task import Found, Task
from komb.sessions.questions import Variables
from komb.sessions.session import Session


def strongest(strengths: Mapping[int, float]) -> int:
    """Return the candidate with the strongest dependence on the target, of several the first."""
    return max(sorted(strengths), key=strengths.__getitem__)


def can_grow(blanket: Variables, max_conditioning: int | None) -> bool:
    """Whether a candidate may still be tested given the blanket."""
    return max_conditioning is None or len(blanket) <= max_conditioning


def separated_by(
    task: Task, blanket: Variables, max_conditioning: int | None
) -> dict[int, Variables]:
    """Candidates outside a blanket that has stopped growing, which separates them if it may."""
    outside = task.candidates - blanket if can_grow(blanket, max_conditioning) else ()
    return dict.fromkeys(outside, blanket)


def shrink(
    session: Session, task: Task, blanket: Variables, separators: Mapping[int, Variables]
) -> Found:
    """Drop every variable that the others make independent of the target, until none is left.

    Every member then has all others as witness: the test that kept it.
    """
    known = dict(separators)
    while True:
        task.report(session, "shrink", blanket)
        kept = session.walk(task.target, sorted(blanket - task.include), blanket)
        if kept == blanket:
            break
        known |= dropped_in_turn(blanket, kept)
        blanket = kept
    others = {member: blanket - {member} for member in sorted(blanket)}
    answers = session.ask(task.target, [({member}, rest) for member, rest in others.items()])
    # None: there by request alone
    witnesses = {
        member: rest if is_needed else None
        for (member, rest), is_needed in zip(others.items(), answers, strict=True)
    }
    return Found(witnesses, separators=of_those_outside(task, witnesses, known))


def dropped_in_turn(blanket: Variables, kept: Variables) -> dict[int, Variables]:
    """Variables that left a blanket in the order of the table, each with what was left of it."""
    dropped = sorted(blanket - kept)
    return {x: blanket.difference(dropped[:count]) for count, x in enumerate(dropped, start=1)}
