"""Errors in the words of the command line: options where Python has parameters.

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

import shlex
from collections.abc import Iterator, Mapping

from komb.errors import Argument, InPython, KombError, Part, UnknownNameError, Value

_FLAGS = {
    "data": "DATA",
    "has_header": "--no-header",
    "n_jobs": "--jobs",
    "targets": "--target",
}
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
