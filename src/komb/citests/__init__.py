"""Conditional-independence tests: statistics, the decision, and the session that answers."""

from komb.citests import auto, chi2, g, g_sci, perm, sci  # noqa: F401  (each registers itself)
from komb.citests.registry import TestInfo, tests

__all__ = ["TestInfo", "tests"]
