"""What columns may be called, and lists of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeAlias

from komb.errors import Argument, ParameterError

Name: TypeAlias = Hashable


def list_names(parameter: str, names: Iterable[Name]) -> list[Name]:
    """Return several names as a list; a lone name is a mistake, even if it has many letters."""
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        remedy = "Put it in a list: ", Argument(parameter, [names]), "."
        raise ParameterError.because(parameter, "be a list of column names", names, remedy)
    return list(names)
