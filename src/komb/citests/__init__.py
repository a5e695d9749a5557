"""Conditional-independence tests: the contract, the registry, the decision, one test per file.

What a test of one's own needs is importable from here.
"""

from komb.citests import auto, chi2, cressie_read, g, g_sci, perm, sci  # noqa: F401  (each registers itself)
from komb.citests.contract import CITest, RuleTest, TestOptions
from komb.citests.registry import TestInfo, register_test, tests
from komb.engine.measurement import NO_FREEDOM, Measurement, Resampled
from komb.engine.rule import Rule
from komb.engine.test_sums import TestSums

__all__ = [
    "NO_FREEDOM",
    "CITest",
    "Measurement",
    "Resampled",
    "Rule",
    "RuleTest",
    "TestInfo",
    "TestOptions",
    "TestSums",
    "register_test",
    "tests",
]
