"""What a search is asked, what it reports on the way and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from komb.citests.session import EMPTY, Session, Variables


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a search stands.

    Attributes
    ----------
    phase : str
        "grow", "sweep", "shrink" or whatever else the algorithm calls its phases.
    blanket : tuple of int
        The candidate blanket at this moment.
    tests : int
        Tests computed so far.
    done, total : int
        Share of the current phase, where it is known; 0 of 0 otherwise.
    """

    phase: str
    blanket: tuple[int, ...]
    tests: int
    done: int = 0
    total: int = 0


Observer = Callable[[Progress], None]


def ignore(progress: Progress) -> None:
    """Observe nothing."""


@dataclass(frozen=True, slots=True)
class Task:
    """Whose blanket to find, among which variables, from which start.

    Attributes
    ----------
    target : int
    candidates : frozenset of int
        Variables that may enter the blanket or be conditioned on; never the target.
    start : frozenset of int
        Where the candidate blanket starts; a search may drop these again.
    include : frozenset of int
        Variables that stay in the blanket whatever the tests say.
    observer : callable
        Told where the search stands, now and then.
    """

    target: int
    candidates: Variables
    start: Variables = EMPTY
    include: Variables = EMPTY
    observer: Observer = field(default=ignore)

    def report(
        self, session: Session, phase: str, blanket: Variables, done: int = 0, total: int = 0
    ) -> None:
        """Tell the observer where the search stands."""
        members = tuple(sorted(blanket | self.include))
        self.observer(Progress(phase, members, session.counts.tests, done, total))


@dataclass(frozen=True, slots=True)
class Choice:
    """What a search chose where it was free to, and why.

    Attributes
    ----------
    value
        ``None`` where nothing would do.
    reason : str
        In a few words.
    """

    value: float | int | str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """The blanket a search found.

    ``witnesses[member]`` is the set that makes the member's dependence visible: empty for an
    ordinary dependence, None for a member that is there by request alone. ``choices`` says what the
    search chose where it was free to.
    """

    witnesses: Mapping[int, Variables | None]
    choices: Mapping[str, Choice] = field(default_factory=dict)
