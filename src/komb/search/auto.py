"""The search with nothing to choose: neighbours seen from both sides, spouses, then groups by need.

What a fixed order and a fixed bound leave to the user is decided here, from what the tests say:

* **Neighbours.** A variable is a neighbour of another if no set of the other's neighbours separates
  the two (MMPC, :mod:`~komb.search.mmmb`). Two variables are joined if *either* search says so: a
  separator found by a test without power takes a neighbour away from one side, rarely from both.
  (Of columns that are copies of each other, one is enough.)
* **Spouses.** Variables that depend on the target once a neighbour is given, and are joined with
  that neighbour.
* **Groups.** Variables that show only in combination with up to ``order`` others, as in Algorithm 2
  of kOMB: each is taken if nothing less shows it and no two members of the blanket undo it. Orders
  go up as long as the tests of one are no more than ``MOST_TESTS`` allows.

Chance is kept out in two steps, for every family of tests: the candidates of a variable, and the
groups of an order. A *gate*: unless one p-value of the family is small enough for the whole family
(:func:`gate_bits`), nothing of it is believed; so pure noise gives an empty blanket, however many
columns there are. Behind an open gate those candidates count that Benjamini & Hochberg's rule keeps
at ``FALSE_SHARE``, or that ``CHANCE_MEMBERS`` expected chance members allow, but none above the
level of the session. (:func:`least_bits`)

The constants were chosen on networks that are in no table of results; ``docs/automatic.md`` tells
how, and what they give.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from komb.citests.separation import count_subsets, subsets
from komb.citests.session import EMPTY, Session, Variables
from komb.search.budget import Budget
from komb.search.growing import strongest
from komb.search.registry import algorithm
from komb.search.task import Choice, Found, Omission, Task

CHANCE = 0.05
"""That the blanket is not empty although nothing depends on the target; ``GATE`` goes with it."""

LEVEL = 0.05
"""Of the tests, for tables of up to ``LEVEL_ROWS`` rows."""

LEVEL_ROWS = 1000
"""Beyond, the level falls with the root of the number of rows."""

GATE = 0.02
"""Chance that a large family of tests without any dependence is believed."""

SMALL_FAMILY = 10
"""Tests of a family for which their level is enough."""

CHANCE_IN_SMALL_FAMILIES = 0.5
"""Chance that such a family is believed without reason, at most; it falls with its size."""

FALSE_SHARE = 0.1
"""Share of false ones among the dependences of a family that is believed."""

CHANCE_MEMBERS = 1.0
"""Chance members that such a family may have all the same, on average."""

LARGEST_SEPARATOR = 3
"""Variables in a separator."""

MOST_SEPARATORS = 600
"""Sets tried on one dependence; where there are more, smaller ones only."""

GROUP_SEPARATOR = 2
"""Members of the blanket that may undo a group together."""

_NEARLY = 1 - 1e-9  # of the level, for p-values that are equal to it but for rounding

MOST_TESTS = {1: 100_000_000, 2: 1_000_000, 3: 5_000}
"""Tests of the groups of an order. Higher orders cost more and, on real data, give less."""


def level_for(n_rows: int) -> float:
    """Return the level of the tests on a table of so many rows, to two digits.

    Examples
    --------
    >>> level_for(100), level_for(5000), level_for(1_000_000)
    (0.05, 0.022, 0.0016)
    """
    level = LEVEL * math.sqrt(LEVEL_ROWS / max(n_rows, LEVEL_ROWS))
    return float(f"{level:.2g}")


def choose_alpha(n_rows: int, n_columns: int) -> Choice:
    """Choose the level of the tests for a table, and say why.

    Examples
    --------
    >>> choose_alpha(5000, 10).value
    0.022
    """
    falling = f"{LEVEL:g} for up to {LEVEL_ROWS:,} rows, then falling with their root"
    return Choice(level_for(n_rows), f"{falling}: {n_rows:,} rows")


def gate_bits(n_tests: int, alpha: float, size: int = 0, level: float = CHANCE) -> float:
    """Return how clear the clearest dependence of a family must be for the family to be believed.

    In bits: a p-value of 2^-b is b bits. For a family of up to ``SMALL_FAMILY`` tests their level
    is enough. For larger ones the chance to be believed without reason falls with the square of
    their size, down to ``GATE``; for groups seen given ``size`` others, down to a quarter of that
    for each of them. There are a great many groups, so it is far out in its tail that the
    distribution of the test statistic has to be right, and there it is a little off. All that goes
    with ``level``.

    Examples
    --------
    >>> [round(n * 2 ** -gate_bits(n, alpha=0.05), 3) for n in (1, 10, 20, 50, 1000)]
    [0.05, 0.5, 0.125, 0.02, 0.02]
    """
    n_tests = max(1, n_tests)
    chance = CHANCE_IN_SMALL_FAMILIES * min(1.0, SMALL_FAMILY / n_tests) ** 2
    chance = max(GATE / 4**size, chance) * level / CHANCE
    return max(-math.log2(alpha), math.log2(n_tests / chance))


def least_bits(bits: Collection[float], n_tests: int, alpha: float, level: float = CHANCE) -> float:
    """Return how clear a dependence of a family must be to be believed.

    Parameters
    ----------
    bits
        Of the dependences at level ``alpha``.
    n_tests
        All tests of the family, those that said "independent" included.
    alpha
        Level of the tests.
    level
        Chance that a family without any dependence is believed.

    Returns
    -------
    float
        In bits. Infinite if chance can explain the whole family.

    Examples
    --------
    >>> round(least_bits([5.0], n_tests=4, alpha=0.05), 2), least_bits([5.0], 1000, alpha=0.05)
    (4.32, inf)
    >>> round(least_bits([5.0, 7.0, 40.0], n_tests=100, alpha=0.05), 2)
    6.64
    """
    clearest = sorted(bits, reverse=True)
    if not clearest or clearest[0] < gate_bits(n_tests, alpha, level=level):
        return math.inf
    kept = math.log2(n_tests / CHANCE_MEMBERS)
    for rank, each in enumerate(clearest, start=1):
        if each >= math.log2(n_tests / (rank * FALSE_SHARE)):
            kept = min(kept, each)
    return max(-math.log2(alpha) * _NEARLY, kept)  # what the tests call dependent is clear enough


def separator_size(n_pool: int, largest: int) -> int:
    """Return how large separators out of a pool may be, so that there are not too many.

    Examples
    --------
    >>> [separator_size(n, largest=3) for n in (2, 15, 16, 34, 35, 1000)]
    [3, 3, 2, 2, 1, 1]
    """
    while largest > 1 and count_subsets(n_pool, largest) > MOST_SEPARATORS:
        largest -= 1
    return largest


@dataclass(slots=True)
class Side:
    """The neighbours of one variable as it sees them, searched as far as somebody asks (MMPC).

    Members are admitted by the max-min heuristic, the one whose weakest dependence is clearest
    first; those waiting are then tested given the newcomer and some of the members before it. When
    nobody waits, the members are weeded out. What becomes of one variable does not depend on when
    the others are tested given a newcomer, so the one that is asked about is tested first, and once
    it is separated the rest can wait.

    Attributes
    ----------
    members : dict
        Those admitted so far, with the bits of their weakest dependence.
    separators : dict
        Others, each with what separates it.
    """

    session: Session
    variable: int
    max_separator: int
    separators: dict[int, Variables]
    members: dict[int, float] = field(default_factory=dict)
    _waiting: dict[int, float] = field(default_factory=dict)
    _first: list[int] = field(default_factory=list)
    _fixed: Variables = EMPTY
    _newcomer: int = -1
    _untested: set[int] = field(default_factory=set)  # those waiting, given the newcomer
    _is_complete: bool = False

    def bits(self, other: int) -> float:
        """How clear the weakest dependence of a neighbour is; 0 if it is none."""
        while not self._is_complete and other not in self.separators:
            if other in self._untested:
                self._confront({other})
            else:
                self._go_on()
        return 0.0 if other in self.separators else self.members.get(other, 0.0)

    def finish(self) -> Side:
        """Search to the end."""
        while not self._is_complete:
            self._go_on()
        return self

    def _go_on(self) -> None:
        if self._untested:
            self._confront(set(self._untested))
        elif self._waiting:
            self._admit()
        else:
            self._weed_out()

    def _admit(self) -> None:
        """Take the one whose weakest dependence is clearest, after those asked to be first."""
        first = [x for x in self._first if x in self._waiting]
        self._newcomer = first[0] if first else strongest(self._waiting)
        self.members[self._newcomer] = self._waiting.pop(self._newcomer)
        self._untested = self._waiting.keys() - self._fixed  # those stay, whatever the tests say

    def _confront(self, tested: set[int]) -> None:
        """Test some of those that wait given the newcomer and members before it."""
        pool = frozenset(self.members) - {self._newcomer}
        least, separable = self.session.weakest(
            self.variable,
            {x: self._waiting[x] for x in tested},
            pool,
            separator_size(len(pool), self.max_separator - 1),
            core=frozenset({self._newcomer}),
        )
        self._waiting |= least
        for x in separable:
            del self._waiting[x]
        self.separators |= separable
        self._untested -= tested

    def _weed_out(self) -> None:
        """Drop members that others separate, those admitted after them included."""
        for member in sorted(self.members):
            pool = frozenset(self.members) - {member}
            least, separable = self.session.weakest(
                self.variable,
                {member: self.members[member]},
                pool,
                separator_size(len(pool), self.max_separator),
            )
            self.separators |= separable
            self.members |= least
            if separable and member not in self._fixed:
                del self.members[member]
        self._is_complete = True


@dataclass(slots=True)
class Region:
    """What is known around a target, found when it is asked for."""

    session: Session
    task: Task
    alpha: float
    max_separator: int
    chance: float = CHANCE
    _sides: dict[int, Side] = field(default_factory=dict)
    _alone: dict[int, dict[int, float]] = field(default_factory=dict)
    _levels: dict[int, float] = field(default_factory=dict)

    @property
    def variables(self) -> Variables:
        """Everything, the target included."""
        return self.task.candidates | {self.task.target}

    def alone(self, variable: int) -> dict[int, float]:
        """Variables that depend on one without any condition, in bits."""
        if variable not in self._alone:
            others = self.variables - {variable}
            self._alone[variable] = self.session.strengths(variable, [(others, EMPTY)])[0]
        return self._alone[variable]

    def level(self, variable: int) -> float:
        """Bits that a neighbour of a variable needs."""
        if variable not in self._levels:
            bits = self.alone(variable).values()
            n_tests = len(self.variables) - 1
            self._levels[variable] = least_bits(bits, n_tests, self.alpha, self.chance)
        return self._levels[variable]

    def side(self, variable: int) -> Side:
        """Return the neighbours of a variable, as it sees them."""
        if variable not in self._sides:
            self._sides[variable] = self._open_side(variable)
        return self._sides[variable]

    def _open_side(self, variable: int) -> Side:
        waiting = {} if math.isinf(self.level(variable)) else dict(self.alone(variable))
        first, fixed = EMPTY, EMPTY
        if variable == self.task.target:
            first, fixed = self.task.start | self.task.include, self.task.include
            waiting |= {x: waiting.get(x, 0.0) for x in fixed}
        return Side(
            self.session,
            variable,
            self.max_separator,
            separators=dict.fromkeys(self.variables - waiting.keys() - {variable}, EMPTY),
            _waiting=waiting,
            _first=sorted(first),
            _fixed=fixed,
        )

    def neighbours(self, variable: int) -> Variables:
        """Variables that are joined with one."""
        return frozenset(x for x in self.alone(variable) if self.are_joined(variable, x))

    def are_joined(self, variable: int, other: int) -> bool:
        """Whether either of two says that they are neighbours, clearly enough for the first."""
        level = self.level(variable)
        if self.alone(variable).get(other, 0.0) < level:
            return False  # no dependence is clearer than its weakest
        own = self.side(variable).finish()
        if own.bits(other) >= level:
            return True
        separator = own.separators.get(other, EMPTY)
        if len(separator) == 1 and self.session.are_copies(other, *separator):
            return False  # a copy has no neighbours of its own
        return self.side(other).bits(variable) >= level


def find_spouses(region: Region, neighbours: Variables) -> dict[int, Variables]:
    """Variables that depend on the target given a child they are joined with, and that set."""
    target = region.task.target
    others = region.task.candidates - neighbours
    found: dict[int, tuple[float, Variables]] = {}
    for child in sorted(neighbours):
        for x, own in _moved_by(region, child, others).items():
            if region.are_joined(child, x):
                # the less clear of two: given what separates either of them from the other
                region.side(x).bits(target)
                given = region.side(x).separators.get(target, EMPTY) | {child}
                bits = region.session.strengths(target, [({x}, given)])[0].get(x, 0.0)
                weaker = min(own, (bits, given), key=lambda entry: entry[0])
                if weaker[0] > found.get(x, (0.0, EMPTY))[0]:
                    found[x] = weaker
    return {x: given for x, (_, given) in sorted(found.items())}


def _moved_by(region: Region, child: int, others: Variables) -> dict[int, tuple[float, Variables]]:
    """Those that depend on the target given what separates them from it, and a child."""
    target = region.task.target
    by_given: dict[Variables, set[int]] = {}
    for x in sorted(others):
        given = region.side(target).separators.get(x, EMPTY) | {child}
        by_given.setdefault(given, set()).add(x)
    questions = list(by_given.items())
    answers = region.session.strengths(target, [(asked, given) for given, asked in questions])
    return {
        x: (bits, given)
        for (given, _), answer in zip(questions, answers, strict=True)
        for x, bits in answer.items()
    }


@dataclass(slots=True)
class Groups:
    """Members of the blanket that show only in combination, found order by order."""

    region: Region
    blanket: dict[int, Variables]  # each with what it is seen together with

    def look(self, size: int) -> None:
        """Add those that show given ``size`` others, but with no less."""
        task, session = self.region.task, self.region.session
        hidden = self._hidden()
        n_candidates = len(task.candidates)
        # those that show alone were given up for good reason, but they are part of the family
        n_tests = n_candidates * math.comb(n_candidates - 1, size)
        needed = gate_bits(n_tests, self.region.alpha, size, self.region.chance)

        def report(done: int, total: int) -> None:
            task.report(session, "groups", frozenset(self.blanket), done, total)

        report(0, 0)
        found = session.clear_dependences(
            task.target, hidden, task.candidates, size, needed, report
        )
        for x, given in self._new_ones([(x, given) for _, x, given in found]):
            if x not in self.blanket and not self._is_undone(x, given):
                self.blanket[x] = given

    def count_tests(self, size: int) -> int:
        """How many tests it takes to look for groups of an order."""
        n_hidden = len(self._hidden())
        return n_hidden and n_hidden * math.comb(len(self.region.task.candidates) - 1, size)

    def _hidden(self) -> set[int]:
        """Variables that do not show alone."""
        alone, level = self.region.alone(self.region.task.target), self._level
        candidates = self.region.task.candidates - self.blanket.keys()
        return {x for x in candidates if alone.get(x, 0.0) < level}

    @property
    def _level(self) -> float:
        return self.region.level(self.region.task.target)

    def _new_ones(self, found: Sequence[tuple[int, Variables]]) -> list[tuple[int, Variables]]:
        """Those of which no part of the given set shows the dependence as well."""
        by_part: dict[Variables, set[int]] = {}
        for x, given in found:
            for part in _parts(given):
                by_part.setdefault(part, set()).add(x)
        questions = [(asked, part) for part, asked in by_part.items()]
        answers = self.region.session.strengths(self.region.task.target, questions)
        shown = {part: bits for (_, part), bits in zip(questions, answers, strict=True)}
        return [
            (x, given)
            for x, given in found
            if all(shown[part].get(x, 0.0) < self._level for part in _parts(given))
        ]

    def _is_undone(self, x: int, given: Variables) -> bool:
        """Whether a few members of the blanket separate ``x`` all the same."""
        pool = frozenset(self.blanket) - given
        separators = self.region.session.separators(
            self.region.task.target, {x}, pool, GROUP_SEPARATOR, core=given
        )
        return bool(separators)


def _parts(given: Variables) -> Iterator[Variables]:
    """Return the sets of some, but not all of a set's variables."""
    return subsets(given, len(given) - 1, 1)


