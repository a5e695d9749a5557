"""What goes wrong becomes a line on standard error and an exit code."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, cast

import typer

from komb.errors import InputError, WorkerError

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

_WITH_COMMAS = re.compile(
    r"In '(?P<option>start|include|exclude)': There is no column '(?P<names>[^']*,[^']*)'\."
)

_LIMIT = re.compile(r'memory_limit=("[^"]*"), or the variable KOMB_MEMORY_LIMIT')

# Some versions of typer have a click of their own, so the class is found from one that is public.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn what goes wrong into a message and an exit code.

    Commands need it as well as :func:`komb.cli.main`: typer keeps interruptions to itself.
    """
    try:
        yield
    except InputError as error:
        _fail(_in_shell_terms(str(error)))
    except WorkerError as error:
        _fail(_in_shell_terms(str(error)), EXIT_FAILED)
    except _UsageError as error:
        where = getattr(getattr(error, "ctx", None), "command_path", "komb")
        message = error.format_message().rstrip(".")
        stop = "" if message.endswith("?") else "."
        _fail(f"{message}{stop} See '{where} --help'.")
    except KeyboardInterrupt as interrupt:
        typer.echo(_in_shell_terms(str(interrupt)) or "Interrupted.", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:  # the reader, e.g. head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def missing_option(context: typer.Context, options: str) -> Exception:
    """Return the error that is raised where one of several options must be given."""
    return _UsageError(f"Missing option {options}", ctx=context)


def _fail(message: str, code: int = EXIT_BAD_INPUT) -> NoReturn:
    typer.echo(f"Error: {' '.join(message.split())}", err=True)
    sys.exit(code)


def _in_shell_terms(message: str) -> str:
    """Name options instead of the Python parameters that a message speaks of."""
    for in_python, in_shell in (
        ("read_table(path, delimiter=...)", "--delimiter"),
        ("has_header=False", "--no-header"),
        ("resume=True", "--resume"),
        ('discretize="quantile"', "--discretize quantile"),
        ('missing="testwise"', "--missing testwise"),
        ('missing="level"', "--missing level"),
        ("; 'finished' holds their comparison", ""),
        ("; 'finished' holds their blankets", ""),
        ("'path' must be the name of a page", "'--out' must be the name of a page"),
        ("n_jobs=", "--jobs "),
        ("'n_jobs'", "'--jobs'"),
    ):
        message = message.replace(in_python, in_shell)
    message = _LIMIT.sub(r"KOMB_MEMORY_LIMIT=\1", message)
    return message + _hint_at_repeating(message)


def _hint_at_repeating(message: str) -> str:
    """Say how to name several columns, to who put commas between them; a name may have commas.

    Examples
    --------
    >>> _hint_at_repeating("In 'exclude': There is no column 'a, b'. Known: 'a', 'b'.")
    ' To name several columns, repeat the option: --exclude a --exclude b.'
    """
    found = _WITH_COMMAS.search(message)
    if found is None:
        return ""
    names = filter(None, map(str.strip, found["names"].split(",")))
    words = [word for name in names for word in (f"--{found['option']}", name)]
    return f" To name several columns, repeat the option: {shlex.join(words)}."
