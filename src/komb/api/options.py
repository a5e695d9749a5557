"""What a search can be asked for: names, types, defaults, checks and descriptions, once for all.

:func:`komb.markov_blanket` and the selector of scikit-learn spell these options out; other
functions take them as keywords (:mod:`komb.api.keywords`), and the command line makes its own from
them (:mod:`komb.cli.options`). A test compares all of them. Nothing heavy is imported here, so that
help is quick.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from numbers import Integral, Real
from typing import Any, TypeAlias, TypedDict

from komb.data.arrange.plan import (
    Groups,
    Plan,
    Weights,
    check_groups,
    check_weight_column,
)
from komb.data.checks import check_count
from komb.data.encode.treatment import (
    AUTO,
    DEFAULT_BINS,
    Bins,
    Discretize,
    NaValues,
    Treatment,
    TypeOption,
    check_treatment,
)
from komb.data.knowledge import Knowledge
from komb.data.memory_limit import check_limit
from komb.data.names import Name, check_hashable
from komb.errors import Argument, ParameterError, UnknownNameError

TestOption: TypeAlias = str | type[Any] | Callable[[Any, Any, Any], float]
"""A test by name, by its class, or a function (x, y, z) -> p-value."""

DEFAULT_LEVEL = 0.05
FIXED_ALPHA = 0.01
"""Level of the tests where the method does not choose it."""

PAPER_TEST = "g-sci"
"""What the kOMB paper tests with."""


def check_known(kind: str, name: object, known: Iterable[str], parameter: str = "") -> None:
    """Raise unless a name is known; it may be anything.

    Examples
    --------
    >>> check_known("test", ["g"], ["g", "chi2"])
    Traceback (most recent call last):
    komb.errors.UnknownNameError: There is no test ['g']. Known: 'g', 'chi2'.
    """
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError.among(kind, name, known, parameter or kind)


def list_names(parameter: str, names: Iterable[Name]) -> list[Name]:
    """Return several names as a list; a lone name is a mistake, even if it has many letters.

    Examples
    --------
    >>> list_names("start", "abc")
    Traceback (most recent call last):
    komb.errors.ParameterError: 'start' must be a list of column names; got 'abc'. Pass a list ...
    """
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        remedy = "Pass a list of column names: ", Argument(parameter, [names]), "."
        raise ParameterError.because(parameter, "be a list of column names", names, remedy)
    listed = list(names)
    check_hashable(parameter, listed)
    return listed


def check_bound(parameter: str, value: object) -> int:
    """Return a number of columns; words such as ``"auto"`` are none.

    Examples
    --------
    >>> check_bound("order", "auto")
    Traceback (most recent call last):
    komb.errors.ParameterError: 'order' must be a whole number, at least 0; got 'auto'. Try ...
    """
    if isinstance(value, str) or value is None:
        rule = "be a whole number, at least 0"
        which = ", or leave it out: method 'auto' finds its own, 'komb' takes 1."
        raise ParameterError.because(
            parameter, rule, value, ("Try ", Argument(parameter, 1), which)
        )
    return check_count(parameter, value)


def _check_method(parameter: str, value: object) -> object:
    from komb.search import algorithms

    check_known("method", value, algorithms(), parameter)
    return value


def _check_test(parameter: str, value: object) -> object:
    from komb.citests import tests

    if callable(value):
        return value
    if not isinstance(value, str):
        rule, remedy = "be the name of a test, or a function", f"Tests are: {', '.join(tests())}."
        raise ParameterError.because(parameter, rule, value, remedy)
    check_known("test", value, tests(), parameter)
    return value


def _check_share(parameter: str, value: object) -> float:
    """Return a number between 0 and 1."""
    number = _to_number(value)
    if not 0 < number < 1:
        example = {"alpha": FIXED_ALPHA, "level": DEFAULT_LEVEL}[parameter]
        rule = "be a number between 0 and 1, both excluded"
        remedy = "Try ", Argument(parameter, example), ", or leave it out."
        raise ParameterError.because(parameter, rule, value, remedy)
    return number


def _check_seconds(parameter: str, value: object) -> float:
    number = _to_number(value)
    if not 0 < number < math.inf:
        rule = "be a number of seconds above 0"
        remedy = "Try ", Argument(parameter, 60), ", or leave it out for no limit."
        raise ParameterError.because(parameter, rule, value, remedy)
    return number


def _to_number(value: object) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return float(value) if is_number else math.nan  # type: ignore[arg-type]


def _check_halves(parameter: str, value: object) -> int:
    """Return a number of half-samples, which are complementary pairs."""
    number = _to_number(value)
    if number < 2 or number % 2 or not isinstance(value, Integral):
        rule = "be an even number, at least 2: rows are split into pairs of halves"
        raise ParameterError.because(parameter, rule, value, ("Try ", Argument(parameter, 50), "."))
    return int(number)


def _check_memory(_parameter: str, value: Any) -> int | str:
    """Return a size as it was given."""
    check_limit(value)
    return value  # type: ignore[no-any-return]


def _check_names(parameter: str, value: Any) -> tuple[Name, ...]:
    return tuple(list_names(parameter, value))


def _check_start(parameter: str, value: Any) -> object:
    return value if isinstance(value, str) else _check_names(parameter, value)


def _check_knowledge(_parameter: str, value: Any) -> Knowledge:
    return Knowledge.of(value)


def _leave(_parameter: str, value: object) -> object:
    """Return a value as it is; it is checked together with others, or by what takes it."""
    return value


def _or_none(check: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    return lambda parameter, value: None if value is None else check(parameter, value)


@dataclass(frozen=True, slots=True)
class Description:
    """What an option says of itself, in Python and on the command line.

    Attributes
    ----------
    about
        One line.
    check
        Returns a value as it is used, or raises; called with the name of the option and the value.
    if_left_out
        What holds where the default does not say it.
    is_of_method
        Whether only some methods take it.
    letter
        Short form on the command line.
    metavar
        What stands for the value there.
    in_shell
        What it says there instead, where it differs.
    """

    about: str
    check: Callable[[str, Any], Any]
    if_left_out: str = ""
    is_of_method: bool = False
    letter: str = ""
    metavar: str | None = None
    in_shell: str = ""


def _option(
    default: object, about: str, check: Callable[[str, Any], Any] = _leave, **more: Any
) -> Any:
    return field(default=default, metadata={"description": Description(about, check, **more)})


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """The options of one search, checked as far as they can be without a table.

    Examples
    --------
    >>> SearchOptions(method="komb", order=2, include=["X1"]).include
    ('X1',)
    >>> SearchOptions(alpha=1)
    Traceback (most recent call last):
    komb.errors.ParameterError: 'alpha' must be a number between 0 and 1, both excluded; got 1. ...
    """

    method: str = _option(
        "auto", "Name of the algorithm.", _check_method, in_shell="Algorithm; see 'komb methods'."
    )
    order: int | None = _option(
        None,
        "Largest number of other columns that a dependence may need to become visible.",
        _or_none(check_bound),
        if_left_out="1 for komb; auto searches up to its limit",
        is_of_method=True,
        letter="-k",
        metavar="N",
    )
    max_separator: int | None = _option(
        None,
        "Largest number of columns that may together separate a column from the target.",
        _or_none(check_bound),
        if_left_out="1 for komb, 3 for auto",
        is_of_method=True,
        letter="-l",
        metavar="N",
    )
    max_conditioning: int | None = _option(
        None,
        "Largest set of columns that the classic methods condition on.",
        _or_none(check_count),
        if_left_out="the method's own",
        is_of_method=True,
        metavar="N",
    )
    level: float = _option(
        DEFAULT_LEVEL,
        "For auto: family-wise error, the probability that the blanket is not empty where nothing "
        "depends on the target.",
        _check_share,
        is_of_method=True,
        metavar="P",
    )
    alpha: float | None = _option(
        None,
        "Significance level of each test.",
        _or_none(_check_share),
        if_left_out=f"auto chooses, others {FIXED_ALPHA}",
        metavar="P",
    )
    test: TestOption = _option(  # noqa: RUF009 - it is a field
        "auto",
        "Name of the conditional-independence test, or a function (x, y, z) -> p-value.",
        _check_test,
        in_shell="Conditional-independence test; see 'komb tests'.",
    )
    df: str = _option(
        "observed",  # make_test checks it
        "Degrees of freedom of tests g, chi2 and g-sci: 'observed' or 'adjusted'.",
    )
    start: Iterable[Name] | str = _option(
        (),
        "Columns to start from, or the name of a method whose blanket to start from.",
        _check_start,
        metavar="COLUMN",
        in_shell="Start from this column. May be repeated.",
    )
    include: Iterable[Name] = _option(
        (),
        "Columns that are in the blanket whatever the tests say.",
        _check_names,
        metavar="COLUMN",
        in_shell="Always include this column. May be repeated.",
    )
    exclude: Iterable[Name] = _option(
        (),
        "Columns that the search ignores.",
        _check_names,
        metavar="COLUMN",
        in_shell="Exclude this column. May be repeated.",
    )
    given: Iterable[Name] = _option(
        (),
        "Covariates: columns that every test holds fixed, and that are never members. Those with "
        "many values are cut into fine strata.",
        _check_names,
        metavar="COLUMN",
        in_shell="Hold this column fixed in every test. May be repeated.",
    )
    groups: Groups = _option(  # noqa: RUF009
        None,
        "Columns that are tested and reported as one, by the name of the group; or 'prefix', which "
        "finds one-hot blocks such as colour_red, colour_blue.",
        check_groups,
        if_left_out="none",
        letter="--group",
        metavar="NAME=COLUMN,COLUMN...|prefix",
        in_shell="Test these columns as one; 'prefix' finds one-hot blocks. May be repeated.",
    )
    knowledge: Knowledge | Mapping[str, Any] | None = _option(  # noqa: RUF009
        None,
        "What is known beforehand, a komb.Knowledge: tiers, forbidden and required neighbours.",
        _or_none(_check_knowledge),
        if_left_out="nothing",
        metavar="FILE",
        in_shell="TOML file with tiers, forbidden and required neighbours.",
    )
    weights: Weights = _option(  # noqa: RUF009
        None,
        "Column of weights: whole numbers are frequencies, others the weights of a survey; "
        "{'w': 'survey'} says so.",
        check_weight_column,
        if_left_out="all rows count alike",
        metavar="COLUMN|COLUMN=survey",
        in_shell="Column of weights: whole numbers are frequencies, others weights of a survey.",
    )
    types: TypeOption = _option(  # noqa: RUF009
        AUTO,
        "Types of columns: 'auto' finds them, 'strict' takes numbers as levels and refuses what "
        "is unclear; or types by column: 'nominal', 'ordinal', 'continuous', 'time', 'identifier' "
        "or 'text'.",
        metavar="auto|strict|COLUMN=TYPE",
        in_shell="Type of a column: 'nominal', 'ordinal', 'continuous', 'time', 'identifier' or "
        "'text', found if left out. May be repeated. Or 'strict': take numbers as levels, and "
        "refuse what is unclear.",
    )
    discretize: Discretize = _option(  # noqa: RUF009
        None,
        "How to cut numeric columns into bins: 'quantile', 'uniform', 'kmeans' or 'mdl', for "
        "all of them or by column, or at which points.",
        if_left_out="as their types and the test require",
        metavar="RULE|COLUMN=RULE|COLUMN=CUT,CUT...",
        in_shell="Cut numeric columns into bins: 'quantile', 'uniform', 'kmeans', 'mdl', or at "
        "these cut points. May be repeated for several columns.",
    )
    bins: Bins = _option(  # noqa: RUF009
        DEFAULT_BINS,
        "Number of bins, for all columns or by column.",
        metavar="N|COLUMN=N",
        in_shell="Number of bins. May be repeated for several columns.",
    )
    missing: str | None = _option(
        None,
        "How to treat missing values: 'error', 'level' or 'testwise'.",
        if_left_out="testwise, or an error with strict types",
    )
    na_values: NaValues = _option(  # noqa: RUF009
        (),
        "What stands for a missing value, in all columns or by column, besides the usual.",
        metavar="VALUE|COLUMN=VALUE",
        in_shell="This value is a missing one, in all columns or in one. May be repeated.",
    )
    seed: int = _option(
        0, "Seed of tests that draw random numbers, and of half-samples.", check_count
    )
    time_budget: float | None = _option(
        None,
        "For auto: time limit of the search, in seconds.",
        _or_none(_check_seconds),
        if_left_out="no limit",
        is_of_method=True,
        metavar="SECONDS",
    )
    stability: int | None = _option(
        None,
        "Number of half-samples to search too, to measure how often each member is found again.",
        _or_none(_check_halves),
        if_left_out="none",
        metavar="N",
    )
    memory_limit: int | str | None = _option(
        None,
        "For tables on disk: memory that a search may take, in bytes or as '2 GB'; a table that "
        "needs more is counted shard by shard.",
        _or_none(_check_memory),
        if_left_out="half of what is free",
        metavar="SIZE",
        in_shell="Memory to take, in bytes or as '2 GB'. A table on disk that needs more is "
        "counted shard by shard.",
    )

    def __post_init__(self) -> None:
        for name, description in DESCRIPTIONS.items():
            object.__setattr__(self, name, description.check(name, getattr(self, name)))
        values = self.na_values
        if isinstance(values, Iterable) and not isinstance(values, Mapping | str):  # read it once
            object.__setattr__(self, "na_values", tuple(self.na_values))
        assert self.treatment
        for parameter in ("start", "include"):
            self._check_exclude(parameter)
        self.plan.check_apart(
            {
                "exclude": self.exclude,
                "include": self.include,
                "start": () if isinstance(self.start, str) else self.start,
            }
        )

    def _check_exclude(self, parameter: str) -> None:
        names = getattr(self, parameter)
        shared = [] if isinstance(names, str) else [name for name in names if name in self.exclude]
        if shared:
            rule = "have no column in common with ", Argument(parameter)
            remedy = "Take it out of one of the two."
            raise ParameterError.because("exclude", rule, shared, remedy)

    @property
    def start_method(self) -> str | None:
        """Name of the method whose blanket to start from."""
        return self.start if isinstance(self.start, str) else None

    @property
    def treatment(self) -> Treatment:
        """How raw columns become discrete ones."""
        return check_treatment(self.discretize, self.bins, self.missing, self.types, self.na_values)

    @property
    def plan(self) -> Plan:
        """How the table is arranged: covariates, groups and weights."""
        return Plan(self.given, self.groups, self.weights)  # type: ignore[arg-type]

    @property
    def of_method(self) -> dict[str, Any]:
        """The options that only some methods take, where they are not as by default."""
        given = {name: getattr(self, name) for name in METHOD_OPTIONS}
        return {name: value for name, value in given.items() if value != DEFAULTS[name]}

    def as_keywords(self) -> dict[str, Any]:
        """Return the options as keywords for another call."""
        return {name: getattr(self, name) for name in DEFAULTS}


def _described(option: Field[Any]) -> Description:
    description: Description = option.metadata["description"]
    return description


DESCRIPTIONS: Mapping[str, Description] = {
    option.name: _described(option) for option in fields(SearchOptions)
}
"""What each option says of itself."""

DEFAULTS: Mapping[str, Any] = {option.name: option.default for option in fields(SearchOptions)}
"""What holds where nothing is said."""

METHOD_OPTIONS = tuple(name for name, option in DESCRIPTIONS.items() if option.is_of_method)
"""The options that only some methods take."""


class CommonKeywords(TypedDict, total=False):
    """The options that every search takes, as keywords; types are those of SearchOptions."""

    alpha: float | None
    test: TestOption
    df: str
    start: Iterable[Name] | str
    include: Iterable[Name]
    exclude: Iterable[Name]
    given: Iterable[Name]
    groups: Groups
    knowledge: Knowledge | Mapping[str, Any] | None
    weights: Weights
    types: TypeOption
    discretize: Discretize
    bins: Bins
    missing: str | None
    na_values: NaValues
    seed: int
    memory_limit: int | str | None


class MethodKeywords(CommonKeywords, total=False):
    """Those and the options that only some methods take."""

    order: int | None
    max_separator: int | None
    max_conditioning: int | None
    level: float
    time_budget: float | None


class SearchKeywords(MethodKeywords, total=False):
    """Everything that a search of one method can be asked for."""

    method: str
    stability: int | None
