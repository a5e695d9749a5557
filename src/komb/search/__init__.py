"""Searches: each asks a session for answers and never sees data."""

from komb.search import komb  # noqa: F401  (registers itself)
from komb.search.registry import AlgorithmInfo, algorithms

__all__ = ["AlgorithmInfo", "algorithms"]
