"""Rows that stand for more than themselves: frequencies, and the weights of a survey.

A **frequency** says how many rows one stands for: it is repeated, so that every answer is that of
the longer table. A **survey weight** says how many members of a population a row stands for, and a
table in which rows were repeated that often would pretend to have seen them all. Instead rows are
thinned: one is kept with a probability that is proportional to its weight. What is kept is a sample
of the population without weights (rejection sampling), so every test is as valid as it is there,
whether weights depend on the target, on other columns or on nothing. The price is power: with ``w``
for the largest weight, ``sum(weights) / w`` rows are left, where Kish's effective sample size would
be ``sum(weights)**2 / sum(weights**2)``. A few rows of large weight may count more than once, as
long as that makes counts at most 5 % more variable than those of a sample.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from komb.data.columns import Floats
from komb.data.inputs import Source, column_of
from komb.data.memory_limit import check_limit, refuse_beyond
from komb.data.names import Name
from komb.data.table import DiscreteTable, column_numbers
from komb.errors import Argument, DataError, InPython, ParameterError, Text, UnknownNameError

Hashes = npt.NDArray[np.uint64]

Weights: TypeAlias = Name | Mapping[Any, Any] | Any
"""Name of a column, ``{name: kind}``, numbers, one per row, or ``{kind: numbers}``."""

FREQUENCY, SURVEY = "frequency", "survey"
KINDS = (FREQUENCY, SURVEY)
"""What weights can mean."""

MOST_EXCESS = 0.05
"""Share by which repeated rows may make counts more variable than those of a sample."""

_BYTES_PER_VALUE = 8  # of a raw table, roughly
_ODD = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio, to spread hashes
_HALVINGS = 60  # of the interval in which the scale of weights is looked for


class WeightColumn(NamedTuple):
    """Where weights are, and what they mean."""

    name: Name  # of a column
    kind: str = FREQUENCY
    values: Any = None  # those of the rows, where they are in no column

    @property
    def names(self) -> tuple[Name, ...]:
        """The column that holds them, if it is one."""
        return (self.name,) if self.values is None else ()

    def describe(self) -> dict[Name, str] | str:
        """Return what a result reports of it."""
        return {self.name: self.kind} if self.values is None else self.kind


def check_weights(weights: object) -> WeightColumn:
    """Check what can be checked before there is a table; weights are frequencies if not named."""
    rule = "be the name of a column, or map one name to 'frequency' or 'survey'"
    remedy = "Write it as ", Argument("weights", {"w": SURVEY}), "."
    if not isinstance(weights, Mapping):
        if _is_column(weights):
            return WeightColumn(None, FREQUENCY, weights)
        if not isinstance(weights, Hashable):
            shown = f"a {type(weights).__name__}"
            raise ParameterError.because("weights", rule, weights, remedy, shown=shown)
        return WeightColumn(weights, FREQUENCY)
    if len(weights) != 1:
        raise ParameterError.because("weights", rule, dict(weights), remedy)
    [(name, kind)] = weights.items()
    own = WeightColumn(None, name, kind) if _is_column(kind) else WeightColumn(name, kind)
    if own.kind not in KINDS:
        raise UnknownNameError.among("kind of weight", own.kind, KINDS, "weights")
    return own


def _is_column(values: object) -> bool:
    """Whether something holds values, rather than being the name of a column or a kind."""
    is_array = hasattr(values, "__array__") and getattr(values, "shape", None) != ()
    return is_array or isinstance(values, list)  # a number of numpy may be a name


def read_weights(data: DiscreteTable | Source, weights: WeightColumn) -> Floats:
    """Return the weights of all rows, or say what is wrong with them."""
    where = "for every row" if weights.values is not None else f"in every row of {weights.name!r}"
    rule = f"be numbers from 0 on {where}"
    numbers = _numbers(data, weights)
    if numbers is None:
        remedy = "Pass numbers, or name a column of them."
        raise DataError.because("weights", rule, weights.name, remedy, shown="other values")
    n_rows = data.n_rows if isinstance(data, DiscreteTable) else data.count_rows()
    if len(numbers) != n_rows:
        rule, remedy = f"have one number for each of the {n_rows:,} rows", "Pass one for each row."
        shown = f"{len(numbers):,} numbers"
        raise DataError.because("weights", rule, len(numbers), remedy, shown=shown)
    remedy = "Correct it; 0 leaves a row out."
    _refuse(
        ~(np.isfinite(numbers) & (numbers >= 0)), numbers, f"be numbers from 0 on {where}", remedy
    )
    if not numbers.any():
        rule, remedy = f"not be 0 {where}", "Leave them out if all rows count alike."
        raise DataError.because("weights", rule, 0.0, remedy)
    if weights.kind == FREQUENCY:
        said: Text = InPython("weights={'survey': numbers}")
        if weights.values is None:
            said = Argument("weights", {weights.name: SURVEY})
        advice = "If they are weights of a survey, say so: ", said, "."
        is_broken = numbers != np.floor(numbers)
        _refuse(is_broken, numbers, "be whole numbers if they are frequencies", advice)
    return numbers


def _numbers(data: DiscreteTable | Source, weights: WeightColumn) -> Floats | None:
    try:
        if weights.values is not None:
            column = column_of(weights.values, weights.name)
        elif isinstance(data, DiscreteTable):
            return column_numbers(data, weights.name)
        else:
            column = data.column(weights.name)
    except DataError:
        return None
    return column.to_floats() if column.is_number else None


def _refuse(is_wrong: npt.NDArray[np.bool_], numbers: Floats, rule: str, remedy: Text) -> None:
    """Raise for the first row that is wrong, if there is one."""
    if is_wrong.any():
        row = int(is_wrong.argmax())
        shown = f"{numbers[row]} in row {row}"
        raise DataError.because("weights", rule, float(numbers[row]), remedy, shown=shown)


def effective_size(weights: Floats) -> float:
    """Kish's effective sample size."""
    ordered = np.sort(weights)
    return float(ordered.sum() ** 2 / (ordered**2).sum())


