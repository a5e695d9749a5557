"""What the options of a search mean for one table."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from komb.api.options import FIXED_ALPHA, METHOD_OPTIONS, SearchOptions, list_names
from komb.citests.contract import CITest
from komb.citests.registry import TestChoice, find_test, make_test, name_of_test
from komb.data.arrange.arrangement import Arranged
from komb.data.encode.codes import Name
from komb.data.encode.column_types import KINDS, NOMINAL, ORDINAL, ColumnType
from komb.data.encode.treatment import Treatment
from komb.data.knowledge import ColumnKnowledge, Knowledge
from komb.data.table import DiscreteTable
from komb.errors import Argument, DataError, ParameterError, Text, UnknownNameError
from komb.search import algorithms
from komb.search._budget import Budget
from komb.search.registry import AlgorithmInfo, find_algorithm
from komb.search.task import Choice

_ROWS_TO_SPLIT = 4  # halves of fewer rows have nothing to test


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a search is run with, apart from data and target.

    Columns are positions in the table, in its order.
    """

    method: str
    options: Mapping[str, Any]  # those given, checked; an algorithm has defaults for the rest
    alpha: float
    test: TestChoice
    df: str
    start: tuple[int, ...]
    start_method: str | None  # the search begins from what this one finds
    include: tuple[int, ...]
    exclude: tuple[Name, ...]  # names: these columns are not in the table
    treatment: Treatment = field(default_factory=Treatment)  # what the raw data have gone through
    seed: int = 0
    given_alpha: float | None = None  # what the caller said; ``alpha`` is what holds
    choices: Mapping[str, Choice] = field(default_factory=dict)  # made before the search
    stability: int | None = None  # half-samples to search as well
    given: tuple[int, ...] = ()  # columns of covariates, if any are held fixed
    knowledge: ColumnKnowledge | None = None
    arrangement: Mapping[str, Any] = field(
        default_factory=dict
    )  # for readers: names, not positions

    @classmethod
    def of(
        cls, options: SearchOptions, table: DiscreteTable, arranged: Arranged | None = None
    ) -> Settings:
        """Check what depends on the table, and find out what holds for it.

        Examples
        --------
        >>> from komb.data.models.boolean_functions import boolean_table
        >>> Settings.of(SearchOptions(include=["X2"]), boolean_table("and", 9)).include
        (1,)
        """
        searches = _check_searches(options, table)
        if options.order is not None:
            check_order(options.order, table)
        if options.stability is not None:
            _check_rows(options.stability, table)
        alpha, choices = _choose_alpha(options.alpha, table, searches[0])
        test = make_test(options.test, options.df, options.seed, alpha=alpha)
        for search in searches:
            _check_fit(search, test, name_of_test(options.test))
        by_name = () if options.start_method is not None else options.start
        arranged = Arranged(table) if arranged is None else arranged
        notes = {name: Choice(*note) for name, note in arranged.notes.items()}
        return cls(
            method=options.method,
            options=options.of_method,
            alpha=alpha,
            test=options.test,
            df=options.df,
            start=check_columns("start", by_name, table),
            start_method=options.start_method,
            include=check_columns("include", options.include, table),
            exclude=tuple(options.exclude),
            treatment=options.treatment,
            seed=options.seed,
            given_alpha=options.alpha,
            choices={**choices, **notes},
            stability=options.stability,
            given=tuple(map(table.index, arranged.strata)),
            knowledge=_find_knowledge(options, table, arranged),
            arrangement=_describe_arrangement(options, arranged),
        )

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
        given = tuple(kept[name] for name in _names(table, self.given) if name in kept)
        places = {table.index(name): position for name, position in kept.items()}
        knowledge = self.knowledge and self.knowledge.moved(places, half.n_columns)
        return replace(
            self, alpha=alpha, choices=choices, start=start, include=include, stability=None,
            given=given, knowledge=knowledge,
        )  # fmt: skip

    def describe(self, table: DiscreteTable) -> dict[str, Any]:
        """Return the parameters as a result reports them, with names for columns."""
        # those of the method to start from are among them, for without them a run is not the same
        options: dict[str, Any] = dict.fromkeys(METHOD_OPTIONS) | self.algorithm.defaults
        options |= self.options
        name, implementation = name_of_test(self.test), find_test(self.test)
        test: dict[str, Any] = {"alpha": self.alpha, "test": name}
        if implementation.has_df_rule:
            test["df"] = self.df
        if self.stability is not None:
            test["stability"] = self.stability
        if implementation.is_random or self.stability is not None:  # else it means nothing
            test["seed"] = self.seed
        columns = {
            "start": self.start_method or _names(table, self.start),
            "include": _names(table, self.include),
            "exclude": self.exclude,
        }
        data = self.treatment.describe()
        if table.has_missing:  # the maker of a table with marks has said what they mean
            data["missing"] = "testwise"
        return {**options, **test, **columns, **self.arrangement, **data}


