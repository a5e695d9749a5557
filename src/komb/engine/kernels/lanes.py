"""Steps on ``LANES`` columns at once, one vector each: what popcounts of interleaved bitmaps need.

The vectors are spelled out in the compiler's own language. Left to itself it keeps the sums of such
loops in memory, which takes twice as long. Where registers are narrower than ``LANES`` words, the
compiler takes several. Arrays are flat, and places are those of the first lane.
"""

# Numba asks for the types of what an intrinsic gets; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from komb.engine.compiling import IS_COMPILED, popcount

LANES = 8  # 64-bit words of an AVX-512 register

_WORD, _COUNT = ir.IntType(64), ir.IntType(32)
_WORDS, _COUNTS = ir.VectorType(_WORD, LANES), ir.VectorType(_COUNT, LANES)


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
        return self.builder.load(self._at(array, place, kind), align=kind.element.width // 8)

    def store(self, vector: Any, array: int, place: Any) -> None:
        at = self._at(array, place, vector.type)
        self.builder.store(vector, at, align=vector.type.element.width // 8)

    def spread(self, value: Any) -> Any:
        """Put one word into all lanes."""
        nothing = ir.Constant(_WORDS, ir.Undefined)
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


@intrinsic
def add_common_bits(typingctx, words, lanes, table, places):  # noqa: ARG001
    """Count the bits that a stratum has in common with the words of each lane.

    ``table[sink + lane]`` grows by those that ``words[first + i]`` and ``lanes[start + i * LANES +
    lane]`` share, for ``i < n_words``; ``places`` are (first, step, n_words, start, sink,
    sink_step), the steps to another stratum.
    """
    return _typed(_write_common_bits(1), 6, words, lanes, table)


@intrinsic
def add_common_bits_twice(typingctx, words, lanes, table, places):  # noqa: ARG001
    """The same for two strata, which share what they load."""  # noqa: D401
    return _typed(_write_common_bits(2), 6, words, lanes, table)


@intrinsic
def subtract(typingctx, start, table, places):  # noqa: ARG001
    """Set cells of the table to what another array has beyond the sum of some cells.

    ``table[sink + lane]`` becomes ``start[source + lane]`` less ``table[first + i * step + lane]``
    for ``i < count``; ``places`` are (source, first, step, count, sink).
    """
    return _typed(_write_subtract, 5, start, table)


def _add_common_bits(words, lanes, table, places, n_strata=1):
    first, step, n_words, start, sink, sink_step = places
    for stratum in range(n_strata):
        for index in range(n_words * LANES):
            word = words[first + stratum * step + index // LANES] & lanes[start + index]
            table[sink + stratum * sink_step + index % LANES] += popcount(word)


def _add_common_bits_twice(words, lanes, table, places):
    _add_common_bits(words, lanes, table, places, 2)


def _subtract(start, table, places):
    source, first, step, count, sink = places
    for lane in range(LANES):
        cells = (table[first + index * step + lane] for index in range(count))
        table[sink + lane] = start[source + lane] - sum(cells)


if not IS_COMPILED:
    add_common_bits: Any = _add_common_bits  # type: ignore[no-redef]
    add_common_bits_twice: Any = _add_common_bits_twice  # type: ignore[no-redef]
    subtract: Any = _subtract  # type: ignore[no-redef]
