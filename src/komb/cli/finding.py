"""The command ``komb find``."""

from __future__ import annotations

from typing import Annotated

import typer

from komb import defaults
from komb.cli import options
from komb.cli.exits import exit_codes
from komb.cli.output import ProgressBar, show, write, write_json


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
    discretize: options.Discretize = None,
    bins: options.Bins = None,
    missing: options.Missing = defaults.MISSING,
    seed: options.Seed = defaults.SEED,
    delimiter: options.Delimiter = None,
    no_header: options.NoHeader = False,
    json: options.Json = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Print the members only, one a line; no progress bar."),
    ] = False,
) -> None:
    """Find the Markov blanket of a column of a file."""
    begin = options.to_start(start, start_method)
    from komb.data.files import naming
    from komb.discover import markov_blanket

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
            discretize=options.to_discretize(discretize),
            bins=options.to_bins(bins),
            missing=missing,
            seed=seed,
            progress=bar,
        )
    if json:
        write_json(blanket.to_json(indent=2))
    elif quiet:
        write("".join(f"{name}\n" for name in blanket), end="")
    else:
        show(blanket)