def _find_knowledge(
    options: SearchOptions, table: DiscreteTable, arranged: Arranged
) -> ColumnKnowledge | None:
    """Return what is known about the columns; names must be those of columns or groups."""
    if options.knowledge is None:
        return None
    knowledge = Knowledge.of(options.knowledge)
    for pair in knowledge.required:
        left_out = [name for name in pair if name in options.exclude]
        if left_out:
            rule = "not require a column that is excluded"
            words = "Take it out of ", Argument("exclude"), " or of the required pairs."
            raise ParameterError.because("knowledge", rule, left_out[0], words)
    grouped = {name: group for group, names in arranged.groups.items() for name in names}
    for name in knowledge.names:
        if name in grouped and name not in table.names:
            rule = "speak of groups as a whole"
            remedy = f"Name the group {grouped[name]!r} instead."
            raise ParameterError.because("knowledge", rule, name, remedy)
    return knowledge.in_columns(table.names, {*options.given, *options.exclude})


def _describe_arrangement(options: SearchOptions, arranged: Arranged) -> dict[str, Any]:
    """Return what a result says of covariates, groups, knowledge and weights, if there are any."""
    knowledge = options.knowledge
    said = {
        "given": options.given,
        "groups": dict(arranged.groups),
        "knowledge": None if knowledge is None else Knowledge.of(knowledge).to_dict(),
        "weights": dict(arranged.weights),
    }
    return {name: value for name, value in said.items() if value}


def _names(table: DiscreteTable, positions: Iterable[int]) -> tuple[Name, ...]:
    return tuple(table.names[position] for position in positions)


def _check_searches(options: SearchOptions, table: DiscreteTable) -> list[AlgorithmInfo]:
    """Return the search to run, and the one to start from; raise if they do not fit the options."""
    if options.start_method is not None:
        _check_start_method(options.start_method, table)
    searches = find_searches(options)
    check_taken(searches, options.of_method)
    return searches


def find_searches(options: SearchOptions) -> list[AlgorithmInfo]:
    """Return the search to run and, if there is one, the search to start from.

    Examples
    --------
    >>> [search.name for search in find_searches(SearchOptions(method="gs", start="iamb"))]
    ['gs', 'iamb']
    """
    names = (options.method, options.start_method)
    return [find_algorithm(name) for name in names if name is not None]


def _check_start_method(name: str, table: DiscreteTable) -> None:
    if name in algorithms():
        return
    remedy: Text = f"Methods are: {', '.join(algorithms())}."
    if name in table.names:
        remedy = "To start from this column, pass a list: ", Argument("start", [name]), "."
    rule = "be a list of column names, or the name of a method to start from"
    raise ParameterError.because("start", rule, name, remedy)


