"""The command ``komb compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from komb.cli import options
from komb.cli.exits import exit_codes
from komb.cli.output import ProgressBar, show, write, write_json
from komb.errors import Interrupted, ParameterError

if TYPE_CHECKING:
    from komb.data.models.bayesian_network import DiscreteNetwork
    from komb.results.comparison import Comparison


@exit_codes()
@options.takes_options("method", after="truth")
def compare(
    data: options.Data,
    target: options.Target,
    methods: options.Methods = None,
    truth: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE.bif|COLUMN",
            help="The network that the data come from, or a true member. May be repeated.",
        ),
    ] = None,
    json: options.Json = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV only, one line per method.")
    ] = False,
    plot: options.Plot = None,
    **asked: Any,
) -> None:
    """Compare the Markov blankets that several methods find for one column."""
    if json and csv:
        raise options.contradiction("json", "csv", "both say what to print")
    search = options.to_search(asked)
    from komb.api import compare
    from komb.data.read.table_files import naming
    from komb.views.pictures.canvas import check_picture

    if plot is not None:
        check_picture(plot)  # before the work, not after it
    try:
        with naming(options.name_of(data)), ProgressBar() as bar:
            comparison = compare.compare(
                options.read_data(data, asked, target),
                target,
                methods=options.split_names(methods),
                truth=_read_truth(truth),
                progress=bar,
                **search,
            )
    except Interrupted as interrupt:
        _present(cast("Comparison", interrupt.finished), json, csv, plot)
        raise
    _present(comparison, json, csv, plot)


def _read_truth(truth: list[str] | None) -> DiscreteNetwork | list[str] | None:
    """Return the network in a file, or the names of columns as they are."""
    from komb.data.read.bif import read_bif

    files = [entry for entry in truth or () if entry.lower().endswith((".bif", ".bif.gz"))]
    if not truth or not files:
        return truth or None
    if len(truth) > 1:
        rule = "be one network or some columns"
        remedy = "The blanket is read from the network."
        raise ParameterError.because("truth", rule, truth, remedy)
    return read_bif(files[0])


def _present(comparison: Comparison, as_json: bool, as_csv: bool, plot: Path | None) -> None:
    from komb.views.pictures.canvas import save_picture

    if as_json:
        write_json(comparison.to_json(indent=2))
    elif as_csv:
        write(comparison.to_csv(), end="")
    else:
        show(comparison)
    if plot is not None:
        save_picture(comparison.plot(), plot)
