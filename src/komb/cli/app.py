"""The commands put together, and where they start."""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer

from komb import __version__
from komb.cli.compare import compare
from komb.cli.demo import demo
from komb.cli.encode import encode
from komb.cli.exits import EXIT_INTERRUPTED, exit_codes
from komb.cli.find import find
from komb.cli.methods import methods
from komb.cli.report import report
from komb.cli.reproduce import reproduce
from komb.cli.tests import tests

app = typer.Typer(
    name="komb",
    help="Markov blankets of discrete data, including members that matter only in combination.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (find, compare, report, encode, methods, tests, demo, reproduce):
    app.command()(command)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; bad usage is one line on standard error."""
    _have_streams()
    with exit_codes():
        code = app(arguments, prog_name="komb", standalone_mode=False)
        sys.stdout.flush()
        if code == EXIT_INTERRUPTED:  # before any command had begun
            raise KeyboardInterrupt
    sys.exit(code if isinstance(code, int) else 0)


def _have_streams() -> None:
    """Give output somewhere to go where a shell has closed it (``komb ... >&-``)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - as long as the process


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"komb {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
