"""Functions of the conditions, and what they leave of a target.

The pool has the functions of each condition and products of functions of two or three, the cheapest
first: a product costs what its factors do, and more for each further one. A few are always in; of
the others, those that the target depends on. As long as neither the mean nor the spread of a target
bends with a condition, only the smooth ones are looked at. So a linear Gaussian model costs hardly
more than its own parameters, and a rough one still finds what it needs.

So do **curves** of what they predict of the target. Functions of single conditions and their
products need very many terms for a target that is a crooked function of a sum, such as a threshold:
``1 if f(a) + g(b) + h(c) + noise > 0``. The fit of a few terms is close to a function of that sum,
so that polynomials of the fit bend it into shape. They are what Ramsey's (1969) test for a wrong
form of a regression adds to it.

Products fill much memory and are quickly made, so kernels make them block by block of the rows
whenever they need them. What is kept of conditions is what follows from sums over rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from threading import Lock

import numpy as np

from komb.engine.features.columns import ROUGHEST, SMOOTHEST, Rows, roughest
from komb.engine.features.work import Work
from komb.engine.kernels import gram as kernels
from komb.engine.kernels.tiles import NONE, padded
from komb.engine.records import Record

PRODUCT = 2.0
"""What each factor of a product costs beyond the first."""

MOST_FACTORS = 3

SMOOTH_COST = 6.0
"""Cost of functions that are enough as long as nothing bends."""

POOL_SIZE = 3.5
"""Functions that may be in, in terms of the root of the rows; but no more than LARGEST_POOL."""

LARGEST_POOL = 200

LARGEST_SHARE = 0.25
"""Of the rows: with more functions that have to be in, nothing is left to test."""

Costs = tuple[float, ...]  # of the functions of a condition
Term = tuple[tuple[int, int], ...]  # (condition, function) of each factor


@dataclass(frozen=True, slots=True)
class Adjusted:
    """What the conditions leave of a target."""

    record: Record
    degrees: tuple[int, ...]  # of the features that are left

    @property
    def nbytes(self) -> int:
        """Memory of what is left and of the functions, in bytes."""
        return int(self.record.values.nbytes)


class Conditions:
    """A pool of functions of some conditions, in the order of their costs.

    Parameters
    ----------
    rows : Rows
    given : sequence of int
        The conditions, as columns of the table.

    Attributes
    ----------
    columns : list of Column
    is_rich : bool
        Whether the conditions have so many features that nothing is left to test.
    """

    def __init__(self, rows: Rows, given: Sequence[int]) -> None:
        self.columns = [rows.columns[column] for column in given]
        self._lock = Lock()
        pool = _choose_pool(tuple(each.costs for each in self.columns), rows.n_rows)
        self.is_rich = pool.n_smoothest > LARGEST_SHARE * rows.n_rows
        self._n_functions, self._given = pool.n_functions, np.array(given, np.int64)
        # what kernels know of the smooth functions, and of all: what they are, and what they find
        self._records = [] if self.is_rich else [self._begin(each) for each in pool.records]

    def _begin(self, pool: Record) -> Record:
        size = padded(len(pool.costs))
        return pool.replaced(
            given=self._given, inverse=np.zeros((size, size)), known=np.zeros(4, np.int64)
        )

    @property
    def nbytes(self) -> int:
        """Memory of what is kept of the functions, in bytes."""
        return sum(int(each.inverse.nbytes) for each in self._records)

    def adjust(self, rows: Rows, target: int, work: Work) -> Adjusted:
        """Choose the functions that a target depends on, and return what they leave of it."""
        table, degrees = rows.record, rows.columns[target].degrees
        conditions, n_chosen = self._choose(rows, target, work)
        n_own, n_curves = padded(len(degrees)), len(degrees) * table.n_curves
        n_pairs = len(degrees) * (len(degrees) + 1) // 2
        shape = table.n_blocks, n_own + padded(n_chosen) + padded(n_curves), table.score.shape[2]
        record = _ADJUSTED.replaced(
            values=np.empty(shape),
            spreads=np.empty((padded(n_pairs), kernels.MOST_SPREAD_FUNCTIONS)),
            facts=np.empty(kernels.N_LEFT + 1, np.int64),
            given=self._given,
        )
        kernels.adjust(table, target, conditions, work.record, record)
        left = zip(degrees, work.record.is_left.tolist(), strict=False)
        return Adjusted(record, tuple(degree for degree, is_left in left if is_left))

    def explained_share(self, rows: Rows, target: int, work: Work) -> float:
        """Share of a target's variance, of degree 1, that the functions explain beyond chance."""
        if self.is_rich:
            return 0.0
        n_linear = rows.columns[target].degrees.count(1)
        conditions, _ = self._choose(rows, target, work)
        n_functions = int(conditions.known[kernels.N_FUNCTIONS])
        coefficients = work.record.fitted[:n_linear, :n_functions]
        explained = float((coefficients[:, 1:] ** 2).sum())
        total = float(work.record.squares[:n_linear].sum() - (coefficients[:, 0] ** 2).sum())
        chance = n_functions / rows.n_rows
        share = explained / total if total > 0 else 0.0
        return (share - chance) / (1.0 - chance)

    def _choose(self, rows: Rows, target: int, work: Work) -> tuple[Record, int]:
        """Choose from the smooth functions, or from all if the target bends."""
        n_own, n_curves = len(rows.columns[target].degrees), rows.record.n_curves
        for record in self._records:
            work.make_room(
                n_own=n_own,
                n_terms=len(record.costs),
                n_functions=self._n_functions,
                n_curves=n_own * n_curves,
            )
            with self._lock:  # whoever is first finds out about the conditions
                n_chosen, is_bent = kernels.choose(rows.record, target, record, work.record)
            if not is_bent:
                break
        return record, int(n_chosen)


