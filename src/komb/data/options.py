"""How a caller wants raw data read: types, numbers, missing values, columns; checked.

>>> options = check_options({"age": "quantile", "height": [160, 180]}, 3, "level")
>>> options.rule_of("age").cut, options.rule_of("height").cut, options.rule_of("sex").cut
('quantile', (160.0, 180.0), None)
>>> check_options(types={"zip": "nominal"}).rule_of("zip").kind
'nominal'

With ``types="strict"`` nothing is decided for the caller: every value is a level, and a column that
looks continuous or has missing values is an error unless something is said about it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

from komb.data.checks import check_count
from komb.data.kinds import KINDS, NOMINAL, NUMERIC, ColumnType
from komb.data.names import Name
from komb.data.problems import MAX_LEVELS
from komb.errors import Argument, ParameterError, Text, UnknownNameError

Discretize: TypeAlias = str | Mapping[Any, str | Sequence[float]] | None
Bins: TypeAlias = int | Mapping[Any, int]
Cut: TypeAlias = str | tuple[float, ...]
"""How a column is cut: by a rule, or at these points."""
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


class Rule(NamedTuple):
    """How one column is read."""

    is_strict: bool = True
    kind: str | None = None  # if the caller has named it
    cut: Cut | None = None
    is_cut_by_name: bool = False  # then it must be numeric
    bins: int = DEFAULT_BINS
    missing: str = "error"
    na_values: tuple[Any, ...] = ()  # what stands for a missing value, besides the usual
    lists_levels: bool = True  # whether all its values may be levels, however many


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How raw columns become discrete ones, and which of them."""

    discretize: str | Mapping[Name, Cut] | None = None  # for all numeric columns, or for some
    bins: Bins = DEFAULT_BINS  # for all columns or by column
    missing: str = "error"
    is_strict: bool = True
    types: Mapping[Name, str] = field(default_factory=dict)  # kinds that the caller has named
    na_values: tuple[Any, ...] | Mapping[Name, tuple[Any, ...]] = ()
    exclude: Collection[Name] = ()
    target: Name | None = None  # the column that others may be cut by
    only: Collection[Name] | None = None  # these columns and no others

    def rule_of(self, name: Name) -> Rule:
        """How a column is read; the target that others are cut by is cut only if it is named."""
        rules, na_values, bins = self.discretize, self.na_values, self.bins
        is_named = isinstance(rules, Mapping) and name in rules
        cuts_others = self.needs_target and name == self.target
        cut: Cut | None = rules.get(name) if isinstance(rules, Mapping) else rules
        if cuts_others and not is_named:
            cut = None
        kind = self.types.get(name)
        return Rule(
            self.is_strict,
            kind,
            cut,
            is_named,
            bins.get(name, DEFAULT_BINS) if isinstance(bins, Mapping) else bins,
            self.missing,
            na_values.get(name, ()) if isinstance(na_values, Mapping) else na_values,
            self.is_strict or kind == NOMINAL or cuts_others,
        )

    def _cuts(self) -> list[Cut | None]:
        by_name = isinstance(self.discretize, Mapping)
        return list(self.discretize.values()) if by_name else [self.discretize]  # type: ignore[union-attr,list-item]

    @property
    def needs_target(self) -> bool:
        """Whether a column may be cut by the target."""
        return MDL in self._cuts()

    def describe(self) -> dict[str, Any]:
        """Return what a result reports of it."""
        types: object = STRICT if self.is_strict else dict(self.types) or AUTO
        needs_bins = any(cut in INTO_BINS for cut in self._cuts())
        used = {"bins": _as_dict(self.bins)} if needs_bins else {}
        marked = {"na_values": _as_dict(self.na_values)} if self.na_values else {}
        cut = {"discretize": _as_dict(self.discretize), **used}
        return {"types": types, **cut, "missing": self.missing, **marked}

    def refuse(self, parameters: Iterable[str], rule: str, remedy: str) -> None:
        """Raise if one of some parameters was given."""
        for parameter in parameters:
            if getattr(self, parameter):
                value = self.describe()[parameter]
                raise ParameterError.because(parameter, rule, value, remedy.format(parameter))

    def names_left(self, names: Sequence[Name]) -> list[Name]:
        """Return the names that are not excluded; every name that is given must be known."""
        for parameter in ("types", "discretize", "bins", "na_values", "exclude"):
            named = getattr(self, parameter)
            if isinstance(named, Mapping) or parameter == "exclude":
                _check_known(named, names, parameter)
        _check_known(self.only or (), names)
        gone = set(self.exclude)
        left = [name for name in names if name not in gone]
        if self.needs_target:
            self._check_target()
            _check_known([self.target], left, "target")
        return left if self.only is None else [name for name in left if name in self.only]

    def _check_target(self) -> None:
        """Raise if columns are to be cut by a target that is missing or to be cut itself."""
        shown = _as_dict(self.discretize)
        if self.target is None:
            words = ", for 'mdl' cuts where the levels of the target change"
            rule: Text = ("come with ", Argument("target"), words)
            remedy: Text = ("Pass ", Argument("target", "name"), ", or use 'quantile'.")
            raise ParameterError.because("discretize", rule, shown, remedy)
        if self.rule_of(self.target).cut == MDL:
            rule = "not cut the target by 'mdl', which cuts other columns by the target"
            remedy = f"Use 'quantile' for {self.target!r}."
            raise ParameterError.because("discretize", rule, shown, remedy)


def _check_known(named: Collection[Name], names: Sequence[Name], parameter: str = "") -> None:
    known = set(names) if named else ()
    for name in named:
        if name not in known:
            raise UnknownNameError.among("column", name, names, parameter or None)


def _as_dict(option: object) -> object:
    return dict(option) if isinstance(option, Mapping) else option


