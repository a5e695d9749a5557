"""From data to the table that a search sees: read, then with covariates held fixed.

>>> data = {"x": [0, 1, 1, 0], "sex": ["f", "m", "m", "f"], "n": [10, 5, 5, 10], "y": [0, 1, 1, 1]}
>>> from komb.data.arrange.plan import WeightColumn
>>> plan = Plan(given=("sex",), weights=WeightColumn("n"))
>>> arranged = arrange(data, Treatment(), plan)
>>> arranged.table.names, arranged.table.n_rows
(('x', 'y', 'sex'), 30)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from komb.data.arrange.covariates import hold_fixed
from komb.data.arrange.plan import Plan
from komb.data.arrange.raw_columns import check_names
from komb.data.encode.treatment import Treatment
from komb.data.names import Name
from komb.data.reading import read
from komb.data.table import DiscreteTable


@dataclass(frozen=True, slots=True)
class Arranged:
    """A table, and what was done to make it."""

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
    check_names("given", plan.given, data)
    table = read(
        data, treatment, exclude=exclude, target=next(iter(targets), None), groups=plan.groups,
        weights=plan.weights, apart={*plan.given, *targets},
    )  # fmt: skip
    held = hold_fixed(table, plan.given, takes_numbers=takes_numbers)
    weights = table.reading.get("weights", {})
    notes = {**held.notes, **table.notes}
    return Arranged(held.table, held.fixed, table.groups, weights, notes)
