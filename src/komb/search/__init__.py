"""Searches: each asks a session for answers and never sees data."""

from komb.search import (  # noqa: F401  (each registers itself)
    auto,
    bamb,
    gs,
    hiton_mb,
    iamb,
    komb,
    lrh,
    mmmb,
    pcmb,
    stmb,
)
from komb.search.registry import AlgorithmInfo, algorithms

__all__ = ["AlgorithmInfo", "algorithms"]
