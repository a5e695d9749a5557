"""The commands put together, and where they start."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from komb import __version__
from komb.cli.exits import EXIT_INTERRUPTED, exit_codes

COMMANDS = {
    "find": "Find the Markov blanket of one or more columns of a file.",
    "interactions": "Find groups of columns that act together on a column, with p-values.",
    "compare": "Compare the Markov blankets that several methods find for one column.",
    "report": "Write an HTML report on one column: its blanket, reasons, data and other methods.",
    "encode": "Encode a table of any size into a folder, which all commands take as DATA.",
    "methods": "List the methods, or describe one in detail.",
    "tests": "List the conditional-independence tests.",
    "demo": "Show what komb finds and other methods miss: a three-way parity.",
    "warmup": "Compile all kernels now, so that no search has to wait for them.",
    "reproduce": "Repeat the experiments of the paper: results and a report in one folder.",
}
"""Each command, and what it does."""

_MODULES = {"tests": "methods", "warmup": "methods"}  # of commands in no module of their name


def make_app(wanted: Container[str] = COMMANDS) -> typer.Typer:
    """Put the commands together; only those that are wanted are loaded, the others have a name."""
    app = typer.Typer(
        name="komb",
        help="Markov blankets of tables, including members that matter only in combination.",
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_options)
    for name, about in COMMANDS.items():
        app.command(name, short_help=about)(load(name) if name in wanted else _nothing)
    return app


def load(name: str) -> Callable[..., None]:
    """Return the function of a command."""
    command: Callable[..., None] = getattr(
        import_module(f"komb.cli.{_MODULES.get(name, name)}"), name
    )
    return command


def _nothing() -> None:
    """Stand for a command that is not called."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; bad usage is one line on standard error."""
    _have_streams()
    given = sys.argv[1:] if arguments is None else arguments
    with exit_codes():
        code = make_app(given)(given, prog_name="komb", standalone_mode=False)
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
