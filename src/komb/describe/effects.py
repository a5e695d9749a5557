"""How much columns tell about a target, measured on the table.

What a member adds to the rest of its blanket is the information that it has given all other
members. On a table with too few rows per cell that cannot be measured: strata of one row tell
nothing, and the estimate falls to zero. There a member is conditioned on its witness and, one by
one, on those members that it has most information in common with, as long as there are
``ROWS_PER_CELL`` rows per cell.

An interval comes from random halves of the rows. Given the rows, estimates from halves vary around
their mean as estimates from all rows do around the truth (the delete-half jackknife; Shao & Wu
1989, *A general theory for jackknife variance estimation*, Annals of Statistics 17(3)). A half is
drawn from the cells of the table, so its order of rows does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from komb.citests.engines import open_counts
from komb.data.table import DiscreteTable
from komb.describe.cells import Cells, count_cells
from komb.describe.predictors import order_members
from komb.describe.structure import largest_separator
from komb.engine.questions import EMPTY, Variables
from komb.engine.rule import ROWS_PER_CELL
from komb.results.effects import Effect, Effects, GroupEffect, Ranked, Ranking
from komb.search.separated import complete_separators
from komb.search.task import Found

if TYPE_CHECKING:
    from komb.api.run import Run
    from komb.results.blanket import Blanket

N_HALVES = 50
"""Halves of the rows that an interval comes from; of large tables there are fewer."""

FEWEST_HALVES = 10

_MOST_DRAWS = 20_000  # halves times cells, unless there are very many cells

_SMALL_WITNESS = 2  # columns
_STANDARD_ERRORS = 1.96  # to each side of an estimate


def measure_effects(run: Run, blanket: Blanket) -> Effects:
    """Say how much each member tells about the target."""
    witnesses = run.witnesses_of(blanket)
    meter = InformationMeter(run.table, run.table.index(blanket.target))
    groups = {witness | {x} for x, witness in witnesses.items() if witness}
    return Effects(
        target=blanket.target,
        entropy=meter.entropy,
        details=tuple(
            Effect(
                run.names[x],
                *meter.amount(x, own.alone, EMPTY),
                *meter.amount(x, own.added, own.given),
                run.named(own.given),
                own.is_complete,
            )
            for x, own in sorted(meter.of_members(witnesses).items())
        ),
        groups=tuple(
            GroupEffect(
                run.named(group), meter.together(group), sum(meter.bits(sorted(group), EMPTY))
            )
            for group in sorted(groups, key=lambda group: (len(group), sorted(group)))
        ),
    )


def rank(run: Run, blanket: Blanket, separators: Mapping[int, Variables]) -> Ranking:
    """Order members as they enter, and then others by what they add."""
    witnesses, target = run.witnesses_of(blanket), run.table.index(blanket.target)
    found = Found(witnesses, separators=separators)
    engine = run.open_engine(tells_required=False)
    size = largest_separator(engine, len(witnesses))
    separators = complete_separators(engine, run.task(target), found, size)
    outside = run.candidates(target) - witnesses.keys()
    meter = InformationMeter(run.table, target)
    measured = meter.of_others(sorted(outside), frozenset(witnesses), separators)
    for own in blanket.effects.details:
        given = run.positions(own.given)
        measured[run.table.index(own.name)] = Measured(own.alone, own.added, given, own.complete)
    others = sorted(outside, key=lambda x: (-measured[x].added, -measured[x].alone, x))
    return Ranking(
        target=blanket.target,
        columns=tuple(
            Ranked(
                rank=number,
                column=run.names[x],
                is_member=x in witnesses,
                added=measured[x].added,
                alone=measured[x].alone,
                given=run.named(measured[x].given),
                complete=measured[x].is_complete,
                separator=run.named(separators[x]) if x in separators and x in outside else None,
            )
            for number, x in enumerate([*order_members(run, blanket), *others], start=1)
        ),
    )


class Amount(NamedTuple):
    """Information in bits per row, with an interval."""

    bits: float
    low: float
    high: float


class Measured(NamedTuple):
    """What one column tells; columns are positions."""

    alone: float
    added: float
    given: Variables
    is_complete: bool


class InformationMeter:
    """Measures how much columns of a table tell about one of them.

    Examples
    --------
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> meter = InformationMeter(boolean_table("parity", 2000, n_parents=2), target=2)
    >>> round(meter.bits([0], frozenset({1}))[0], 2)
    0.48
    """

    def __init__(self, table: DiscreteTable, target: int, seed: int = 0) -> None:
        self.table = table
        self.target = target
        self._engine = open_counts(table)
        self._seed = seed

    @property
    def entropy(self) -> float:
        """Of the target, in bits."""
        codes = self.table.codes[self.target]
        n_levels = int(self.table.cardinalities[self.target])
        shares = np.bincount(codes[codes < n_levels], minlength=n_levels) / max(len(codes), 1)
        shares = shares[shares > 0] / shares.sum()
        return float(-(shares * np.log2(shares)).sum()) + 0.0

    def bits(self, columns: Sequence[int], given: Variables) -> list[float]:
        """Return what columns add to a set, in bits per row, less what chance gives."""
        return self._bits(self.target, columns, given)

    def _bits(self, target: int, columns: Sequence[int], given: Variables) -> list[float]:
        measured = self._engine.information(target, [(x, given) for x in columns])
        return [each.bits for each in measured]

    def dense(self, columns: Sequence[int], given: Variables) -> list[int]:
        """Return the columns with enough rows per cell to measure what they add to a set."""
        measured = self._engine.information(self.target, [(x, given) for x in columns])
        told = zip(columns, measured, strict=True)
        return [x for x, each in told if each.rows_per_cell >= ROWS_PER_CELL]

    def of_member(self, column: int, others: Variables, witness: Variables) -> Measured:
        """Measure what a member adds to the others, or to as many of them as the rows allow."""
        given = others
        if not self.dense([column], others):
            given = self._affordable(column, others, witness & others)
        [alone] = self.bits([column], EMPTY)
        [added] = self.bits([column], given)
        return Measured(alone, added, given, given == others)

    def of_members(self, witnesses: Mapping[int, Variables | None]) -> dict[int, Measured]:
        """Measure what each member adds to the others."""
        blanket = frozenset(witnesses)
        return {x: self.of_member(x, blanket - {x}, witnesses[x] or EMPTY) for x in blanket}

    def _affordable(self, column: int, others: Variables, witness: Variables) -> Variables:
        """Return the witness and the members that share most with a column, as rows allow.

        A small witness counts on a sparse table too: without it there is nothing to see. Methods
        that condition on all they have leave large ones.
        """
        if len(witness) > _SMALL_WITNESS and not self.dense([column], witness):
            witness = EMPTY
        rest = sorted(others - witness)
        shared = dict(zip(rest, self._bits(column, rest, EMPTY), strict=True))
        given = witness
        for other in sorted(rest, key=lambda x: (-shared[x], x)):
            if self.dense([column], given | {other}):
                given |= {other}
        return given

    def of_others(
        self, columns: Sequence[int], blanket: Variables, separators: Mapping[int, Variables]
    ) -> dict[int, Measured]:
        """Measure what is left of other columns given the blanket, or what separates them."""
        alone = dict(zip(columns, self.bits(columns, EMPTY), strict=True))
        given = self._given_of_others(columns, blanket, separators)
        by_given: dict[Variables, list[int]] = {}
        for x, condition in given.items():
            by_given.setdefault(condition, []).append(x)
        added = {
            x: bits
            for condition, some in by_given.items()
            for x, bits in zip(some, self.bits(some, condition), strict=True)
        }
        return {x: Measured(alone[x], added[x], given[x], given[x] == blanket) for x in columns}

    def _given_of_others(
        self, columns: Sequence[int], blanket: Variables, separators: Mapping[int, Variables]
    ) -> dict[int, Variables]:
        """Return the largest set that each column can be conditioned on, or its separator."""
        members = sorted(blanket)
        told = zip(self.bits(members, EMPTY), members, strict=True)
        nearest = [x for _, x in sorted(told, key=lambda pair: (-pair[0], pair[1]))]
        sets = [blanket, *(frozenset(nearest[:size]) for size in range(len(nearest) - 1, -1, -1))]
        given: dict[int, Variables] = {}
        waiting = list(columns)
        for number, condition in enumerate(sets):
            if not waiting:
                break
            given |= dict.fromkeys(self.dense(waiting, condition), condition)
            waiting = [x for x in waiting if x not in given]
            if number == 0:
                given |= {x: separators[x] for x in waiting if x in separators}
                waiting = [x for x in waiting if x not in given]
        return given | dict.fromkeys(waiting, EMPTY)

    def amount(self, column: int, bits: float, given: Variables) -> Amount:
        """Put an interval around what a column adds to a set."""
        error = _STANDARD_ERRORS * self._standard_error(column, given)
        return Amount(bits, max(bits - error, 0.0), max(bits + error, 0.0))

    def _standard_error(self, column: int, given: Variables) -> float:
        cells = self._cells(column, given)
        if cells.counts.sum() < 4:
            return math.inf
        rng = np.random.default_rng([self._seed, column, len(given)])
        affordable = max(FEWEST_HALVES, _MOST_DRAWS // len(cells.counts))
        halves = cells.information(cells.halves(min(N_HALVES, affordable), rng))
        return float(halves.std(ddof=1))

    def _cells(self, column: int, given: Variables) -> Cells:
        columns = [column, self.target, *sorted(given)]
        levels = self.table.cardinalities[columns]
        codes = self.table.codes[columns].astype(np.int64)
        codes = codes[:, (codes < levels[:, None]).all(axis=0)]
        return count_cells(codes[:2], levels[:2].tolist(), list(codes[2:]))

    def together(self, group: Variables) -> float:
        """Return what a group of columns tells, by the chain rule."""
        before: Variables = EMPTY
        total = 0.0
        for x in sorted(group):
            total += self.bits([x], before)[0]
            before |= {x}
        return total
