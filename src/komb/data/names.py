"""What columns may be called."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeAlias

from komb.errors import ParameterError

Name: TypeAlias = Hashable


def check_hashable(parameter: str, names: Iterable[object]) -> None:
    """Raise if one of several names cannot be that of a column, because it is a list or the like.

    Examples
    --------
    >>> check_hashable("given", ["age", ["sex"]])
    Traceback (most recent call last):
    komb.errors.ParameterError: 'given' must have names of columns in its list; got ['sex']. ...
    """
    for name in names:
        try:
            hash(name)
        except TypeError:
            rule, remedy = "have names of columns in its list", "Name each column by itself."
            raise ParameterError.because(parameter, rule, name, remedy) from None
