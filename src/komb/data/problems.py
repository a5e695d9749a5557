"""What can be wrong with a column, and how the user hears about it.

What reads columns raises a :class:`ColumnProblem`, which knows nothing of the column's name. When
all columns have been tried, :func:`explain` turns what was gathered into one error with a remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from komb.data.kinds import NOMINAL, ColumnType
from komb.errors import (
    Argument,
    ContinuousColumnError,
    DataError,
    InPython,
    MissingValuesError,
    Text,
)

MAX_LEVELS = 65_535
"""The most levels a column may have."""

MANY = 1 << 62
"""Levels of a column in batches that has more than it may have; how many is not known."""

FEW_LEVELS = 20
"""Columns of numbers with no more distinct values than these are discrete as they are."""

_SHOWN = 5  # columns that a message lists before it says "and k more"

Result = TypeVar("Result")


class ColumnProblem(Exception):  # noqa: N818 - never leaves this package
    """A column cannot be encoded; ``why`` completes the sentence "column 'x' ..."."""

    def __init__(self, why: str, remedy: Text = "") -> None:
        super().__init__(why)
        self.why = why
        self.remedy = remedy


class Missing(ColumnProblem):
    """Some values are missing."""

    def __init__(self, count: int, first_row: int, n_rows: int) -> None:
        super().__init__(f"{count:,} missing, first in row {first_row}")
        self.count = count
        self.is_everything = count == n_rows


class Continuous(ColumnProblem):
    """The values are measurements, not levels."""

    @classmethod
    def because_of(cls, n_distinct: int, n_rows: int) -> Continuous:
        """Build the complaint about too many distinct values, some of them fractions."""
        counts = f"{show_count(n_distinct)} distinct values in {n_rows:,} rows"
        return cls(f"looks continuous: {counts}, not all of them whole numbers")


class Unusable(ColumnProblem):
    """Anything else."""


class LeftOut(ColumnProblem):
    """The column is no part of the table; ``type`` says why. That is no error."""

    def __init__(self, found: ColumnType) -> None:
        super().__init__(str(found))
        self.type = found


class Infinite(ColumnProblem):
    """Some values are infinite."""

    def __init__(self, count: int) -> None:
        super().__init__(f"holds {count:,} infinite value{'' if count == 1 else 's'}")


class MistakenType(ColumnProblem):
    """The caller says that a column has a type, and it has not."""

    def __init__(self, kind: str, levels: Sequence[object]) -> None:
        super().__init__(
            f"is to be {kind}, but holds no numbers: {and_more(map(repr, levels[:3]))}"
        )
        self.kind = kind


def too_many_levels(count: int) -> Unusable:
    """Build the complaint about a column with more than :data:`MAX_LEVELS` levels."""
    why = f"has {show_count(count)} distinct values; a column must have at most {MAX_LEVELS:,}."
    return Unusable(why, "Drop it if it is an identifier, or group its levels.")


def show_count(n_levels: int) -> str:
    """Show how many levels there are, as far as that is known."""
    return f"{n_levels:,}" if n_levels < MANY else f"more than {MAX_LEVELS:,}"


def not_to_be_cut() -> Unusable:
    """Build the complaint about a column that is to be cut but is not numeric."""
    return Unusable(
        "is to be cut, but does not hold numbers.",
        ("Turn it into numbers, or take it out of ", Argument("discretize"), "."),
    )


def most_distinct_fractions(n_rows: int) -> int:
    """Return how many distinct values a column with fractions may have and still be discrete."""
    return min(FEW_LEVELS, max(2, n_rows // 2))


def try_each(
    names: Iterable[Hashable], read: Callable[[Hashable], Result], *, is_cutting: bool = False
) -> tuple[dict[Hashable, Result], dict[Hashable, ColumnType]]:
    """Read each column; return results and types of columns left out, or raise all problems."""
    results: dict[Hashable, Result] = {}
    left_out: dict[Hashable, ColumnType] = {}
    problems: dict[Hashable, ColumnProblem] = {}
    for name in names:
        try:
            results[name] = read(name)
        except LeftOut as problem:
            left_out[name] = problem.type
        except ColumnProblem as problem:
            problems[name] = problem
    if problems:
        raise explain(problems, is_cutting=is_cutting)
    return results, left_out


def explain(problems: Mapping[Hashable, ColumnProblem], *, is_cutting: bool = False) -> DataError:
    """Turn the problems of a table, by column name, into one error that names all of them.

    Missing values come first: what is done about them may well change the other findings.
    """
    first, *others = _explain_each(problems, is_cutting)
    for other in others:
        first.advising(("Also: ", other.statement, " ", other.remedy))
    return first


def _explain_each(
    problems: Mapping[Hashable, ColumnProblem], is_cutting: bool
) -> Iterator[DataError]:
    """Yield an error for each kind of problem."""
    missing = {name: p for name, p in problems.items() if isinstance(p, Missing)}
    if missing:
        yield _explain_missing(missing)
    for name, problem in problems.items():
        if isinstance(problem, Unusable):
            yield DataError(f"Column {name!r} {problem.why}", problem.remedy)
        elif isinstance(problem, MistakenType):
            yield _explain_type(name, problem)
    continuous = {name: p for name, p in problems.items() if isinstance(p, Continuous)}
    if continuous:
        yield _explain_continuous(continuous, is_cutting)
    infinite = {name: p for name, p in problems.items() if isinstance(p, Infinite)}
    if infinite:
        yield _explain_infinite(infinite)


def _explain_type(name: Hashable, problem: MistakenType) -> DataError:
    example = Argument("types", {name: NOMINAL})
    remedy = "Leave it out of ", Argument("types"), ", or say ", example, "."
    words = f"Column {name!r} {problem.why}."
    return DataError(words, remedy, parameter="types", value={name: problem.kind})


def _explain_infinite(problems: Mapping[Hashable, ColumnProblem]) -> DataError:
    listed = and_more(f"column {name!r} {problem.why}" for name, problem in problems.items())
    name = next(iter(problems))
    remedy = (
        "Say that they are missing: ",
        Argument("na_values", ["inf", "-inf"]),
        "; or have them in the outermost bins: ",
        Argument("discretize", {name: "quantile"}),
        ".",
    )
    return DataError.because("data", "have finite numbers", list(problems), remedy, shown=listed)


def _explain_missing(problems: Mapping[Hashable, Missing]) -> MissingValuesError:
    empty = [name for name, problem in problems.items() if problem.is_everything]
    those = Argument("exclude", empty) if len(empty) <= _SHOWN else Argument("exclude")
    leave_out = "Leave out what has no value in any row: ", those, "."
    if len(empty) == len(problems):
        columns = "Column" if len(empty) == 1 else "Columns"
        listed = and_more(map(repr, empty))
        statement = f"{columns} {listed}: no values at all, every row is missing."
        return MissingValuesError(statement, leave_out)
    total = sum(problem.count for problem in problems.values())
    columns = "1 column" if len(problems) == 1 else f"{len(problems)} columns"
    listed = and_more(f"{name!r} ({problem.why})" for name, problem in problems.items())
    remedy: Text = (
        "Say what to do: ",
        Argument("missing", "testwise"),
        " makes each test on the rows that are complete for its columns, ",
        Argument("missing", "level"),
        " gives them a level of their own.",
        InPython(" Or drop those rows first: df = df.dropna()."),
    )
    shown = f"{total:,} in {columns}, counting rows from 0: {listed}"
    if empty:
        remedy = (remedy, " ", leave_out)
    return MissingValuesError.because("data", "have no missing values", total, remedy, shown=shown)


def _explain_continuous(
    problems: Mapping[Hashable, ColumnProblem], is_cutting: bool
) -> ContinuousColumnError:
    (name, problem), *others = problems.items()
    also = f" So do: {and_more(repr(other) for other, _ in others)}." if others else ""
    remedy: Text = (
        "Have types found: ",
        Argument("types", "auto"),
        "; or have such columns cut into bins: ",
        Argument("discretize", "quantile"),
        "; or say where to cut: ",
        Argument("discretize", {name: [1.5, 2.5]}),
        ".",
    )
    if is_cutting:
        remedy = "Say how to cut it too: ", Argument("discretize", {name: "quantile"}), "."
    statement = f"Column {name!r} {problem.why}; columns must hold discrete levels.{also}"
    return ContinuousColumnError(statement, remedy)


def and_more(items: Iterable[str]) -> str:
    """List the first of some items, and say how many more there are."""
    listed = list(items)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more
