"""The algorithms komb knows, found by name.

An algorithm registers itself: ``@algorithm("komb", ...)`` above a function that takes a session, a
:class:`~komb.search.task.Task` and keyword options, and returns :class:`~komb.search.task.Found`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from komb.errors import UnknownNameError
from komb.search.task import Choice, Found

SearchFunction = Callable[..., Found]
AlphaChooser = Callable[[int, int], Choice]  # from rows and columns


@dataclass(frozen=True, slots=True)
class AlgorithmInfo:
    """How an algorithm introduces itself.

    Attributes
    ----------
    name : str
        What it goes by.
    summary : str
        What it does, in a line.
    citation : str
        Who introduced it, and where.
    year : int
        Of the citation.
    assumes : str
        What must hold of the distribution: "faithfulness", "composition" (two sets of variables
        that are irrelevant each by itself are irrelevant together), "k-order faithfulness".
    is_sound : bool
        Whether correct answers to all its questions (an oracle) give the true blanket, if what it
        assumes holds and its conditioning sets are not bounded.
    guarantee : str
        What a user can count on, in a sentence.
    weakness : str
        What to beware of, in a sentence.
    options : tuple of str
        The options that a user can give it, besides those that every method has. The function takes
        each as a keyword; ``time_budget`` reaches it as ``budget``, a
        :class:`~komb.search._budget.Budget` whose clock has started.
    search : callable
        The function itself.
    choose_alpha : callable or None
        Chooses the level of the tests for so many rows and columns, where the user names none; the
        function then takes the keyword ``alpha`` too: what the user named, or ``None``. Without it
        the level is the same for every table.
    shares_sessions : bool
        Whether what it learns about other variables than its target serves the searches for those:
        several targets then are better searched in one session.
    """

    name: str
    summary: str
    citation: str
    year: int
    assumes: str
    is_sound: bool
    guarantee: str
    weakness: str
    options: tuple[str, ...]
    search: SearchFunction
    choose_alpha: AlphaChooser | None = None
    shares_sessions: bool = False

    @property
    def defaults(self) -> dict[str, Any]:
        """The options with the values they have if left out."""
        parameters = inspect.signature(self.search).parameters
        return {
            name: parameters[name].default if name in parameters else None for name in self.options
        }


_ALGORITHMS: dict[str, AlgorithmInfo] = {}


def algorithm(
    name: str,
    *,
    summary: str,
    citation: str,
    year: int,
    assumes: str,
    is_sound: bool,
    guarantee: str,
    weakness: str,
    options: tuple[str, ...] = (),
    choose_alpha: AlphaChooser | None = None,
    shares_sessions: bool = False,
) -> Callable[[SearchFunction], SearchFunction]:
    """Register a search function under ``name``; :class:`AlgorithmInfo` says what the rest is."""

    def register(search: SearchFunction) -> SearchFunction:
        _ALGORITHMS[name] = AlgorithmInfo(
            name, summary, citation, year, assumes, is_sound, guarantee, weakness, options, search,
            choose_alpha, shares_sessions,
        )  # fmt: skip
        return search

    return register


def algorithms() -> Mapping[str, AlgorithmInfo]:
    """Markov-blanket algorithms by name, with a description and a citation.

    Examples
    --------
    >>> import komb
    >>> list(komb.algorithms())
    ['auto', 'bamb', 'gs', 'hiton-mb', 'iamb', 'komb', 'lrh', 'mmmb', 'pcmb', 'stmb']
    >>> komb.algorithms()["komb"].year
    2026
    """
    return MappingProxyType(dict(sorted(_ALGORITHMS.items())))


def find_algorithm(name: str) -> AlgorithmInfo:
    """Look an algorithm up by name."""
    if name not in _ALGORITHMS:
        raise UnknownNameError.among("method", name, algorithms())
    return _ALGORITHMS[name]
