"""The state of an automatic search, and what it may spend."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from komb.engine.compiling import clock
from komb.engine.engine import Engine, Query
from komb.engine.questions import EMPTY, Variables, subsets
from komb.search import _effort
from komb.search._effort import WORK_PER_SECOND, work_of_order, work_of_tests
from komb.search._region import NeighbourSearch, Region
from komb.search._remarks import describe_sight
from komb.search._thresholds import (
    bits_of,
    false_discovery_bits,
    family_bits,
    power_to_detect,
    share_of_level,
)
from komb.search.separated import affordable_size
from komb.search.task import Fact, GroundedOmission, Kind, Omission, Sight, Task, fact

LARGEST_ORDER = 3
"""Orders beyond are searched only if they are asked for."""

SWEPT_ROWS_PER_CELL = 2.0
"""Groups are searched on tables of this many rows per cell, all levels combined: with fewer a
dependence can hardly be strong, and of large tables there are a great many."""

MAX_TESTS = 10**12
"""Tests that one step of a search may take if it was asked for: all pairs of a million columns."""

MAX_SETS = 2_000_000
"""Sets of columns that one step may condition on; a few hundred bytes are kept for each."""

SHARE_TO_DETECT = 0.1
"""A member leaves the blanket only by a test that would see this share of its dependence."""

LEFT_SHARE_TO_DETECT = 1.0
"""The same where numbers are involved, of what the conditions leave of its dependence: there tables
do not become sparse, and a correlated condition already takes most of it."""


def has_power(engine: Engine, target: int, x: int, given: Variables, witness: Variables) -> bool:
    """Whether a test would see enough of the dependence that a witness shows."""
    power = power_to_detect(SHARE_TO_DETECT)._replace(left_share=LEFT_SHARE_TO_DETECT)
    return engine.can_detect(target, x, given, witness, power)


@dataclass(frozen=True, slots=True)
class Budget:
    """Time and work that a search may spend; the clock starts when the budget is made.

    A search asks before each step, and names the steps that it leaves out in
    :attr:`Found.omissions <komb.search.task.Found>`.

    Examples
    --------
    >>> Budget().is_spent(), Budget(seconds=1e-9).is_spent()
    (False, True)
    """

    seconds: float | None = None  # None: any time; otherwise the machine has a say in what is found
    max_tests: int = MAX_TESTS  # of one step; this depends on nothing but the table
    max_sets: int = MAX_SETS  # sets of columns that one step may condition on
    _began: float = field(default_factory=clock, compare=False)

    @property
    def seconds_used(self) -> float:
        """Time since the budget was made."""
        return clock() - self._began

    def is_spent(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and self.seconds_used >= self.seconds


@dataclass(slots=True)
class Search:
    """The state of one search."""

    engine: Engine
    task: Task
    max_separator: int
    level: float
    given_alpha: float | None
    budget: Budget
    blanket: dict[int, Variables] = field(default_factory=dict)  # with what each is seen given
    separators: dict[int, Variables] = field(default_factory=dict)  # of those outside, or nearly
    separated: set[int] = field(default_factory=set)  # dependent ones that those do separate
    sight: list[Sight] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)
    limit: Fact | None = None  # what ended the search, if it was one
    region: Region = field(init=False)
    from_target: NeighbourSearch = field(init=False)
    single: float = field(init=False)  # bits that a single test needs
    needed: float = field(init=False)  # bits that a neighbour of the target needs
    is_bounded: bool = True  # unless a bound on separators was asked for
    was_cut: bool = False  # whether a step had to end before it was done
    _spent_before: int = field(init=False)

    def __post_init__(self) -> None:
        """Look at every candidate alone."""
        task, variables = self.task, self.task.candidates | {self.task.target}
        self._spent_before = self.engine.allowance.spent
        self.allow(_effort.UNTIL_OWN)
        self.region = Region.of(self.engine, variables, self.max_separator)
        alpha = self.given_alpha or self.engine.alpha
        self.single = 0.0 if alpha is None else bits_of(alpha)  # an oracle needs no threshold
        if task.start or task.include:
            self.from_target = self.region.begin_search(task.target, task.start, task.include)
        else:
            self.from_target = self.region.search_from(task.target)
        self.needed = self._needed()
        for x in task.include:
            self.add(x, EMPTY)

    def _needed(self) -> float:
        """Return the bits that a neighbour needs; infinite if chance can explain all of them."""
        bits, n_tests = self.alone.values(), len(self.task.candidates)
        if not bits:
            return math.inf
        question = frozenset(self.alone), EMPTY
        [certain] = self.engine.evidence(self.task.target, [question], is_conservative=True)
        chance = self.level * share_of_level(0)
        if math.isinf(false_discovery_bits(certain.values(), n_tests, chance)):
            return math.inf
        return max(self.single, false_discovery_bits(bits, n_tests))

    def allow(self, share: float) -> None:
        """Let the search go on until a share of what it may spend is spent."""
        self.was_cut |= self.is_spent
        is_costly = self.engine.test_cost > 1.0
        most = share * _effort.MOST_SEARCHED if self.is_bounded and is_costly else math.inf
        self.engine.allowance.most = self._spent_before + most

    @property
    def is_spent(self) -> bool:
        """Whether a step has to come to an end."""
        return self.engine.allowance.is_spent

    def end(self) -> None:
        """Note whether some step had to end early, and let others ask what they want."""
        self.allow(math.inf)
        if self.was_cut:
            self.omissions.insert(0, GroundedOmission(0, 0, 0.0, limit=fact(Kind.UNDECIDED)))

    @property
    def alone(self) -> Mapping[int, float]:
        """Variables that depend on the target without any condition, in bits."""
        return self.region.alone(self.task.target)

    @property
    def outside(self) -> Variables:
        """Candidates that could still enter."""
        return self.task.candidates - self.blanket.keys()

    def add(self, x: int, seen_given: Variables) -> None:
        """Let a variable enter."""
        self.blanket.setdefault(x, seen_given)

    def remove(self, x: int, separator: Variables) -> None:
        """Take a member out again."""
        del self.blanket[x]
        self.separate(x, separator)

    def exchange(self, members: Mapping[int, Variables | None]) -> None:
        """Put columns in the place of members; what separated others may have to be found anew."""
        gone, come = self.blanket.keys() - members.keys(), members.keys() - self.blanket.keys()
        self.blanket = {x: z for x, z in self.blanket.items() if x not in gone}
        self.blanket |= dict.fromkeys(come, EMPTY)
        self.separators |= dict.fromkeys(gone, EMPTY)
        self.separated -= gone | {x for x, z in self.separators.items() if z & gone}

    def separate(self, x: int, separator: Variables) -> None:
        """Note what separates a variable from the target."""
        self.separators[x] = separator
        self.separated.add(x)

    def known_separators(self) -> dict[int, Variables]:
        """Return what separates variables outside, without what only comes close to it."""
        unknown = self.alone.keys() - self.separated
        return {x: self.separators[x] for x in sorted(self.outside - unknown)}

    def is_dependent(self, x: int, given: Variables) -> bool:
        """Whether a variable depends on the target given a set."""
        return self.engine.is_dependent(self.task.target, x, given)

    def find_separator(self, x: int, witness: Variables) -> Variables | None:
        """Return members that separate a variable from the target given a witness, if any do."""
        pool = self.region.nearest(x, frozenset(self.blanket) - witness - {x})
        found = self.engine.first_separator(
            self.task.target, x, pool, self.max_separator, core=witness
        )
        return None if found is None else found - witness

    def is_settled(self, x: int, given: Variables, witness: Variables) -> bool:
        """Whether an "independent" counts: its test has power, or what is given tells the same."""
        return has_power(self.engine, self.task.target, x, given, witness) or self.region.is_copied(
            x, given - witness
        )

    def sure_separator(self, x: int, witness: Variables) -> Variables | None:
        """Return members that separate a variable given a witness, if that is settled."""
        pool = frozenset(self.blanket) - witness - {x}
        size = affordable_size(len(self.blanket), self.max_separator)
        found = self.engine.first_separator(self.task.target, x, pool, size, core=witness)
        if found is None:
            return None
        for n in range(len(found - witness), size + 1):
            sets = [witness | each for each in subsets(pool, n, n)]
            questions = [({x}, given) for given in sets]
            answers = self.engine.evidence(self.task.target, questions, wants_bits=False)
            for given, depends in zip(sets, answers, strict=True):
                if not depends and self.is_settled(x, given, witness):
                    return given - witness
        return None

    def weakest_first(self) -> list[int]:
        """Members that may go, those that depend on the target least first."""
        members = self.blanket.keys() - self.task.include
        return sorted(members, key=lambda x: (self.alone.get(x, 0.0), x))

    def first_witness(self, x: int, witnesses: Sequence[Variables]) -> Variables | None:
        """Return the first of some witnesses given which no members separate a variable."""
        members = frozenset(self.blanket)
        if self.region.is_pool(members):
            queries = [Query((x,), witness) for witness in witnesses]
            found = self.engine.first_witness(
                self.task.target, queries, members, self.max_separator
            )
            return None if found is None else found.witness
        return next((w for w in witnesses if self.find_separator(x, w) is None), None)

    def hidden_and_separated(self) -> tuple[Variables, Variables]:
        """Variables outside that are independent of the target, and those that members separate."""
        hidden = frozenset(x for x in self.outside if not self.separators[x])
        return hidden, self.outside - hidden

    def count_tests(self, size: int) -> int:
        """How many tests it takes to look at all sets of a size."""
        n_outside = len(self.outside)
        return n_outside * math.comb(max(0, len(self.task.candidates) - 1), size)

    def chance_given_members(self, most: float) -> float:
        """Return what tests given members may spend: of the level, if all are by request."""
        if self.blanket.keys() - self.task.include:
            return most
        return min(most, self.level * share_of_level(LARGEST_ORDER + 1))

    def bits_for_groups(self, size: int) -> float:
        """Bits that a dependence given ``size`` others needs."""
        chance = self.level * share_of_level(size)
        return max(self.single, family_bits(self.count_family(size), chance))

    def count_family(self, size: int) -> int:
        """How many tests all candidates have, given all sets of a size."""
        n_candidates = len(self.task.candidates)
        return n_candidates * math.comb(max(0, n_candidates - 1), size)

    def leave_out_separated(self, n_separated: int, size: int) -> bool:
        """Note that tests which condition on separators are left out, if they are too much work."""
        n_tests = n_separated * math.comb(len(self.task.candidates), size)
        separator = max(len(self.separators[x]) for x in self.outside)
        work = work_of_tests(self.engine, self.task.target, n_tests, size + separator)
        if work <= self._most_work(size):
            return False
        limit = fact(Kind.TOO_MUCH_WORK, n_tests)
        self._note_omission(size, n_tests, limit, work, n_separated)
        return True

    def leave_out(self, size: int, *, is_asked: bool) -> bool:
        """Note that an order is left out, if there is no budget for it."""
        n_tests, candidates = self.count_tests(size), self.task.candidates
        n_sets = math.comb(len(candidates), size)
        work = work_of_order(
            self.engine, self.task.target, candidates, size, self.bits_for_groups(size),
            SWEPT_ROWS_PER_CELL,
        )  # fmt: skip
        if self.budget.seconds is not None and self.budget.is_spent():
            self.limit = fact(Kind.TIME_SPENT, self.budget.seconds, n_tests)
        elif n_tests > self.budget.max_tests:
            self.limit = fact(Kind.TOO_MANY_TESTS, n_tests, self.budget.max_tests)
        elif n_sets > self.budget.max_sets:
            self.limit = fact(Kind.TOO_MANY_SETS, n_sets, self.budget.max_sets)
        elif self.is_spent or (not is_asked and work > self._most_work(size)):
            self.limit = fact(Kind.TOO_MUCH_WORK, n_tests)
        else:
            return False
        self._note_omission(size, n_tests, self.limit, work)
        return True

    def _most_work(self, size: int) -> float:
        """Return what an order may take without being asked for."""
        if size == 1 or self.blanket.keys() <= self.task.include:
            return _effort.MOST_WORK if size <= 2 else _effort.MOST_WORK_OF_FOURS
        is_costly = self.engine.test_cost > 1.0
        return _effort.MOST_COSTLY_WORK_BESIDES if is_costly else _effort.MOST_WORK_BESIDES

    def _note_omission(
        self, size: int, n_tests: int, limit: Fact, work: float, n_columns: int | None = None
    ) -> None:
        seconds = work / WORK_PER_SECOND
        omission = GroundedOmission(size, n_tests, seconds, n_columns, limit=limit)
        self.omissions.append(omission)

    def see(self, order: int, n_tests: int, needed: float) -> None:
        """Note what could be seen at an order."""
        if self.engine.n_rows is not None:
            if math.isinf(needed):
                needed = family_bits(n_tests, self.level * share_of_level(0))
            seen = describe_sight(self.engine, self.task, order, n_tests, needed)
            self.sight.append(seen)

    def report(self, phase: str, done: int = 0, total: int = 0) -> None:
        """Report the progress of the search to the observer."""
        self.task.report(self.engine, phase, frozenset(self.blanket), done, total)
