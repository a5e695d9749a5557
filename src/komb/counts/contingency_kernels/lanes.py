"""Steps on ``LANES`` columns at once, one vector each: what popcounts of interleaved bitmaps need.

The vectors are spelled out in the compiler's own language. Left to itself it keeps the sums of such
loops in memory, which takes twice as long. Where registers are narrower than ``LANES`` words, the
compiler takes several. All arrays are flat, and indices are those of the first lane.
"""

# Numba asks for the types of what an intrinsic gets; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from komb.counts.compiling import IS_COMPILED, popcount

LANES = 8  # 64-bit words of an AVX-512 register

_NUMBER, _SHORT = ir.IntType(64), ir.IntType(32)
_WORDS, _COUNTS = ir.VectorType(_NUMBER, LANES), ir.VectorType(_SHORT, LANES)


class _Vectors:
    """Writes code for vectors in the arrays that an intrinsic gets."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.builder = builder
        self._arrays = {
            place: context.make_array(kind)(context, builder, value).data
            for place, (kind, value) in enumerate(zip(signature.args, args, strict=True))
            if isinstance(kind, types.Array)
        }

    def address(self, array: int, index: Any) -> Any:
        return self.builder.gep(self._arrays[array], [index])

    def _pointer(self, array: int, index: Any, kind: Any) -> Any:
        return self.builder.bitcast(self.address(array, index), kind.as_pointer())

    def load(self, array: int, index: Any, kind: Any) -> Any:
        return self.builder.load(self._pointer(array, index, kind), align=kind.element.width // 8)

    def store(self, vector: Any, array: int, index: Any, kind: Any) -> None:
        self.builder.store(vector, self._pointer(array, index, kind), align=kind.element.width // 8)

    def spread(self, value: Any, kind: Any) -> Any:
        """Put one value into all lanes."""
        nothing = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(nothing, value, ir.Constant(_SHORT, 0))
        return self.builder.shuffle_vector(first, nothing, ir.Constant(_COUNTS, [0] * LANES))

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

    def call(self, name: str, *vectors: Any) -> Any:
        """Call one of the compiler's functions of vectors."""
        function = ir.FunctionType(_WORDS, [vector.type for vector in vectors])
        found = cgutils.get_or_insert_function(self.builder.module, function, name)
        return self.builder.call(found, vectors)


def _step(write: Callable[..., None], in_python: Callable[..., None]) -> Any:
    """Make a function for kernels of one that writes its code; numbers are 64-bit integers."""

    def typed(_, *kinds):
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            write(_Vectors(context, builder, signature, args), builder, *args)
            return context.get_dummy_value()

        return types.void(
            *(kind if isinstance(kind, types.Array) else types.int64 for kind in kinds)
        ), codegen

    names = ["typingctx", *inspect.signature(in_python).parameters]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    typed.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    return intrinsic(typed) if IS_COMPILED else in_python


def _write_add_common_bits(
    n_strata, vectors, builder, _words, first, step, _lanes, start, n_words, _table, place, places
):
    zero = ir.Constant(_WORDS, [0] * LANES)
    totals = [cgutils.alloca_once_value(builder, zero) for _ in range(n_strata)]
    with vectors.short_loop(n_words) as number:
        offset = builder.mul(number, ir.Constant(_NUMBER, LANES))
        lane = vectors.load(3, builder.add(start, offset), _WORDS)
        index = builder.add(first, number)
        for total in totals:
            word = vectors.spread(builder.load(vectors.address(0, index)), _WORDS)
            bits = vectors.call(f"llvm.ctpop.v{LANES}i64", builder.and_(word, lane))
            builder.store(builder.add(builder.load(total), bits), total)
            index = builder.add(index, step)
    for total in totals:
        bits = builder.trunc(builder.load(total), _COUNTS)
        found = builder.add(vectors.load(6, place, _COUNTS), bits)
        vectors.store(found, 6, place, _COUNTS)
        place = builder.add(place, places)


def _add_common_bits(n_strata, words, first, step, lanes, start, n_words, table, place, places):
    for stratum in range(n_strata):
        for index in range(n_words * LANES):
            word = words[first + stratum * step + index // LANES] & lanes[start + index]
            table[place + stratum * places + index % LANES] += popcount(word)


def _counter(n_strata: int) -> Any:
    """Make the step that counts so many strata at once: they share what they load."""
    return _step(partial(_write_add_common_bits, n_strata), partial(_add_common_bits, n_strata))


# (words, first, step, lanes, start, n_words, table, place, places): for one or two strata,
# table[place + stratum * places + lane] grows by the number of bits that words[first + stratum *
# step:] and the lane have in common
add_common_bits, add_common_bits_twice = _counter(1), _counter(2)


def _write_add_lanes(
    vectors, builder, _sink, place, _start, source, _table, first, step, count, factor
):
    total = cgutils.alloca_once_value(builder, ir.Constant(_COUNTS, [0] * LANES))
    with vectors.short_loop(count) as index:
        cell = builder.add(first, builder.mul(index, step))
        found = builder.add(builder.load(total), vectors.load(4, cell, _COUNTS))
        builder.store(found, total)
    factors = vectors.spread(builder.trunc(factor, _SHORT), _COUNTS)
    summed = builder.mul(builder.load(total), factors)
    vectors.store(builder.add(vectors.load(2, source, _COUNTS), summed), 0, place, _COUNTS)


def _add_lanes(sink, place, start, source, table, first, step, count, factor):
    for lane in range(LANES):
        total = sum(int(table[first + index * step + lane]) for index in range(count))
        sink[place + lane] = start[source + lane] + factor * total


# (sink, place, start, source, table, first, step, count, factor): sink[place + lane] becomes
# start[source + lane] + factor * (the sum of table[first + i * step + lane] for i < count)
add_lanes = _step(_write_add_lanes, _add_lanes)


def _write_sum_terms(vectors, builder, _table, first, n_cells, _terms, _sums, factor):
    origin, width = ir.Constant(_NUMBER, 0), ir.Constant(_WORDS, [_NUMBER.width // 8] * LANES)
    start = vectors.spread(builder.ptrtoint(vectors.address(3, origin), _NUMBER), _WORDS)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(1), LANES), [1] * LANES)
    zero, align = ir.Constant(_WORDS, [0] * LANES), ir.Constant(_SHORT, _NUMBER.width // 8)
    total = cgutils.alloca_once_value(builder, zero)
    with vectors.short_loop(n_cells) as number:
        offset = builder.mul(number, ir.Constant(_NUMBER, LANES))
        counts = builder.zext(vectors.load(0, builder.add(first, offset), _COUNTS), _WORDS)
        address = builder.add(start, builder.mul(counts, width))
        pointers = builder.inttoptr(address, ir.VectorType(_NUMBER.as_pointer(), LANES))
        gather = f"llvm.masked.gather.v{LANES}i64.v{LANES}p0"
        found = vectors.call(gather, pointers, align, everywhere, zero)
        builder.store(builder.add(builder.load(total), found), total)
    summed = builder.mul(builder.load(total), vectors.spread(factor, _WORDS))
    vectors.store(builder.add(vectors.load(4, origin, _WORDS), summed), 4, origin, _WORDS)


def _sum_terms(table, first, n_cells, terms, sums, factor):
    counts = table[first : first + n_cells * LANES].reshape(-1, LANES)
    sums[:LANES] += factor * terms[counts].sum(axis=0, dtype=np.int64)


# (table, first, n_cells, terms, sums, factor): sums[lane] grows by factor * terms[count] of all
# counts table[first + i * LANES + lane] for i < n_cells
sum_terms = _step(_write_sum_terms, _sum_terms)
