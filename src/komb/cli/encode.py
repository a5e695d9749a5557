"""The command ``komb encode``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from komb.api.options import DESCRIPTIONS
from komb.cli import options
from komb.cli.exits import exit_codes
from komb.cli.output import ShareBar, write
from komb.views.text import plural

_TAKEN = ("exclude", "discretize", "bins", "missing", "memory_limit")
_OTHERS = [name for name in DESCRIPTIONS if name not in _TAKEN]


@exit_codes(overwrite="--force", path="--out")
@options.takes_search_options(*_OTHERS, after="target")
def encode(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...",
            help="Parquet, CSV or TSV (also .gz) files, or patterns such as 'data/*.parquet'.",
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
    delimiter: options.Delimiter = None,
    no_header: options.NoHeader = False,
    **treatment: Any,
) -> None:
    """Encode a table of any size into a folder, which all commands take as DATA.

    It is read in batches, so that memory is bounded; searches of a table that does not fit into
    memory count it shard by shard.
    """
    arguments = treatment | {
        "exclude": treatment["exclude"] or (),
        "discretize": options.to_discretize(treatment["discretize"]),
        "bins": options.to_bins(treatment["bins"]),
    }
    from komb.data.stored import encoding

    with ShareBar() as bar:
        table = encoding.encode(
            data,
            out,
            target=target,
            delimiter=options.to_character(delimiter),
            has_header=not no_header,
            overwrite=force,
            progress=bar.show,
            **arguments,
        )
    write(
        f"{out}: {table.n_rows:,} rows x {plural(table.n_columns, 'column')} "
        f"in {plural(table.n_shards, 'shard')}"
    )
