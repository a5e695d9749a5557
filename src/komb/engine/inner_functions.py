"""How functions that only kernels call are compiled: as far as the kernel needs, and no further.

Numba optimises every function by itself, with all that it calls, turns it into machine code, and
does all of that again for each function that calls it. For a kernel of sixty small functions that
takes many times as long as the kernel. Here a function stays as it is until the kernel that calls
it is compiled: then everything is optimised together, once.
"""

# Numba has no annotations for what this extends.
# mypy: disallow-untyped-calls=False, disallow-untyped-decorators=False
# mypy: disallow-any-unimported=False, disallow-subclassing-any=False

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numba
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.typing.templates import make_intrinsic_template
from numba.extending import typeof_impl

from komb.engine import record_types  # noqa: F401 - Numba knows records now
from komb.engine.compiling import INNER, INSTRUCTIONS
from komb.engine.kernel_cache import KernelCache


class _LinkedLibrary(JITCodeLibrary):
    """A function and those it calls, to be linked into a kernel, never to be run by itself."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(self, "_reload_init"):  # what newer versions of Numba run on loading
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave that to the kernel."""


class _CommonFlags(Flags):
    """Flags that are the same as others only if they are the same object.

    Numba asks for every operation of a function whether flags are equal, and goes through all of
    them each time; there are a dozen functions for every kind of flags.
    """

    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__

    @classmethod
    def like(cls, flags: Any) -> _CommonFlags:
        """Return one object for all flags with the same values."""
        for known in _known_flags:
            if known.values() == flags.values():
                return known
        _known_flags.append(cls(flags))
        return _known_flags[-1]


_known_flags: list[_CommonFlags] = []


class InnerCompiler(Compiler):
    """The pipeline of a function that only kernels call: Numba's ``pipeline_class``."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        flags = self.state.flags.copy()
        flags.no_compile = True
        self.state.flags = _CommonFlags.like(flags)
        self.state.library = _LinkedLibrary(self.state.targetctx.codegen(), "inner")

    def compile_extra(self, func: Any) -> Any:
        """Compile to the form that is linked into kernels."""
        result = super().compile_extra(func)
        # Numba knows a function that is called by an object that Python could call: any will do
        entry_point: Any = [].append
        result.target_context.insert_user_function(entry_point, result.fndesc, [result.library])
        return result._replace(entry_point=entry_point)


_INSIDE: dict[str, Any] = {
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,  # kernels make no arrays, and keep none
    "pipeline_class": InnerCompiler,
}


def make_dispatcher(function: Callable[..., Any], kept: KernelCache, waiting: Any) -> Any:
    """Make of a kernel what Numba compiles when it is called.

    ``waiting`` is the context in which anything is compiled, or loaded.
    """
    options: dict[str, Any] = {"nogil": True, "_nrt": False}
    dispatcher: Any = numba.njit(**options)(function)
    dispatcher._cache = kept
    compile_for = dispatcher.compile

    def wait(signature: Any) -> Any:
        with waiting():
            return compile_for(signature)

    dispatcher.compile = wait
    return dispatcher


@typeof_impl.register(FunctionType)
def _typeof_function(function: Any, _context: Any) -> Any:
    """Tell Numba what a function is that a kernel calls, if it is one of ours."""
    if function in INSTRUCTIONS:
        return _type_of_instruction(function)
    return types.Dispatcher(_dispatcher_of(function)) if function in INNER else None


@cache  # types have weak references only
def _dispatcher_of(function: Any) -> Any:
    dispatcher: Any = numba.njit(**_INSIDE, **INNER[function])(function)
    _forget_literals(dispatcher)
    return dispatcher


@cache
def _type_of_instruction(function: Any) -> Any:
    write = INSTRUCTIONS[function]
    return types.Function(make_intrinsic_template(function, write, write.__name__))


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
