"""From data to the table that a search sees: weights, then codes, then groups, then strata.

>>> data = {"x": [0, 1, 1, 0], "sex": ["f", "m", "m", "f"], "n": [10, 5, 5, 10], "y": [0, 1, 1, 1]}
>>> plan = Plan(given=("sex",), weights=WeightColumn("n"))
>>> arranged = arrange(data, Treatment(), plan)
>>> arranged.table.names, arranged.table.n_rows
(('x', 'y', 'sex'), 30)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from komb.data.arrange.groups import find_blocks, group_columns
from komb.data.arrange.plan import FREQUENCY, PREFIX, SURVEY, Plan, WeightColumn
from komb.data.arrange.raw_columns import check_names, column_names, numbers_of, take_rows
from komb.data.arrange.strata import is_continuous, put_into_strata, strata_name
from komb.data.arrange.weights import check_values, effective_size, kind_of, repeated_rows, thin
from komb.data.encode.numbers import Floats
from komb.data.encode.treatment import Treatment
from komb.data.names import Name
from komb.data.table import DiscreteTable, encode_table
from komb.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Arranged:
    """A table, and what was done to make it.

    Attributes
    ----------
    table
    strata
        Names of the columns that are held fixed: one of strata, and those of numbers that tests
        take by their values.
    groups
        The columns of each group.
    weights
        Column that held weights, and what they mean.
    notes
        What was decided, by a word for it: a number, and a reason in a few words.
    """

    table: DiscreteTable
    strata: tuple[Name, ...] = ()
    groups: Mapping[Name, tuple[Name, ...]] = field(default_factory=dict)
    weights: Mapping[Name, str] = field(default_factory=dict)
    notes: Mapping[str, tuple[int, str]] = field(default_factory=dict)


def arrange(
    data: object,
    treatment: Treatment,
    plan: Plan,
    *,
    exclude: Collection[Name] = (),
    targets: Collection[Name] = (),
    takes_numbers: bool = False,
) -> Arranged:
    """Make the table that a search sees."""
    target = next(iter(targets), None)
    if plan.is_empty:
        return Arranged(encode_table(data, treatment, exclude=exclude, target=target))
    for parameter, names in plan.named.items():
        check_names(parameter, names, data)
    weights, data = _read_weights(data, plan.weights)
    continuous = _continuous(data, treatment, plan)
    if takes_numbers and continuous and plan.groups is None and plan.weights is None:
        table = encode_table(data, treatment, exclude=exclude, target=target)
        held = _hold_by_values(table, plan, continuous, treatment.missing)
        if held is not None:
            return held
    left_out = [*exclude, *(name for name, _ in continuous), *plan.named["weights"]]
    table = encode_table(data, treatment, exclude=left_out, target=target)
    groups = _groups(table, plan, targets)
    if groups or plan.weights is not None:  # what counts levels has to do with all columns
        table = replace(table, numbers={})
    table = group_columns(table, groups)
    notes: dict[str, tuple[int, str]] = {}
    strata: tuple[Name, ...] = ()
    if plan.given:
        strata = (strata_name(plan.given),)
        if strata[0] in table.names and strata[0] not in plan.given:
            rule = f"leave the name {strata[0]!r} to the strata of the covariates"
            raise ParameterError.because("given", rule, plan.given, "Rename that column.")
        table = put_into_strata(table, plan.given, continuous, treatment.missing)
        notes["strata"] = _describe_strata(table, plan, [name for name, _ in continuous])
    meaning: dict[Name, str] = {}
    if plan.weights is not None and weights is not None:
        table, notes["rows"] = _weigh(table, *weights)
        meaning[plan.weights.name] = weights[0]
    return Arranged(table, strata, groups, meaning, notes)


def _read_weights(
    data: object, column: WeightColumn | None
) -> tuple[tuple[str, Floats] | None, object]:
    """Return what weights mean and what they are; rows that stand for several are repeated."""
    if column is None:
        return None, data
    weights = check_values("weights", column.name, numbers_of(data, column.name))
    kind = kind_of(column, weights)
    if kind == FREQUENCY:
        data = take_rows(data, repeated_rows(weights, len(column_names(data))))
    return (kind, weights), data


def _continuous(data: object, treatment: Treatment, plan: Plan) -> list[tuple[Name, Floats]]:
    """Return the covariates to be cut into strata, unless the caller said how to cut them."""
    found = []
    for name in plan.given:
        numbers = None if treatment.is_named(name) else numbers_of(data, name)
        if numbers is not None and is_continuous(numbers):
            found.append((name, numbers))
    return found


def _hold_by_values(
    table: DiscreteTable, plan: Plan, continuous: list[tuple[Name, Floats]], missing: str
) -> Arranged | None:
    """Keep continuous covariates as numbers, if others are tested as such; None if not."""
    numeric = [name for name, _ in continuous]
    others = table.numbers.keys() - plan.given
    if not (others and table.has_ranks and table.numbers.keys() >= {*numeric}):
        return None
    levels = [name for name in plan.given if name not in numeric]
    if not levels:
        return Arranged(table, tuple(numeric))
    joined = put_into_strata(table, levels, [], missing)
    rest = replace(plan, given=tuple(levels))
    notes = {"strata": _describe_strata(joined, rest, [])}
    return Arranged(joined, (strata_name(levels), *numeric), notes=notes)


def _groups(
    table: DiscreteTable, plan: Plan, targets: Collection[Name]
) -> Mapping[Name, tuple[Name, ...]]:
    if plan.groups == PREFIX:
        return find_blocks(table, {*plan.given, *targets})
    return plan.groups if isinstance(plan.groups, Mapping) else {}


def _describe_strata(table: DiscreteTable, plan: Plan, continuous: list[Name]) -> tuple[int, str]:
    n_strata = len(table.levels[table.index(strata_name(plan.given))])
    reason = "combinations of values held fixed"
    if continuous:
        cut = ", ".join(map(str, continuous))
        reason = f"{cut} cut finely, as the cube root of the rows allows"
    return n_strata, reason


def _weigh(
    table: DiscreteTable, kind: str, weights: Floats
) -> tuple[DiscreteTable, tuple[int, str]]:
    """Return the rows that stand for the population, and say how many those are."""
    n_rows = len(weights)
    if kind == SURVEY:
        table = table.take(thin(table, weights))
        reason = (
            f"survey weights: {table.n_rows:,} rows drawn by weight from {n_rows:,}, which have an "
            f"effective sample size of {effective_size(weights):,.0f}"
        )
    else:
        reason = f"frequencies: {n_rows:,} different rows stand for {table.n_rows:,}"
    return table, (table.n_rows, reason)
