"""What can be wrong with a column, and how the user hears about it.

Encoders raise a :class:`ColumnProblem`, which knows nothing of the column's name. When all columns
have been tried, :func:`explain` turns what was gathered into one error with a remedy.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

import numpy as np
import numpy.typing as npt

from komb.errors import ContinuousColumnError, DataError, MissingValuesError

MAX_LEVELS = 65_535
"""The most levels a column may have."""

_SHOWN = 5  # columns that a message lists before it says "and k more"


class ColumnProblem(Exception):  # noqa: N818 - never leaves this package
    """A column cannot be encoded; ``why`` completes the sentence "column 'x' ..."."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Missing(ColumnProblem):
    """Some values are missing."""

    def __init__(self, count: int, first_row: int) -> None:
        super().__init__(f"{count:,} missing, first in row {first_row}")
        self.count = count

    @classmethod
    def check(cls, is_missing: npt.NDArray[np.bool_]) -> None:
        """Raise if any entry is true."""
        if is_missing.any():
            raise cls(int(is_missing.sum()), int(is_missing.argmax()))


class Continuous(ColumnProblem):
    """The values are measurements, not levels."""

    @classmethod
    def because_of(cls, n_distinct: int, n_rows: int) -> Continuous:
        """Build the complaint about too many distinct values, some of them fractions."""
        counts = f"{n_distinct:,} distinct values in {n_rows:,} rows"
        return cls(f"looks continuous: {counts}, not all of them whole numbers")


class Unusable(ColumnProblem):
    """Anything else; ``why`` holds the remedy too."""


def too_many_levels(count: int) -> Unusable:
    """Build the complaint about a column with more than :data:`MAX_LEVELS` levels."""
    return Unusable(
        f"has {count:,} distinct values; a column must have at most {MAX_LEVELS:,}. Drop it if it "
        "is an identifier, or group its levels."
    )


def most_distinct_fractions(n_rows: int) -> int:
    """Return how many distinct values a column with fractions may have and still be discrete.

    Examples
    --------
    >>> most_distinct_fractions(1000), most_distinct_fractions(10), most_distinct_fractions(1)
    (20, 5, 2)
    """
    return min(20, max(2, n_rows // 2))


def explain(problems: Mapping[Hashable, ColumnProblem]) -> DataError:
    """Turn the problems of a table, by column name, into the error to raise.

    Missing values come first: filling them may well change the other findings.

    Examples
    --------
    >>> explain({"x": Missing(2, 0)}).__class__.__name__
    'MissingValuesError'
    """
    missing = {name: p for name, p in problems.items() if isinstance(p, Missing)}
    if missing:
        total = sum(problem.count for problem in missing.values())
        columns = "1 column" if len(missing) == 1 else f"{len(missing)} columns"
        listed = _and_more(f"{name!r} ({problem.why})" for name, problem in missing.items())
        return MissingValuesError(
            f"'data' must have no missing values; got {total:,} in {columns}, counting rows from "
            f"0: {listed}. Drop those rows: df = df.dropna(); or give them a level of their own: "
            "df = df.fillna('missing')."
        )
    for name, problem in problems.items():
        if isinstance(problem, Unusable):
            return DataError(f"Column {name!r} {problem.why}")
    return _explain_continuous(problems)


def _explain_continuous(problems: Mapping[Hashable, ColumnProblem]) -> ContinuousColumnError:
    (name, problem), *others = problems.items()
    also = f" So do: {_and_more(repr(other) for other, _ in others)}." if others else ""
    return ContinuousColumnError(
        f"Column {name!r} {problem.why}; columns must hold discrete levels.{also} Discretise "
        f"first, e.g. df[{name!r}] = pd.qcut(df[{name!r}], 4, labels=False, duplicates='drop')."
    )


def _and_more(items: Iterable[str]) -> str:
    listed = list(items)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more