def check_options(
    discretize: object = None,
    bins: object = DEFAULT_BINS,
    missing: object = None,
    types: object = STRICT,
    na_values: object = (),
    **which: Any,
) -> ReadOptions:
    """Check what can be checked before there is a table; ``which`` says which columns are read.

    If nothing is said of missing values, they are an error to strict types, and are otherwise left
    out test by test.
    """
    is_strict = isinstance(types, str) and types == STRICT
    if missing is None:
        missing = "error" if is_strict else "testwise"
    options = ReadOptions(
        discretize=_check_discretize(discretize),
        bins=_check_bins(bins),
        missing=_check_word("missing", "treatment", missing, MISSING),
        is_strict=is_strict,
        types=_check_types(types),
        na_values=_check_na_values(na_values, is_strict),
        **which,
    )
    _check_use_of_bins(options)
    _check_cut_types(options)
    return options


def _check_types(types: object) -> Mapping[Name, str]:
    if isinstance(types, Mapping):
        kinds = {
            name: kind.kind if isinstance(kind, ColumnType) else kind
            for name, kind in types.items()
        }
        for name, kind in kinds.items():
            if not isinstance(types[name], ColumnType):
                _check_word("types", f"type (of column {name!r})", kind, KINDS)
        return {name: kind for name, kind in kinds.items() if kind in KINDS}
    if isinstance(types, str) and types in (AUTO, STRICT):
        return {}
    rule = f"be {AUTO!r}, {STRICT!r}, or map columns to one of {', '.join(map(repr, KINDS))}"
    remedy = "Try ", Argument("types", {"zip": "nominal"}), "."
    raise ParameterError.because("types", rule, types, remedy)


def _check_na_values(values: object, is_strict: bool) -> Any:
    found: Any = (
        {name: _list_values(entry) for name, entry in values.items()}
        if isinstance(values, Mapping)
        else _list_values(values)
    )
    if found and is_strict:
        rule = "be left out with ", Argument("types", STRICT), ", which takes data as they are"
        raise ParameterError.because("na_values", rule, _as_dict(found), "Leave out one of them.")
    return found


def _list_values(values: object) -> tuple[Any, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        remedy = "Put it in a list: ", Argument("na_values", [values]), "."
        raise ParameterError.because("na_values", "be a list of values", values, remedy)
    return tuple(values)


def _check_cut_types(options: ReadOptions) -> None:
    """Raise if a column is to be cut that has a type without an order."""
    discretize = options.discretize
    for name in discretize if isinstance(discretize, Mapping) else ():
        kind = options.types.get(name)
        if kind is not None and kind not in NUMERIC:
            rule = f"not cut column {name!r}, whose type is to be {kind!r}"
            remedy = "Take it out of ", Argument("discretize"), " or ", Argument("types"), "."
            raise ParameterError.because("discretize", rule, _as_dict(discretize), remedy)


def _check_discretize(discretize: object) -> str | Mapping[Name, Cut] | None:
    if discretize is None:
        return None
    if isinstance(discretize, Mapping):
        return {name: _check_cut(name, cut) for name, cut in discretize.items()}
    if isinstance(discretize, str):
        return _check_word("discretize", "rule", discretize, WAYS)
    ways = ", ".join(map(repr, WAYS))
    rule = f"be one of {ways}, or map columns to one of those or to cut points"
    examples = Argument("discretize", "quantile"), Argument("discretize", {"age": [18, 65]})
    remedy = "Try ", examples[0], ", or ", examples[1], "."
    raise ParameterError.because("discretize", rule, discretize, remedy)


def _check_cut(name: Name, cut: object) -> Cut:
    if isinstance(cut, str):
        return _check_word("discretize", "rule", cut, WAYS)
    is_list = isinstance(cut, Iterable) and not isinstance(cut, bytes | Mapping | Set)
    points = [_to_point(point) for point in cut] if is_list else [math.nan]  # type: ignore[attr-defined]
    is_ascending = all(low < high for low, high in pairwise(points))
    if not is_ascending or not all(map(math.isfinite, points)) or len(points) >= MAX_LEVELS:
        rule = f"have ascending finite numbers as cut points of {name!r}"
        remedy = "Sort them, each once: ", Argument("discretize", {name: [1.5, 2.5]}), "."
        raise ParameterError.because("discretize", rule, cut, remedy)
    return tuple(points)


def _to_point(point: object) -> float:
    is_number = isinstance(point, Real) and not isinstance(point, bool)
    return float(point) if is_number else math.nan  # type: ignore[arg-type]


def _check_bins(bins: object) -> Bins:
    most = MAX_LEVELS
    if not isinstance(bins, Mapping):
        return check_count("bins", bins, 2, most)
    return {name: check_count("bins", count, 2, most, column=name) for name, count in bins.items()}


def _check_use_of_bins(options: ReadOptions) -> None:
    """Raise if a number of bins was given that nothing makes use of."""
    bins = options.bins
    if isinstance(bins, Mapping):
        unused = [name for name in bins if options.rule_of(name).cut not in INTO_BINS]
        rule = f"name columns that are cut into bins, and {', '.join(map(repr, unused))} is not"
    else:
        is_used = "bins" in options.describe()
        unused = [] if bins == DEFAULT_BINS or is_used else [bins]
        rule = "be left out where nothing is cut into a given number of bins"
    if unused:
        example = Argument("discretize", "quantile")
        remedy = "Cut by 'quantile', 'uniform' or 'kmeans': ", example, "."
        raise ParameterError.because("bins", rule, _as_dict(bins), remedy)


def _check_word(parameter: str, kind: str, word: object, known: Sequence[str]) -> str:
    if not isinstance(word, str) or word not in known:
        raise UnknownNameError.among(kind, word, known, parameter)
    return word
