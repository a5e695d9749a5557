"""Mappings that cannot be changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

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
