"""What a caller asked for, checked before anything is counted."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, NoReturn

from komb.citests import tests
from komb.citests.registry import make_test
from komb.data import defaults
from komb.data.checks import check_count
from komb.data.encode.codes import Name
from komb.data.encode.treatment import Bins, Discretize, Treatment, check_treatment
from komb.data.table import DiscreteTable
from komb.errors import DataError, ParameterError, UnknownNameError
from komb.search import algorithms
from komb.search._budget import Budget
from komb.search.registry import AlgorithmInfo, find_algorithm
from komb.search.task import Choice

OPTIONS = ("order", "max_separator", "max_conditioning", "level", "time_budget")
"""What only some methods take."""

_ROWS_TO_SPLIT = 4  # halves of fewer rows have nothing to test


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a search is run with, apart from data and target.

    Columns are positions in the table, in its order.
    """

    method: str
    options: Mapping[str, Any]  # those given, checked; an algorithm has defaults for the rest
    alpha: float
    test: str
    df: str
    start: tuple[int, ...]
    start_method: str | None  # the search begins from what this one finds
    include: tuple[int, ...]
    exclude: tuple[Name, ...]  # names: these columns are not in the table
    treatment: Treatment = field(default_factory=Treatment)  # what the raw data have gone through
    seed: int = defaults.SEED
    given_alpha: float | None = None  # what the caller said; ``alpha`` is what holds
    choices: Mapping[str, Choice] = field(default_factory=dict)  # made before the search
    stability: int | None = None  # half-samples to search as well

    @property
    def algorithm(self) -> AlgorithmInfo:
        """The search to run."""
        return find_algorithm(self.method)

    def arguments_of(self, algorithm: AlgorithmInfo) -> dict[str, Any]:
        """Return what to call an algorithm with, besides session and task; starts the clock."""
        given = {name: value for name, value in self.options.items() if name in algorithm.options}
        seconds = given.pop("time_budget", None)
        if seconds is not None:
            given["budget"] = Budget(seconds)
        if algorithm.choose_alpha is not None:
            given["alpha"] = self.given_alpha
        return given

    def for_rows_of(self, table: DiscreteTable, half: DiscreteTable) -> Settings:
        """Return what the same call means for some rows of a table, and perhaps fewer columns."""
        alpha, choices = _choose_alpha(self.given_alpha, half, self.algorithm)
        kept = {name: position for position, name in enumerate(half.names)}
        start, include = (
            tuple(kept[name] for name in _names(table, positions) if name in kept)
            for positions in (self.start, self.include)
        )
        return replace(
            self, alpha=alpha, choices=choices, start=start, include=include, stability=None
        )

    def describe(self, table: DiscreteTable) -> dict[str, Any]:
        """Return the parameters as a result reports them, with names for columns."""
        # those of the method to start from are among them, for without them a run is not the same
        options: dict[str, Any] = dict.fromkeys(OPTIONS) | self.algorithm.defaults
        options |= self.options
        df = "adjusted" if self.test == defaults.TEST else self.df  # that test has its own rule
        test: dict[str, Any] = {"alpha": self.alpha, "test": self.test, "df": df}
        if self.stability is not None:
            test["stability"] = self.stability
        if tests()[self.test].is_random or self.stability is not None:  # else it means nothing
            test["seed"] = self.seed
        columns = {
            "start": self.start_method or _names(table, self.start),
            "include": _names(table, self.include),
            "exclude": self.exclude,
        }
        return options | test | columns | describe_data(self.treatment, table)


def describe_data(treatment: Treatment, table: DiscreteTable) -> dict[str, Any]:
    """Return what the raw data have gone through, as a result reports it.

    Examples
    --------
    >>> describe_data(Treatment(missing="level"), DiscreteTable.from_data({"x": [0, 1]}))
    {'discretize': None, 'missing': 'level'}
    """
    described = treatment.describe()
    # whoever made a table with marks said what they mean
    return described | {"missing": "testwise"} if table.has_missing else described


