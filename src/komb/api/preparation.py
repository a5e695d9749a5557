"""Everything that happens before a search: data become a table, and what was asked is checked.

>>> from komb.data.models.boolean_functions import boolean_table
>>> prepared = prepare(boolean_table("and", 9), ["Y"], SearchOptions(exclude=["X1"]))
>>> prepared.table.names, prepared.targets
(('X2', 'X3', 'Y'), (2,))
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from komb.api.options import SearchOptions
from komb.api.settings import Settings, find_column
from komb.citests.registry import find_test
from komb.data.arrange.arrangement import Arranged, arrange
from komb.data.encode.codes import Name
from komb.data.encode.column_errors import and_more
from komb.data.stored.stored_table import StoredTable
from komb.data.table import DiscreteTable
from komb.errors import Argument, DataError, ParameterError, Text


@dataclass(frozen=True, slots=True)
class Prepared:
    """A table, what to search it with, and for which columns."""

    table: DiscreteTable
    settings: Settings
    targets: tuple[int, ...]  # positions in the table


def prepare(
    data: object,
    targets: Sequence[Name] | None,
    options: SearchOptions,
    parameter: str = "target",
) -> Prepared:
    """Make a table of data, and check everything; nothing is counted."""
    return prepare_table(encode(data, targets, options), targets, options, parameter)


def encode(data: object, targets: Sequence[Name] | None, options: SearchOptions) -> Arranged:
    """Make a table of data, large enough for a search."""
    plan = options.plan
    for target in targets or ():
        _check_is_name(target)
        if target in options.exclude:
            _refuse_target("exclude", target)
        plan.check_target(target)
    treatment = options.treatment
    treatment.check_targets(targets)
    if isinstance(data, StoredTable):
        data = data.limited(options.memory_limit)
    arranged = arrange(
        data, treatment, plan, exclude=list(options.exclude), targets=targets or (),
        takes_numbers=find_test(options.test).takes_numbers,
    )  # fmt: skip
    table = arranged.table
    for target in targets or ():
        if target in table.types:  # or else it is looked for later
            find_column("target" if len(targets or ()) == 1 else "targets", target, table)
    _check_size(arranged)
    if isinstance(table, StoredTable) and table.fits:
        return replace(arranged, table=table.in_memory())
    return arranged


def prepare_table(
    arranged: Arranged,
    targets: Sequence[Name] | None,
    options: SearchOptions,
    parameter: str = "target",
) -> Prepared:
    """Check what was asked for against a table that :func:`encode` has made."""
    table = arranged.table
    settings = Settings.of(options, table, arranged)
    return Prepared(table, settings, _find_targets(table, targets, settings, parameter))


def is_constant(table: DiscreteTable, position: int) -> bool:
    """Whether a column has one level only.

    Examples
    --------
    >>> is_constant(DiscreteTable.from_data({"x": [0, 0]}), 0)
    True
    """
    return len(table.levels[position]) < 2


def _check_is_name(target: object) -> None:
    """Raise if a target is not a name but, say, the values of a column."""
    if not isinstance(target, Hashable):
        remedy = "Put its values into the table as a column and pass that column's name."
        shown = f"a {type(target).__name__}"
        rule = "be the name of a column"
        raise ParameterError.because("target", rule, target, remedy, shown=shown)


def _refuse_target(parameter: str, name: Name) -> NoReturn:
    remedy = "Take it out of ", Argument(parameter), ": a column is never in its own blanket."
    raise ParameterError.because(parameter, "not name the target", name, remedy)


def _check_size(arranged: Arranged) -> None:
    """Raise if a table is too small for any analysis."""
    table = arranged.table
    if table.n_columns - len(arranged.strata) < 2:
        rule = "have at least 2 columns, a target and a candidate"
        remedy: Text = "Check how it was read: a wrong delimiter puts everything into one column."
        shown = f"{table.n_columns}"
        left_out = [name for name, found in table.types.items() if found.is_left_out]
        if left_out:
            listed = and_more(f"{name!r}: {table.types[name]}" for name in left_out)
            shown = f"{table.n_columns}, besides {listed}"
            remedy = (
                "Say what they are: ",
                Argument("types", dict.fromkeys(left_out, "ordinal")),
                ".",
            )
        raise DataError.because("data", rule, table.n_columns, remedy, shown=shown)
    if table.n_rows < 2:
        remedy = "One row says nothing about dependence: check how it was read or filtered."
        raise DataError.because("data", "have at least 2 rows", table.n_rows, remedy)


def _find_targets(
    table: DiscreteTable, targets: Sequence[Name] | None, settings: Settings, parameter: str
) -> tuple[int, ...]:
    if targets is None:
        searched = [i for i in range(table.n_columns) if i not in settings.given]
        positions = tuple(i for i in searched if not is_constant(table, i))
        if not positions:
            rule, remedy = "have a column with at least 2 levels", "Check how it was read."
            shown = f"{table.n_columns} constant ones"
            raise DataError.because("data", rule, table.n_columns, remedy, shown=shown)
        return positions
    if not targets:
        remedy = "Leave it out for all columns."
        raise ParameterError.because("targets", "name at least one column", targets, remedy)
    return tuple(dict.fromkeys(_find_target(table, name, settings, parameter) for name in targets))


def _find_target(table: DiscreteTable, target: Name, settings: Settings, named: str) -> int:
    """Return the position of a target, or say why it cannot be one."""
    position = find_column(named, target, table)
    for parameter in ("include", "start"):
        if position in getattr(settings, parameter):
            _refuse_target(parameter, table.names[position])
    if is_constant(table, position):
        where = "every row with a value" if table.missing_counts[position] else "every row"
        shown = f"{target!r}, which is {table.levels[position][0]!r} in {where}"
        rule = "be a column with at least 2 levels"
        remedy = "Choose another target, or rows in which it varies."
        raise DataError.because("target", rule, target, remedy, shown=shown)
    return position
