"""Records: many arrays and numbers that kernels get as one pointer.

A kernel of ours needs dozens of arrays. As arguments, or as the fields of named tuples, every one
of them is unpacked at each call and passed on, by value, from function to function, which takes
longer to compile than the kernel itself. A :class:`Record` is a table of addresses and shapes:
kernels get its address, and read a field where they use it.

In Python a record has its fields as attributes, so kernels also run without being compiled.
"""

# Numba has no annotations for what this extends.
# mypy: disallow-untyped-calls=False, disallow-untyped-decorators=False
# mypy: disallow-any-unimported=False, disallow-subclassing-any=False

from __future__ import annotations

import ctypes
import struct
from functools import cache
from typing import Any, Self

import numba
import numpy as np
import numpy.typing as npt
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, register_model, typeof_impl, unbox

_WORD = 8  # bytes
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
        fields_of = tuple((name, kind, place) for name, (kind, place) in places.items())
        self.kind, self._numba_type_ = _record_type(fields_of)

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


_kinds: list[Any] = []  # types of records, by the number that stands for each as a kind


@cache
def _record_type(fields: tuple[tuple[str, Any, int], ...]) -> tuple[int, _RecordType]:
    """Return the kind and the type of a record with such fields."""
    made = _RecordType(tuple((name, _field_type(kind), place) for name, kind, place in fields))
    _kinds.append(made)
    return len(_kinds) - 1, made


def _field_type(kind: Any) -> Any:
    if isinstance(kind, str):
        return getattr(types, kind)
    if isinstance(kind, int):
        return _kinds[kind]
    # always as if it could be written: one kernel for memory-mapped tables and others
    return types.Array(numba.from_dtype(np.dtype(kind[0])), kind[1], "C")


class _RecordType(types.Type):
    """The names and types of the fields, and their places in the table."""

    def __init__(self, fields: tuple[tuple[str, Any, int], ...]) -> None:
        self.fields = {name: (kind, place) for name, kind, place in fields}
        described = ", ".join(f"{name}: {kind}" for name, kind, _ in fields)
        super().__init__(name=f"Record({described})")


@typeof_impl.register(Record)
def _typeof_record(value: Record, _context: Any) -> Any:
    return value._numba_type_


@register_model(_RecordType)
class _RecordModel(models.OpaqueModel):
    """A pointer."""


@unbox(_RecordType)
def _unbox_record(_kind: Any, value: Any, context: Any) -> Any:
    address = context.pyapi.object_getattr_string(value, "address")
    pointer = context.pyapi.long_as_voidptr(address)
    context.pyapi.decref(address)
    return NativeValue(pointer)


@infer_getattr
class _RecordFields(AttributeTemplate):
    key = _RecordType

    def generic_resolve(self, typ: Any, attr: str) -> Any:  # type: ignore[override]
        return typ.fields[attr][0] if attr in typ.fields else None


@lower_getattr_generic(_RecordType)
def _get_field(context: Any, builder: Any, record: Any, pointer: Any, name: str) -> Any:
    kind, place = record.fields[name]

    def load(word: int, llvm_type: Any) -> Any:
        at = cgutils.pointer_add(builder, pointer, (place + word) * _WORD, llvm_type.as_pointer())
        value = builder.load(at)
        # records do not change while a kernel runs, so a field is read once, outside of loops
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    if isinstance(kind, types.Array):
        return _make_array(context, builder, kind, load)
    if isinstance(kind, types.Boolean):
        word = load(0, context.get_value_type(types.int64))
        return builder.icmp_signed("!=", word, word.type(0))
    value = load(0, context.get_value_type(kind))
    return impl_ret_borrowed(context, builder, kind, value)


def _make_array(context: Any, builder: Any, kind: Any, load: Any) -> Any:
    from numba.np.arrayobj import make_array, populate_array  # for compiling only

    word = context.get_value_type(types.intp)
    itemsize = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    shape = [load(1 + axis, word) for axis in range(kind.ndim)]
    strides = [word(itemsize)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    array = make_array(kind)(context, builder)
    populate_array(
        array,
        data=load(0, context.get_data_type(kind.dtype).as_pointer()),
        shape=shape,
        strides=strides,
        itemsize=word(itemsize),
        meminfo=None,
    )
    return impl_ret_borrowed(context, builder, kind, array._getvalue())
