"""Popcounts of ``LANES`` columns at once: what their bitmaps have in common with others.

The vectors are spelled out in the compiler's own language. Left to itself it keeps the sums of such
loops in memory, which takes twice as long. Where registers are narrower than ``LANES`` words, the
compiler takes several.
"""

# Numba asks for the types of what an intrinsic gets; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from komb.counts.compiling import IS_COMPILED, popcount

LANES = 8  # 64-bit words of an AVX-512 register

_WORD, _COUNT = ir.IntType(64), ir.IntType(32)
_WORDS, _COUNTS = ir.VectorType(_WORD, LANES), ir.VectorType(_COUNT, LANES)


@intrinsic(prefer_literal=True)
def add_common_bits(typingctx, n_strata, words, lanes, table, places):  # noqa: ARG001
    """Count the bits that strata, one or two, have in common with the words of each lane.

    ``table[sink + stratum * sink_step + lane]`` grows by those that ``words[first + stratum * step
    + i]`` and ``lanes[start + i * LANES + lane]`` share, for ``i < n_words``. The number of strata
    is a literal; ``places`` are (first, step, n_words, start, sink, sink_step).
    """
    arrays, kind = (words, lanes, table), types.UniTuple(types.int64, 6)

    def codegen(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        first, step, n_words, start, sink, sink_step = cgutils.unpack_tuple(builder, args[4], 6)
        words, lanes, table = (
            context.make_array(array)(context, builder, value).data
            for array, value in zip(arrays, args[1:4], strict=True)
        )

        def at(data: Any, index: Any, vector: Any) -> Any:
            return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())

        def spread(word: Any) -> Any:
            nothing = ir.Constant(_WORDS, ir.Undefined)
            vector = builder.insert_element(nothing, word, _COUNT(0))
            return builder.shuffle_vector(vector, nothing, ir.Constant(_COUNTS, [0] * LANES))

        count_bits = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_WORDS, [_WORDS]), f"llvm.ctpop.v{LANES}i64"
        )
        zero = ir.Constant(_WORDS, [0] * LANES)
        n_strata_at_once = getattr(n_strata, "literal_value", 1)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(n_strata_at_once)]
        with cgutils.for_range(builder, n_words) as loop:
            offset = builder.mul(loop.index, _WORD(LANES))
            lane = builder.load(at(lanes, builder.add(start, offset), _WORDS), align=8)
            index = builder.add(first, loop.index)
            for total in totals:
                both = builder.and_(spread(builder.load(builder.gep(words, [index]))), lane)
                bits = builder.call(count_bits, [both])
                builder.store(builder.add(builder.load(total), bits), total)
                index = builder.add(index, step)
            body = builder.basic_block
        # unrolled, it would only take up registers; the mark of a loop begins with itself
        text = ir.MetaDataString(builder.module, "llvm.loop.unroll.disable")
        is_short = builder.module.add_metadata([text])
        mark = builder.module.add_metadata([is_short])
        mark.operands = (mark, is_short)
        body.terminator.set_metadata("llvm.loop", mark)
        for total in totals:
            bits, cell = builder.trunc(builder.load(total), _COUNTS), at(table, sink, _COUNTS)
            builder.store(builder.add(builder.load(cell, align=4), bits), cell, align=4)
            sink = builder.add(sink, sink_step)
        return context.get_dummy_value()

    return types.void(n_strata, *arrays, kind), codegen


def _add_common_bits(n_strata, words, lanes, table, places):
    first, step, n_words, start, sink, sink_step = places
    for stratum in range(n_strata):
        for index in range(n_words * LANES):
            word = words[first + stratum * step + index // LANES] & lanes[start + index]
            table[sink + stratum * sink_step + index % LANES] += popcount(word)


if not IS_COMPILED:
    add_common_bits: Any = _add_common_bits  # type: ignore[no-redef]
