"""How kernels are compiled: one place for all of them.

:func:`kernel` is for functions that Python calls, :data:`inner` for those that only kernels call.
With ``NUMBA_DISABLE_JIT=1`` both leave a function as it is: it runs, hundreds of times slower, in
Python's own debugger.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

from komb.engine.inner_functions import InnerCompiler
from komb.engine.kernel_cache import KernelCache, find_folders

IS_COMPILED = not getattr(numba.config, "DISABLE_JIT", 0)
"""Whether kernels are compiled at all."""

_INSIDE: dict[str, Any] = {
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,  # kernels make no arrays, and keep none
    "pipeline_class": InnerCompiler,
}


def _inside(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a decorator for functions that only kernels call."""

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher: Any = numba.njit(**_INSIDE, **options)(function)
        if IS_COMPILED:
            _forget_literals(dispatcher)
        return dispatcher

    return decorate


def _forget_literals(dispatcher: Any) -> None:
    """Have a function compiled for integers, but not once more for the number 0.

    Numba learns the types of a function step by step. A sum that begins as 0 is that number to it
    before it is an integer, and by then whatever is called with the sum has been compiled for the
    number, and for every mixture of both, in vain.
    """
    find_template = dispatcher.get_call_template
    unliteral: Any = types.unliteral

    def find(arguments: Any, keywords: Any) -> Any:
        return find_template(
            tuple(unliteral(kind) for kind in arguments),
            {name: unliteral(kind) for name, kind in keywords.items()},
        )

    dispatcher.get_call_template = find


inner: Any = _inside()

# Merged into the kernels that call them: for steps so short that a call would cost as much.
merged: Any = _inside(forceinline=True)


# For sums over long rows: the compiler may add in another order, several numbers at a time. That
# order is the same for any number of threads.
vectorised: Any = _inside(fastmath={"reassoc", "contract", "nsz"})


@intrinsic
def stay_apart(typingctx: Any) -> Any:  # noqa: ARG001
    """Have the function that calls this compiled once, not again wherever it is called from."""

    def codegen(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), codegen


if not IS_COMPILED:
    stay_apart: Any = lambda: None  # type: ignore[no-redef]  # noqa: E731


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, and keep the result on disk if possible."""
    if not IS_COMPILED:
        return _in_python(function)
    options: dict[str, Any] = {"nogil": True, "_nrt": False}
    dispatcher: Any = numba.njit(**options)(function)
    dispatcher._cache = KernelCache(function, _folders())
    return dispatcher


@lru_cache(maxsize=1)
def _folders() -> tuple[Path, ...]:
    return tuple(find_folders())


def _in_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have a kernel run as it is; its integers are meant to wrap, of which numpy would warn."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*arguments)

    return run


def popcount(word: Any) -> np.int64:
    """Count the set bits of a 64-bit word in Python."""
    return np.int64(int(word).bit_count())
