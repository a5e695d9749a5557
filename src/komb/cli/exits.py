"""What goes wrong becomes a line on standard error and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn, cast

import typer

from komb.cli.messages import in_shell
from komb.errors import InputError, Interrupted, WorkerError
from komb.views.text import neutralise

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

TRACEBACK = "KOMB_TRACEBACK"
"""The environment variable that has unexpected errors end in a traceback."""

_LONGEST_REASON = 300  # characters of an unexpected error

# Some versions of typer have a click of their own, so the class is found from one that is public.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])


@contextmanager
def exit_codes(**flags: str) -> Iterator[None]:
    """Turn what goes wrong into a message and an exit code.

    Commands need it as well as :func:`komb.cli.main`: typer keeps interruptions to itself.
    """
    try:
        yield
    except InputError as error:
        _fail(in_shell(error, flags))
    except WorkerError as error:
        _fail(in_shell(error, flags), EXIT_FAILED)
    except _UsageError as error:
        where = getattr(getattr(error, "ctx", None), "command_path", "komb")
        message = error.format_message().rstrip(".")
        stop = "" if message.endswith("?") else "."
        _fail(f"{message}{stop} See '{where} --help'.")
    except KeyboardInterrupt as interrupt:
        said = in_shell(interrupt, flags) if isinstance(interrupt, Interrupted) else "Interrupted."
        typer.echo(said, err=True)
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
    with suppress(OSError):  # where no message can be written, the exit code still says it
        typer.echo(f"Error: {neutralise(' '.join(message.split()))}", err=True)
    sys.exit(code)


def _fail_unexpectedly(error: BaseException) -> NoReturn:
    """End with one line about an internal error; a traceback only if it is wanted."""
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
        f"Internal error in komb ({type(error).__name__}: {said[:_LONGEST_REASON]}). "
        f"Please report it, with what {TRACEBACK}=1 prints.",
        EXIT_FAILED,
    )


def _give_up_output() -> None:
    """Have what is left in the buffers go nowhere, so that ending does not fail once more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
