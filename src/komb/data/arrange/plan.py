"""What a caller wants a table to be made for: covariates, groups of columns, weights; checked.

>>> Plan(given=("age",), groups=check_groups("groups", {"gene": ["rs1", "rs2"]})).is_empty
False
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from komb.data.names import Name, list_names
from komb.errors import Argument, ParameterError, UnknownNameError

Groups: TypeAlias = Mapping[Any, Iterable[Name]] | str | None
Weights: TypeAlias = Name | Mapping[Any, Any] | Any
"""Name of a column, ``{name: kind}``, numbers, one per row, or ``{kind: numbers}``."""

PREFIX = "prefix"
"""Find one-hot blocks by the names of their columns."""

FREQUENCY, SURVEY = "frequency", "survey"
KINDS = (FREQUENCY, SURVEY)
"""What weights can mean."""

_EXAMPLE = "Write it as ", Argument("groups", {"gene": ["rs1", "rs2"]}), "."


class WeightColumn(NamedTuple):
    """Where weights are, and what they mean; ``None``: whole numbers are frequencies."""

    name: Name  # of a column
    kind: str | None = None
    values: Any = None  # those of the rows, where they are in no column

    @property
    def names(self) -> tuple[Name, ...]:
        """The column that holds them, if it is one."""
        return (self.name,) if self.values is None else ()

    def describe(self) -> dict[Name, str] | str:
        """Return what a result reports of it."""
        kind = self.kind or FREQUENCY
        return {self.name: kind} if self.values is None else kind


def check_weights(weights: object) -> WeightColumn | None:
    """Check what can be checked before there is a table; weights are frequencies if not named."""
    pair = [*weights.items()] if isinstance(weights, Mapping) else [(FREQUENCY, weights)]
    if len(pair) == 1 and _is_column(pair[0][1]):
        kind, values = pair[0]
        if kind not in KINDS:
            raise UnknownNameError.among("kind of weight", kind, KINDS, "weights")
        return WeightColumn(None, kind, values)
    column = check_weight_column("weights", weights)
    return column if column is None or column.kind else column._replace(kind=FREQUENCY)


def _is_column(values: object) -> bool:
    """Whether something holds values, rather than being the name of a column or a kind."""
    is_array = hasattr(values, "__array__") and getattr(values, "shape", None) != ()
    return is_array or isinstance(values, list)  # a number of numpy may be a name


def check_weight_column(parameter: str, weights: object) -> WeightColumn | None:
    """Check a column of weights before there is a table."""
    if weights is None or isinstance(weights, WeightColumn):
        return weights
    rule = "be the name of a column, or map one name to 'frequency' or 'survey'"
    remedy = "Write it as ", Argument("weights", {"w": SURVEY}), "."
    if isinstance(weights, Mapping):
        if len(weights) != 1:
            raise ParameterError.because(parameter, rule, dict(weights), remedy)
        [(name, kind)] = weights.items()
        if kind not in KINDS:
            raise UnknownNameError.among("kind of weight", kind, KINDS, parameter)
        return WeightColumn(name, kind)
    if not isinstance(weights, Hashable):
        shown = f"a {type(weights).__name__}"
        raise ParameterError.because(parameter, rule, weights, remedy, shown=shown)
    return WeightColumn(weights)


def check_groups(parameter: str, groups: object) -> dict[Name, tuple[Name, ...]] | str | None:
    """Check what can be checked before there is a table."""
    if groups is None or (isinstance(groups, str) and groups == PREFIX):
        return groups
    if not isinstance(groups, Mapping):
        rule = f"map names of groups to lists of columns, or be {PREFIX!r}"
        raise ParameterError.because(parameter, rule, groups, _EXAMPLE)
    home: dict[Name, Name] = {}
    checked: dict[Name, tuple[Name, ...]] = {}
    for group, columns in groups.items():
        if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
            rule = f"have a list of names of columns for {group!r}"
            raise ParameterError.because(parameter, rule, columns, _EXAMPLE)
        checked[group] = tuple(dict.fromkeys(list_names(parameter, columns)))
        if not checked[group]:
            rule = f"name at least one column for {group!r}"
            raise ParameterError.because(parameter, rule, [], _EXAMPLE)
        for name in checked[group]:
            if name in home:
                shown = f"{name!r} in {home[name]!r} and {group!r}"
                remedy = "Take it out of one of the two."
                rule = "have no column in two groups"
                raise ParameterError.because(parameter, rule, name, remedy, shown=shown)
            home[name] = group
    return checked


def columns_of(groups: Mapping[Name, tuple[Name, ...]] | str | None) -> tuple[Name, ...]:
    """Return the columns of all groups that are named."""
    listed = groups.values() if isinstance(groups, Mapping) else ()
    return tuple(name for columns in listed for name in columns)


def check_apart(named: Mapping[str, Iterable[Name]], others: Mapping[str, Iterable[Name]]) -> None:
    """Raise if a parameter names a column that another parameter names, too."""
    home: dict[Name, str] = {name: key for key, names in others.items() for name in names}
    for parameter, names in named.items():
        for name in names:
            if name in home:
                rule = "have no column in common with ", Argument(home[name])
                remedy = "Take it out of one of the two."
                raise ParameterError.because(parameter, rule, name, remedy)
        home |= dict.fromkeys(names, parameter)


@dataclass(frozen=True, slots=True)
class Plan:
    """How the table of a search is arranged.

    Attributes
    ----------
    given
        Covariates.
    groups
        Columns of each group; ``"prefix"`` to find one-hot blocks; or ``None``.
    weights
        Column that holds weights.
    """

    given: tuple[Name, ...] = ()
    groups: Mapping[Name, tuple[Name, ...]] | str | None = None
    weights: WeightColumn | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the table is left as it is."""
        return not self.given and self.groups is None and self.weights is None

    @property
    def named(self) -> dict[str, tuple[Name, ...]]:
        """The columns that each parameter names."""
        return {
            "given": self.given,
            "groups": columns_of(self.groups),
            "weights": () if self.weights is None else self.weights.names,
        }

    def check_apart(self, others: Mapping[str, Iterable[Name]]) -> None:
        """Raise if a column is named here and by another parameter, or twice here."""
        check_apart(self.named, others)

    def check_target(self, target: Name) -> None:
        """Raise if the target is used for something else."""
        for parameter, names in self.named.items():
            if target in names:
                words = "Take it out of ", Argument(parameter), ", or choose another target."
                raise ParameterError.because(parameter, "not name the target", target, words)
        if isinstance(self.groups, Mapping) and target in self.groups:
            rule, remedy = "not name a group after the target", "Choose another name."
            raise ParameterError.because("groups", rule, target, remedy)
