"""The command line: parse arguments, print results, nothing else.

Exit codes: 0 the search has finished (whether or not it found anything), 2 bad input, 130
interrupted.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer

from komb._version import __version__
from komb.errors import InputError
from komb.rendering import Sheet, plural

if TYPE_CHECKING:
    from komb.discover import Progress

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

_PATIENCE = 1.0  # seconds before a progress bar appears

# Some versions of typer have a click of their own, so the class is found from one that is public.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])

app = typer.Typer(
    name="komb",
    help="Markov blankets of discrete data, including members that matter only in combination.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; bad usage is one line on standard error."""
    with _exit_codes():
        code = app(arguments, prog_name="komb", standalone_mode=False)
        sys.stdout.flush()
        if code == EXIT_INTERRUPTED:  # before any command had begun
            raise KeyboardInterrupt
    sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def _exit_codes() -> Iterator[None]:
    """Turn what goes wrong into a message and an exit code.

    Commands need it as well as :func:`main`: typer keeps interruptions to itself.
    """
    try:
        yield
    except InputError as error:
        _fail(_in_shell_terms(str(error)))
    except _UsageError as error:
        where = getattr(getattr(error, "ctx", None), "command_path", "komb")
        _fail(f"{error.format_message().rstrip('.')}. See '{where} --help'.")
    except KeyboardInterrupt as interrupt:
        typer.echo(str(interrupt) or "Interrupted.", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:  # the reader, e.g. head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _fail(message: str) -> NoReturn:
    typer.echo(f"Error: {' '.join(message.split())}", err=True)
    sys.exit(EXIT_BAD_INPUT)


def _in_shell_terms(message: str) -> str:
    """Name options instead of the Python parameters that a message speaks of."""
    for in_python, in_shell in (
        ("read_table(path, delimiter=...)", "--delimiter"),
        ("has_header=False", "--no-header"),
    ):
        message = message.replace(in_python, in_shell)
    return message


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


@app.command()
@_exit_codes()
def find(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="CSV, TSV (also .gz) or Parquet file.", show_default=False
        ),
    ],
    target: Annotated[
        str, typer.Option("--target", "-t", metavar="COLUMN", help="Whose blanket to find.")
    ],
    order: Annotated[
        int,
        typer.Option("--order", "-k", help="How many other columns a dependence may need to show."),
    ] = 1,
    max_separator: Annotated[
        int | None,
        typer.Option(
            "--max-separator",
            "-l",
            help="How many members may explain a dependence away. [default: order, at least 1]",
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Level of the tests.")] = 0.01,
    test: Annotated[
        str, typer.Option(help="Conditional-independence test; see 'komb list'.")
    ] = "g-sci",
    df: Annotated[
        str, typer.Option(help="Degrees of freedom: 'observed' or 'adjusted'.")
    ] = "observed",
    method: Annotated[str, typer.Option(help="Algorithm; see 'komb list'.")] = "komb",
    start: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Start from this column. May be repeated."),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Always in the blanket. May be repeated."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Leave this column out. May be repeated."),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(help="One character, or 'tab'; detected if left out."),
    ] = None,
    no_header: Annotated[
        bool,
        typer.Option("--no-header", help="The first line is data; columns are V1, V2, ..."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Print the members only, one a line; no progress bar."),
    ] = False,
) -> None:
    """Find the Markov blanket of a column of a file."""
    from komb.data.files import naming, read_frame
    from komb.discover import markov_blanket

    with naming(data), _ProgressBar(is_wanted=not quiet) as bar:
        blanket = markov_blanket(
            read_frame(data, delimiter=_to_delimiter(delimiter), has_header=not no_header),
            target,
            method=method,
            order=order,
            max_separator=max_separator,
            alpha=alpha,
            test=test,
            df=df,
            start=start or (),
            include=include or (),
            exclude=exclude or (),
            progress=bar,
        )
    if json:
        typer.echo(blanket.to_json(indent=2))
    elif quiet:
        typer.echo("".join(f"{name}\n" for name in blanket), nl=False)
    else:
        _show(blanket)


@app.command()
@_exit_codes()
def demo() -> None:
    """See what komb finds that others miss: a hidden three-way parity."""
    from komb.demo import run_demo

    run_demo(_show, _program())


@app.command("list")
@_exit_codes()
def list_all() -> None:
    """List the methods and the tests."""
    from komb.citests import tests
    from komb.search import algorithms

    for title, known in (("Methods", algorithms()), ("Tests", tests())):
        rows = tuple((name, info.summary) for name, info in known.items())
        _show(Sheet(title, "", ("name", "what it does"), rows, ()))
        typer.echo()


def _show(result: object) -> None:
    """Print a result: in colour on a terminal, as plain text into a pipe."""
    if sys.stdout.isatty() and not isinstance(result, str):
        from rich.console import Console

        Console().print(result)
    else:
        typer.echo(str(result))


def _program() -> str:
    """Say how the command line can be called from here."""
    if shutil.which("komb"):
        return "komb"
    script = Path(sys.argv[0])
    return os.path.relpath(script) if script.name == "komb" else "python -m komb"


def _to_delimiter(text: str | None) -> str | None:
    return "\t" if text in ("tab", "\\t") else text


class _ProgressBar:
    """A progress bar on standard error, if that is a terminal and the search takes a while."""

    def __init__(self, *, is_wanted: bool) -> None:
        self._is_wanted = is_wanted and sys.stderr.isatty()
        self._began: float | None = None  # when the search first reported
        self._bar: Any = None

    def __enter__(self) -> _ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        if self._began is None:
            self._began = time.monotonic()
        if not self._is_wanted or time.monotonic() - self._began < _PATIENCE:
            return
        state: dict[str, Any] = {
            "description": progress.phase,
            "completed": progress.done,
            "total": progress.total + 1,  # a full bar would stop the clock
            "members": plural(len(progress.blanket), "member"),
            "tests": plural(progress.tests, "test"),
        }
        if self._bar is None:
            self._bar = self._make_bar()
            self._bar.add_task(**state)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], **state)

    @staticmethod
    def _make_bar() -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        return Progress(
            TextColumn("{task.description:6}"),
            BarColumn(),
            TextColumn("{task.fields[members]}, {task.fields[tests]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