def _names(table: DiscreteTable, positions: Iterable[int]) -> tuple[Name, ...]:
    return tuple(table.names[position] for position in positions)


def check_settings(
    table: DiscreteTable,
    *,
    method: str,
    order: int | None = None,
    max_separator: int | None = None,
    max_conditioning: int | None = None,
    level: float = defaults.LEVEL,
    alpha: float | None = None,
    test: str,
    df: str,
    start: Iterable[Name] | str,
    include: Iterable[Name],
    exclude: Iterable[Name],
    discretize: Discretize = None,
    bins: Bins = defaults.BINS,
    missing: str = defaults.MISSING,
    seed: int = defaults.SEED,
    time_budget: float | None = None,
    stability: int | None = None,
) -> Settings:
    """Check every parameter that does not depend on the target.

    Examples
    --------
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> columns = dict(start=(), include=(), exclude=())
    >>> check_settings(boolean_table("and", 9), method="komb", alpha=1, test="g", df="observed", \
**columns)
    Traceback (most recent call last):
    komb.errors.ParameterError: 'alpha' must be a number between 0 and 1, both excluded; got 1. ...
    """
    check_name("method", method, algorithms())
    check_name("test", test, tests())
    start_method = start if isinstance(start, str) else None
    if start_method is not None:
        _check_start_method(start_method, table)
    searches = [find_algorithm(name) for name in (method, start_method) if name is not None]
    options = _check_options(
        searches, table, order=order, max_separator=max_separator,
        max_conditioning=max_conditioning, level=level, time_budget=time_budget,
    )  # fmt: skip
    for search in searches:
        _check_fit(search, test)
    given_alpha = None if alpha is None else _check_share("alpha", alpha, "0.01")
    used_alpha, choices = _choose_alpha(given_alpha, table, searches[0])
    make_test(test, df, seed, alpha=used_alpha)  # knows what it takes
    return Settings(
        method=method,
        options=options,
        alpha=used_alpha,
        test=test,
        df=df,
        start=() if isinstance(start, str) else check_columns("start", start, table),
        start_method=start_method,
        include=check_columns("include", include, table),
        exclude=tuple(exclude),
        treatment=check_treatment(discretize, bins, missing),
        seed=check_count("seed", seed),
        given_alpha=given_alpha,
        choices=choices,
        stability=None if stability is None else _check_halves(stability, table),
    )


def _check_halves(n_halves: object, table: DiscreteTable) -> int:
    """Return a number of half-samples: complementary pairs, of a table that has halves."""
    checked = check_count("stability", n_halves)
    if checked < 2 or checked % 2:
        rule = "be an even number, at least 2: rows are split into pairs of halves"
        raise ParameterError.because("stability", rule, n_halves, "Try stability=50.")
    if table.n_rows < _ROWS_TO_SPLIT:
        rule = f"be left out for a table of fewer than {_ROWS_TO_SPLIT} rows"
        raise ParameterError.because("stability", rule, n_halves, "Collect more rows.")
    return checked


def _choose_alpha(
    alpha: float | None, table: DiscreteTable, search: AlgorithmInfo
) -> tuple[float, dict[str, Choice]]:
    """Return the level of the tests; if the search chooses it, why."""
    if alpha is not None:
        return alpha, {}
    if search.choose_alpha is None:
        return defaults.FIXED_ALPHA, {}
    choice = search.choose_alpha(table.n_rows, table.n_columns)
    assert isinstance(choice.value, float)
    return choice.value, {"alpha": choice}


def _check_fit(search: AlgorithmInfo, test: str) -> None:
    """Raise if a search needs smaller p-values than a test has."""
    if test == "perm" and search.choose_alpha is not None:
        raise ParameterError.because(
            "test",
            f"have p-values as small as many tests call for, with method {search.name!r}",
            test,
            "Those of 'perm' are never below 1 / (number of shuffles). Use test='auto', or "
            "another method, such as method='komb'.",
        )


