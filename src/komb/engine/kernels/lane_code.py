"""The steps of :mod:`komb.engine.kernels.lanes`, vector by vector, in the compiler's own language.

Left to itself it keeps the sums of such loops in memory, which takes twice as long. Where registers
are narrower than ``LANES`` words, the compiler takes several. Loaded when kernels are compiled.
"""

# Numba asks for the types of what an instruction gets; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from komb.engine.kernels.lanes import CODES, LANES

_WORD, _COUNT = ir.IntType(64), ir.IntType(32)
_WORDS, _COUNTS = ir.VectorType(_WORD, LANES), ir.VectorType(_COUNT, LANES)
_FLOAT = ir.FloatType()
_FLOATS = ir.VectorType(_FLOAT, LANES)
_BYTES = {_WORD: 8, _COUNT: 4, _FLOAT: 4}


class _Vectors:
    """Writes code for vectors in some arrays."""

    def __init__(self, context: Any, builder: Any, arrays: Any, values: Any) -> None:
        self.builder = builder
        self.arrays = [
            context.make_array(array)(context, builder, value).data
            for array, value in zip(arrays, values, strict=True)
        ]

    def _at(self, array: int, place: Any, kind: Any) -> Any:
        at = self.builder.gep(self.arrays[array], [place])
        return self.builder.bitcast(at, kind.as_pointer())

    def load(self, array: int, place: Any, kind: Any) -> Any:
        return self.builder.load(self._at(array, place, kind), align=_BYTES[kind.element])

    def store(self, vector: Any, array: int, place: Any) -> None:
        at = self._at(array, place, vector.type)
        self.builder.store(vector, at, align=_BYTES[vector.type.element])

    def spread(self, value: Any) -> Any:
        """Put one word, or one number, into all lanes."""
        nothing = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
        first = self.builder.insert_element(nothing, value, _COUNT(0))
        return self.builder.shuffle_vector(first, nothing, ir.Constant(_COUNTS, [0] * LANES))

    def count_bits(self, words: Any) -> Any:
        kind, name = ir.FunctionType(_WORDS, [_WORDS]), f"llvm.ctpop.v{LANES}i64"
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, [words])

    @contextmanager
    def short_loop(self, count: Any) -> Iterator[Any]:
        """Repeat a step a few times; unrolled, it would only take up registers."""
        with cgutils.for_range(self.builder, count) as loop:
            yield loop.index
            body = self.builder.basic_block
        module = self.builder.module
        is_short = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.disable")])
        mark = module.add_metadata([is_short])
        mark.operands = (mark, is_short)  # the mark of a loop begins with itself
        body.terminator.set_metadata("llvm.loop", mark)


def _typed(write: Callable[..., None], n_places: int, *arrays: Any) -> Any:
    """Return the type of a step on arrays and a tuple of places, and what writes its code."""

    def codegen(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        vectors = _Vectors(context, builder, arrays, args[:-1])
        write(vectors, builder, *cgutils.unpack_tuple(builder, args[-1], n_places))
        return context.get_dummy_value()

    return types.void(*arrays, types.UniTuple(types.int64, n_places)), codegen


def _write_common_bits(n_strata: int) -> Callable[..., None]:
    def write(vectors, builder, first, step, n_words, start, sink, sink_step):
        zero = ir.Constant(_WORDS, [0] * LANES)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(n_strata)]
        with vectors.short_loop(n_words) as number:
            offset = builder.mul(number, _WORD(LANES))
            lane = vectors.load(1, builder.add(start, offset), _WORDS)
            index = builder.add(first, number)
            for total in totals:
                word = builder.load(builder.gep(vectors.arrays[0], [index]))
                bits = vectors.count_bits(builder.and_(vectors.spread(word), lane))
                builder.store(builder.add(builder.load(total), bits), total)
                index = builder.add(index, step)
        for total in totals:
            bits = builder.trunc(builder.load(total), _COUNTS)
            vectors.store(builder.add(vectors.load(2, sink, _COUNTS), bits), 2, sink)
            sink = builder.add(sink, sink_step)

    return write


def _write_subtract(vectors, builder, source, first, step, count, sink):
    total = cgutils.alloca_once_value(builder, vectors.load(0, source, _COUNTS))
    with vectors.short_loop(count) as number:
        cell = vectors.load(1, builder.add(first, builder.mul(number, step)), _COUNTS)
        builder.store(builder.sub(builder.load(total), cell), total)
    vectors.store(builder.load(total), 1, sink)


def _write_add_squares(vectors, builder, first, n_cells, step, n_classes, n_responses, sink):
    """``arrays``: table, weights [response, class] with the shares in the rows in front, sums."""
    one, zero = ir.Constant(_FLOATS, [1.0] * LANES), ir.Constant(_FLOATS, [0.0] * LANES)
    total = cgutils.alloca_once_value(builder, vectors.load(2, sink, _FLOATS))
    inner = cgutils.alloca_once_value(builder, zero)
    rows = cgutils.alloca_once_value(builder, zero)

    def add_up(row, start, sum_to):
        builder.store(zero, sum_to)
        with cgutils.for_range(builder, n_classes) as loop:
            place = builder.add(builder.mul(row, n_classes), loop.index)
            weight = builder.load(builder.gep(vectors.arrays[1], [place]))
            at = builder.add(start, builder.mul(loop.index, step))
            count = builder.sitofp(vectors.load(0, at, _COUNTS), _FLOATS)
            own = builder.fmul(vectors.spread(weight), count)
            builder.store(builder.fadd(builder.load(sum_to), own), sum_to)

    with vectors.short_loop(n_cells) as number:
        start = builder.add(first, builder.mul(number, _WORD(LANES)))
        add_up(_WORD(0), start, rows)
        size = builder.load(rows)
        size = builder.select(builder.fcmp_ordered(">", size, one), size, one)
        with cgutils.for_range(builder, n_responses) as response:
            add_up(builder.add(response.index, _WORD(1)), start, inner)
            own = builder.load(inner)
            own = builder.fdiv(builder.fmul(own, own), size)
            builder.store(builder.fadd(builder.load(total), own), total)
    vectors.store(builder.load(total), 2, sink)


def add_squares(*arrays: Any) -> Any:
    """Type and code of the step."""
    return _typed(_write_add_squares, 6, *arrays)


def add_common_bits(n_strata: int, *arrays: Any) -> Any:
    """Type and code of the step for some strata."""
    return _typed(_write_common_bits(n_strata), 6, *arrays)


def subtract(*arrays: Any) -> Any:
    """Type and code of the step."""
    return _typed(_write_subtract, 5, *arrays)


def match_codes(codes: Any) -> Any:
    """Type and code of the step."""

    def codegen(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        vectors = _Vectors(context, builder, [codes], args[:1])
        first, code = cgutils.unpack_tuple(builder, args[1], 2)
        kind = ir.VectorType(ir.IntType(8), CODES)
        at = builder.bitcast(builder.gep(vectors.arrays[0], [first]), kind.as_pointer())
        nothing = ir.Constant(kind, ir.Undefined)
        one = builder.insert_element(nothing, builder.trunc(code, kind.element), _COUNT(0))
        places_of_one = ir.Constant(ir.VectorType(_COUNT, CODES), [0] * CODES)
        wanted = builder.shuffle_vector(one, nothing, places_of_one)
        is_equal = builder.icmp_unsigned("==", builder.load(at, align=1), wanted)
        return builder.bitcast(is_equal, _WORD)

    return types.uint64(codes, types.UniTuple(types.int64, 2)), codegen
