"""The algorithms komb knows, found by name.

An algorithm registers itself: ``@algorithm("komb", ...)`` above a function that takes a session, a
:class:`~komb.search.task.Task` and keyword options, and returns :class:`~komb.search.task.Found`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from komb.errors import UnknownNameError
from komb.search.task import Found

SearchFunction = Callable[..., Found]


@dataclass(frozen=True, slots=True)
class AlgorithmInfo:
    """How an algorithm introduces itself.

    ``options`` names the keyword options the function takes besides session and task.
    """

    name: str
    summary: str
    citation: str
    year: int
    options: tuple[str, ...]
    search: SearchFunction


_ALGORITHMS: dict[str, AlgorithmInfo] = {}


def algorithm(
    name: str, *, summary: str, citation: str, year: int, options: tuple[str, ...] = ()
) -> Callable[[SearchFunction], SearchFunction]:
    """Register a search function under ``name``."""

    def register(search: SearchFunction) -> SearchFunction:
        _ALGORITHMS[name] = AlgorithmInfo(name, summary, citation, year, options, search)
        return search

    return register


def algorithms() -> Mapping[str, AlgorithmInfo]:
    """Markov-blanket algorithms by name, with a description and a citation.

    Examples
    --------
    >>> import komb
    >>> komb.algorithms()["komb"].year
    2026
    """
    return MappingProxyType(dict(sorted(_ALGORITHMS.items())))


def find_algorithm(name: str) -> AlgorithmInfo:
    """Look an algorithm up by name."""
    if name not in _ALGORITHMS:
        raise UnknownNameError.among("method", name, algorithms())
    return _ALGORITHMS[name]
