"""Searches: one algorithm per file. Each asks an engine for answers and never sees data.

What an algorithm of one's own needs is importable from here.
"""

from komb.search import auto, bamb, gs, hiton_mb, iamb, komb, lrh, mmmb, pcmb, stmb  # noqa: F401  (each registers itself)
from komb.search.registry import AlgorithmInfo, algorithms, register_algorithm
from komb.search.task import Found, Task

__all__ = ["AlgorithmInfo", "Found", "Task", "algorithms", "register_algorithm"]
