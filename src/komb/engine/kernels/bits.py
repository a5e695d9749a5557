"""The set bits of a word, counted by one instruction."""

# Numba has no annotations for what this extends.
# mypy: disallow-untyped-calls=False, disallow-untyped-decorators=False
# mypy: disallow-any-unimported=False

from __future__ import annotations

from typing import Any

from komb.engine.compiling import instruction, popcount


@instruction(popcount)
def count_bits(typingctx: Any, word: Any) -> Any:  # noqa: ARG001 - Numba passes both
    """Count the set bits of a 64-bit word; the compiler vectorises it where it can."""
    from llvmlite import ir
    from numba.core import cgutils, types

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        word_type = ir.IntType(64)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(word_type, [word_type]), "llvm.ctpop.i64"
        )
        return builder.call(function, args)

    return types.uint64(types.uint64), codegen
