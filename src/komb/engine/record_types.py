"""What Numba makes of records: one pointer, and fields that are loaded where they are used."""

# Numba has no annotations for what this extends.
# mypy: disallow-untyped-calls=False, disallow-untyped-decorators=False
# mypy: disallow-any-unimported=False, disallow-subclassing-any=False

from __future__ import annotations

from functools import cache
from hashlib import sha256
from typing import Any

import numba
import numpy as np
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, register_model, typeof_impl, unbox
from numba.np.arrayobj import make_array, populate_array

from komb.engine.records import KINDS, Record

_WORD = 8  # bytes


@cache
def _record_type(kind: int) -> _RecordType:
    """Return the type of records of a kind."""
    return _RecordType(tuple((name, _field_type(own), at) for name, own, at in KINDS[kind]))


def _field_type(kind: Any) -> Any:
    if isinstance(kind, str):
        return getattr(types, kind)
    if isinstance(kind, int):
        return _record_type(kind)
    # always as if it could be written: one kernel for memory-mapped tables and others
    return types.Array(numba.from_dtype(np.dtype(kind[0])), kind[1], "C")


class _RecordType(types.Type):
    """The names and types of the fields, and their places in the table."""

    def __init__(self, fields: tuple[tuple[str, Any, int], ...]) -> None:
        self.fields = {name: (kind, place) for name, kind, place in fields}
        # names of functions have those of types in them, and take long to compile if they are long
        described = ", ".join(f"{name}: {kind}" for name, kind, _ in fields)
        super().__init__(name=f"Record({sha256(described.encode()).hexdigest()[:16]})")


@typeof_impl.register(Record)
def _typeof_record(value: Record, _context: Any) -> Any:
    return _record_type(value.kind)


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
