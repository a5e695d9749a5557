"""Steps shared by the searches that grow one set and shrink it again: GS, IAMB and LRH."""

from __future__ import annotations

from collections.abc import Mapping

from komb.search.task import Found, Task
from komb.sessions.questions import Variables
from komb.sessions.session import Session


def strongest(strengths: Mapping[int, float]) -> int:
    """Return the candidate with the strongest dependence on the target, of several the first.

    Examples
    --------
    >>> strongest({4: 1.5, 2: 7.0, 3: 7.0})
    2
    """
    return max(sorted(strengths), key=strengths.__getitem__)


def can_grow(blanket: Variables, max_conditioning: int | None) -> bool:
    """Whether a candidate may still be tested given the blanket."""
    return max_conditioning is None or len(blanket) <= max_conditioning


def shrink(session: Session, task: Task, blanket: Variables) -> Variables:
    """Drop every variable that the others make independent of the target, until none is left."""
    while True:
        task.report(session, "shrink", blanket)
        kept = session.walk(task.target, sorted(blanket - task.include), blanket)
        if kept == blanket:
            return blanket
        blanket = kept


def shown_by_the_others(session: Session, task: Task, blanket: Variables) -> Found:
    """Return the blanket, each member with all others as witness: the test that kept it."""
    others = {member: blanket - {member} for member in sorted(blanket)}
    answers = session.ask(task.target, [({member}, rest) for member, rest in others.items()])
    # None: there by request alone
    return Found(
        {
            member: rest if is_needed else None
            for (member, rest), is_needed in zip(others.items(), answers, strict=True)
        }
    )