def look_for_groups(
    groups: Groups, order: int | None, budget: Budget
) -> tuple[Choice, tuple[Omission, ...]]:
    """Look for groups of all orders up to one, or as long as it is worth it; say how far."""
    sizes = range(1, 1 + (max(MOST_TESTS) if order is None else order))
    looked: list[str] = []
    for size in sizes:
        n_tests = groups.count_tests(size)
        if n_tests == 0:
            reason = f"{_enumerate(looked)}nothing is left to be seen together"
            return Choice(size - 1, reason), ()
        omission = _omission(groups, size, order, budget)
        if omission is not None:
            reason = f"{_enumerate(looked)}order {size} was left out: {omission.reason}"
            return Choice(size - 1, reason), (omission,)
        groups.look(size)
        looked.append(f"order {size}: {_tests(n_tests)}")
    bound = "the highest that is tried by itself" if order is None else "as asked"
    return Choice(len(sizes), f"{_enumerate(looked)}{bound}"), ()


def _omission(groups: Groups, size: int, order: int | None, budget: Budget) -> Omission | None:
    """Say why an order is left out, if it is."""
    n_tests = groups.count_tests(size)
    most = MOST_TESTS[size] if order is None else budget.max_tests
    if budget.is_spent():
        reason = f"the time budget of {budget.seconds:g} s is spent"
    elif n_tests > most:
        reason = f"{_tests(n_tests)} exceed the limit of {most:,}"
    else:
        return None
    done = max(1, groups.region.session.counts.tests)
    return Omission(size, n_tests, n_tests * budget.seconds_used / done, reason)


