"""The default search: neighbours, spouses, groups, and a proof by definition.

kOMB (:mod:`~komb.search.komb`) leaves to the user how many variables to condition on, how many
may separate two variables, and how to correct for thousands of tests. Here the data decide.

1. **Neighbours** (:func:`find_neighbours`): variables that no set separates from the target,
   searched from both variables (:mod:`~komb.search._region`).
2. **Spouses** (:func:`find_spouses`): variables that depend on the target once a neighbour is given
   with which they are joined.
3. **Grow** (:func:`grow`), as Algorithm 2 of kOMB does: a variable enters if it depends on the
   target given a witness, strongly enough for the number of tests, and nothing in the blanket
   separates it. Order by order: witnesses of one variable, of two, and so on as far as the budget
   goes. What a witness needs enters with it.
4. **Shrink** (:func:`shrink`): by the definition of a blanket, a member goes if it is independent
   of the target given all the others. On data, only a test with power decides that.

Every dependence that counts passes the threshold of its family
(:mod:`~komb.search._thresholds`).
With an oracle for answers, thresholds mean nothing and every test has power: then steps 3 and 4
give the Markov boundary wherever kOMB with the same order and ``max_separator = 3`` does, and steps
1 and 2 only decide what is searched first.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from komb.engine.engine import AllSets, Engine, Query
from komb.engine.questions import EMPTY, StrongDependence, Variables, by_strength, subsets
from komb.search import options
from komb.search._region import NeighbourSearch, Region
from komb.search._remarks import describe_sight, find_equivalents, find_leaks
from komb.search._thresholds import (
    FALSE_SHARE,
    LEVEL,
    bits_of,
    choose_alpha,
    false_discovery_bits,
    family_bits,
    power_to_detect,
    share_of_level,
)
from komb.search.grounds import Fact, GroundedChoice, GroundedOmission, Kind, fact
from komb.search.registry import register_algorithm
from komb.search.task import Choice, Found, Omission, Sight, Task

LARGEST_SEPARATOR = 3
"""Variables in a separator."""

MOST_TESTS = {1: 400_000_000, 2: 50_000, 3: 5_000}
"""Tests of an order that is searched without being asked for. On real data higher orders cost more
and give less."""

MOST_CONDITIONED_TESTS = {1: 2_000_000, 2: 3_000, 3: 3_000}
"""The same for tests that condition on a separator too: those cost more, and have less power."""

MAX_TESTS = 10**12
"""Tests that one step of a search may take if it was asked for: all pairs of a million columns."""

MAX_SETS = 2_000_000
"""Sets of columns that one step may condition on; a few hundred bytes are kept for each."""

PARTNER_CHANCE = 0.05
"""Chance that one of the variables that are seen given a member enters for no reason."""

SHARE_TO_DETECT = 0.1
"""A member leaves the blanket only by a test that would see this share of its dependence."""

SWEPT_ROWS_PER_CELL = 2.0
"""Groups are searched on tables of this many rows per cell, all levels combined: with fewer a
dependence can hardly be strong, and of large tables there are a great many."""

LARGEST_WITNESS = 3
"""Members in a witness, where the search itself has used more than the order."""


@register_algorithm(
    "auto",
    summary="Neighbours, spouses, then groups; sets its own parameters; the default.",
    citation="komb developers (2026), after Lee, Krishnamoorthy & Piatkowski (2026), High-Order "
    "Markov Blanket Discovery, UAI, and Tsamardinos, Aliferis & Statnikov (2003), MMMB, KDD",
    year=2026,
    assumes="k-order faithfulness",
    is_sound=True,
    guarantee="Where nothing depends on the target, the blanket is empty with probability "
    "1 - 'level'; finds members that are visible only in combination as far as rows and budget "
    "allow.",
    weakness="Misses dependences too weak for the number of tests; 'sight' says how weak they are.",
    options=(options.ORDER, options.MAX_SEPARATOR, options.LEVEL, options.TIME_BUDGET),
    choose_alpha=choose_alpha,
    shares_engine=True,
    is_order_free=True,
)
def find_blanket(
    engine: Engine,
    task: Task,
    *,
    order: int | None = None,
    max_separator: int | None = None,
    level: float = LEVEL,
    alpha: float | None = None,
    time_budget: float | None = None,
) -> Found:
    """Find a blanket, with as many conditions as the data call for."""
    largest = LARGEST_SEPARATOR if max_separator is None else max_separator
    search = _Search(engine, task, largest, level, alpha, Budget(time_budget))
    find_neighbours(search)
    find_spouses(search)
    reached = grow(search, order)
    shrink(search, max_separator)
    witnesses, equivalents = find_equivalents(search.region, task, find_witnesses(search, reached))
    search.exchange(witnesses)
    return Found(
        witnesses,
        separators=search.known_separators(),
        choices=_describe(search, witnesses, reached, order, max_separator),
        equivalents=equivalents,
        leaks=find_leaks(engine, task, search.region.alone(task.target)),
        sight=tuple(search.sight),
        omissions=tuple(search.omissions),
    )


def find_neighbours(search: _Search) -> None:
    """Add the variables that no set separates from the target, in its search or in theirs.

    Their weakest dependences are a family too: of many columns that depend on the target through
    others, a few are never separated by chance.
    """
    search.report("neighbours")
    region, candidates = search.region, search.task.candidates
    search.separators = dict.fromkeys(candidates, EMPTY)
    if not math.isinf(search.needed):
        search.from_target.finish()  # all of them are asked about, so better together
        joined = {x: region.joint_bits(search.from_target, x, search.needed) for x in search.alone}
        joined = {x: bits for x, bits in joined.items() if bits}
        least = false_discovery_bits(joined.values(), len(candidates))
        for x in sorted(joined):
            if joined[x] >= least:
                search.add(x, EMPTY)
        _note_separators(search)
    search.see(0, len(candidates), search.needed)


def _note_separators(search: _Search) -> None:
    """Note what separates the dependent variables outside, or comes closest to it."""
    own = search.from_target
    members = frozenset(search.blanket)
    for x in search.alone.keys() - members:
        if x in own.separators:
            search.separate(x, own.separators[x])
        else:
            search.separators[x] = search.region.nearest(x, members, search.max_separator)


def find_spouses(search: _Search) -> None:
    """Add the variables that depend on the target given a neighbour that they are joined with.

    All of them that could be joined with a neighbour are one family.
    """
    search.report("spouses")
    region, others = search.region, search.outside
    found: dict[int, tuple[float, Variables]] = {}
    family: set[int] = set()
    for child in sorted(search.blanket):
        family |= region.alone(child).keys() & others
        for bits, x, given in _moved_by(search, child, others):
            if bits > found.get(x, (0.0, EMPTY))[0] and region.are_joined(child, x):
                found[x] = bits, given
    needed = false_discovery_bits([bits for bits, _ in found.values()], len(family))
    for x, (bits, given) in sorted(found.items()):
        if bits >= needed:
            search.add(x, given)


def _moved_by(search: _Search, child: int, others: Variables) -> list[StrongDependence]:
    """Those that depend on the target given what separates them from it, and a child."""
    near = others & search.region.alone(child).keys()
    by_given: dict[Variables, set[int]] = {}
    for x in sorted(near):
        by_given.setdefault(search.separators[x] | {child}, set()).add(x)
    questions = [(asked, given) for given, asked in by_given.items()]
    return search.engine.strong(search.task.target, questions, search.single)


def grow(search: _Search, order: int | None) -> int:
    """Add what depends on the target given a witness and nothing in the blanket separates.

    Returns the order that was searched.
    """
    if order == 0:
        return 0
    _add_inseparable(search)
    _add_partners(search)
    most = max(MOST_TESTS) if order is None else order
    for size in range(1, most + 1):
        if search.count_tests(size) == 0:
            return size - 1
        if search.leave_out(size, is_asked=order is not None):
            return size - 1
        _add_groups(search, size)
    return most


def _add_inseparable(search: _Search) -> None:
    """Add variables whose separator is not part of the blanket, unless another one is."""
    while True:
        doubtful = {
            x
            for x in search.outside
            if x in search.alone and search.alone[x] >= search.needed
            if not search.separators[x] <= search.blanket.keys()
        }
        if not doubtful:
            return
        for x in sorted(doubtful):
            separator = search.find_separator(x, EMPTY)
            if separator is None:
                search.add(x, EMPTY)
                break
            search.separate(x, separator)
        else:
            return


def _add_partners(search: _Search) -> None:
    """Add variables that depend on the target given a member, and what separates them from it.

    These are spouses whose link to the common neighbour is too weak to be detected.
    """
    fresh = sorted(search.blanket)
    hits: list[StrongDependence] = []
    while fresh:
        outside = search.outside
        n_tests = max(1, len(outside) * len(search.blanket))
        needed = max(search.single, family_bits(n_tests, PARTNER_CHANCE))
        questions = list(_conditioned(search, outside, [frozenset({w}) for w in fresh]))
        hits += search.engine.strong(search.task.target, questions, needed)
        fresh = _add_strong(search, hits)


def _add_groups(search: _Search, size: int) -> None:
    """Add variables that depend on the target given ``size`` others."""
    task, engine = search.task, search.engine
    n_candidates = len(task.candidates)
    n_tests = n_candidates * math.comb(n_candidates - 1, size)
    chance = search.level * share_of_level(size)
    needed = max(search.single, family_bits(n_tests, chance))

    def report(done: int, total: int) -> None:
        search.report("groups", done, total)

    report(0, 0)
    hidden, separated = search.hidden_and_separated()
    hits = []
    if hidden:
        everything = AllSets(hidden, task.candidates, size, SWEPT_ROWS_PER_CELL)
        hits = engine.strong(
            task.target, everything, needed, is_conservative=True, on_progress=report
        )
    if separated and not search.leave_out_separated(len(separated), size):
        sets = list(subsets(task.candidates, size, size))
        questions = list(_conditioned(search, separated, sets))
        hits += engine.strong(
            task.target, questions, needed, is_conservative=True, on_progress=report
        )
    search.see(size, n_tests, needed)
    _add_strong(search, sorted(hits, key=by_strength))


def _conditioned(
    search: _Search, variables: Variables, sets: Sequence[Variables]
) -> Iterator[tuple[set[int], Variables]]:
    """Questions for variables given each of some sets and what separates them from the target."""
    by_separator: dict[Variables, set[int]] = {}
    for x in sorted(variables):
        by_separator.setdefault(search.separators[x], set()).add(x)
    for separator, asked in by_separator.items():
        for given in sets:
            if given.isdisjoint(separator):
                yield asked - given, separator | given


def _add_strong(search: _Search, hits: Sequence[StrongDependence]) -> list[int]:
    """Add the candidates of dependences that nothing in the blanket separates; returns them all.

    The strongest comes first. The rest of its witness enters with it if that depends in turn, as
    in kOMB's make_strict.
    """
    witnesses: dict[int, list[Variables]] = {}
    bits: dict[tuple[int, Variables], float] = {}
    for strength, x, given in hits:
        witness = given - search.separators[x]
        if (x, witness) not in bits:
            witnesses.setdefault(x, []).append(witness)
            bits[x, witness] = strength
    added: list[int] = []
    while True:
        first = {
            x: search.first_witness(x, witnesses[x]) for x in witnesses.keys() & search.outside
        }
        # what is separated once stays so, for the blanket only grows here
        unseparated = {x: witness for x, witness in first.items() if witness is not None}
        if not unseparated:
            return added
        x = max(unseparated, key=lambda x: (bits[x, unseparated[x]], -x))
        witnesses = {other: witnesses[other] for other in unseparated if other != x}
        search.add(x, unseparated[x])
        added += [x, *_add_allies(search, x, unseparated[x])]


def _add_allies(search: _Search, x: int, witness: Variables) -> Iterator[int]:
    """Add those of a witness that depend on the target given its other elements and a candidate."""
    for ally in sorted(witness - search.blanket.keys()):
        rest = witness - {ally} | {x}
        if search.is_dependent(ally, rest) and search.find_separator(ally, rest) is None:
            search.add(ally, rest)
            yield ally


def shrink(search: _Search, max_separator: int | None = None) -> None:
    """Remove members that are independent of the target given all others.

    The least strong of those goes first. On data only a test with power removes a member. A bound
    on separators that was asked for holds here too.
    """
    search.report("shrink")
    while max_separator is None or len(search.blanket) <= max_separator + 1:
        members = search.blanket.keys() - search.task.include
        for x in sorted(members, key=lambda x: (search.alone.get(x, 0.0), x)):
            others = frozenset(search.blanket) - {x}
            if not search.is_dependent(x, others) and search.engine.can_detect(
                search.task.target, x, others, search.blanket[x], power_to_detect(SHARE_TO_DETECT)
            ):
                search.remove(x, others)
                break
        else:
            return


def find_witnesses(search: _Search, order: int) -> dict[int, Variables | None]:
    """Find for each member what makes it visible, inside the blanket; one without goes.

    The empty set is a witness for whatever depends on the target without any condition.
    """
    while True:
        found = {x: _witness(search, x, order) for x in sorted(search.blanket)}
        found |= dict.fromkeys(x for x in search.task.include if _is_explained(search, x, found[x]))
        hidden = [x for x, w in found.items() if w is None and x not in search.task.include]
        if not hidden:
            break
        search.remove(hidden[0], search.separators[hidden[0]])
    return found | dict.fromkeys(sorted(search.task.include - found.keys()))


def _is_explained(search: _Search, x: int, witness: Variables | None) -> bool:
    """Whether other members separate one that is in the blanket by request."""
    return witness is not None and search.find_separator(x, witness) is not None


def _witness(search: _Search, x: int, order: int) -> Variables | None:
    others = frozenset(search.blanket) - {x}
    seen_given = search.blanket[x]
    if seen_given <= others and search.is_dependent(x, seen_given):
        return seen_given
    pool = search.region.nearest(x, others)
    for witness in subsets(pool, max(order, LARGEST_WITNESS)):
        if search.is_dependent(x, witness):
            return witness
    return None


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
    _began: float = field(default_factory=lambda: time.monotonic(), compare=False)

    @property
    def seconds_used(self) -> float:
        """Time since the budget was made."""
        return time.monotonic() - self._began

    def is_spent(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and self.seconds_used >= self.seconds


@dataclass(slots=True)
class _Search:
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

    def __post_init__(self) -> None:
        """Look at every candidate alone."""
        task, variables = self.task, self.task.candidates | {self.task.target}
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

    def leave_out_separated(self, n_separated: int, size: int) -> bool:
        """Note that tests which condition on separators are left out, if they are too many.

        An oracle is never tired.
        """
        n_tests = n_separated * math.comb(len(self.task.candidates), size)
        most = int(MOST_CONDITIONED_TESTS.get(size, 0) / self.engine.test_cost)
        if self.engine.n_rows is None or n_tests <= most:
            return False
        self._note_omission(size, n_tests, fact(Kind.TOO_MANY_TESTS, n_tests, most), n_separated)
        return True

    def leave_out(self, size: int, *, is_asked: bool) -> bool:
        """Note that an order is left out, if there is no budget for it."""
        n_tests = self.count_tests(size)
        n_sets = math.comb(len(self.task.candidates), size)
        most = self.budget.max_tests if is_asked else MOST_TESTS[size]
        if self.budget.seconds is not None and self.budget.is_spent():
            self.limit = fact(Kind.TIME_SPENT, self.budget.seconds, n_tests)
        elif n_tests > most:
            self.limit = fact(Kind.TOO_MANY_TESTS, n_tests, most)
        elif n_sets > self.budget.max_sets:
            self.limit = fact(Kind.TOO_MANY_SETS, n_sets, self.budget.max_sets)
        else:
            return False
        self._note_omission(size, n_tests, self.limit)
        return True

    def _note_omission(
        self, size: int, n_tests: int, limit: Fact, n_columns: int | None = None
    ) -> None:
        done = max(1, self.engine.work.tests)
        seconds = n_tests * self.budget.seconds_used / done
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


def _describe(
    search: _Search,
    witnesses: Mapping[int, Variables | None],
    reached: int,
    order: int | None,
    max_separator: int | None,
) -> dict[str, Choice]:
    """Say what was chosen, and why."""
    largest = max((len(witness) for witness in witnesses.values() if witness), default=0)
    used = max((len(separator) for separator in search.separators.values()), default=0)
    bound = fact(Kind.DEFAULT if max_separator is None else Kind.ASKED)
    return {
        "order": GroundedChoice(
            max(reached, largest), facts=tuple(_order_facts(search, reached, order))
        ),
        "max_separator": GroundedChoice(
            search.max_separator, facts=(bound, fact(Kind.SEPARATOR_NEEDED, used))
        ),
        "threshold": _describe_threshold(search),
    }


def _order_facts(search: _Search, reached: int, asked: int | None) -> Iterator[Fact]:
    for sight in search.sight[1:]:
        yield fact(Kind.ORDER_SEARCHED, sight.order, sight.n_tests)
    if search.limit is not None:
        yield from (fact(Kind.ORDER_OMITTED, reached + 1), search.limit)
    elif asked is not None:
        yield fact(Kind.ASKED)
    else:
        yield fact(Kind.LARGEST_ORDER if reached == max(MOST_TESTS) else Kind.EXHAUSTED)


def _describe_threshold(search: _Search) -> Choice:
    n_tests = len(search.task.candidates)
    if math.isinf(search.needed):
        least = 2.0 ** -family_bits(n_tests, search.level * share_of_level(0))
        return GroundedChoice(None, facts=(fact(Kind.NOTHING_BELOW, least, n_tests),))
    dependent = fact(Kind.DEPENDENT, len(search.alone), n_tests)
    threshold = float(f"{2.0**-search.needed:.2g}") if search.needed else None
    return GroundedChoice(threshold, facts=(dependent, fact(Kind.FALSE_SHARE, FALSE_SHARE)))
