"""The command ``komb encode``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from komb.cli import options
from komb.cli.exits import exit_codes
from komb.cli.output import ProgressBar, write
from komb.views.text import plural

_OF_COLUMNS = ("types", "missing", "na_values", "exclude", "discretize", "bins")
_OF_GENOTYPES = ("phenotype", "phenotype_name", "covariates", "keep", "extract")
_TAKEN = (*_OF_COLUMNS, *_OF_GENOTYPES, "memory_limit", "delimiter", "no_header")


@exit_codes(overwrite="--force", path="--out")
@options.takes_options(after="target", only=_TAKEN)
def encode(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...",
            help="Parquet, CSV or TSV (also .gz) files, or patterns such as 'data/*.parquet'; or "
            "one file of genotypes (.bed, .pgen, .vcf).",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder to write: table.komb.")
    ],
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COLUMN", help="By whose levels 'mdl' cuts."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a table on disk that exists already.")
    ] = False,
    **asked: Any,
) -> None:
    """Encode a table of any size into a folder, which all commands take as DATA.

    It is read in batches, so that memory is bounded; searches of a table that does not fit into
    memory count it piece by piece.
    """
    reading = options.to_reading(asked, _TAKEN)
    from komb.data.read.table_files import read_table
    from komb.data.stored.encode import encode as encode_table

    source: Any = data[0] if len(data) == 1 else data
    if any(asked[name] is not None for name in _OF_GENOTYPES):
        source = read_table(data[0], target=target, **reading)
        reading = options.to_reading(asked, ("memory_limit",))
    with ProgressBar() as bar:
        table = encode_table(
            source, out, target=target, overwrite=force, progress=bar.show, **reading
        )
    write(f"{out}: {table.n_rows:,} rows x {plural(table.n_columns, 'column')}")
