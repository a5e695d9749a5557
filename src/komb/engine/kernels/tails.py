"""Tails of the chi-square and of shifted gamma distributions, inside kernels.

Kernels call the very functions that ``scipy.special`` wraps, through their addresses, so that a
p-value is the same to the last bit wherever it is computed.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import ctypes
import math
from functools import lru_cache
from typing import Any

import numpy as np

from komb.engine.compiling import inner, instruction, patient_kernel, stop_if_late

LEAST_SKEWNESS = 1e-3  # a distribution that is less skewed, or negatively, is as good as normal
MOST_SKEWNESS = math.sqrt(8.0)  # that of a chi-square distribution with one degree of freedom

_TINY = 1e-290  # p-values below are computed by their logarithm
_FRACTION_TERMS = 32  # of a continued fraction that has converged after 8, wherever it is used
_NAMES = ("chdtrc", "chdtri")
_TAIL, _QUANTILE = range(2)  # places of the functions: p-value of a statistic, and its inverse


@lru_cache(maxsize=1)
def tail_functions() -> Any:
    """Addresses of the functions that kernels call."""
    from scipy.special import cython_special

    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    capsules = [cython_special.__pyx_capi__[name] for name in _NAMES]
    return np.array([pointer_of(each, name_of(each)) for each in capsules], dtype=np.int64)


def _call_in_python(address: int, first: float, second: float) -> float:
    from scipy.special import chdtrc, chdtri

    function = (chdtrc, chdtri)[tail_functions().tolist().index(int(address))]
    return float(function(first, second))


@instruction(_call_in_python)
def _call(typingctx: Any, address: Any, first: Any, second: Any) -> Any:  # noqa: ARG001
    """Call a function of two numbers by its address."""
    from llvmlite import ir
    from numba.core import types

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        number, flag = ir.DoubleType(), ir.IntType(32)
        function = ir.FunctionType(number, [number, number, flag])
        pointer = builder.inttoptr(args[0], function.as_pointer())
        return builder.call(pointer, [args[1], args[2], ir.Constant(flag, 0)])

    return types.float64(types.int64, types.float64, types.float64), codegen


@inner
def critical_value(freedom, alpha, functions):
    """Return the statistic whose p-value is ``alpha``."""
    return _call(functions[_QUANTILE], float(freedom), alpha)


@inner
def log2_p_value(statistic, freedom, functions):
    """Return the logarithm of a p-value, also of one that underflows to zero."""
    p_value = _call(functions[_TAIL], float(freedom), statistic)
    if p_value >= _TINY:
        return math.log2(p_value)
    return _log2_far_tail(statistic / 2.0, freedom / 2.0)


@inner
def _log2_far_tail(x, a):
    """Logarithm of the regularised upper incomplete gamma function, for ``x`` far above ``a``.

    By Legendre's continued fraction, from its far end: DLMF 8.9.2.
    """
    fraction = 0.0
    for n in range(_FRACTION_TERMS, 0, -1):
        fraction = n * (a - n) / (x + 2 * n + 1 - a + fraction)
    tail = a * math.log(x) - x - math.lgamma(a) - math.log(x + 1 - a + fraction)
    return tail / math.log(2.0)


@inner
def log2_type_three(statistic, mean, variance, third, functions):
    """Logarithm of the p-value by Pearson's type III, a gamma distribution of three cumulants.

    With skewness ``g`` and ``z`` standard deviations above the mean that is a chi-square of ``8 /
    g^2`` degrees of freedom at ``8 / g^2 + 4 z / g``. A very skewed statistic is mostly one of a
    few values: the gamma distribution of the same mean and variance counts as well, and the larger
    p-value is taken. The variance must be positive.
    """
    deviation = math.sqrt(variance)
    slope = 4.0 / max(third / (variance * deviation), LEAST_SKEWNESS)
    freedom = 0.5 * slope * slope
    value = max(freedom + slope * (statistic - mean) / deviation, 0.0)
    logarithm = log2_p_value(value, freedom, functions) if freedom > 0.0 else 0.0
    if slope < 4.0 / MOST_SKEWNESS:
        scale = 2.0 * mean / variance
        by_two = 0.0
        if mean * scale > 0.0:
            by_two = log2_p_value(max(statistic, 0.0) * scale, mean * scale, functions)
        logarithm = max(logarithm, by_two)
    return logarithm


@patient_kernel(lambda *_: True)
def log2_p_values(statistics, freedom, functions, out):
    """Compute the logarithm of the p-value of every statistic with its degrees of freedom."""
    for index in range(out.size):
        stop_if_late()
        out[index] = log2_p_value(statistics[index], freedom[index], functions)
