"""What a collider implies: causes of a member that its tests show, and those of the target do not.

Where the target and a column outside both cause a member, the column is a spouse: it is in the
blanket of the graph. Through weak links it tells next to nothing about the target, so that no test
of the two shows it. Each of the two links alone may be plain to see; what is left to tell is
whether the member is an effect of both, or lies on a path from one to the other.

Of two columns that a member joins, and that some set without the member separates, the networks in
which it is an effect of both differ from all others in one term of the likelihood: there the two
are independent without the member and dependent given it, in the others it is the other way round.
Half the difference of the two chi-squares (of one degree of freedom) is the logarithm of the odds.
Every assignment of a member's neighbours to causes and effects has those of all pairs of causes
added up. So a member with many causes tells of each of them, also where no pair does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from komb.describe.structure import Witnesses, find_parts, largest_separator
from komb.engine.engine import Engine
from komb.engine.fixed_point import FloatArray
from komb.engine.questions import EMPTY, Variables
from komb.results.roles import Implied, Role

if TYPE_CHECKING:
    from komb.api.run import Run
    from komb.results.blanket import Blanket

LEAST_CHANCE = 0.95
"""That a member is an effect of target and column; from here on it implies the column."""

MOST_NEIGHBOURS = 10
"""Neighbours of a member that are causes or effects in all ways; of more those closest to it."""

LARGEST = 1e4
"""Of the logarithm of odds: what an oracle says."""


@dataclass(frozen=True, slots=True)
class _Link:
    """What one member says of one column outside."""

    column: int
    child: int
    separator: Variables
    chance: float


class _Apart(NamedTuple):
    """What separates two neighbours of a member without it, and what does or could with it."""

    without: Variables
    given: Variables


def find_implied(run: Run, blanket: Blanket) -> Implied:
    """Name the columns outside a blanket that are joined with its members, and how."""
    engine, target = run.open_engine(), run.data.index(blanket.target)
    witnesses = run.witnesses_of(blanket)
    parts = find_parts(engine, target, witnesses, largest_separator(engine, len(witnesses)))
    children = [x for x, part in parts.items() if part.kind == "neighbour"]
    other = replace(run, start=(), include=()).ordered()
    searched, best = other.open_engine(), dict[int, _Link]()
    for child in children:
        found = other.search_for(child, engine=searched).found.witnesses
        for link in _links(engine, target, child, found, frozenset(witnesses)):
            if link.column not in best or link.chance > best[link.column].chance:
                best[link.column] = link
    implied = {x for x, link in best.items() if link.chance >= LEAST_CHANCE}
    roles = {
        run.names[x]: Role(
            name=run.names[x],
            kind="implied" if x in implied else "undecided",
            separator=run.named(link.separator),
            children=(run.names[link.child],),
        )
        for x, link in sorted(best.items())
    }
    return Implied(blanket.target, roles, run.named(run.positions(blanket) | implied))


def _links(
    engine: Engine, target: int, child: int, found: Witnesses, members: Variables
) -> Iterator[_Link]:
    """Yield the neighbours of a member that it joins with the target, and nothing else does."""
    size = largest_separator(engine, len(found))
    parts = find_parts(engine, child, found, size)
    near = [x for x, part in parts.items() if part.kind == "neighbour"]
    outside = [x for x in near if x not in members | {target}]
    if target not in near or not outside:
        return
    [bits] = engine.evidence(child, [(frozenset(near), EMPTY)])
    closest = sorted(near, key=lambda x: (x != target, -bits.get(x, 0.0), x))[:MOST_NEIGHBOURS]
    pool = frozenset(found) | members
    pairs = {
        pair: _separate(engine, *pair, child, pool - {child, *pair})
        for pair in combinations(sorted(closest), 2)
    }
    chances = _chances_of_causes(engine, closest, pairs)
    for x in outside:
        place = closest.index(x) if x in closest else 0
        apart = pairs.get((min(target, x), max(target, x)))
        if place and apart is not None:
            yield _Link(x, child, apart.without, float(chances[0, place]))


def _separate(engine: Engine, a: int, b: int, child: int, pool: Variables) -> _Apart | None:
    """Return what separates two neighbours of a member, if anything does without that."""
    size = largest_separator(engine, len(pool))
    without = engine.first_separator(a, b, pool, size)
    if without is None:
        return None
    given = engine.first_separator(a, b, pool, size, core=frozenset({child}))
    return _Apart(without, without | {child} if given is None else given)


def _chances_of_causes(
    engine: Engine, near: Sequence[int], pairs: Mapping[tuple[int, int], _Apart | None]
) -> FloatArray:
    """Return for any two neighbours of a member the chance that both cause it."""
    odds = np.zeros((len(near), len(near)))
    for (i, a), (j, b) in combinations(enumerate(near), 2):
        apart = pairs[min(a, b), max(a, b)]
        if apart is not None:
            without, given = (_chi_square(engine, a, b, condition) for condition in apart)
            odds[i, j] = np.clip((given - without) / 2.0, -LARGEST, LARGEST)
    ways = (np.arange(1 << len(near))[:, None] >> np.arange(len(near)) & 1).astype(np.float64)
    logarithms = np.einsum("wi,ij,wj->w", ways, odds, ways)
    weights = np.exp(logarithms - logarithms.max())
    chances: FloatArray = (ways * weights[:, None]).T @ ways / weights.sum()
    return chances


def _chi_square(engine: Engine, a: int, b: int, given: Variables) -> float:
    """Return what a test says as a chi-square with one degree of freedom."""
    from scipy.special import chdtri

    outcome = engine.outcome(a, b, given)
    if outcome.p_value is not None:
        return float(chdtri(1.0, max(outcome.p_value, 1e-300)))
    if outcome.independent:
        return 0.0
    return 2.0 * math.log(2.0) * outcome.statistic if outcome.statistic else 2.0 * LARGEST
