"""The options that several commands have; those of searches are made from their own description.

:class:`komb.api.options.SearchOptions` says what they are called, what they mean and what holds
where they are left out. Here they become options of a command, and what was typed becomes what the
functions take.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from komb.api.options import DEFAULTS, DESCRIPTIONS, SearchOptions
from komb.errors import Argument, FileError, ParameterError, UnknownNameError

if TYPE_CHECKING:
    import polars as pl

    from komb.data.table import DiscreteTable

_Value = TypeVar("_Value")
_Command = TypeVar("_Command", bound=Callable[..., Any])

_AS_TEXT = (
    "start", "include", "exclude", "given", "groups", "types", "discretize", "bins", "na_values",
)  # fmt: skip
"""Options that may be given any number of times."""

_AS_ONE_TEXT = ("knowledge", "weights")
"""Options that are text here and something else in Python."""

_SINGULAR = {"types": "--type", "na_values": "--na-value"}  # each time one of them
_EXAMPLE = "Write e.g. ", Argument("discretize", {"age": [18, 65]}), "."

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV (also .gz), Parquet or PLINK .bed file, or a table on disk (see 'komb "
        "encode'); '-' for standard input.",
        show_default=False,
    ),
]
Target = Annotated[
    str, typer.Option("--target", "-t", metavar="COLUMN", help="Column whose blanket to find.")
]
Delimiter = Annotated[
    str | None, typer.Option(help="One character, or 'tab'; detected if left out.")
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first line is data; columns are V1, V2, ...")
]
Phenotype = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="For PLINK files: lines of family id, individual id and phenotype.",
        show_default="that of the .fam file",
    ),
]
PhenotypeName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Which phenotype, if that file has several."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


def takes_search_options(
    *without: str, after: str, also: Mapping[str, str] | None = None, **defaults: object
) -> Callable[[_Command], _Command]:
    """Give a command the options of a search, in the place of its ``**search``."""

    def decorate(command: _Command) -> _Command:
        own = inspect.signature(command, eval_str=True)
        kept = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        place = [parameter.name for parameter in kept].index(after) + 1
        names = [name for name in DESCRIPTIONS if name not in without]
        kept[place:place] = _search_options(names, also or {}, defaults)
        command.__signature__ = own.replace(parameters=kept)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in kept}  # typer reads both
        return command

    return decorate


def _search_options(
    names: list[str], also: Mapping[str, str], defaults: Mapping[str, object]
) -> Iterator[Parameter]:
    # functions, and sizes as numbers, are for Python
    types = get_type_hints(SearchOptions) | {"test": str, "memory_limit": str | None}
    for name in names:
        option = DESCRIPTIONS[name]
        default = defaults.get(name, DEFAULTS[name])
        is_shown = default is not None and default != ()
        info = typer.Option(
            flag_of(name),
            *filter(None, [option.letter]),
            metavar=option.metavar,
            help=" ".join(filter(None, (option.in_shell or option.about, also.get(name)))),
            show_default=is_shown or option.if_left_out or False,
        )
        if name in _AS_TEXT:
            info.show_default = str(default) if is_shown else info.show_default
            yield _parameter(name, list[str] | None, None, info)
        elif name in _AS_ONE_TEXT:
            yield _parameter(name, str | None, None, info)
        else:
            yield _parameter(name, types[name], default, info)
        if name == "start":
            about = "Start from the blanket that this method finds."
            info = typer.Option("--start-method", metavar="METHOD", help=about)
            yield _parameter("start_method", str | None, None, info)


def _parameter(name: str, kind: Any, default: object, info: Any) -> Parameter:
    annotation = Annotated[kind, info]
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)


def flag_of(parameter: str) -> str:
    """Return the option that stands for a parameter on the command line.

    Examples
    --------
    >>> flag_of("max_separator"), flag_of("na_values")
    ('--max-separator', '--na-value')
    """
    return _SINGULAR.get(parameter) or f"--{parameter.replace('_', '-')}"


def read_data(
    data: Path,
    delimiter: str | None,
    no_header: bool,
    phenotype: Path | None = None,
    phenotype_name: str | None = None,
    *,
    search: dict[str, Any],
) -> pl.DataFrame | DiscreteTable:
    """Read the table that these options describe, or open it if it is a folder.

    What ``search`` says of values is said of those of PLINK files when they are read, and so is
    taken out of it.
    """
    from komb.data.read.plink import is_plink
    from komb.data.read.table_files import read_frame, read_table, refuse_phenotype

    limit = search["memory_limit"]
    if not is_plink(data):
        refuse_phenotype(phenotype, phenotype_name)
    if _is_folder(data):
        from komb.data.stored.stored_table import open_table

        return open_table(data, memory_limit=limit)
    reading: dict[str, Any] = {
        "delimiter": to_character(delimiter),
        "has_header": not no_header,
        "memory_limit": limit,
    }
    if not is_plink(data):
        source = _standard_input() if is_standard_input(data) else data
        return read_frame(source, **reading)
    for name in ("discretize", "bins", "missing"):
        reading[name] = search[name]
        search[name] = DEFAULTS[name]
    return read_table(data, phenotype=phenotype, phenotype_name=phenotype_name, **reading)


def _is_folder(data: Path) -> bool:
    try:
        return data.is_dir()
    except (OSError, RuntimeError):  # no name that a folder can have: reading says why
        return False


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


def to_character(delimiter: str | None) -> str | None:
    r"""Return the character that ``--delimiter`` stands for.

    Examples
    --------
    >>> to_character("tab"), to_character(",")
    ('\t', ',')
    """
    return "\t" if delimiter in ("tab", "\\t") else delimiter


def to_start(columns: list[str] | None, method: str | None) -> list[str] | str:
    """Return where a search starts from: columns, or what a method finds."""
    if columns and method is not None:
        raise contradiction("start", "start_method", "both say where to start")
    if method is None:
        return columns or []
    _check_start_method(method)
    return method


def _check_start_method(method: str) -> None:
    """Speak of the option: ``start`` of the functions may be columns or a method, this may not."""
    from komb.search import algorithms

    if method not in algorithms():
        remedy = "To start from a column, use ", Argument("start"), "."
        raise UnknownNameError.among("method", method, algorithms(), "start_method", remedy)


def to_search(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the options of a search mean for the functions that search."""
    search = {name: value for name, value in given.items() if name != "start_method"}
    return search | {
        "start": to_start(given["start"], given["start_method"]),
        "include": given["include"] or (),
        "exclude": given["exclude"] or (),
        "types": to_types(given["types"]),
        "na_values": to_na_values(given["na_values"]),
        "given": given["given"] or (),
        "groups": to_groups(given["groups"]),
        "knowledge": to_knowledge(given["knowledge"]),
        "weights": to_weights(given["weights"]),
        "discretize": to_discretize(given["discretize"]),
        "bins": to_bins(given["bins"]),
    }


