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
@options.takes_search_options(after="no_comparison")
def report(
    data: options.Data,
    target: options.Target,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.html",
            help="File to write; an existing one is replaced.",
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
        bool, typer.Option("--no-comparison", help="Do not compare with other methods.")
    ] = False,
    delimiter: options.Delimiter = None,
    no_header: options.NoHeader = False,
    phenotype: options.Phenotype = None,
    phenotype_name: options.PhenotypeName = None,
    **search: Any,
) -> None:
    """Write an HTML report on one column: its blanket, the reasons, the data, other methods."""
    if methods and no_comparison:
        raise options.contradiction("methods", "no_comparison", "contradict each other")
    arguments = options.to_search(search)
    from komb.api import report as reporting
    from komb.data.read.table_files import naming
    from komb.views.report.page_file import check_page

    check_page(out)  # before the work, not after it
    reading: dict[str, Any] = {"delimiter": delimiter} if delimiter else {}
    reading |= {"has_header": False} if no_header else {}
    reading |= {"phenotype": str(phenotype)} if phenotype else {}
    reading |= {"phenotype_name": phenotype_name} if phenotype_name else {}
    with naming(options.name_of(data)), ProgressBar() as bar:
        asked = dict(arguments)
        table = options.read_data(
            data, delimiter, no_header, phenotype, phenotype_name, search=arguments
        )
        # what was done on reading has to be repeated on reading
        reading |= {name: asked[name] for name in asked if asked[name] != arguments[name]}
        page = reporting.report(
            table,
            target,
            out,
            **arguments,
            methods=[] if no_comparison else options.split_names(methods),
            source=str(data),
            reading=reading,
            progress=bar,
        )
    names = show_names(page.blanket.members) or "empty"
    write(f"Markov blanket of {show_name(target)}: {names}\nReport: {out}")
