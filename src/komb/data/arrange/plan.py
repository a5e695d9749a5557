"""What a caller wants a table to be made for: covariates, groups of columns, weights; checked.

>>> Plan(given=("age",), groups=check_groups("groups", {"gene": ["rs1", "rs2"]})).is_empty
False
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from komb.data.names import Name, check_hashable
from komb.errors import Argument, ParameterError, UnknownNameError

Groups: TypeAlias = Mapping[Name, Iterable[Name]] | str | None
Weights: TypeAlias = Name | Mapping[Name, str] | None

PREFIX = "prefix"
"""Find one-hot blocks by the names of their columns."""

FREQUENCY, SURVEY = "frequency", "survey"
KINDS = (FREQUENCY, SURVEY)
"""What weights can mean."""

_EXAMPLE = "Write it as ", Argument("groups", {"gene": ["rs1", "rs2"]}), "."


class WeightColumn(NamedTuple):
    """Which column holds weights, and what they mean; ``None``: whole numbers are frequencies."""

    name: Name
    kind: str | None = None


def check_weight_column(parameter: str, weights: object) -> WeightColumn | None:
    """Check what can be checked before there is a table.

    Examples
    --------
    >>> check_weight_column("weights", "w"), check_weight_column("weights", {"w": "survey"})
    (WeightColumn(name='w', kind=None), WeightColumn(name='w', kind='survey'))
    """
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
    """Check what can be checked before there is a table.

    Examples
    --------
    >>> check_groups("groups", {"gene": ["rs1", "rs2"]})
    {'gene': ('rs1', 'rs2')}
    >>> check_groups("groups", {"a": ["x", "y"], "b": ["y", "z"]})
    Traceback (most recent call last):
    komb.errors.ParameterError: 'groups' must have no column in two groups; got 'y' in 'a' and ...
    """
    if groups is None or (isinstance(groups, str) and groups == PREFIX):
        return groups
    if not isinstance(groups, Mapping):
        rule = f"map names of groups to lists of columns, or be {PREFIX!r}"
        raise ParameterError.because(parameter, rule, groups, _EXAMPLE)
    home: dict[Name, Name] = {}
    checked: dict[Name, tuple[Name, ...]] = {}
    for group, columns in groups.items():
        if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
            rule = f"have a list of columns for {group!r}"
            raise ParameterError.because(parameter, rule, columns, _EXAMPLE)
        listed = list(columns)
        check_hashable(parameter, listed)
        checked[group] = tuple(dict.fromkeys(listed))
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
        grouped = self.groups.values() if isinstance(self.groups, Mapping) else ()
        return {
            "given": self.given,
            "groups": tuple(name for columns in grouped for name in columns),
            "weights": () if self.weights is None else (self.weights.name,),
        }

    def check_apart(self, others: Mapping[str, Iterable[Name]]) -> None:
        """Raise if a column is named here and by another parameter, or twice here.

        Examples
        --------
        >>> Plan(given=("age",)).check_apart({"include": ["age"]})
        Traceback (most recent call last):
        komb.errors.ParameterError: 'given' must have no column in common with 'include'; got ...
        """
        home: dict[Name, str] = {name: key for key, names in others.items() for name in names}
        for parameter, names in self.named.items():
            for name in names:
                if name in home:
                    rule = "have no column in common with ", Argument(home[name])
                    remedy = "Take it out of one of the two."
                    raise ParameterError.because(parameter, rule, name, remedy)
            home |= dict.fromkeys(names, parameter)

    def check_target(self, target: Name) -> None:
        """Raise if the target is used for something else."""
        for parameter, names in self.named.items():
            if target in names:
                words = "Take it out of ", Argument(parameter), ", or choose another target."
                raise ParameterError.because(parameter, "not name the target", target, words)
        if isinstance(self.groups, Mapping) and target in self.groups:
            rule, remedy = "not name a group after the target", "Choose another name."
            raise ParameterError.because("groups", rule, target, remedy)
