"""The command ``komb report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from komb.cli import options
from komb.cli.exits import exit_codes
from komb.cli.output import ProgressBar, write
from komb.data import defaults
from komb.errors import ParameterError
from komb.views.text import show_name, show_names


@exit_codes()
def report(
    context: typer.Context,
    data: options.Data,
    target: options.Target,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.html",
            help="Where the page goes; an older one is replaced.",
        ),
    ],
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,NAME...]",
            help="Algorithms to compare, see 'komb methods'. May be repeated.",
            show_default="all",
        ),
    ] = None,
    no_comparison: Annotated[
        bool, typer.Option("--no-comparison", help="Ask no other methods.")
    ] = False,
    order: options.Order = None,
    max_separator: options.MaxSeparator = None,
    max_conditioning: options.MaxConditioning = None,
    level: options.Level = defaults.LEVEL,
    alpha: options.Alpha = None,
    test: options.Test = defaults.TEST,
    df: options.Df = defaults.DF,
    method: Annotated[str, typer.Option(help="Algorithm; see 'komb methods'.")] = defaults.METHOD,
    start: options.Start = None,
    start_method: options.StartMethod = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    discretize: options.Discretize = None,
    bins: options.Bins = None,
    missing: options.Missing = defaults.MISSING,
    seed: options.Seed = defaults.SEED,
    time_budget: options.TimeBudget = None,
    stability: options.Stability = None,
    delimiter: options.Delimiter = None,
    no_header: options.NoHeader = False,
) -> None:
    """Write one page about a column: its blanket, why, the data, and what other methods find."""
    if methods and no_comparison:
        raise ParameterError(
            "'--methods' and '--no-comparison' contradict each other. Leave out one of them."
        )
    arguments = options.to_search(context.params)
    from komb.api import report as reporting
    from komb.data.read.table_files import naming
    from komb.views.report.files import check_page

    check_page(out)  # before the work, not after it
    reading: dict[str, Any] = {"delimiter": delimiter} if delimiter else {}
    reading |= {"has_header": False} if no_header else {}
    with naming(data), ProgressBar() as bar:
        page = reporting.report(
            options.read_data(data, delimiter, no_header),
            target,
            out,
            method=method,
            stability=stability,
            **arguments,
            methods=[] if no_comparison else options.split_names(methods),
            source=str(data),
            reading=reading,
            progress=bar,
        )
    names = show_names(page.blanket.members) or "empty"
    write(f"Markov blanket of {show_name(target)}: {names}\nReport: {out}")
