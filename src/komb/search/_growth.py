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
    has_changed = True
    while has_changed:
        task.report(session, "shrink", blanket)
        has_changed = False
        for member in sorted(blanket - task.include):
            if not session.is_dependent(task.target, member, blanket - {member}):
                blanket -= {member}
                has_changed = True
    return blanket


def shown_by_the_others(session: Session, task: Task, blanket: Variables) -> Found:
    """Return the blanket, each member with all others as witness: the test that kept it."""
    witnesses: dict[int, Variables | None] = {}
    for member in sorted(blanket):
        others = blanket - {member}
        is_needed = session.is_dependent(task.target, member, others)
        witnesses[member] = others if is_needed else None  # None: there by request alone
    return Found(witnesses)
