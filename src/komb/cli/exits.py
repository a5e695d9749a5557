"""What goes wrong becomes a line on standard error, in the words of a shell, and an exit code.

An error carries what it says as data (:mod:`komb.errors`), so nothing here reads its text.

>>> from komb.errors import ParameterError
>>> remedy = "Try ", Argument("discretize", {"age": [1.5, 2.5]}), "."
>>> error = ParameterError.because("discretize", "have cut points", {"age": 3}, remedy)
>>> print(error)
'discretize' must have cut points; got {'age': 3}. Try discretize={'age': [1.5, 2.5]}.
>>> print(in_shell(error))
'--discretize' must have cut points; got age=3. Try --discretize age=1.5,2.5.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NoReturn, cast

import typer

from komb.errors import (
    Argument,
    InputError,
    InPython,
    Interrupted,
    KombError,
    Part,
    UnknownNameError,
    Value,
    WorkerError,
)
from komb.views.text import neutralise

_FLAGS = {"data": "DATA", "has_header": "--no-header", "n_jobs": "--jobs", "targets": "--target"}
"""What parameters are called on the command line, where that is not their name."""

_SINGULAR = {"types": "--type", "na_values": "--na-value", "groups": "--group"}  # one each time
_REPEATED = ("start", "include", "exclude", "given")  # options that name one column each


def flag_of(parameter: str) -> str:
    """Return the option that stands for a parameter on the command line."""
    return _SINGULAR.get(parameter) or f"--{parameter.replace('_', '-')}"


def in_shell(error: KombError, flags: Mapping[str, str] | None = None) -> str:
    """Return what an error says, to somebody who typed a command."""
    known = {**_FLAGS, **(flags or {})}
    return error.show(lambda part: _write(part, known)) + _hint_at_repeating(error)


def _write(part: Part, flags: Mapping[str, str]) -> str:
    match part:
        case InPython():
            return ""
        case Value(value):
            return _show(value)
        case Argument(parameter) if not part.has_value:
            return repr(_flag(parameter, flags))
        case Argument(parameter, value):
            return _assign(parameter, value, flags)
    return part


def _flag(parameter: str, flags: Mapping[str, str]) -> str:
    if parameter.isupper():  # an environment variable
        return parameter
    return flags.get(parameter) or flag_of(parameter)


def _assign(parameter: str, value: object, flags: Mapping[str, str]) -> str:
    """Write an option with its value, as it is typed."""
    flag = _flag(parameter, flags)
    if flag.isupper():
        return f"{flag}={shlex.quote(str(value))}"
    if isinstance(value, bool):
        return flag
    return shlex.join(word for text in _texts(value) for word in (flag, text))


def _texts(value: object) -> Iterator[str]:
    """Yield what stands behind an option, each time that it is given."""
    if isinstance(value, Mapping):
        for column, entry in value.items():
            points = entry if isinstance(entry, list | tuple) else [entry]
            yield f"{column}={','.join(map(str, points))}"
    elif isinstance(value, list | tuple):
        yield from map(str, value)
    else:
        yield str(value)


def _show(value: object) -> str:
    """Write a value that was given; text has quotes, so that blanks can be seen."""
    if isinstance(value, Mapping):
        return " ".join(_texts(value))
    if isinstance(value, list | tuple):
        return ", ".join(map(_show, value)) or "nothing"
    return repr(value)


def _hint_at_repeating(error: KombError) -> str:
    """Say how to name several columns, to who put commas between them; a name may have commas."""
    if not isinstance(error, UnknownNameError) or error.kind != "column":
        return ""
    if error.parameter not in _REPEATED or "," not in str(error.value):
        return ""
    names = [name.strip() for name in str(error.value).split(",") if name.strip()]
    repeated = _assign(error.parameter, names, {})
    return f" To name several columns, repeat the option: {repeated}."


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
