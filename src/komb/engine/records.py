"""Records: many arrays and numbers that kernels get as one pointer.

A kernel of ours needs dozens of arrays. As arguments, or as the fields of named tuples, every one
of them is unpacked at each call and passed on, by value, from function to function, which takes
longer to compile than the kernel itself. A :class:`Record` is a table of addresses and shapes:
kernels get its address, and read a field where they use it.

What Numba makes of one is in :mod:`komb.engine.record_types`. In Python a record has its fields as
attributes, so kernels also run without being compiled.
"""

from __future__ import annotations

import ctypes
import struct
from functools import cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

_FLOAT, _BITS = struct.Struct("d"), struct.Struct("q")


class Record:
    """Fields of one pointer.

    Parameters
    ----------
    **fields
        Contiguous arrays, numbers and other records. None of them can be replaced; the contents of
        arrays may change.

    Examples
    --------
    >>> from komb.engine.compiling import kernel
    >>> @kernel
    ... def scaled_sum(record):
    ...     return record.scale * record.parts.sum()
    >>> scaled_sum(Record(scale=0.5, parts=np.array([1, 2, 3])))
    3.0
    """

    def __init__(self, **fields: Any) -> None:
        words: list[int] = []
        places = {}
        for name, value in fields.items():
            kind, own = _pack(name, value)
            places[name] = kind, len(words)
            words += own
        self.__dict__.update(fields)  # which keeps arrays alive, too
        self._places = places
        self._words = np.array(words, dtype=np.int64)
        self.address = _address_of(self._words)
        self.kind = _kind_of(tuple((name, *each) for name, each in places.items()))

    def __getattr__(self, name: str) -> Any:  # for type checkers: fields are attributes
        raise AttributeError(name)

    def replaced(self, **fields: Any) -> Self:
        """Return a record with other values, of the same kind, of some fields."""
        other = object.__new__(type(self))
        other.__dict__ = self.__dict__ | fields
        words = self._words.copy()
        for name, value in fields.items():
            kind, own = _pack(name, value)
            expected, place = self._places[name]
            if kind != expected:
                raise TypeError(f"{name!r} of a record must stay {expected}, not {kind}")
            words[place : place + len(own)] = own
        other._words = words
        other.address = _address_of(words)
        return other


def _pack(name: str, value: Any) -> tuple[Any, tuple[int, ...]]:
    """Return the kind of a field, and what the table has for it: addresses, shapes, bits."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError(f"the array {name!r} of a record must be contiguous")
        return (value.dtype.char, value.ndim), (_address_of(value), *value.shape)
    if isinstance(value, Record):
        return value.kind, (value.address,)
    if isinstance(value, bool | np.bool_):
        return "boolean", (int(value),)
    if isinstance(value, float | np.floating):
        return "float64", _BITS.unpack(_FLOAT.pack(value))
    return "int64", (int(value),)


def _address_of(array: npt.NDArray[Any]) -> int:
    if array.size and array.flags.writeable:  # quicker than to ask the array
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    address: int = array.__array_interface__["data"][0]
    return address


KINDS: list[tuple[tuple[str, Any, int], ...]] = []
"""Names, kinds and places of the fields of records, by the number that stands for each as a kind.

The kind of an array is its data type and its number of dimensions.
"""


@cache
def _kind_of(fields: tuple[tuple[str, Any, int], ...]) -> int:
    KINDS.append(fields)
    return len(KINDS) - 1
