"""The command ``komb report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from komb.cli import options
from komb.cli.exits import exit_codes
from komb.cli.output import ProgressBar, write
from komb.views.text import show_name, show_names


@exit_codes(path="--out")
@options.takes_options(after="no_comparison")
def report(
    data: options.Data,
    target: options.Target,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE.html", help="File to write; an existing one is replaced."
        ),
    ],
    methods: options.Methods = None,
    no_comparison: Annotated[
        bool, typer.Option("--no-comparison", help="Do not compare with other methods.")
    ] = False,
    **asked: Any,
) -> None:
    """Write an HTML report on one column: its blanket, reasons, data and other methods."""
    if methods and no_comparison:
        raise options.contradiction("methods", "no_comparison", "contradict each other")
    search = options.to_search(asked)
    from komb.api import report as reporting
    from komb.data.read.table_files import naming
    from komb.views.report.page_file import check_page

    check_page(out)  # before the work, not after it
    with naming(options.name_of(data)), ProgressBar() as bar:
        page = reporting.report(
            options.read_data(data, asked, target),
            target,
            out,
            methods=[] if no_comparison else options.split_names(methods),
            source=str(data),
            progress=bar,
            **search,
        )
    names = show_names(page.blanket.members) or "empty"
    write(f"Markov blanket of {show_name(target)}: {names}\nReport: {out}")