def _tests(count: int) -> str:
    return f"{count:,} test{'' if count == 1 else 's'}"


def _enumerate(parts: Sequence[str]) -> str:
    return "".join(f"{part}; " for part in parts)


def describe_threshold(region: Region) -> Choice:
    """Say how small the p-value of a neighbour must be, and why."""
    target, n_tests = region.task.target, len(region.task.candidates)
    bits = region.level(target)
    if math.isinf(bits):
        gate = 2.0 ** -gate_bits(n_tests, region.alpha, level=region.chance)
        chance = f"no column has p <= {gate:.2g} alone: among {n_tests:,}, chance gives the rest"
        return Choice(None, chance)
    reason = f"of {n_tests:,} columns, {len(region.alone(target)):,} depend on the target alone"
    return Choice(float(f"{2.0**-bits:.2g}"), reason)


def describe_separators(region: Region, asked: int | None) -> Choice:
    """Say how large separators could be, and how large they had to be."""
    used = region.side(region.task.target).separators.values()
    needed = max(map(len, used), default=0)
    why = "as asked" if asked is not None else f"smaller beyond {MOST_SEPARATORS} sets"
    return Choice(region.max_separator, f"{why}; the largest that was needed has {needed}")


@algorithm(
    "auto",
    summary="Neighbours from both sides, spouses, then groups: nothing to choose; the default.",
    citation="komb developers (2026), after Lee, Krishnamoorthy & Piatkowski (2026), High-Order "
    "Markov Blanket Discovery, UAI, and Tsamardinos, Aliferis & Statnikov (2003), MMMB, KDD",
    year=2026,
    assumes="k-order faithfulness",
    is_sound=False,
    guarantee="Finds members that show only in combination, as far as the rows and the budget "
    "allow, and says what it left out.",
    weakness="What is too weak for all the tests it makes is left out.",
    options=("order", "max_separator", "level", "time_budget"),
    choose_alpha=choose_alpha,
    ignores_mute_sets=True,
    shares_sessions=True,
)
def find_blanket(
    session: Session,
    task: Task,
    *,
    order: int | None = None,
    max_separator: int | None = None,
    level: float = CHANCE,
    alpha: float | None = None,
    budget: Budget = Budget(),  # noqa: B008  (without a time it never changes)
) -> Found:
    """Find a blanket, with as many conditions as the data call for.

    Parameters
    ----------
    session : Session
        Answers the questions.
    task : Task
        Target, candidates, start and fixed members.
    order : int, optional
        How many other variables a dependence may need to become visible, at most; by the budget if
        left out.
    max_separator : int, optional
        How many variables a separator may have; ``LARGEST_SEPARATOR`` if left out.
    level : float
        Chance that the blanket is not empty although nothing depends on the target.
    alpha : float, optional
        Level of single tests, if it is not for the search to choose.
    budget : Budget
        Time and work that the search may spend.

    Returns
    -------
    Found
        The members, each with what makes it visible, what was chosen and what was left out.

    Examples
    --------
    >>> from komb.citests.oracles import DistributionOracle
    >>> from komb.data import boolean_network
    >>> xor = boolean_network("parity", n_parents=2)
    >>> task = Task(target=2, candidates=frozenset({0, 1}))
    >>> found = find_blanket(DistributionOracle(xor.joint()), task)
    >>> found.witnesses, found.choices["order"].value
    ({0: frozenset({1}), 1: frozenset({0})}, 1)
    """
    largest = LARGEST_SEPARATOR if max_separator is None else max_separator
    own = session.alpha or LEVEL if alpha is None else alpha
    region = Region(session, task, own, largest, level)
    task.report(session, "neighbours", EMPTY)
    neighbours = region.neighbours(task.target)
    task.report(session, "spouses", neighbours)
    spouses = find_spouses(region, neighbours)
    groups = Groups(region, dict.fromkeys(sorted(neighbours), EMPTY) | spouses)
    reached, omissions = look_for_groups(groups, order, budget)
    choices = {
        "order": reached,
        "max_separator": describe_separators(region, max_separator),
        "threshold": describe_threshold(region),
    }
    requested = dict.fromkeys(task.include - groups.blanket.keys())
    found = dict(sorted((groups.blanket | requested).items()))
    return Found(found, choices, omissions=omissions)