def _check_options(
    searches: Sequence[AlgorithmInfo], table: DiscreteTable, **given: Any
) -> dict[str, Any]:
    """Check the options that only some searches take; one that no search takes is an error."""
    options: dict[str, Any] = {}
    if given["order"] is not None:
        options["order"] = check_order(given["order"], table)
    if given["max_separator"] is not None:
        options["max_separator"] = _check_bound("max_separator", given["max_separator"])
    if given["max_conditioning"] is not None:
        options["max_conditioning"] = check_count("max_conditioning", given["max_conditioning"])
    if given["level"] != defaults.LEVEL:
        options["level"] = _check_share("level", given["level"], str(defaults.LEVEL))
    if given["time_budget"] is not None:
        options["time_budget"] = _check_seconds(given["time_budget"])
    taken = {name for search in searches for name in search.options}
    for name, value in options.items():
        if name not in taken:
            _refuse_option(name, value, searches[0].name)
    return options


def _check_bound(parameter: str, value: object) -> int:
    """Return a number; what is no number, such as ``"auto"``, has been one."""
    if isinstance(value, str) or value is None:
        rule = "be a whole number, at least 0"
        remedy = f"Try {parameter}=1, or leave it out: method 'auto' finds its own, 'komb' takes 1."
        raise ParameterError.because(parameter, rule, value, remedy)
    return check_count(parameter, value)


def _check_share(parameter: str, value: object, example: str) -> float:
    """Return a number between 0 and 1."""
    if not _is_number(value) or not 0 < float(value) < 1:  # type: ignore[arg-type]
        rule = "be a number between 0 and 1, both excluded"
        remedy = f"Try {parameter}={example}, or leave it out."
        raise ParameterError.because(parameter, rule, value, remedy)
    return float(value)  # type: ignore[arg-type]


def _check_seconds(value: object) -> float:
    if not _is_number(value) or not 0 < float(value) < math.inf:  # type: ignore[arg-type]
        rule = "be a number of seconds above 0"
        remedy = "Try time_budget=60, or leave it out for as long as it takes."
        raise ParameterError.because("time_budget", rule, value, remedy)
    return float(value)  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _refuse_option(name: str, value: object, method: str) -> NoReturn:
    takers = [info.name for info in algorithms().values() if name in info.options]
    raise ParameterError.because(
        name,
        f"be left out for method {method!r}, which has no such option",
        value,
        f"Leave it out, or use a method that has it: {', '.join(takers)}.",
    )


def _check_start_method(name: str, table: DiscreteTable) -> None:
    if name in algorithms():
        return
    if name in table.names:
        remedy = f"To start from this column, pass a list: start=[{name!r}]."
    else:
        remedy = f"Methods are: {', '.join(algorithms())}."
    rule = "be a list of column names, or the name of a method to start from"
    raise ParameterError.because("start", rule, name, remedy)


def check_exclude(
    exclude: Iterable[Name], targets: Iterable[Name], **others: Iterable[Name] | str
) -> list[Name]:
    """Return the columns to leave out, unless they are wanted elsewhere.

    Examples
    --------
    >>> check_exclude(["id"], ["Y"], include=["X1"])
    ['id']
    """
    excluded = list_names("exclude", exclude)
    for parameter, names in others.items():
        if parameter == "start" and isinstance(names, str):
            continue  # the name of a method
        shared = [name for name in list_names(parameter, names) if name in excluded]
        if shared:
            rule = f"have no column in common with {parameter!r}"
            remedy = "Take it out of one of the two."
            raise ParameterError.because("exclude", rule, shared, remedy)
    for target in targets:
        check_is_name(target)
        if target in excluded:
            _refuse_target("exclude", target)
    return excluded


def check_is_name(target: object) -> None:
    """Raise if a target is not a name but, say, the values of a column."""
    if not isinstance(target, Hashable):
        raise ParameterError(
            f"'target' must be the name of a column; got a {type(target).__name__}. Put its values "
            "into the table as a column and pass that column's name."
        )


