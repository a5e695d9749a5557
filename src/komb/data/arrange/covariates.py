"""Covariates that every test holds fixed: columns of a finished table, or strata of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from komb.data.arrange.raw_columns import numbers_of
from komb.data.arrange.strata import is_continuous, put_into_strata, strata_name
from komb.data.names import Name
from komb.data.table import DiscreteTable
from komb.errors import ParameterError, UnknownNameError


class Held(NamedTuple):
    """A table whose covariates are columns that a search can hold fixed."""

    table: DiscreteTable
    fixed: tuple[Name, ...] = ()  # one column of strata, and those that tests take by their values
    notes: Mapping[str, tuple[int, str]] = {}  # number of strata, and what they are


def hold_fixed(table: DiscreteTable, given: Sequence[Name], *, takes_numbers: bool = False) -> Held:
    """Put covariates into the columns that are held fixed.

    Those with many different numbers stay as they are, if the test takes numbers and other columns
    are tested as such. The others become one column of strata, at the end of the table.
    """
    try:
        columns = [(name, numbers_of(table, name)) for name in dict.fromkeys(given)]
    except UnknownNameError as error:
        raise error.concerning("given") from None
    continuous = [(name, x) for name, x in columns if x is not None and is_continuous(x)]
    numeric = tuple(name for name, _ in continuous)
    are_ranked = takes_numbers and table.has_ranks and table.numbers.keys() >= {*numeric}
    if not (are_ranked and table.numbers.keys() - given):
        numeric = ()
    rest = [name for name, _ in columns if name not in numeric]
    if not rest:
        return Held(table, numeric)
    strata = strata_name(rest)
    if strata in table.names and strata not in rest:
        rule = f"leave the name {strata!r} to the strata of the covariates"
        raise ParameterError.because("given", rule, tuple(given), "Rename that column.")
    cut = [] if numeric else continuous
    is_level = any(None in table.levels[table.index(name)] for name, _ in cut)
    table = put_into_strata(table, rest, cut, "level" if is_level else "testwise")
    reason = "combinations of values held fixed"
    if cut:
        listed = ", ".join(str(name) for name, _ in cut)
        reason = f"{listed} cut finely, as the cube root of the rows allows"
    n_strata = len(table.levels[table.index(strata)])
    return Held(table, (strata, *numeric), {"strata": (n_strata, reason)})
