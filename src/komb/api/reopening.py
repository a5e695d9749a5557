"""A blanket that was pickled or read from a record, and its data again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from komb.api.options import Search
from komb.api.oracle import find_oracle
from komb.api.run import Run
from komb.data.options import MDL
from komb.data.reading import table as read_table
from komb.data.table import DiscreteTable
from komb.errors import DataError
from komb.results.blanket import Blanket
from komb.views.text import plural, show_statistic


def reopen(blanket: Blanket, data: object, test: Callable[..., Any] | None = None) -> Run:
    """Return the run that found a blanket, or say why these cannot be its data."""
    parameters = blanket.parameters
    is_read = isinstance(data, DiscreteTable) or find_oracle(data) is not None
    if not is_read:
        data = read_table(data, exclude=parameters["exclude"], **_reading(blanket))
    run, _ = Run.open(data, [blanket.target], _search(blanket, test))
    shape = run.data.n_rows, len(run.names) - len(run.left_out)
    wanted = blanket.n_rows, blanket.n_columns
    if shape != wanted:
        found_in, got = (
            f"{plural(n_rows, 'row')} x {plural(n_columns, 'column')}"
            for n_rows, n_columns in (wanted, shape)
        )
        raise DataError(
            f"'data' must be the table that the blanket was found in, {found_in}; got {got}. "
            "Pass that table, or search this one again."
        )
    _check_statistics(run, blanket)
    return run


def _search(blanket: Blanket, test: Callable[..., Any] | None) -> Search:
    """Return what was asked for; what the search chose itself was not."""
    names = ("alpha", "start", "include", "exclude", "given", "knowledge", "df", "seed")
    known = {name: blanket.parameters[name] for name in names if name in blanket.parameters}
    if "alpha" in blanket.choices:
        del known["alpha"]
    asked = Search(blanket.method).algorithm.defaults
    known |= {name: blanket.parameters.get(name) for name in asked}
    if blanket.n_rows:
        known["test"] = blanket.parameters["test"] if test is None else test
    return Search.of(method=blanket.method, **known)


def _reading(blanket: Blanket) -> dict[str, Any]:
    """Return how the columns of a blanket's table were read."""
    names = ("types", "discretize", "bins", "missing", "na_values", "groups", "weights")
    known = {name: blanket.parameters[name] for name in names if name in blanket.parameters}
    if isinstance(known.get("weights"), str):
        raise DataError(
            "'data' must have the weights that the blanket was found with, which were no column of "
            "them. Pass the table: blanket.with_table(komb.table(data, weights=...))."
        )
    cuts, discretize = blanket.cuts, known.get("discretize")
    if discretize == MDL:  # the target would cut them again, but at the same points
        known["discretize"] = cuts
    elif isinstance(discretize, Mapping):
        rules = discretize.items()
        known["discretize"] = {name: cuts[name] if rule == MDL else rule for name, rule in rules}
    return known


def _check_statistics(run: Run, blanket: Blanket) -> None:
    """Raise if a test says something else than it did in the search."""
    witnesses = run.witnesses_of(blanket)
    shown = [(x, z) for x, z in witnesses.items() if z is not None]
    target = run.data.index(blanket.target)
    for (x, _), outcome in zip(shown, run.open_engine().outcomes(target, shown), strict=True):
        member = blanket[run.names[x]]
        if member.statistic is None or outcome.statistic is None:
            continue
        if not math.isclose(member.statistic, outcome.statistic, rel_tol=1e-6):
            raise DataError(
                "'data' must be the table that the blanket was found in; got one in which the "
                f"statistic of {member.name!r} is {show_statistic(outcome.statistic)} instead of "
                f"{show_statistic(member.statistic)}. Pass that table, or search this one again."
            )
