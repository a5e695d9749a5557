"""Conditional-independence tests: the contract, the registry, the decision, one test per file.

What a test of one's own needs is importable from here.
"""

from komb.citests import auto, chi2, g, g_sci, perm, sci  # noqa: F401  (each registers itself)
from komb.citests.contract import CITest, TestOptions
from komb.citests.measure import Measurement, TestSums
from komb.citests.registry import TestInfo, register_test, tests

__all__ = [
    "CITest",
    "Measurement",
    "TestInfo",
    "TestOptions",
    "TestSums",
    "register_test",
    "tests",
]
