"""How kernels run: one place for all of them.

:func:`kernel` is for functions that Python calls, :data:`inner` for those that only kernels call,
:func:`instruction` for steps that are written in the language of the compiler. All of them stay
functions of Python. Some kernels run as they are, on small tables, until they have taken longer
than it takes to have them compiled; then Numba is loaded, and :mod:`komb.engine.inner_functions`
compiles them. With ``NUMBA_DISABLE_JIT=1`` that never happens: they run, hundreds of times slower,
in Python's own debugger.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, update_wrapper
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from komb.engine.kernel_cache import KernelCache, find_folders, is_kept

IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
"""Whether kernels are compiled at all."""

SECONDS_TO_LOAD = 0.2  # that Numba and a kernel on disk take
SECONDS_TO_WAIT = 3.0  # in Python, before somebody has to wait for a compiler, six times as long
MOST_ROWS_IN_PYTHON = 20_000

INNER: dict[Any, dict[str, Any]] = {}
"""Functions that only kernels call, with what Numba has to know of each."""

INSTRUCTIONS: dict[Any, Any] = {}
"""Functions that Python has in place of an instruction, with what makes the instruction."""


class _LateError(Exception):
    """A kernel has run in Python for long enough; it can be called again."""


class _Patience:
    """How long kernels may run in Python, all of them together, in processor time."""

    def __init__(self) -> None:
        self.limit, self.used, self.end = SECONDS_TO_LOAD, 0.0, math.inf

    def run(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Run a kernel in Python; raises if it is late."""
        began = time.process_time()
        self.end = began + self.limit - self.used
        try:
            return _run_in_python(function, arguments)
        finally:
            self.used += time.process_time() - began
            self.end = math.inf

    def is_over(self, name: str) -> bool:
        """Whether a kernel is to be compiled; there is more time for one that is not on disk."""
        if self.used >= self.limit == SECONDS_TO_LOAD and not is_kept(name):
            self.limit = SECONDS_TO_WAIT
        return self.used >= self.limit


class _Clock:
    """Seconds, without those in which at least one thread waits for a compiler."""

    def __init__(self) -> None:
        self._lock, self._n_waiting, self._stopped, self._lost = Lock(), 0, 0.0, 0.0

    def __call__(self) -> float:
        with self._lock:
            now = self._stopped if self._n_waiting else time.perf_counter()
            return now - self._lost

    @contextmanager
    def stopped(self) -> Iterator[None]:
        with self._lock:
            self._n_waiting += 1
            if self._n_waiting == 1:
                self._stopped = time.perf_counter()
        try:
            yield
        finally:
            with self._lock:
                self._n_waiting -= 1
                if self._n_waiting == 0:
                    self._lost += time.perf_counter() - self._stopped


clock = _Clock()
"""Seconds on a clock that stands still while kernels are compiled or loaded."""

_patience = _Patience()


@contextmanager
def compile_at_once() -> Iterator[None]:
    """Have kernels compiled that would run in Python at first."""
    before, _patience.limit = _patience.limit, 0.0
    try:
        yield
    finally:
        _patience.limit = before


def _inside(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a decorator for functions that only kernels call."""

    def decorate(function: Callable[..., Any]) -> Any:
        INNER[function] = options
        return function

    return decorate


inner: Any = _inside()

# Merged into the kernels that call them: for steps so short that a call would cost as much.
merged: Any = _inside(forceinline=True)


# For sums over long rows: the compiler may add in another order, several numbers at a time. That
# order is the same for any number of threads.
vectorised: Any = _inside(fastmath={"reassoc", "contract", "nsz"})


def instruction(in_python: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Have kernels use what the decorated function writes for the compiler, as an intrinsic.

    Python has the function ``in_python`` in its place.
    """

    def decorate(write: Callable[..., Any]) -> Any:
        INSTRUCTIONS[in_python] = write
        return in_python

    return decorate


def _do_nothing() -> None:
    """Stay what it is."""


def _stop_if_late() -> None:
    if time.process_time() >= _patience.end:
        raise _LateError


@instruction(_do_nothing)
def stay_apart(typingctx: Any) -> Any:  # noqa: ARG001
    """Have the function that calls this compiled once, not again wherever it is called from."""
    from numba.core import types

    def codegen(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), codegen


@instruction(_stop_if_late)
def stop_if_late(typingctx: Any) -> Any:  # noqa: ARG001
    """Leave a kernel that has run in Python for too long; nothing in one that is compiled.

    Where this stands, the kernel can be called once more with what it was called with.
    """
    from numba.core import types

    return types.none(), lambda context, *_: context.get_dummy_value()


class Kernel:
    """A function that Python calls, compiled when it is worth that.

    Parameters
    ----------
    function : callable
    is_small : callable, optional
        Says of its arguments whether it may run in Python; if there is none, it never does.
    """

    def __init__(self, function: Callable[..., Any], is_small: Callable[..., bool] | None) -> None:
        update_wrapper(self, function)
        self.py_func, self._is_small = function, is_small
        self.cache: KernelCache | None = None
        self._compiled: Any = None
        self._ready: dict[tuple[int | None, ...], Callable[..., Any]] = {}  # by kinds of records

    @property
    def compiled(self) -> Any:
        """What Numba makes of it; it has read nothing from disk before it is called."""
        if self._compiled is None:
            with clock.stopped():
                from komb.engine.inner_functions import make_dispatcher

                cache = self.cache or KernelCache(self.py_func, _folders())
                self._compiled = make_dispatcher(self.py_func, cache, clock.stopped)
        return self._compiled

    def __call__(self, *arguments: Any) -> Any:
        """Run in Python or compiled; the answer is the same."""
        # Numba takes ten times as long to find out that it has seen such records before
        kinds = tuple([getattr(each, "kind", None) for each in arguments])
        if self._compiled is not None and kinds in self._ready:
            return self._ready[kinds](*arguments)
        if not IS_COMPILED:
            return _run_in_python(self.py_func, arguments)
        is_small = self._is_small
        if self._compiled is None and is_small is not None and is_small(*arguments):
            while not _patience.is_over(self.py_func.__name__):
                with suppress(_LateError):
                    return _patience.run(self.py_func, arguments)
        compiled = self.compiled
        answer = compiled(*arguments)
        if None not in kinds:
            types = tuple(map(compiled.typeof_pyval, arguments))
            self._ready[kinds] = compiled.overloads[types].entry_point
        return answer


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, and keep the result on disk if possible."""
    return Kernel(function, None)


def patient_kernel(is_small: Callable[..., bool]) -> Callable[[Callable[..., Any]], Any]:
    """Make a decorator for kernels that run in Python at first: no one has to wait for a compiler.

    They call :func:`stop_if_late` wherever they can be called again with the same arguments.
    """
    return lambda function: Kernel(function, is_small)


@lru_cache(maxsize=1)
def _folders() -> tuple[Path, ...]:
    return tuple(find_folders())


def _run_in_python(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Run a kernel as it is; its integers are meant to wrap, of which numpy would warn."""
    with np.errstate(over="ignore"):
        return function(*arguments)


def popcount(word: Any) -> np.int64:
    """Count the set bits of a 64-bit word in Python."""
    return np.int64(int(word).bit_count())
