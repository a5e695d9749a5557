"""Groups of columns and weights of rows as a caller names them, checked without data."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
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


def check_groups(groups: object) -> dict[Name, tuple[Name, ...]] | str:
    """Check what can be checked before there is a table."""
    if isinstance(groups, str) and groups == PREFIX:
        return groups
    if not isinstance(groups, Mapping):
        rule = f"map names of groups to lists of columns, or be {PREFIX!r}"
        raise ParameterError.because("groups", rule, groups, _EXAMPLE)
    home: dict[Name, Name] = {}
    checked: dict[Name, tuple[Name, ...]] = {}
    for group, columns in groups.items():
        if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
            rule = f"have a list of names of columns for {group!r}"
            raise ParameterError.because("groups", rule, columns, _EXAMPLE)
        checked[group] = tuple(dict.fromkeys(list_names("groups", columns)))
        if not checked[group]:
            rule = f"name at least one column for {group!r}"
            raise ParameterError.because("groups", rule, [], _EXAMPLE)
        for name in checked[group]:
            if name in home:
                shown = f"{name!r} in {home[name]!r} and {group!r}"
                remedy = "Take it out of one of the two."
                rule = "have no column in two groups"
                raise ParameterError.because("groups", rule, name, remedy, shown=shown)
            home[name] = group
    return checked


def columns_of(groups: Mapping[Name, tuple[Name, ...]] | str) -> tuple[Name, ...]:
    """Return the columns of all groups that are named."""
    listed = groups.values() if isinstance(groups, Mapping) else ()
    return tuple(name for columns in listed for name in columns)
