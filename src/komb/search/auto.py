"""The default search: neighbours, spouses, groups, and a check by definition.

kOMB (:mod:`~komb.search.komb`) leaves to the user how many variables to condition on, how many
may separate two variables, and how to correct for thousands of tests. Here the data decide. One
variable that determines the target ends the search (:func:`settle_for`); otherwise there are steps.

1. **Neighbours** (:func:`find_neighbours`): variables that no set separates from the target,
   searched from both variables (:mod:`~komb.search._region`).
2. **Spouses** (:func:`find_spouses`): variables that depend on the target once a neighbour is given
   with which they are joined.
3. **Grow** (:func:`grow`), as Algorithm 2 of kOMB does: a variable enters if it depends on the
   target given a witness, strongly enough for the number of tests, and nothing in the blanket
   separates it. Order by order: witnesses of one variable, of two, and so on as far as the budget
   goes. What a witness needs enters with it.
4. **Settle** (:mod:`~komb.search._definition`): by the definition of a blanket, a member goes if it
   is independent of the target given all the others, and what depends on the target given all
   members comes back. On data, only a test with power decides that.

Every dependence that counts passes the threshold of its family
(:mod:`~komb.search._thresholds`).
With an oracle for answers, thresholds mean nothing and every test has power: then steps 3 and 4
give the Markov boundary wherever kOMB with the same order and ``max_separator = 3`` does, and steps
1 and 2 only decide what is searched first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from komb.engine.engine import AllSets, Engine
from komb.engine.questions import EMPTY, StrongDependence, Variables, by_strength
from komb.search import options
from komb.search._automatic import LARGEST_ORDER, SWEPT_ROWS_PER_CELL, Budget, Search
from komb.search._definition import settle
from komb.search._effort import UNTIL_GROWN, UNTIL_NEIGHBOURS, UNTIL_SPOUSES
from komb.search._remarks import Witnesses, find_determining, find_equivalents, find_leaks
from komb.search._thresholds import (
    FALSE_SHARE,
    LEVEL,
    choose_alpha,
    false_discovery_bits,
    family_bits,
    share_of_level,
)
from komb.search.registry import register_algorithm
from komb.search.task import Choice, Fact, Found, GroundedChoice, Kind, Task, fact

LARGEST_SEPARATOR = 3
"""Variables in a separator."""

PARTNER_CHANCE = 0.05
"""Chance that one of the variables that are seen given a member enters for no reason."""


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
    search = Search(
        engine, task, largest, level, alpha, Budget(time_budget), is_bounded=max_separator is None
    )
    leaks = find_leaks(engine, task, search.alone, search.needed)
    determining = find_determining(leaks, search.alone)
    if determining is not None:
        reached, witnesses = 0, settle_for(search, determining)
    else:
        find_neighbours(search)
        find_spouses(search)
        reached = grow(search, order)
        witnesses = settle(search, reached, max_separator)
    witnesses, equivalents = _exchange(search, witnesses, reached, max_separator)
    search.end()
    return Found(
        witnesses,
        separators=search.known_separators(),
        choices=_describe(search, witnesses, reached, order, max_separator),
        equivalents=equivalents,
        leaks=leaks,
        sight=tuple(search.sight),
        omissions=tuple(search.omissions),
    )


def settle_for(search: Search, determining: int) -> dict[int, Variables | None]:
    """Settle for a column that determines the target: nothing else can tell more."""
    search.see(0, len(search.task.candidates), search.needed)
    search.limit = fact(Kind.DETERMINED)
    search.separators = dict.fromkeys(search.task.candidates, EMPTY)
    search.add(determining, EMPTY)
    for x in search.alone.keys() & search.outside:
        search.separate(x, frozenset({determining}))
    return {x: EMPTY if x == determining else None for x in sorted(search.blanket)}


def _exchange(
    search: Search, witnesses: Witnesses, order: int, max_separator: int | None
) -> tuple[dict[int, Variables | None], dict[int, tuple[Variables, ...]]]:
    """Put in stronger columns that could replace members, and check what that makes of the rest."""
    seen = set[Variables]()
    while True:
        members, equivalents = find_equivalents(search.region, search.task, witnesses)
        if search.is_spent:  # an exchange could not be checked
            return dict(witnesses), {}
        is_changed = members.keys() != search.blanket.keys()
        search.exchange(members)
        if not is_changed or frozenset(members) in seen:
            return members, equivalents
        seen.add(frozenset(members))
        witnesses = settle(search, order, max_separator)


def find_neighbours(search: Search) -> None:
    """Add the variables that no set separates from the target, in its search or in theirs.

    Their weakest dependences are a family too: of many columns that depend on the target through
    others, a few are never separated by chance.
    """
    search.report("neighbours")
    region, candidates = search.region, search.task.candidates
    search.separators = dict.fromkeys(candidates, EMPTY)
    if not math.isinf(search.needed):
        search.from_target.finish()  # all of them are asked about, so better together
        search.allow(UNTIL_NEIGHBOURS)
        joined = {x: region.joint_bits(search.from_target, x, search.needed) for x in search.alone}
        joined = {x: bits for x, bits in joined.items() if bits}
        least = false_discovery_bits(joined.values(), len(candidates))
        for x in sorted(joined):
            if joined[x] >= least:
                search.add(x, EMPTY)
        _note_separators(search)
    search.see(0, len(candidates), search.needed)


def _note_separators(search: Search) -> None:
    """Note what separates the dependent variables outside, or comes closest to it."""
    own = search.from_target
    members = frozenset(search.blanket)
    for x in search.alone.keys() - members:
        if x in own.separators:
            search.separate(x, own.separators[x])
        else:
            search.separators[x] = search.region.nearest(x, members, search.max_separator)


def find_spouses(search: Search) -> None:
    """Add the variables that depend on the target given a neighbour that they are joined with.

    All of them that could be joined with a neighbour are one family.
    """
    search.report("spouses")
    search.allow(UNTIL_SPOUSES)
    region, others = search.region, search.outside
    found: dict[int, tuple[float, Variables]] = {}
    family: set[int] = set()
    for child in [] if search.is_spent else sorted(search.blanket):
        family |= region.alone(child).keys() & others
        for bits, x, given in _moved_by(search, child, others):
            if bits > found.get(x, (0.0, EMPTY))[0] and region.are_joined(child, x):
                found[x] = bits, given
    needed = false_discovery_bits([bits for bits, _ in found.values()], len(family))
    for x, (bits, given) in sorted(found.items()):
        if bits >= needed:
            search.add(x, given)


def _moved_by(search: Search, child: int, others: Variables) -> list[StrongDependence]:
    """Those that depend on the target given what separates them from it, and a child."""
    near = others & search.region.alone(child).keys()
    by_given: dict[Variables, set[int]] = {}
    for x in sorted(near):
        by_given.setdefault(search.separators[x] | {child}, set()).add(x)
    questions = [(asked, given) for given, asked in by_given.items()]
    return search.engine.strong(search.task.target, questions, search.single)


def grow(search: Search, order: int | None) -> int:
    """Add what depends on the target given a witness and nothing in the blanket separates.

    Returns the order that was searched.
    """
    if order == 0:
        return 0
    search.allow(UNTIL_GROWN)
    _add_inseparable(search)
    _add_partners(search)
    most = LARGEST_ORDER if order is None else order
    for size in range(1, most + 1):
        if search.count_tests(size) == 0:
            return size - 1
        if search.leave_out(size, is_asked=order is not None):
            return size - 1
        _add_groups(search, size)
    return most


def _add_inseparable(search: Search) -> None:
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
            if search.is_spent:
                return
            if separator is None:
                search.add(x, EMPTY)
                break
            search.separate(x, separator)
        else:
            return


def _add_partners(search: Search) -> None:
    """Add variables that depend on the target given a member, and what separates them from it.

    These are spouses whose link to the common neighbour is too weak to be detected.
    """
    fresh = sorted(search.blanket)
    hits: list[StrongDependence] = []
    while fresh:
        outside = search.outside
        n_tests = max(1, len(outside) * len(search.blanket))
        chance = search.chance_given_members(PARTNER_CHANCE)
        needed = max(search.single, family_bits(n_tests, chance))
        questions = [
            (asked - {w}, separator | {w})
            for separator, asked in _by_separator(search, outside)
            for w in fresh
            if w not in separator
        ]
        hits += search.engine.strong(search.task.target, questions, needed)
        fresh = _add_strong(search, hits)


def _add_groups(search: Search, size: int) -> None:
    """Add variables that depend on the target given ``size`` others."""
    task, engine, needed = search.task, search.engine, search.bits_for_groups(size)

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
        for separator, asked in _by_separator(search, separated):
            everything = AllSets(asked, task.candidates - separator, size, core=separator)
            hits += engine.strong(
                task.target, everything, needed, is_conservative=True, on_progress=report
            )
    search.see(size, search.count_family(size), needed)
    _add_strong(search, sorted(hits, key=by_strength))


def _by_separator(search: Search, variables: Variables) -> list[tuple[Variables, Variables]]:
    """List what separates variables from the target, each set with those that it separates."""
    found: dict[Variables, set[int]] = {}
    for x in sorted(variables):
        found.setdefault(search.separators[x], set()).add(x)
    return [(separator, frozenset(asked)) for separator, asked in found.items()]


def _add_strong(search: Search, hits: Sequence[StrongDependence]) -> list[int]:
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
        if not unseparated or search.is_spent:
            return added
        x = max(unseparated, key=lambda x: (bits[x, unseparated[x]], -x))
        witnesses = {other: witnesses[other] for other in unseparated if other != x}
        search.add(x, unseparated[x])
        added += [x, *_add_allies(search, x, unseparated[x])]


def _add_allies(search: Search, x: int, witness: Variables) -> Iterator[int]:
    """Add those of a witness that depend on the target given its other elements and a candidate."""
    for ally in sorted(witness - search.blanket.keys()):
        rest = witness - {ally} | {x}
        if search.is_dependent(ally, rest) and search.find_separator(ally, rest) is None:
            search.add(ally, rest)
            yield ally


def _describe(
    search: Search,
    witnesses: Mapping[int, Variables | None],
    reached: int,
    order: int | None,
    max_separator: int | None,
) -> dict[str, Choice]:
    """Say what was chosen, and why."""
    largest = max((len(witness) for witness in witnesses.values() if witness), default=0)
    used = max((len(separator) for separator in search.separators.values()), default=0)
    bound = fact(Kind.DEFAULT if max_separator is None else Kind.ASKED)
    is_beyond = used > search.max_separator
    separator = fact(Kind.SEPARATOR_BEYOND if is_beyond else Kind.SEPARATOR_NEEDED, used)
    facts = [*_order_facts(search, reached, order)]
    is_exhausted = facts[-1].kind is Kind.EXHAUSTED
    if largest > reached:
        facts.append(fact(Kind.WITNESS_NEEDED, largest))
    return {
        "order": GroundedChoice(max(reached, largest * is_exhausted), facts=tuple(facts)),
        "max_separator": GroundedChoice(search.max_separator, facts=(bound, separator)),
        "threshold": _describe_threshold(search),
    }


def _order_facts(search: Search, reached: int, asked: int | None) -> Iterator[Fact]:
    for sight in search.sight[1:]:
        yield fact(Kind.ORDER_SEARCHED, sight.order, sight.n_tests)
    if search.limit is not None:
        yield from (fact(Kind.ORDER_OMITTED, reached + 1), search.limit)
    elif asked is not None:
        yield fact(Kind.ASKED)
    else:
        yield fact(Kind.LARGEST_ORDER if reached == LARGEST_ORDER else Kind.EXHAUSTED)


def _describe_threshold(search: Search) -> Choice:
    n_tests = len(search.task.candidates)
    if math.isinf(search.needed):
        least = 2.0 ** -family_bits(n_tests, search.level * share_of_level(0))
        return GroundedChoice(None, facts=(fact(Kind.NOTHING_BELOW, least, n_tests),))
    dependent = fact(Kind.DEPENDENT, len(search.alone), n_tests)
    threshold = float(f"{2.0**-search.needed:.2g}") if search.needed else None
    return GroundedChoice(threshold, facts=(dependent, fact(Kind.FALSE_SHARE, FALSE_SHARE)))
