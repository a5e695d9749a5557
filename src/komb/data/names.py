"""What columns may be called, lists of them, and mappings that cannot be changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeAlias, TypeVar

from komb.errors import Argument, ParameterError

Name: TypeAlias = Hashable


def list_names(parameter: str, names: Iterable[Name]) -> list[Name]:
    """Return several names as a list; a lone name is a mistake, even if it has many letters."""
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        remedy = "Pass a list of column names: ", Argument(parameter, [names]), "."
        raise ParameterError.because(parameter, "be a list of column names", names, remedy)
    listed = list(names)
    check_hashable(parameter, listed)
    return listed


def check_hashable(parameter: str, names: Iterable[object]) -> None:
    """Raise if one of several names cannot be that of a column, as a list cannot."""
    for name in names:
        try:
            hash(name)
        except TypeError:
            rule, remedy = "have names of columns in its list", "Name each column by itself."
            raise ParameterError.because(parameter, rule, name, remedy) from None


def check_apart(named: Mapping[str, Iterable[Name]], others: Mapping[str, Iterable[Name]]) -> None:
    """Raise if a parameter names a column that another parameter names, too."""
    home: dict[Name, str] = {name: key for key, names in others.items() for name in names}
    for parameter, names in named.items():
        for name in names:
            if name in home:
                rule = "have no column in common with ", Argument(home[name])
                remedy = "Take it out of one of the two."
                raise ParameterError.because(parameter, rule, name, remedy)
        home |= dict.fromkeys(names, parameter)


K = TypeVar("K")
V = TypeVar("V")


class FrozenMapping(Mapping[K, V]):
    """A dictionary that cannot be changed; unlike a mapping proxy, it can be copied and pickled.

    Examples
    --------
    >>> import copy
    >>> cuts = FrozenMapping({"age": (18, 65)})
    >>> cuts["age"], copy.deepcopy(cuts) == cuts == {"age": (18, 65)}
    ((18, 65), True)
    >>> cuts
    {'age': (18, 65)}
    >>> cuts["age"] = ()
    Traceback (most recent call last):
    TypeError: 'FrozenMapping' object does not support item assignment
    """

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[K, V]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, key: K) -> V:
        return self._entries[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return repr(self._entries)

    def __reduce__(self) -> tuple[type[FrozenMapping[K, V]], tuple[dict[K, V]]]:
        return FrozenMapping, (self._entries,)
