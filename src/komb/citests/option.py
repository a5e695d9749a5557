"""Options that an algorithm or a test declares: name, check and words, in one place.

The default of an option is that of the function or class that takes it. Functions, the selector,
the command line, results and documentation read the rest here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from komb.data.checks import check_count
from komb.errors import Argument, ParameterError


def _leave(_parameter: str, value: Any) -> Any:
    """Return a value as it is."""
    return value


@dataclass(frozen=True, slots=True)
class Option:
    """An option that an algorithm or a test takes.

    Attributes
    ----------
    name : str
        What users call it; the function takes it as a keyword. ``--name`` on the command line.
    help : str
        What it does, in a line.
    check : callable
        Called with the name and a value; returns the value as it is used, or raises
        :class:`komb.errors.ParameterError`.
    kind : type
        What the command line reads: ``int``, ``float`` or ``str``.
    wording : str
        How a result says it, with ``{}`` for the value; the name and the value if left out.
    if_left_out : str
        What holds where the default is ``None``.
    letter : str
        A short form for the command line.
    most : callable or None
        The largest value for a table of so many columns.

    Examples
    --------
    >>> Option("depth", "How deep to look.").show(3)
    'depth 3'
    """

    name: str
    help: str
    check: Callable[[str, Any], Any] = _leave
    kind: type = str
    wording: str = ""
    if_left_out: str = ""
    letter: str = ""
    most: Callable[[int], int] | None = None

    def show(self, value: object) -> str:
        """Say in a few words what it was set to."""
        text = (self.wording or f"{self.name} {{}}").format(value)
        return text.removesuffix("s") if value == 1 and text.endswith(" columns") else text

    def check_fit(self, value: Any, n_columns: int) -> None:
        """Raise if a table of so many columns has no use for a value."""
        most = math.inf if self.most is None or value is None else self.most(n_columns)
        if most < math.inf and value > most:
            rule = f"be at most {most} for a table of {n_columns} columns"
            remedy = "Try ", Argument(self.name, most), "."
            raise ParameterError.because(self.name, rule, value, remedy)


def to_number(value: object) -> float:
    """Return a number as a float; anything else is NaN."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return float(value) if is_number else math.nan  # type: ignore[arg-type]


def check_share(parameter: str, value: object, example: float = 0.05) -> float:
    """Return a number between 0 and 1."""
    number = to_number(value)
    if not 0 < number < 1:
        rule = "be a number between 0 and 1, both excluded"
        remedy = "Try ", Argument(parameter, example), ", or leave it out."
        raise ParameterError.because(parameter, rule, value, remedy)
    return number


def check_seconds(parameter: str, value: object) -> float:
    """Return a number of seconds."""
    number = to_number(value)
    if not 0 < number < math.inf:
        rule = "be a number of seconds above 0"
        remedy = "Try ", Argument(parameter, 60), ", or leave it out for no limit."
        raise ParameterError.because(parameter, rule, value, remedy)
    return number


def check_bound(parameter: str, value: object) -> int:
    """Return a number of columns; words such as ``"auto"`` are none."""
    if isinstance(value, str) or value is None:
        rule = "be a whole number, at least 0"
        remedy = "Try ", Argument(parameter, 1), ", or leave it out: methods have their own."
        raise ParameterError.because(parameter, rule, value, remedy)
    return check_count(parameter, value)
