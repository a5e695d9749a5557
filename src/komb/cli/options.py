"""The options that several commands have, each in one place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from komb.errors import ParameterError

if TYPE_CHECKING:
    import polars as pl

Data = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="CSV, TSV (also .gz) or Parquet file.", show_default=False),
]
Target = Annotated[
    str, typer.Option("--target", "-t", metavar="COLUMN", help="Whose blanket to find.")
]
Order = Annotated[
    int,
    typer.Option("--order", "-k", help="How many other columns a dependence may need to show."),
]
MaxSeparator = Annotated[
    int | None,
    typer.Option(
        "--max-separator",
        "-l",
        help="How many members may explain a dependence away.",
        show_default="order, at least 1",
    ),
]
MaxConditioning = Annotated[
    int | None,
    typer.Option(
        help="Largest set that the classic methods condition on.", show_default="the method's own"
    ),
]
Alpha = Annotated[float, typer.Option(help="Level of the tests.")]
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
Delimiter = Annotated[
    str | None, typer.Option(help="One character, or 'tab'; detected if left out.")
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first line is data; columns are V1, V2, ...")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


def read_data(data: Path, delimiter: str | None, no_header: bool) -> pl.DataFrame:
    """Read the table that these options describe."""
    from komb.data.files import read_frame

    character = "\t" if delimiter in ("tab", "\\t") else delimiter
    return read_frame(data, delimiter=character, has_header=not no_header)


def to_start(columns: list[str] | None, method: str | None) -> list[str] | str:
    """Return where a search starts from: columns, or what a method finds."""
    if columns and method is not None:
        raise ParameterError(
            "'--start' and '--start-method' both say where to start. Leave out one of them."
        )
    return columns or [] if method is None else method


def split_names(entries: list[str] | None) -> list[str] | None:
    """Return the names in an option that may be repeated and take several, with commas between."""
    if not entries:
        return None
    return [name.strip() for entry in entries for name in entry.split(",")]
