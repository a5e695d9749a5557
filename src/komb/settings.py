"""What a caller asked for, checked before anything is counted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NoReturn

from komb.citests import tests
from komb.citests.registry import make_test
from komb.data import DiscreteTable
from komb.data.checks import check_count
from komb.data.codes import Name
from komb.errors import DataError, ParameterError, UnknownNameError
from komb.search import algorithms
from komb.search.registry import AlgorithmInfo, find_algorithm


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a search is run with, apart from data and target.

    Columns are positions in the table, in its order.
    """

    method: str
    order: int
    max_separator: int
    alpha: float
    test: str
    df: str
    start: tuple[int, ...]
    include: tuple[int, ...]
    exclude: tuple[Name, ...]  # names: these columns are not in the table

    @property
    def algorithm(self) -> AlgorithmInfo:
        """The search to run."""
        return find_algorithm(self.method)

    @property
    def options(self) -> dict[str, int]:
        """The options that this search takes."""
        values = {"order": self.order, "max_separator": self.max_separator}
        return {name: value for name, value in values.items() if name in self.algorithm.options}

    def describe(self, table: DiscreteTable) -> dict[str, Any]:
        """Return the parameters as a result reports them, with names for columns."""
        columns = {"start": self.start, "include": self.include}
        named = {
            key: tuple(table.names[position] for position in positions)
            for key, positions in columns.items()
        }
        test = {"alpha": self.alpha, "test": self.test, "df": self.df}
        named["exclude"] = self.exclude
        return {"order": None, "max_separator": None} | self.options | test | named


def check_settings(
    table: DiscreteTable,
    *,
    method: str,
    order: int,
    max_separator: int | None,
    alpha: float,
    test: str,
    df: str,
    start: Iterable[Name],
    include: Iterable[Name],
    exclude: Iterable[Name],
) -> Settings:
    """Check every parameter that does not depend on the target.

    Examples
    --------
    >>> from komb.data import boolean_table
    >>> parameters = dict(method="komb", order=1, max_separator=None, test="g", df="observed")
    >>> check_settings(boolean_table("and", 9), alpha=1, start=(), include=(), exclude=(), \
**parameters)
    Traceback (most recent call last):
    komb.errors.ParameterError: 'alpha' must be a number between 0 and 1, both excluded; got 1. ...
    """
    _check_name("method", method, algorithms())
    _check_name("test", test, tests())
    make_test(test, df)  # knows what it takes
    checked_order = _check_order(order, table.n_columns)
    bound = max(1, checked_order)
    if max_separator is not None:
        bound = check_count("max_separator", max_separator)
    return Settings(
        method=method,
        order=checked_order,
        max_separator=bound,
        alpha=_check_alpha(alpha),
        test=test,
        df=df,
        start=check_columns("start", start, table),
        include=check_columns("include", include, table),
        exclude=tuple(exclude),
    )


def check_exclude(
    exclude: Iterable[Name], targets: Iterable[Name], **others: Iterable[Name]
) -> list[Name]:
    """Return the columns to leave out, unless they are wanted elsewhere.

    Examples
    --------
    >>> check_exclude(["id"], ["Y"], include=["X1"])
    ['id']
    """
    excluded = list_names("exclude", exclude)
    for parameter, names in others.items():
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
    >>> from komb.data import boolean_table
    >>> table = boolean_table("and", 9)
    >>> settings = Settings("komb", 1, 1, 0.01, "g", "observed", (), (), ())
    >>> check_target(table, "Y", settings)
    3
    """
    position = _position("target", target, table)
    for parameter in ("include", "start"):
        if position in getattr(settings, parameter):
            _refuse_target(parameter, table.names[position])
    if is_constant(table, position):
        raise DataError(
            f"'target' must be a column with at least 2 levels; got {target!r}, which is "
            f"{table.levels[position][0]!r} in every row. Choose another target, or rows in which "
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
    >>> from komb.data import boolean_table
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


def _check_name(kind: str, name: object, known: Iterable[str]) -> None:
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError.among(kind, name, known)


def _check_order(order: object, n_columns: int) -> int:
    checked = check_count("order", order)
    most = max(1, n_columns - 2)  # the default must do for any table
    if checked > most:
        rule = f"be at most {most} for a table of {n_columns} columns"
        remedy = f"A witness is made of other columns than target and member. Try order={most}."
        raise ParameterError.because("order", rule, order, remedy)
    return checked


def _check_alpha(alpha: object) -> float:
    is_number = isinstance(alpha, Real) and not isinstance(alpha, bool)
    if not is_number or not 0 < float(alpha) < 1:  # type: ignore[arg-type]
        rule = "be a number between 0 and 1, both excluded"
        raise ParameterError.because("alpha", rule, alpha, "Try alpha=0.01.")
    return float(alpha)  # type: ignore[arg-type]
