"""The command ``komb interactions``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from komb.cli import options
from komb.cli.exits import exit_codes
from komb.cli.output import ProgressBar, show, write, write_json
from komb.errors import ParameterError
from komb.views.text import plural, show_on_line

if TYPE_CHECKING:
    from komb.data.table import DiscreteTable

_TAKEN = {*options.READING, "given", "exclude"}


@exit_codes()
@options.takes_options(after="plot", only=_TAKEN)
def interactions(
    data: options.Data,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="Column that groups act on.",
            show_default="the phenotype of genotypes",
        ),
    ] = None,
    order: Annotated[
        int, typer.Option("--order", "-k", metavar="K", help="Size of the largest groups, 2 to 5.")
    ] = 2,
    test: Annotated[
        str,
        typer.Option(
            help="'interaction': what no smaller group has; 'association': anything at all."
        ),
    ] = "interaction",
    level: Annotated[float, typer.Option(metavar="P", help="Family-wise error.")] = 0.05,
    between: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN,COLUMN...",
            help="Given twice: only groups with a column of each list.",
        ),
    ] = None,
    scale: Annotated[
        str, typer.Option(help="Of measured targets: 'auto', 'scores', 'values' or 'log'.")
    ] = "auto",
    min_distance: Annotated[
        float,
        typer.Option(metavar="BP", help="Base pairs that variants of a group must be apart."),
    ] = 0.0,
    r2: Annotated[
        float,
        typer.Option("--r2", metavar="R2", help="Largest squared correlation inside of a group."),
    ] = 1.0,
    proxies: Annotated[
        float,
        typer.Option(metavar="R2", help="Squared correlation from which columns are near-copies."),
    ] = 0.5,
    time_budget: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Refuse, before any work, what would take longer."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", metavar="J", help="Threads; -1: one per processor."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File in which the search notes what it has counted; if it is there, go on where "
            "the run that wrote it ended.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER",
            help="Folder for tables (tab-separated, with PLINK's column names), pictures and a "
            "report in HTML; made if it is not there.",
        ),
    ] = None,
    json: options.Json = False,
    tsv: Annotated[
        bool, typer.Option("--tsv", help="Print a tab-separated table only, as PLINK names it.")
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q",
            help="Print the significant groups only: one per line, tabs between names. No progress "
            "bar.",
        ),
    ] = False,
    plot: options.Plot = None,
    **asked: Any,
) -> None:  # fmt: skip
    """Find groups of columns that act together on a column, with p-values."""
    if sum((json, tsv, quiet)) > 1:
        first, second = [
            n for n, is_asked in (("json", json), ("tsv", tsv), ("quiet", quiet)) if is_asked
        ][:2]
        raise options.contradiction(first, second, "both say what to print")
    from komb.api.interactions import interactions as search
    from komb.data.read.table_files import naming
    from komb.views.pictures.canvas import check_picture, save_picture
    from komb.views.report.interactions_page import check_folder

    if plot is not None:
        check_picture(plot)  # before the work, not after it
    if out is not None:
        check_folder(out)
    with naming(options.name_of(data)):
        table = options.read_data(data, asked, target)
        with ProgressBar(is_wanted=not quiet) as bar:
            found = search(
                table,
                _find_target(table) if target is None else target,
                order,
                test=test,
                level=level,
                given=asked["given"],
                exclude=[name for name in asked["exclude"] or () if name in table.names],
                between=None
                if between is None
                else [options.split_names([each]) or [] for each in between],
                scale=scale,
                min_distance=min_distance,
                r2=r2,
                proxies=proxies,
                time_budget=time_budget,
                n_jobs=jobs,
                progress=bar,
                resume=resume,
            )
    if json:
        write_json(found.to_json(indent=2))
    elif tsv:
        write(found.to_plink(), end="")
    elif quiet:
        lines = ("\t".join(map(show_on_line, group.columns)) for group in found.significant)
        write("".join(f"{line}\n" for line in lines), end="")
    else:
        show(found)
    if plot is not None:
        save_picture(found.plot(), plot)
    if out is not None:
        files = found.save(out, source=str(data))
        if not (json or tsv or quiet):
            write(
                f"\n{plural(len(files), 'file')} in {out}: {', '.join(file.name for file in files)}"
            )


def _find_target(table: DiscreteTable) -> str:
    """Return the phenotype of a cohort; in other tables nothing says which column it is."""
    covariates = table.reading.get("covariates") or ()
    others = [
        name for name in table.names if name not in table.annotations and name not in covariates
    ]
    if not table.annotations:
        rule, remedy = "be named for files other than genotypes", "Name one of the columns."
        raise ParameterError.because("target", rule, None, remedy, shown="none")
    if len(others) != 1:
        remedy = "Name a file of phenotypes, with --pheno."
        raise ParameterError.because("target", "be there", None, remedy, shown="no phenotype")
    return str(others[0])
