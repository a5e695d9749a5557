"""The command ``komb find``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from komb import defaults
from komb.cli import options
from komb.cli.exits import exit_codes
from komb.cli.output import ProgressBar, show, write, write_json
from komb.errors import ParameterError

if TYPE_CHECKING:
    from komb.results import Blanket


@exit_codes()
def find(
    data: options.Data,
    target: options.Target,
    order: options.Order = defaults.ORDER,
    max_separator: options.MaxSeparator = None,
    max_conditioning: options.MaxConditioning = None,
    alpha: options.Alpha = defaults.ALPHA,
    test: options.Test = defaults.TEST,
    df: options.Df = defaults.DF,
    method: Annotated[str, typer.Option(help="Algorithm; see 'komb methods'.")] = defaults.METHOD,
    start: options.Start = None,
    start_method: options.StartMethod = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    delimiter: options.Delimiter = None,
    no_header: options.NoHeader = False,
    json: options.Json = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Print the members only, one a line; no progress bar."),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say why each member is in, and why others are not."),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw it too: .png, .pdf, .svg; needs matplotlib."),
    ] = None,
) -> None:
    """Find the Markov blanket of a column of a file."""
    if quiet and explain:
        raise ParameterError(
            "'--quiet' and '--explain' both say what to print. Leave out one of them."
        )
    begin = options.to_start(start, start_method)
    from komb.data.files import naming
    from komb.discover import markov_blanket
    from komb.plots import check_picture

    if plot is not None:
        check_picture(plot)  # before the work, not after it
    with naming(data), ProgressBar(is_wanted=not quiet) as bar:
        blanket = markov_blanket(
            options.read_data(data, delimiter, no_header),
            target,
            method=method,
            order=order,
            max_separator=max_separator,
            max_conditioning=max_conditioning,
            alpha=alpha,
            test=test,
            df=df,
            start=begin,
            include=include or (),
            exclude=exclude or (),
            progress=bar,
        )
    _present(blanket, json, quiet, explain, plot)


def _present(
    blanket: Blanket, as_json: bool, is_quiet: bool, with_reasons: bool, plot: Path | None
) -> None:
    if as_json:
        from komb.exporting import dump_json

        reasons = {"explanation": blanket.explain().to_dict()} if with_reasons else {}
        write_json(dump_json(blanket.to_dict() | reasons, 2))
    elif is_quiet:
        write("".join(f"{name}\n" for name in blanket), end="")
    else:
        show(blanket)
        if with_reasons:
            write("")
            show(blanket.explain())
    if plot is not None:
        from komb.plots import save_picture

        save_picture(blanket.plot(), plot)