def check_taken(searches: Sequence[AlgorithmInfo], given: Mapping[str, Any]) -> None:
    """Raise if an option was given that no search takes.

    Examples
    --------
    >>> check_taken(find_searches(SearchOptions(method="gs")), {"order": 2})
    Traceback (most recent call last):
    komb.errors.ParameterError: 'order' must be left out for method 'gs', which has no such ...
    """
    taken = {name for search in searches for name in search.options}
    for name, value in given.items():
        if name not in taken:
            takers = [info.name for info in algorithms().values() if name in info.options]
            rule = f"be left out for method {searches[0].name!r}, which has no such option"
            remedy = f"Leave it out, or use a method that has it: {', '.join(takers)}."
            raise ParameterError.because(name, rule, value, remedy)


def _check_fit(search: AlgorithmInfo, test: CITest, name: str) -> None:
    """Raise if a search needs smaller p-values than a test has."""
    if test.smallest_p_value > 0 and search.choose_alpha is not None:
        rule = f"give p-values small enough for multiple testing by method {search.name!r}"
        remedy = (
            f"Those of {name!r} are never below {test.smallest_p_value:.2g}. Use ",
            Argument("test", "auto"),
            ", or another method, such as ",
            Argument("method", "komb"),
            ".",
        )
        raise ParameterError.because("test", rule, name, remedy)


def _choose_alpha(
    alpha: float | None, table: DiscreteTable, search: AlgorithmInfo
) -> tuple[float, dict[str, Choice]]:
    """Return the level of the tests; if the search chooses it, why."""
    if alpha is not None:
        return alpha, {}
    if search.choose_alpha is None:
        return FIXED_ALPHA, {}
    choice = search.choose_alpha(table.n_rows, table.n_columns)
    assert isinstance(choice.value, float)
    return choice.value, {"alpha": choice}


def _check_rows(n_halves: int, table: DiscreteTable) -> None:
    if table.n_rows < _ROWS_TO_SPLIT:
        rule = f"be left out for a table of fewer than {_ROWS_TO_SPLIT} rows"
        raise ParameterError.because("stability", rule, n_halves, "Collect more rows.")


def check_order(order: int, table: DiscreteTable) -> int:
    """Return an order, or say why the table has no use for it.

    Examples
    --------
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> check_order(2, boolean_table("and", 9))
    2
    """
    most = max(1, table.n_columns - 2)  # the default must do for any table
    if order > most:
        rule = f"be at most {most} for a table of {table.n_columns} columns"
        reason = "A witness is made of other columns than target and member. Try "
        remedy = reason, Argument("order", most), "."
        raise ParameterError.because("order", rule, order, remedy)
    return order


def check_columns(parameter: str, names: Iterable[Name], table: DiscreteTable) -> tuple[int, ...]:
    """Return the positions of several columns, each once, in the order of the table.

    Examples
    --------
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> check_columns("start", ["X3", "X1"], boolean_table("and", 9))
    (0, 2)
    """
    listed = list_names(parameter, names)
    return tuple(sorted({find_column(parameter, name, table) for name in listed}))


def find_column(parameter: str, name: Name, table: DiscreteTable) -> int:
    """Return the position of a column, or say which parameter named what is not there.

    Examples
    --------
    >>> find_column("target", "x", DiscreteTable.from_data({"x": [0, 1]}))
    0
    """
    try:
        return table.index(name)
    except UnknownNameError as error:
        if isinstance(name, Hashable) and name in table.types:
            raise _refuse_left_out(parameter, name, table.types[name]) from None
        raise error.concerning(parameter) from None


def _refuse_left_out(parameter: str, name: Name, found: ColumnType) -> DataError:
    """Say why a column that was named is no part of the table."""
    rule, shown = "name a column that can be tested", f"{name!r}: {found}"
    remedy: Text = "Choose another column."
    if found.kind in KINDS:
        kinds = " or ".join(repr(kind) for kind in (NOMINAL, ORDINAL))
        remedy = f"If it is {kinds}, say so: ", Argument("types", {name: NOMINAL}), "."
    return DataError.because(parameter, rule, name, remedy, shown=shown)
