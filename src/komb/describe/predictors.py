"""In which order columns enter a prediction, and what helps beyond a blanket.

Members enter one by one, each time the one with most evidence given all that are in, so that the
first ``k`` are a good choice of that size. A member that shows only together with others enters
right after them, and what it shows then counts for each of them.

A blanket has the columns that are proven to belong to it, and weak effects on few rows cannot be
proven. For prediction they are worth having: a column that is left out wrongly costs more than one
that is kept wrongly. So columns are added to the blanket one by one, each time the one with most
evidence given *all* that are in, as long as at most half of what is added is expected to be false
(Benjamini & Hochberg 1995). Half is the largest share with which that rule still predicts about as
well as can be, however many columns there are and however few of them matter (Abramovich,
Benjamini, Donoho & Johnstone 2006, *Adapting to unknown sparsity by controlling the false discovery
rate*, Annals of Statistics 34(2)).

Nothing is added if the p-values of all columns together are what chance gives (Fisher 1932): where
a few columns decide and all others are noise, the blanket is left alone.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from komb.citests.engines import open_features
from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables
from komb.search._thresholds import false_discovery_bits

if TYPE_CHECKING:
    from komb.api.run import Run
    from komb.data.names import Name
    from komb.results.blanket import Blanket

MOST_CANDIDATES = 60
"""Columns that are looked at, those with most evidence of their own."""

MOST_ROWS = 20_000
"""On more rows a search sees by itself what is worth having."""

ANY_LEVEL = 1 - 1e-12
"""Level of a test that reports every p-value."""

FALSE_SHARE = 0.5
"""Largest share of false ones among the columns that are added."""

CHANCE = 0.2
"""That anything is added to a blanket that needs nothing."""


def order_members(run: Run, blanket: Blanket) -> list[int]:
    """Return the members in the order in which they enter; those to include are the first."""
    engine = open_features(run.table, alpha=ANY_LEVEL, given=frozenset(run.held))
    members = run.witnesses_of(blanket)
    start = sorted(run.positions(run.search.include) & members.keys())
    return enter(engine, run.table.index(blanket.target), members, start)


def enter(
    engine: Engine, target: int, members: Mapping[int, Variables | None], start: Sequence[int] = ()
) -> list[int]:
    """Let members enter one by one, each with those of its witness that are not in yet."""
    order = list(start)
    while left := sorted(members.keys() - order):
        given = frozenset(order)
        missing = {x: (members[x] or frozenset()) & members.keys() - given for x in left}
        conditions = [given, *(given | missing[x] for x in left)]
        asked = [left, *([x] for x in left)]
        alone, *together = engine.evidence(
            target, list(zip(map(frozenset, asked), conditions, strict=True))
        )
        worth = {
            x: (own.get(x, 0.0) / (1 + len(missing[x])), missing[x])
            for x, own in zip(left, together, strict=True)
        }
        worth |= {x: (bits, EMPTY) for x, bits in alone.items() if bits >= worth[x][0]}
        best = max(left, key=lambda x: (worth[x][0], -x))
        order += [*sorted(worth[best][1]), best]
    return order


def find_predictors(
    run: Run, blanket: Blanket, scores: Mapping[Name, float], sizes: Mapping[Name, int], room: int
) -> list[Name]:
    """Return the columns to add to a blanket, the first of them first."""
    table = run.table
    if {*blanket.members} <= {*run.search.include} or table.n_rows > MOST_ROWS:
        return []
    knowledge = run.search.knowledge
    pairs = () if knowledge is None else knowledge.forbidden
    banned = {name for pair in pairs if blanket.target in pair for name in pair}
    allowed = [name for name in table.names if name in scores and name not in banned]
    likeliest = sorted(allowed, key=lambda name: -scores[name])[:MOST_CANDIDATES]
    added = add_predictors(
        open_features(table, alpha=ANY_LEVEL, given=frozenset(run.held)),
        table.index(blanket.target),
        run.positions(blanket.members),
        {table.index(name): sizes[name] for name in likeliest},
        room,
        n_others=len(allowed),
    )
    return [table.names[x] for x in added]


def add_predictors(
    engine: Engine,
    target: int,
    blanket: Variables,
    sizes: Mapping[int, int],
    room: int,
    *,
    n_others: int = 0,
) -> list[int]:
    """Return the columns to add to a blanket, the first of them first."""
    left = dict(sizes)
    n_more = max(0, n_others - len(left))
    added: list[int] = []
    while left:
        given = blanket.union(added)
        [bits] = engine.evidence(target, [(left.keys(), given)])
        if not added and _joint_chance(bits.values(), len(left) + n_more) > CHANCE:
            break
        least = false_discovery_bits(bits.values(), len(left) + n_more, FALSE_SHARE)
        fitting = [x for x, own in bits.items() if own >= least and left[x] <= room]
        if not fitting:
            break
        best = max(fitting, key=lambda x: (bits[x], -x))
        added.append(best)
        room -= left.pop(best)
    return added


def _joint_chance(bits: Collection[float], n_tests: int) -> float:
    """Return the p-value of several together (Fisher 1932); those that are not there count as 1."""
    from scipy.special import chdtrc

    return float(chdtrc(2.0 * n_tests, 2.0 * math.log(2.0) * math.fsum(bits)))