def _refuse_target(parameter: str, name: Name) -> NoReturn:
    remedy = f"Take it out of {parameter!r}: a column is never in its own blanket."
    raise ParameterError.because(parameter, "not name the target", name, remedy)


def check_table(table: DiscreteTable) -> None:
    """Raise if a table is too small for any analysis.

    Examples
    --------
    >>> check_table(DiscreteTable.from_data({"x": [0, 1]}))
    Traceback (most recent call last):
    komb.errors.DataError: 'data' must have at least 2 columns, a target and a candidate; got 1. ...
    """
    if table.n_columns < 2:
        raise DataError(
            "'data' must have at least 2 columns, a target and a candidate; got 1. Check how it "
            "was read: a wrong delimiter puts everything into one column."
        )
    if table.n_rows < 2:
        raise DataError(
            f"'data' must have at least 2 rows; got {table.n_rows}. One row says nothing about "
            "dependence: check how it was read or filtered."
        )


def check_target(table: DiscreteTable, target: Name, settings: Settings) -> int:
    """Return the position of a target, or say why it cannot be one.

    Examples
    --------
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> table = boolean_table("and", 9)
    >>> settings = Settings("komb", {}, 0.01, "g", "observed", (), None, (), ())
    >>> check_target(table, "Y", settings)
    3
    """
    position = _position("target", target, table)
    for parameter in ("include", "start"):
        if position in getattr(settings, parameter):
            _refuse_target(parameter, table.names[position])
    if is_constant(table, position):
        where = "every row with a value" if table.missing_counts[position] else "every row"
        raise DataError(
            f"'target' must be a column with at least 2 levels; got {target!r}, which is "
            f"{table.levels[position][0]!r} in {where}. Choose another target, or rows in which "
            "it varies."
        )
    return position


def is_constant(table: DiscreteTable, position: int) -> bool:
    """Whether a column has one level only."""
    return len(table.levels[position]) < 2


def check_columns(parameter: str, names: Iterable[Name], table: DiscreteTable) -> tuple[int, ...]:
    """Return the positions of several columns, each once, in the order of the table.

    Examples
    --------
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> check_columns("start", ["X3", "X1"], boolean_table("and", 9))
    (0, 2)
    """
    listed = list_names(parameter, names)
    return tuple(sorted({_position(parameter, name, table) for name in listed}))


def list_names(parameter: str, names: Iterable[Name]) -> list[Name]:
    """Return several names as a list; a lone name is a mistake, even if it has many letters.

    Examples
    --------
    >>> list_names("start", "abc")
    Traceback (most recent call last):
    komb.errors.ParameterError: 'start' must be a list of column names; got 'abc'. Pass a list ...
    """
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        remedy = f"Pass a list of column names: {parameter}=[{names!r}]."
        raise ParameterError.because(parameter, "be a list of column names", names, remedy)
    return list(names)


def _position(parameter: str, name: Name, table: DiscreteTable) -> int:
    try:
        return table.index(name)
    except UnknownNameError as error:
        raise UnknownNameError(f"In {parameter!r}: {error}") from None


def check_name(kind: str, name: object, known: Iterable[str]) -> None:
    """Raise unless a name is known; it may be anything.

    Examples
    --------
    >>> check_name("test", ["g"], tests())
    Traceback (most recent call last):
    komb.errors.UnknownNameError: There is no test ['g']. Known: ...
    """
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError.among(kind, name, known)


def check_order(order: object, table: DiscreteTable) -> int:
    """Return an order, or say why the table has no use for it.

    Examples
    --------
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> check_order(2, boolean_table("and", 9))
    2
    """
    checked = _check_bound("order", order)
    most = max(1, table.n_columns - 2)  # the default must do for any table
    if checked > most:
        rule = f"be at most {most} for a table of {table.n_columns} columns"
        remedy = f"A witness is made of other columns than target and member. Try order={most}."
        raise ParameterError.because("order", rule, order, remedy)
    return checked
