"""What a search is asked, reports on the way and returns, its reasons as facts, in numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum, auto
from typing import Any, NamedTuple, NoReturn

from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables
from komb.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a search.

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
        Called with the progress of the search, now and then.
    """

    target: int
    candidates: Variables
    start: Variables = EMPTY
    include: Variables = EMPTY
    observer: Observer = field(default=ignore)

    def report(
        self, engine: Engine, phase: str, blanket: Variables, done: int = 0, total: int = 0
    ) -> None:
        """Report the progress of the search to the observer."""
        members = tuple(sorted(blanket | self.include))
        self.observer(Progress(phase, members, engine.work.tests, done, total))


@dataclass(frozen=True, slots=True)
class Choice:
    """What a search chose where it was free to, and why.

    Attributes
    ----------
    value
        ``None`` where no value qualifies.
    reason : str
        In a few words.
    """

    value: float | int | str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Leak:
    """A candidate that alone determines the target, or nearly does.

    Attributes
    ----------
    column
        Its position, in a result its name.
    share : float
        Of the target's variation that it explains, beyond chance; 1 if it leaves nothing open.
    by_gaps : bool
        Whether not its values do so, but whether it has one.
    """

    column: Any
    share: float
    by_gaps: bool = False


@dataclass(frozen=True, slots=True)
class Sight:
    """What a search could detect at one order.

    Attributes
    ----------
    order : int
        Number of variables conditioned on.
    n_tests : int
        Tests that were made.
    threshold : float
        Largest p-value that counted as a dependence.
    effect : float
        The weakest dependence that is detected with 80 % power in this many rows, in bits of
        information per row.
    """

    order: int
    n_tests: int
    threshold: float
    effect: float


@dataclass(frozen=True, slots=True)
class Omission:
    """What a search left out.

    Attributes
    ----------
    order : int
        Number of variables that would have been conditioned on.
    n_tests : int
        Tests that it would have taken.
    seconds : float
        Time that it would have taken, roughly.
    reason : str
        Why it was left out, in a few words.
    n_columns : int or None
        How many columns it would have been about; all that are no members if ``None``.
    """

    order: int
    n_tests: int
    seconds: float = field(compare=False)
    reason: str
    n_columns: int | None = None


def check_found(found: object, task: Task, method: str) -> None:
    """Raise unless a search returned a blanket of its task: algorithms may come from outside."""
    remedy = "Correct the algorithm: it returns Found({member: witness}), all of them candidates."

    def refuse(rule: str, value: object) -> NoReturn:
        raise ParameterError.because("method", f"{rule} ({method!r})", value, remedy)

    if not isinstance(found, Found):
        refuse("return a Found", found)
    members = found.witnesses.keys()
    for member, witness in found.witnesses.items():
        if member not in task.candidates:
            refuse("return members that are candidates", member)
        if witness is not None and not set(witness) <= task.candidates - {member}:
            refuse("return witnesses made of other candidates", witness)
    if not task.include <= members:
        refuse("keep what is included", min(task.include - members))
    for left_out, separator in found.separators.items():
        if left_out not in task.candidates or left_out in members:
            refuse("return separators of candidates that are not members", left_out)
        if not set(separator) <= task.candidates - {left_out}:
            refuse("return separators made of other candidates", separator)


@dataclass(frozen=True, slots=True)
class Found:
    """The blanket a search found.

    Attributes
    ----------
    witnesses : mapping
        ``witnesses[member]`` is the set that makes the member's dependence visible: empty for an
        ordinary dependence, None for a member that is there by request alone.
    separators : mapping
        ``separators[candidate]`` is a set given which the search found a candidate that is not a
        member independent of the target; empty if it is marginally independent. Candidates for
        which the search knows none are not in it.
    choices : mapping
        What the search chose where it was free to.
    equivalents : mapping
        For a member, other sets of variables that could replace it: copies of it, variables
        that determine it.
    leaks : tuple of Leak
    sight : tuple of Sight
        For each order that was searched, lowest first.
    omissions : tuple of Omission
        What was left out, and what it would have cost.
    """

    witnesses: Mapping[int, Variables | None]
    _: KW_ONLY
    separators: Mapping[int, Variables] = field(default_factory=dict)
    choices: Mapping[str, Choice] = field(default_factory=dict)
    equivalents: Mapping[int, tuple[Variables, ...]] = field(default_factory=dict)
    leaks: tuple[Leak, ...] = ()
    sight: tuple[Sight, ...] = ()
    omissions: tuple[Omission, ...] = ()


class Kind(Enum):
    """What a fact is about; its numbers are named behind."""

    ORDER_SEARCHED = auto()  # order, tests
    ORDER_OMITTED = auto()  # order
    TIME_SPENT = auto()  # seconds, tests that are left
    TOO_MANY_TESTS = auto()  # tests, limit
    TOO_MUCH_WORK = auto()  # tests
    UNDECIDED = auto()
    TOO_MANY_SETS = auto()  # sets of columns, limit
    DETERMINED = auto()
    LARGEST_ORDER = auto()
    EXHAUSTED = auto()
    ASKED = auto()
    DEFAULT = auto()
    WITNESS_NEEDED = auto()  # columns
    SEPARATOR_NEEDED = auto()  # columns
    SEPARATOR_BEYOND = auto()  # columns
    NOTHING_BELOW = auto()  # p-value, tests
    DEPENDENT = auto()  # columns that are, all columns
    FALSE_SHARE = auto()  # at most
    FALLS_WITH = auto()  # rows, columns


class Fact(NamedTuple):
    """One fact behind a choice or an omission."""

    kind: Kind
    numbers: tuple[float, ...] = ()


def fact(kind: Kind, *numbers: float) -> Fact:
    """Return a fact with its numbers."""
    return Fact(kind, numbers)


@dataclass(frozen=True, slots=True)
class GroundedChoice(Choice):
    """A choice whose reason is still to be put into words."""

    reason: str = field(default="", init=False)
    facts: tuple[Fact, ...] = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class GroundedOmission(Omission):
    """An omission whose reason is still to be put into words."""

    reason: str = field(default="", init=False)
    limit: Fact = field(kw_only=True)
