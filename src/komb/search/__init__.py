"""Searches: each asks a session for answers and never sees data."""

from komb.search import auto, bamb, gs, hiton_mb, iamb, komb, lrh, mmmb, pcmb, stmb  # noqa: F401  (each registers itself)
from komb.search.registry import AlgorithmInfo, algorithms

__all__ = ["AlgorithmInfo", "algorithms"]
