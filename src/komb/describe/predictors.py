"""What helps to predict a target beyond its blanket.

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
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from komb.citests.engines import open_features
from komb.engine.engine import Engine
from komb.engine.questions import Variables
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
