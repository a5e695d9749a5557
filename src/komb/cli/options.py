"""The options that several commands have: how data are read, and what is asked of a search.

Those of searches are made from what algorithms and tests declare
(:class:`komb.citests.option.Option`). What was typed becomes what the functions take.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Container, Iterable
from inspect import Parameter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from komb.citests.option import Option
from komb.cli.exits import flag_of
from komb.errors import Argument, FileError, ParameterError
from komb.search import algorithms
from komb.search.registry import all_options

if TYPE_CHECKING:
    from komb.data.table import DiscreteTable

_Value = TypeVar("_Value")
_Command = TypeVar("_Command", bound=Callable[..., Any])

_EXAMPLE = "Write e.g. ", Argument("discretize", {"age": [18, 65]}), "."
_READING, _SEARCH = "Reading the data", "Search"  # panels of the help

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV (also .gz) or Parquet file, genotypes (.bed, .pgen, .vcf, .vcf.gz), or a "
        "table on disk (see 'komb encode'); '-' for standard input.",
        show_default=False,
    ),
]
Target = Annotated[
    str, typer.Option("--target", "-t", metavar="COLUMN", help="Column whose blanket to find.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also draw a plot: .png, .pdf, .svg; needs matplotlib."),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[,NAME...]",
        help="Algorithms to compare, see 'komb methods'. May be repeated.",
        show_default="all",
    ),
]


def _option(kind: Any, panel: str, *flags: str, **info: Any) -> tuple[Any, Any]:
    return kind, typer.Option(*flags, rich_help_panel=panel, **info)


def _reading_options() -> dict[str, tuple[Any, Any]]:
    """Return how data are read, by parameter."""
    many = list[str] | None
    panel = _READING
    return {
        "delimiter": _option(str | None, panel, help="One character, or 'tab'; found if left out."),
        "no_header": _option(
            bool, panel, "--no-header", help="The first line is data; columns are V1, V2, ..."
        ),
        "types": _option(
            many, panel, "--type", metavar="COLUMN=TYPE|strict",
            help="Type of a column: 'nominal', 'ordinal', 'continuous', 'time', 'identifier' or "
            "'text', found if left out. May be repeated. Or 'strict': take numbers as levels, and "
            "refuse what is unclear.",
        ),
        "missing": _option(
            str | None, panel, help="Missing values: 'error', 'level' or 'testwise'.",
            show_default="testwise, or an error with strict types",
        ),
        "na_values": _option(
            many, panel, "--na-value", metavar="VALUE|COLUMN=VALUE",
            help="This value is a missing one, in all columns or in one. May be repeated.",
        ),
        "discretize": _option(
            many, panel, metavar="RULE|COLUMN=RULE|COLUMN=CUT,CUT...",
            help="Cut numeric columns into bins: 'quantile', 'uniform', 'kmeans', 'mdl', or at "
            "these cut points. May be repeated for several columns.",
        ),
        "bins": _option(many, panel, metavar="N|COLUMN=N", help="Number of bins, 4 if left out."),
        "groups": _option(
            many, panel, "--group", metavar="NAME=COLUMN,COLUMN...|prefix",
            help="Test these columns as one; 'prefix' finds one-hot blocks. May be repeated.",
        ),
        "weights": _option(
            str | None, panel, metavar="COLUMN|COLUMN=survey",
            help="Column of weights: frequencies, or weights of a survey.",
        ),
        "phenotype": _option(
            Path | None, panel, "--phenotype", "--pheno", metavar="FILE",
            show_default="that of the .fam or .psam file",
            help="For genotypes: lines of family id, individual id and phenotype.",
        ),
        "phenotype_name": _option(
            str | None, panel, "--phenotype-name", "--pheno-name", metavar="NAME",
            help="Which phenotype, if that file has several.",
        ),
        "covariates": _option(
            Path | None, panel, "--covariates", "--covar", metavar="FILE",
            help="For genotypes: lines of family id, individual id and covariates.",
        ),
        "keep": _option(
            Path | None, panel, metavar="FILE", help="For genotypes: the people to read."
        ),
        "extract": _option(
            Path | None, panel, metavar="FILE", help="For genotypes: the variants to read."
        ),
        "memory_limit": _option(
            str | None, panel, metavar="SIZE", show_default="half of what is free",
            help="Memory to take, in bytes or as '2 GB'. A table on disk that needs more is "
            "counted piece by piece.",
        ),
        "cluster": _option(
            str | None, panel, metavar="ADDRESS",
            help="Scheduler of a Dask cluster, such as tcp://127.0.0.1:8786, whose workers count "
            "or search.",
        ),
    }  # fmt: skip


def _search_options() -> dict[str, tuple[Any, Any]]:
    """Return what every search can be asked for, by parameter."""
    many = list[str] | None

    def columns(flag: str, help_text: str, panel: str = _SEARCH) -> tuple[Any, Any]:
        text = f"{help_text} May be repeated."
        return _option(many, panel, flag, metavar="COLUMN", help=text)

    return {
        "method": _option(str, _SEARCH, help="Algorithm; see 'komb methods'."),
        "test": _option(str, _SEARCH, help="Conditional-independence test; see 'komb tests'."),
        "alpha": _option(
            float | None, _SEARCH, metavar="P", help="Significance level of each test.",
            show_default="auto chooses, others 0.01",
        ),
        "start": columns("--start", "Start from this column."),
        "include": columns("--include", "Always include this column."),
        "exclude": columns("--exclude", "Leave this column out, whatever it holds.", _READING),
        "given": columns("--given", "Hold this column fixed in every test."),
        "knowledge": _option(
            str | None, _SEARCH, metavar="FILE",
            help="TOML file with tiers, forbidden and required neighbours.",
        ),
    }  # fmt: skip


def _declared_options() -> dict[str, tuple[Any, Any]]:
    """Return what algorithms and tests declare, by parameter."""
    return {name: _declared(option) for name, option in all_options().items()}


def _declared(option: Option) -> tuple[Any, Any]:
    letters = [option.letter] if option.letter else []
    metavar = {int: "N", float: "X", str: "WORD"}.get(option.kind)
    return _option(
        option.kind | None, _SEARCH, flag_of(option.name), *letters, help=option.help,
        metavar=metavar, show_default=show_default(option) or False,
    )  # fmt: skip


def show_default(option: Option) -> str:
    """Say what holds if an option is left out: for which method, or for every test."""
    takers: dict[str, list[str]] = {}
    for info in algorithms().values():
        if option.name in info.defaults:
            value = info.defaults[option.name]
            said = option.if_left_out if value is None else str(value)
            takers.setdefault(said, []).append(info.name)
    of_methods = (f"{said} for {', '.join(names)}" for said, names in takers.items() if said)
    return "; ".join(of_methods) if takers else option.if_left_out


READING = tuple(_reading_options())
"""Parameters that say how data are read."""


def takes_options(
    *without: str, after: str, only: Container[str] | None = None
) -> Callable[[_Command], _Command]:
    """Give a command the options of reading and of a search, in the place of its ``**asked``."""

    def decorate(command: _Command) -> _Command:
        own = inspect.signature(command, eval_str=True)
        kept = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        place = [parameter.name for parameter in kept].index(after) + 1
        options = _search_options() | _declared_options() | _reading_options()
        defaults = {"method": "auto", "test": "auto", "no_header": False}
        kept[place:place] = [
            Parameter(
                name,
                Parameter.POSITIONAL_OR_KEYWORD,
                default=defaults.get(name),
                annotation=Annotated[kind, info],
            )
            for name, (kind, info) in options.items()
            if name not in without and (only is None or name in only)
        ]
        command.__signature__ = own.replace(parameters=kept)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in kept}  # typer reads both
        return command

    return decorate


def to_search(options: dict[str, Any]) -> dict[str, Any]:
    """Return what the options of a search mean for the functions that search."""
    search = {name: value for name, value in options.items() if name not in READING}
    for name in ("start", "include", "exclude", "given"):
        search[name] = search[name] or ()
    if search["knowledge"] is not None:
        from komb.data.knowledge import Knowledge

        search["knowledge"] = Knowledge.from_file(search["knowledge"])
    return search


_READ_AS: dict[str, Callable[[Any], Any]] = {
    "delimiter": lambda text: "\t" if text in ("tab", "\\t") else text,
    "types": lambda texts: _by_column("types", texts, lambda _, kind: kind),
    "na_values": lambda texts: to_na_values(texts),
    "discretize": lambda texts: to_discretize(texts),
    "bins": lambda texts: _by_column("bins", texts, _to_bins),
    "groups": lambda texts: to_groups(texts),
    "weights": lambda text: to_weights(text),
}
"""What is typed in another way than it is written in Python."""


def to_reading(asked: dict[str, Any], taken: Iterable[str] = READING) -> dict[str, Any]:
    """Return how data are read: the options that were given, as functions take them."""
    given = {name: asked[name] for name in taken if asked[name] is not None}
    reading = {name: _READ_AS.get(name, _leave)(value) for name, value in given.items()}
    if "no_header" in reading:
        reading["has_header"] = not reading.pop("no_header")
    return reading


def _leave(value: _Value) -> _Value:
    return value


def read_data(data: Path, asked: dict[str, Any], target: str | None = None) -> DiscreteTable:
    """Read the table that the options describe, or open it if it is a folder."""
    from komb.data.read.table_files import read_frame, read_table
    from komb.data.reading import table

    reading = to_reading(asked)
    if asked["discretize"] or asked["groups"]:  # which may depend on it
        reading["target"] = target
    if not os.path.isdir(data):  # the columns of a table on disk have been read
        reading["exclude"] = asked["exclude"] or ()
    if not is_standard_input(data):
        return read_table(data, **reading)
    of_text = {key: reading.pop(key) for key in ("delimiter", "has_header") if key in reading}
    return table(read_frame(_standard_input(), **of_text), **reading)


def is_standard_input(data: Path) -> bool:
    """Whether the table comes from standard input."""
    return str(data) == "-"


def name_of(data: Path) -> str:
    """Return what messages call the table."""
    return "standard input" if is_standard_input(data) else str(data)


def _standard_input() -> IO[bytes]:
    if sys.stdin.isatty():
        remedy = "Pipe one in, or name a file."
        raise FileError("standard input is a terminal, not a table.", remedy)
    return sys.stdin.buffer


def to_na_values(entries: list[str] | None) -> list[str] | dict[str, list[str]]:
    """Return what ``--na-value`` says: values for all columns, or for each of some."""
    parts = [entry.rpartition("=") for entry in entries or ()]
    if not any(equals for _, equals, _ in parts):
        return list(entries or ())
    if not all(equals for _, equals, _ in parts):
        rule = "be values for all columns, or COLUMN=VALUE for each of some"
        remedy = "Name the column in each, or in none."
        raise ParameterError.because("na_values", rule, " ".join(entries or ()), remedy)
    found: dict[str, list[str]] = {}
    for column, _, value in parts:
        found.setdefault(column, []).append(value)
    return found


def to_groups(entries: list[str] | None) -> str | dict[str, list[str]] | None:
    """Return what ``--group`` says: the columns of each group, or how to find them."""
    if not entries:
        return None
    if len(entries) == 1 and "=" not in entries[0]:
        return entries[0]
    groups: dict[str, list[str]] = {}
    for entry in entries:
        name, equals, columns = entry.partition("=")
        if not equals or not name:
            rule = "name a group and its columns in each, as NAME=COLUMN,COLUMN"
            remedy = "Write e.g. ", Argument("groups", {"gene": ["rs1", "rs2"]}), "."
            raise ParameterError.because("groups", rule, entry, remedy)
        groups.setdefault(name, []).extend(column.strip() for column in columns.split(","))
    return groups


def to_weights(text: str | None) -> str | dict[str, str] | None:
    """Return the column that holds weights, with what they mean if that is said."""
    if text is None:
        return None
    name, equals, kind = text.rpartition("=")
    return {name: kind} if equals else text


def to_discretize(entries: list[str] | None) -> str | dict[str, str | list[float]] | None:
    """Return what ``--discretize`` says: one way for all columns, or a rule for each of some."""
    found = _by_column("discretize", entries, _to_rule)
    if isinstance(found, list):
        rule = "say of which column these are cut points"
        raise ParameterError.because("discretize", rule, (entries or [""])[0], _EXAMPLE)
    return found


def _by_column(
    parameter: str, entries: list[str] | None, convert: Callable[[str, str], _Value]
) -> _Value | dict[str, _Value] | None:
    """Read an option that is one value for all columns, or ``COLUMN=VALUE`` any number of times."""
    if not entries:
        return None
    parts = [entry.rpartition("=") for entry in entries]
    if not parts[0][1] and len(parts) == 1:
        return convert(parameter, entries[0])
    if not all(equals for _, equals, _ in parts):
        rule = "be given once for all columns, or as COLUMN=... for each of some"
        remedy = "Name the column in each, or leave out the others."
        raise ParameterError.because(parameter, rule, " ".join(entries), remedy)
    return {column: convert(parameter, value) for column, _, value in parts}


def _to_rule(parameter: str, text: str) -> str | list[float]:
    if re.match(r"[-+.\s]*\d", text) is None:
        return text
    try:
        return [float(point) for point in text.split(",")]
    except ValueError:
        rule = "have numbers with commas between as cut points"
        raise ParameterError.because(parameter, rule, text, _EXAMPLE) from None


def _to_bins(parameter: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        rule = "be a whole number, or COLUMN=NUMBER"
        remedy = "Try ", Argument("bins", 5), "."
        raise ParameterError.because(parameter, rule, text, remedy) from None


def contradiction(first: str, second: str, why: str) -> ParameterError:
    """Return the error about two options that do not go together."""
    statement = Argument(first), " and ", Argument(second), f" {why}."
    return ParameterError(statement, "Leave out one of them.")


def split_names(entries: list[str] | None) -> list[str] | None:
    """Return the names in an option that may be repeated and take several, with commas between."""
    if not entries:
        return None
    return [name.strip() for entry in entries for name in entry.split(",")]