_ADJUSTED = Record(
    values=np.empty((0, 0, 0)),
    spreads=np.empty((0, 0)),
    facts=np.empty(0, np.int64),
    given=np.empty(0, np.int64),
)


@dataclass(frozen=True)
class _Pool:
    """The products of functions of some conditions, in the order of their costs."""

    records: tuple[Record, ...]  # the smooth ones, and all
    n_smoothest: int  # that have to be in
    n_functions: int  # of single conditions


def _choose_pool(columns: tuple[Costs, ...], n_rows: int) -> _Pool:
    """Choose the products of the pool: those of a cost all together, or none."""
    room = int(min(LARGEST_POOL, POOL_SIZE * n_rows**0.5))
    return _make_pool(columns, room, int(roughest(n_rows)), int(np.cbrt(n_rows)))


@lru_cache(maxsize=1024)
def _make_pool(columns: tuple[Costs, ...], room: int, largest: int, largest_single: int) -> _Pool:
    """Take groups of products, the cheapest first, until there is no room.

    Functions of one condition are few, so they go on where there is no room for products.
    """
    is_full = False
    terms: list[Term] = [()]
    costs = [0.0]
    for cost, n_factors in _groups(len(columns), largest):
        is_always_in = n_factors == 1 and cost <= largest_single
        if is_full and not is_always_in:
            continue
        group = list(_terms_of(columns, cost, n_factors))
        is_full = is_full or (len(terms) + len(group) > room and cost > SMOOTHEST)
        if not is_full or is_always_in:
            terms += group
            costs += [cost] * len(group)
    starts = np.cumsum([0, *map(len, columns)])
    factors = np.full((len(terms), MOST_FACTORS), NONE, np.int64)
    for own, term in zip(factors, terms, strict=True):
        own[: len(term)] = [starts[column] + function for column, function in term]
    n_smooth = sum(cost <= SMOOTH_COST for cost in costs)
    records = tuple(
        Record(
            factors=factors[:size],
            costs=np.array(costs[:size]),
            given=np.empty(0, np.int64),
            inverse=np.empty((0, 0)),
            known=np.empty(0, np.int64),
        )
        for size in sorted({n_smooth, len(terms)})
    )
    return _Pool(records, sum(cost <= SMOOTHEST for cost in costs), int(starts[-1]))


def _groups(n_columns: int, largest: int) -> list[tuple[float, int]]:
    """Costs of products and numbers of factors, the cheapest first."""
    steps = np.arange(SMOOTHEST, largest + 0.5).tolist()
    n_most = min(n_columns, MOST_FACTORS)
    groups = [(cost, n) for cost in steps for n in range(1, n_most + 1)]
    return [(cost, n) for cost, n in groups if n == 1 or cost <= ROUGHEST]


def _terms_of(columns: Sequence[Costs], cost: float, n_factors: int) -> Iterator[Term]:
    """Yield the products of a cost and a number of factors, in the order of columns."""
    left = cost - PRODUCT * (n_factors - 1)
    for chosen in combinations(range(len(columns)), n_factors):
        yield from _splits(columns, chosen, left)


def _splits(columns: Sequence[Costs], chosen: tuple[int, ...], cost: float) -> Iterator[Term]:
    """Yield the products with one function of each of some columns that cost so much together."""
    first, *others = chosen
    for function, own in enumerate(columns[first]):
        if not others:
            if own == cost:
                yield ((first, function),)
        elif own < cost:
            for rest in _splits(columns, tuple(others), cost - own):
                yield ((first, function), *rest)
