"""The options that several commands have, each in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from komb.data import defaults
from komb.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    import polars as pl

_Value = TypeVar("_Value")

Data = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="CSV, TSV (also .gz) or Parquet file.", show_default=False),
]
Target = Annotated[
    str, typer.Option("--target", "-t", metavar="COLUMN", help="Whose blanket to find.")
]
Order = Annotated[
    int | None,
    typer.Option(
        "--order",
        "-k",
        metavar="N",
        help="How many other columns a dependence may need to show.",
        show_default="1 for komb; as far as its limit for auto",
    ),
]
MaxSeparator = Annotated[
    int | None,
    typer.Option(
        "--max-separator",
        "-l",
        metavar="N",
        help="How many columns may explain a dependence away.",
        show_default="1 for komb, 3 for auto",
    ),
]
MaxConditioning = Annotated[
    int | None,
    typer.Option(
        help="Largest set that the classic methods condition on.", show_default="the method's own"
    ),
]
Level = Annotated[
    float,
    typer.Option(
        metavar="P",
        help="Chance of a blanket that is not empty where nothing depends; for auto.",
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(metavar="P", help="Level of the tests.", show_default="auto chooses, others 0.01"),
]
SharedAlpha = Annotated[
    float, typer.Option(metavar="P", help="Level of the tests, the same for every method.")
]
TimeBudget = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Time that the search may take; for auto.",
        show_default="as long as it takes",
    ),
]
Test = Annotated[str, typer.Option(help="Conditional-independence test; see 'komb tests'.")]
Df = Annotated[str, typer.Option(help="Degrees of freedom: 'observed' or 'adjusted'.")]
Start = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Start from this column. May be repeated."),
]
StartMethod = Annotated[
    str | None,
    typer.Option(metavar="METHOD", help="Start from the blanket that this method finds."),
]
Include = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Always in the blanket. May be repeated."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Leave this column out. May be repeated."),
]
Discretize = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WAY|COLUMN=WAY|COLUMN=CUT,CUT...",
        help="Cut columns of numbers: 'quantile', 'uniform', 'kmeans', 'mdl', or at these points. "
        "With columns, may be repeated.",
    ),
]
Bins = Annotated[
    list[str] | None,
    typer.Option(
        metavar="N|COLUMN=N",
        help="Into how many bins. With columns, may be repeated.",
        show_default=str(defaults.BINS),
    ),
]
Missing = Annotated[
    str, typer.Option(help="What to do about missing values: 'error', 'level' or 'testwise'.")
]
Seed = Annotated[int, typer.Option(help="For tests that draw random numbers.")]
Stability = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Search so many half-samples too: how often is each member found again?",
        show_default="none",
    ),
]
Delimiter = Annotated[
    str | None, typer.Option(help="One character, or 'tab'; detected if left out.")
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first line is data; columns are V1, V2, ...")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


def read_data(data: Path, delimiter: str | None, no_header: bool) -> pl.DataFrame:
    """Read the table that these options describe."""
    from komb.data.read.table_files import read_frame

    character = "\t" if delimiter in ("tab", "\\t") else delimiter
    return read_frame(data, delimiter=character, has_header=not no_header)


def to_start(columns: list[str] | None, method: str | None) -> list[str] | str:
    """Return where a search starts from: columns, or what a method finds."""
    if columns and method is not None:
        raise ParameterError(
            "'--start' and '--start-method' both say where to start. Leave out one of them."
        )
    if method is None:
        return columns or []
    _check_start_method(method)
    return method


def _check_start_method(method: str) -> None:
    """Speak of the option: ``start`` of the functions may be columns or a method, this may not."""
    from komb.search import algorithms

    if method not in algorithms():
        error = UnknownNameError.among("method", method, algorithms())
        raise UnknownNameError(f"In '--start-method': {error} To start from a column, use --start.")


def to_search(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the options that all searches have mean for the functions that search.

    Parameters
    ----------
    given
        The options of a command as typer has them: ``context.params``.
    """
    same = (
        "order", "max_separator", "max_conditioning", "level", "alpha", "test", "df", "missing",
        "seed", "time_budget",
    )  # fmt: skip
    return {
        **{name: given[name] for name in same},
        "start": to_start(given["start"], given["start_method"]),
        "include": given["include"] or (),
        "exclude": given["exclude"] or (),
        "discretize": to_discretize(given["discretize"]),
        "bins": to_bins(given["bins"]),
    }


def to_discretize(entries: list[str] | None) -> str | dict[str, str | list[float]] | None:
    """Return what ``--discretize`` says: one way for all columns, or a rule for each of some.

    Examples
    --------
    >>> to_discretize(["quantile"]), to_discretize(["age=18,65", "height=mdl"])
    ('quantile', {'age': [18.0, 65.0], 'height': 'mdl'})
    """
    found = _by_column("--discretize", entries, _to_rule)
    if isinstance(found, list):
        rule = "say of which column these are cut points"
        remedy = "Write e.g. --discretize age=18,65."
        raise ParameterError.because("--discretize", rule, (entries or [""])[0], remedy)
    return found


def to_bins(entries: list[str] | None) -> int | dict[str, int]:
    """Return what ``--bins`` says: one number for all columns, or one for each of some.

    Examples
    --------
    >>> to_bins(["5"]), to_bins(["age=5"]), to_bins(None)
    (5, {'age': 5}, 4)
    """
    found = _by_column("--bins", entries, _to_bins)
    return defaults.BINS if found is None else found


def _by_column(
    option: str, entries: list[str] | None, convert: Callable[[str, str], _Value]
) -> _Value | dict[str, _Value] | None:
    """Read an option that is one value for all columns, or ``COLUMN=VALUE`` any number of times."""
    if not entries:
        return None
    parts = [entry.rpartition("=") for entry in entries]
    if not parts[0][1] and len(parts) == 1:
        return convert(option, entries[0])
    if not all(equals for _, equals, _ in parts):
        rule = "be given once for all columns, or as COLUMN=... for each of some"
        remedy = "Name the column in each, or leave out the others."
        raise ParameterError.because(option, rule, " ".join(entries), remedy)
    return {column: convert(option, value) for column, _, value in parts}


def _to_rule(option: str, text: str) -> str | list[float]:
    if re.match(r"[-+.\s]*\d", text) is None:
        return text
    try:
        return [float(point) for point in text.split(",")]
    except ValueError:
        rule = "have numbers with commas between as cut points"
        raise ParameterError.because(option, rule, text, "Write e.g. age=18,65.") from None


def _to_bins(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        rule = "be a whole number, or COLUMN=NUMBER"
        raise ParameterError.because(option, rule, text, "Try --bins 5.") from None


def split_names(entries: list[str] | None) -> list[str] | None:
    """Return the names in an option that may be repeated and take several, with commas between."""
    if not entries:
        return None
    return [name.strip() for entry in entries for name in entry.split(",")]