def repeated_rows(
    weights: Floats, n_columns: int, memory_limit: int | str | None = None
) -> npt.NDArray[np.intp]:
    """Return row numbers, each as often as its frequency says, if there is memory for them."""
    total = float(weights.sum())
    needed, limit = total * n_columns * _BYTES_PER_VALUE, check_limit(memory_limit)
    refuse_beyond(needed, limit, f"A table of {total:,.0f} rows")
    return np.repeat(np.arange(len(weights)), weights.astype(np.int64))


def describe_weights(kind: str, weights: Floats, n_rows: int) -> tuple[int, str]:
    """Return how many rows weights have made, and of what."""
    if kind == FREQUENCY:
        n_different = np.count_nonzero(weights)
        return n_rows, f"frequencies: {n_different:,} different rows stand for {n_rows:,}"
    return n_rows, (
        f"survey weights: {n_rows:,} rows drawn by weight from {len(weights):,}, which have an "
        f"effective sample size of {effective_size(weights):,.0f}"
    )


def thin(table: DiscreteTable, weights: Floats) -> npt.NDArray[np.intp]:
    """Return the rows that stand for the population, some of them more than once.

    Which rows those are depends on what is in them, not on their order: they are gone through in
    the order of a hash of their values and weight (and, of equal rows, of a number), and one is
    taken whenever the sum of the scaled weights passes a half.
    """
    order = _shuffled(table, weights)
    scaled = weights[order] * find_scale(weights)
    steps = np.floor(np.cumsum(scaled) + 0.5).astype(np.int64)
    counts = np.diff(steps, prepend=0)
    return np.sort(np.repeat(order, counts))


def find_scale(weights: Floats) -> float:
    """Return the largest factor of weights by which rows may be taken."""
    ordered = np.sort(weights)
    low, high = 1.0 / float(ordered[-1]), 1.0 / float(ordered.mean())
    if excess(ordered * high) <= MOST_EXCESS:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(ordered * middle) <= MOST_EXCESS else (low, middle)
    return low


def excess(expected: Floats) -> float:
    """Share by which counts of repeated rows vary more than those of a sample of the same size.

    A row that is expected k + f times (k whole, f below 1) comes k or k + 1 times; the mean of the
    square of that exceeds the mean of the number itself by k (k - 1) + 2 k f.
    """
    whole = np.floor(expected)
    beyond = whole * (whole - 1) + 2 * whole * (expected - whole)
    return float(beyond.sum() / expected.sum())


def _shuffled(table: DiscreteTable, weights: Floats) -> npt.NDArray[np.intp]:
    """Order rows as if by chance, but by nothing else than what is in them."""
    by_content = _mix(_hash_rows(table), weights.view(np.uint64))
    order = np.argsort(by_content, kind="stable")
    ordered = by_content[order]
    is_first = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    place = np.arange(len(order))
    number = place - np.maximum.accumulate(np.where(is_first, place, 0))  # among equal rows
    return order[np.argsort(_mix(ordered, number.astype(np.uint64)), kind="stable")]


def _mix(hashed: Hashes, values: Hashes) -> Hashes:
    """Let values change hashes."""
    mixed: Hashes = (hashed ^ (values + np.uint64(1)) * _ODD) * _ODD
    mixed ^= mixed >> np.uint64(32)
    mixed *= _ODD
    mixed ^= mixed >> np.uint64(29)
    return mixed


def _hash_rows(table: DiscreteTable) -> Hashes:
    """Return a number for each row that depends on its values alone."""
    hashed = np.zeros(table.n_rows, dtype=np.uint64)
    for codes in table.codes:
        hashed = _mix(hashed, codes.astype(np.uint64))
    return hashed
