"""What goes wrong becomes a line on standard error and an exit code."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn, cast

import typer

from komb.errors import InputError, WorkerError
from komb.views.text import neutralise

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

TRACEBACK = "KOMB_TRACEBACK"
"""The environment variable that has unexpected errors end in a traceback."""

_LONGEST_REASON = 300  # characters of an unexpected error

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
        _give_up_output()
        sys.exit(0)
    except (typer.Exit, typer.Abort):  # how typer ends a command
        raise
    except Exception as error:
        _fail_unexpectedly(error)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # polars', which is no Exception
            raise
        _fail_unexpectedly(error)


def missing_option(context: typer.Context, options: str) -> Exception:
    """Return the error that is raised where one of several options must be given."""
    return _UsageError(f"Missing option {options}", ctx=context)


def _fail(message: str, code: int = EXIT_BAD_INPUT) -> NoReturn:
    with suppress(OSError):  # where nobody can be told, the exit code still tells
        typer.echo(f"Error: {neutralise(' '.join(message.split()))}", err=True)
    sys.exit(code)


def _fail_unexpectedly(error: BaseException) -> NoReturn:
    """End with one line about what nobody has provided for; a traceback only if it is wanted."""
    if os.environ.get(TRACEBACK):
        raise error
    said = " ".join(str(error).split())
    if isinstance(error, OSError):
        _give_up_output()
        why = (error.strerror or said).lower()
        where = f" {str(error.filename)!r}" if error.filename else " the output"
        _fail(f"Cannot read or write{where}: {why}.", EXIT_FAILED)
    if isinstance(error, MemoryError):
        remedy = "Take fewer rows or columns, or a machine with more memory."
        _fail(f"Memory ran out{f' ({said})' if said else ''}. {remedy}", EXIT_FAILED)
    _fail(
        f"komb failed in a way that it should not ({type(error).__name__}: {said[:_LONGEST_REASON]}"
        f"). Please report it, with what {TRACEBACK}=1 prints.",
        EXIT_FAILED,
    )


def _give_up_output() -> None:
    """Have what is left in the buffers go nowhere, so that ending does not fail once more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
        ("; 'finished' holds the blanket of", "; this is the blanket of"),
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
