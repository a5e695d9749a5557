"""What a caller wants done with columns: their types, numbers and missing values, checked.

>>> treatment = check_treatment({"age": "quantile", "height": [160, 180]}, 3, "level")
>>> treatment.rule_of("age"), treatment.rule_of("height"), treatment.rule_of("sex")
('quantile', (160.0, 180.0), None)
>>> check_treatment(types={"zip": "nominal"}).type_of("zip")
'nominal'

With ``types="strict"`` nothing is decided for the caller: numbers are levels, and a column that
looks continuous or has missing values is an error unless something is said about it. Otherwise
types are found (:mod:`komb.data.encode.automatic`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Real
from typing import Any, TypeAlias

from komb.data.checks import check_count
from komb.data.encode.column_errors import MAX_LEVELS
from komb.data.encode.column_types import KINDS, NUMERIC, ColumnType
from komb.data.names import Name
from komb.errors import Argument, ParameterError, UnknownNameError

Discretize: TypeAlias = str | Mapping[Any, str | Sequence[float]] | None
Bins: TypeAlias = int | Mapping[Any, int]
Rule: TypeAlias = str | tuple[float, ...]
TypeOption: TypeAlias = str | Mapping[Any, str | ColumnType]
"""``"auto"``, ``"strict"``, or the types of some columns; those of the others are found."""
NaValues: TypeAlias = Iterable[Any] | Mapping[Any, Iterable[Any]]
"""What stands for a missing value, in all columns or by column."""

MDL = "mdl"
INTO_BINS = ("quantile", "uniform", "kmeans")
WAYS = (*INTO_BINS, MDL)
"""How cut points are found."""

MISSING = ("error", "level", "testwise")
"""What becomes of missing values."""

DEFAULT_BINS = 4

AUTO, STRICT = "auto", "strict"


@dataclass(frozen=True, slots=True)
class Treatment:
    """How raw columns become discrete ones."""

    # how all numeric columns with many values are cut; or for some columns how, or where; or
    # ``None``
    discretize: str | Mapping[Name, Rule] | None = None
    bins: Bins = DEFAULT_BINS  # number of bins, for all columns or by column
    missing: str = "error"  # one of :data:`MISSING`
    is_strict: bool = True  # whether nothing is decided for the caller
    # the kinds of columns that the caller has named
    types: Mapping[Name, str] = field(default_factory=dict)
    # what stands for a missing value besides the usual, in all columns or by column
    na_values: tuple[Any, ...] | Mapping[Name, tuple[Any, ...]] = ()

    def type_of(self, name: Name) -> str | None:
        """Return the kind of a column, if the caller has named it."""
        return self.types.get(name)

    def na_values_of(self, name: Name) -> tuple[Any, ...]:
        """Return what stands for a missing value in a column, besides the usual."""
        if isinstance(self.na_values, Mapping):
            return self.na_values.get(name, ())
        return self.na_values

    def rule_of(self, name: Name) -> Rule | None:
        """How a column is cut if it is numeric: a word, cut points, or not at all."""
        if isinstance(self.discretize, Mapping):
            return self.discretize.get(name)
        return self.discretize

    def is_named(self, name: Name) -> bool:
        """Whether the caller named the column, so that it must be numeric."""
        return isinstance(self.discretize, Mapping) and name in self.discretize

    def bins_of(self, name: Name) -> int:
        """Into how many bins a column is cut."""
        if isinstance(self.bins, Mapping):
            return self.bins.get(name, DEFAULT_BINS)
        return self.bins

    @property
    def needs_bins(self) -> bool:
        """Whether a column may be cut into a given number of bins."""
        return any(rule in INTO_BINS for rule in self._rules())

    @property
    def needs_target(self) -> bool:
        """Whether a column may be cut by the target."""
        return MDL in self._rules()

    def _rules(self) -> list[Rule | None]:
        if isinstance(self.discretize, Mapping):
            return list(self.discretize.values())
        return [self.discretize]

    def describe(self) -> dict[str, Any]:
        """Return what a result reports of it."""
        types: object = STRICT if self.is_strict else dict(self.types) or AUTO
        used = {"bins": _as_dict(self.bins)} if self.needs_bins else {}
        marked = {"na_values": _as_dict(self.na_values)} if self.na_values else {}
        cut = {"discretize": _as_dict(self.discretize), **used}
        return {"types": types, **cut, "missing": self.missing, **marked}

    def refuse(self, parameters: Iterable[str], rule: str, remedy: str) -> None:
        """Raise if one of some parameters was given."""
        for parameter in parameters:
            if getattr(self, parameter):
                value = self.describe()[parameter]
                raise ParameterError.because(parameter, rule, value, remedy.format(parameter))

    def check_names(self, names: Sequence[Name]) -> None:
        """Raise if a column was named that is not there."""
        for parameter in ("types", "discretize", "bins", "na_values"):
            named = getattr(self, parameter)
            for name in named if isinstance(named, Mapping) else ():
                if name not in names:
                    raise UnknownNameError.among("column", name, names, parameter)

    def check_target(self, target: Name | None) -> None:
        """Raise if columns are to be cut by a target that is missing or to be cut itself."""
        if not self.needs_target:
            return
        if target is None:
            rule = (
                "come with ",
                Argument("target"),
                ", for 'mdl' cuts where the levels of the target change",
            )
            remedy = "Pass ", Argument("target", "name"), ", or use 'quantile'."
            raise ParameterError.because("discretize", rule, _as_dict(self.discretize), remedy)
        if self.is_named(target) and self.rule_of(target) == MDL:
            words = "not cut the target by 'mdl', which cuts other columns by the target"
            advice = f"Use 'quantile' for {target!r}."
            raise ParameterError.because("discretize", words, _as_dict(self.discretize), advice)


def _as_dict(option: object) -> object:
    return dict(option) if isinstance(option, Mapping) else option


def check_treatment(
    discretize: object = None,
    bins: object = DEFAULT_BINS,
    missing: object = None,
    types: object = STRICT,
    na_values: object = (),
) -> Treatment:
    """Check what can be checked before there is a table.

    If nothing is said of missing values, they are an error to strict types, and are otherwise left
    out test by test.
    """
    is_strict = isinstance(types, str) and types == STRICT
    if missing is None:
        missing = "error" if is_strict else "testwise"
    treatment = Treatment(
        discretize=_check_discretize(discretize),
        bins=_check_bins(bins),
        missing=_check_word("missing", "treatment", missing, MISSING),
        is_strict=is_strict,
        types=_check_types(types),
        na_values=_check_na_values(na_values, is_strict),
    )
    _check_use_of_bins(treatment)
    _check_one_say(treatment)
    return treatment


def _check_types(types: object) -> Mapping[Name, str]:
    if isinstance(types, Mapping):
        kinds = {
            name: kind.kind if isinstance(kind, ColumnType) else kind
            for name, kind in types.items()
        }
        found = {name: kind for name, kind in kinds.items() if kind in KINDS}
        for name, kind in kinds.items():
            if name not in found and not isinstance(types[name], ColumnType):
                _check_word("types", f"type (of column {name!r})", kind, KINDS)
        return found
    if isinstance(types, str) and types in (AUTO, STRICT):
        return {}
    rule = f"be {AUTO!r}, {STRICT!r}, or map columns to one of {', '.join(map(repr, KINDS))}"
    remedy = "Try ", Argument("types", {"zip": "nominal"}), "."
    raise ParameterError.because("types", rule, types, remedy)


def _check_na_values(
    values: object, is_strict: bool
) -> tuple[Any, ...] | Mapping[Name, tuple[Any, ...]]:
    if isinstance(values, Mapping):
        found: Any = {name: _list_values(entry) for name, entry in values.items()}
    else:
        found = _list_values(values)
    if found and is_strict:
        rule = "be left out with ", Argument("types", STRICT), ", which takes data as they are"
        raise ParameterError.because("na_values", rule, _as_dict(found), "Leave out one of them.")
    return found  # type: ignore[no-any-return]


def _list_values(values: object) -> tuple[Any, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        remedy = "Put it in a list: ", Argument("na_values", [values]), "."
        raise ParameterError.because("na_values", "be a list of values", values, remedy)
    return tuple(values)


def _check_one_say(treatment: Treatment) -> None:
    """Raise if a column is to be cut that has a type without an order."""
    discretize = treatment.discretize
    for name in discretize if isinstance(discretize, Mapping) else ():
        kind = treatment.type_of(name)
        if kind is not None and kind not in NUMERIC:
            rule = f"not cut column {name!r}, whose type is to be {kind!r}"
            remedy = "Take it out of ", Argument("discretize"), " or ", Argument("types"), "."
            raise ParameterError.because("discretize", rule, _as_dict(discretize), remedy)


def _check_discretize(discretize: object) -> str | Mapping[Name, Rule] | None:
    if discretize is None:
        return None
    if isinstance(discretize, str):
        return _check_word("discretize", "rule", discretize, WAYS)
    if not isinstance(discretize, Mapping):
        ways = ", ".join(map(repr, WAYS))
        rule = f"be one of {ways}, or map columns to one of those or to cut points"
        remedy = (
            "Try ",
            Argument("discretize", "quantile"),
            ", or ",
            Argument("discretize", {"age": [18, 65]}),
            ".",
        )
        raise ParameterError.because("discretize", rule, discretize, remedy)
    return {name: _check_rule(name, rule) for name, rule in discretize.items()}


def _check_rule(name: Name, rule: object) -> Rule:
    if isinstance(rule, str):
        return _check_word("discretize", "rule", rule, WAYS)
    is_list = isinstance(rule, Iterable) and not isinstance(rule, bytes | Mapping | Set)
    points = [_to_point(point) for point in rule] if is_list else [math.nan]  # type: ignore[attr-defined]
    is_ascending = all(low < high for low, high in pairwise(points))
    if not is_ascending or not all(map(math.isfinite, points)) or len(points) >= MAX_LEVELS:
        rule_text = f"have ascending finite numbers as cut points of {name!r}"
        remedy = "Sort them, each once: ", Argument("discretize", {name: [1.5, 2.5]}), "."
        raise ParameterError.because("discretize", rule_text, rule, remedy)
    return tuple(points)


def _to_point(point: object) -> float:
    is_number = isinstance(point, Real) and not isinstance(point, bool)
    return float(point) if is_number else math.nan  # type: ignore[arg-type]


def _check_bins(bins: object) -> Bins:
    most = MAX_LEVELS
    if not isinstance(bins, Mapping):
        return check_count("bins", bins, 2, most)
    return {name: check_count("bins", count, 2, most, column=name) for name, count in bins.items()}


def _check_use_of_bins(treatment: Treatment) -> None:
    """Raise if a number of bins was given that nothing makes use of."""
    bins = treatment.bins
    if isinstance(bins, Mapping):
        unused = [name for name in bins if treatment.rule_of(name) not in INTO_BINS]
        rule = f"name columns that are cut into bins, and {', '.join(map(repr, unused))} is not"
    else:
        unused = [] if bins == DEFAULT_BINS or treatment.needs_bins else [bins]
        rule = "be left out where nothing is cut into a given number of bins"
    if unused:
        remedy = (
            "Cut by 'quantile', 'uniform' or 'kmeans': ",
            Argument("discretize", "quantile"),
            ".",
        )
        raise ParameterError.because("bins", rule, _as_dict(bins), remedy)


def _check_word(parameter: str, kind: str, word: object, known: Sequence[str]) -> str:
    if not isinstance(word, str) or word not in known:
        raise UnknownNameError.among(kind, word, known, parameter)
    return word
