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
def add_common_bits(typingctx, n_strata, words, first, step, n_words, lanes, start, table, place,
                    places):  # fmt: skip
    """Add to ``table[place + stratum * places + lane]`` the bits that a stratum shares with a lane.

    Those that ``words[first + stratum * step + i]`` and ``lanes[start + i * LANES + lane]`` have in
    common, for ``i < n_words``. Strata are one or two, a literal: they share what they load.
    """
    count = getattr(n_strata, "literal_value", 1)
    numbers = [types.int64] * 3

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, words, first, step, n_words, lanes, start, table, place, places = args

        def at(array: int, index: Any, kind: Any) -> Any:
            made = context.make_array(signature.args[array])(context, builder, args[array])
            return builder.bitcast(builder.gep(made.data, [index]), kind.as_pointer())

        def spread(word: Any) -> Any:
            nothing = ir.Constant(_WORDS, ir.Undefined)
            vector = builder.insert_element(nothing, word, _COUNT(0))
            return builder.shuffle_vector(vector, nothing, ir.Constant(_COUNTS, [0] * LANES))

        count_bits = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_WORDS, [_WORDS]), f"llvm.ctpop.v{LANES}i64"
        )
        zero = ir.Constant(_WORDS, [0] * LANES)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(count)]
        with cgutils.for_range(builder, n_words) as loop:
            offset = builder.mul(loop.index, _WORD(LANES))
            lane = builder.load(at(5, builder.add(start, offset), _WORDS), align=8)
            index = builder.add(first, loop.index)
            for total in totals:
                both = builder.and_(spread(builder.load(at(1, index, _WORD))), lane)
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
            bits, cell = builder.trunc(builder.load(total), _COUNTS), at(7, place, _COUNTS)
            builder.store(builder.add(builder.load(cell, align=4), bits), cell, align=4)
            place = builder.add(place, places)
        return context.get_dummy_value()

    return types.void(
        n_strata, words, *numbers, lanes, types.int64, table, *numbers[:2]
    ), codegen


def _add_common_bits(n_strata, words, first, step, n_words, lanes, start, table, place, places):
    for stratum in range(n_strata):
        for index in range(n_words * LANES):
            word = words[first + stratum * step + index // LANES] & lanes[start + index]
            table[place + stratum * places + index % LANES] += popcount(word)


if not IS_COMPILED:
    add_common_bits: Any = _add_common_bits  # type: ignore[no-redef]