def to_types(entries: list[str] | None) -> str | dict[str, str]:
    """Return what ``--type`` says: a word for all columns, or the types of some.

    Examples
    --------
    >>> to_types(["strict"]), to_types(["zip=nominal", "year=ordinal"]), to_types(None)
    ('strict', {'zip': 'nominal', 'year': 'ordinal'}, 'auto')
    """
    found = _by_column("types", entries, lambda _, kind: kind)
    return DEFAULTS["types"] if found is None else found


def to_na_values(entries: list[str] | None) -> list[str] | dict[str, list[str]]:
    """Return what ``--na-value`` says: values for all columns, or for each of some.

    Examples
    --------
    >>> to_na_values(["-9", "unknown"]), to_na_values(["age=99", "age=98"])
    (['-9', 'unknown'], {'age': ['99', '98']})
    """
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
    """Return what ``--group`` says: the columns of each group, or how to find them.

    Examples
    --------
    >>> to_groups(["gene=rs1,rs2", "site=a,b"]), to_groups(["prefix"])
    ({'gene': ['rs1', 'rs2'], 'site': ['a', 'b']}, 'prefix')
    """
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


def to_knowledge(file: str | None) -> Any:
    """Return what a file says is known."""
    if file is None:
        return None
    from komb.data.knowledge import Knowledge

    return Knowledge.from_file(file)


def to_weights(text: str | None) -> str | dict[str, str] | None:
    """Return the column that holds weights, with what they mean if that is said.

    Examples
    --------
    >>> to_weights("w"), to_weights("w=survey")
    ('w', {'w': 'survey'})
    """
    if text is None:
        return None
    name, equals, kind = text.rpartition("=")
    return {name: kind} if equals else text


def to_discretize(entries: list[str] | None) -> str | dict[str, str | list[float]] | None:
    """Return what ``--discretize`` says: one way for all columns, or a rule for each of some.

    Examples
    --------
    >>> to_discretize(["quantile"]), to_discretize(["age=18,65", "height=mdl"])
    ('quantile', {'age': [18.0, 65.0], 'height': 'mdl'})
    """
    found = _by_column("discretize", entries, _to_rule)
    if isinstance(found, list):
        rule = "say of which column these are cut points"
        raise ParameterError.because("discretize", rule, (entries or [""])[0], _EXAMPLE)
    return found


def to_bins(entries: list[str] | None) -> int | dict[str, int]:
    """Return what ``--bins`` says: one number for all columns, or one for each of some.

    Examples
    --------
    >>> to_bins(["5"]), to_bins(["age=5"]), to_bins(None)
    (5, {'age': 5}, 4)
    """
    found = _by_column("bins", entries, _to_bins)
    return DEFAULTS["bins"] if found is None else found


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
    """Return the error about two options that do not go together.

    Examples
    --------
    >>> print(contradiction("json", "csv", "both say what to print"))
    'json' and 'csv' both say what to print. Leave out one of them.
    """
    statement = Argument(first), " and ", Argument(second), f" {why}."
    return ParameterError(statement, "Leave out one of them.")


def split_names(entries: list[str] | None) -> list[str] | None:
    """Return the names in an option that may be repeated and take several, with commas between."""
    if not entries:
        return None
    return [name.strip() for entry in entries for name in entry.split(",")]
