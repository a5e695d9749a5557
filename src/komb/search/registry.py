"""The algorithms komb knows, found by name.

An algorithm registers itself: ``@register_algorithm("komb", ...)`` above a function that takes an
engine, a :class:`~komb.search.task.Task` and keyword options, and returns
:class:`~komb.search.task.Found`. Algorithms of other packages are found through the entry points
``komb.algorithms``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from komb.citests.option import Option
from komb.citests.plugins import Registry
from komb.citests.registry import TestChoice, find_test, options_of, tests
from komb.errors import ParameterError
from komb.search.task import Choice, Found

SearchFunction = Callable[..., Found]
F = TypeVar("F", bound=SearchFunction)
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
    year : int or None
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
    options : tuple of Option
        The options that a user can give it, besides those that every method has. The function takes
        each as a keyword, whose default is that of the option.
    search : callable
        The function itself.
    choose_alpha : callable or None
        Chooses the level of the tests from the rows and columns, where the user names none; the
        function then takes the keyword ``alpha`` too: what the user named, or ``None``. Without it
        the level is the same for every table.
    shares_engine : bool
        Whether what it learns about other variables than its target serves the searches for those:
        several targets then are better searched with one engine.
    is_order_free : bool
        Whether it gets the columns in an order that depends on their contents alone, so that the
        blanket does not depend on that of the table.
    """

    name: str
    summary: str
    citation: str
    year: int | None
    assumes: str
    is_sound: bool
    guarantee: str
    weakness: str
    options: tuple[Option, ...]
    search: SearchFunction
    choose_alpha: AlphaChooser | None = None
    shares_engine: bool = False
    is_order_free: bool = False

    @property
    def defaults(self) -> dict[str, Any]:
        """The options with the values they have if left out."""
        return dict(_defaults_of(self.search, tuple(option.name for option in self.options)))

    @property
    def implementation(self) -> SearchFunction:
        """The function itself."""
        return self.search


@lru_cache(maxsize=128)
def _defaults_of(search: SearchFunction, options: tuple[str, ...]) -> tuple[tuple[str, Any], ...]:
    parameters = inspect.signature(search).parameters
    return tuple((name, parameters[name].default) for name in options)


ALGORITHMS: Registry[AlgorithmInfo] = Registry("method", "komb.algorithms")


def register_algorithm(  # noqa: PLR0913 - what an algorithm says of itself
    name: str,
    *,
    summary: str,
    citation: str = "",
    year: int | None = None,
    assumes: str = "",
    is_sound: bool = False,
    guarantee: str = "",
    weakness: str = "",
    options: tuple[Option, ...] = (),
    choose_alpha: AlphaChooser | None = None,
    shares_engine: bool = False,
    is_order_free: bool = False,
) -> Callable[[F], F]:
    """Register a search function under a name.

    Parameters
    ----------
    name : str
        What it is called by: ``komb.markov_blanket(data, target, method=name)``.
    summary : str
        What it does, in a line.
    citation, year, assumes, is_sound, guarantee, weakness, options
        As in :class:`~komb.search.registry.AlgorithmInfo`; all can be left out.
    choose_alpha, shares_engine, is_order_free
        As in :class:`~komb.search.registry.AlgorithmInfo`; all can be left out.

    Returns
    -------
    callable
        A decorator for a function of an engine and a :class:`~komb.search.task.Task` that returns
        :class:`~komb.search.task.Found`.

    Examples
    --------
    >>> import komb
    >>> from komb.search import Found
    >>> @komb.register_algorithm("alone", summary="Whatever depends on the target by itself.")
    ... def find_dependent(engine, task):
    ...     members = engine.dependents(task.target, task.candidates, frozenset())
    ...     return Found({member: frozenset() for member in members})
    >>> table = komb.boolean_table("or", 500, n_parents=2, n_irrelevant=1)
    >>> komb.markov_blanket(table, "Y", method="alone").members
    ('X1', 'X2')
    >>> ALGORITHMS.remove("alone")
    """

    def register(search: F) -> F:
        _check_algorithm(search, options)
        info = AlgorithmInfo(
            name, summary, citation, year, assumes, is_sound, guarantee, weakness, options, search,
            choose_alpha, shares_engine, is_order_free,
        )  # fmt: skip
        ALGORITHMS.add(info)
        return search

    return register


def _check_algorithm(search: object, options: object) -> None:
    """Raise unless something can be called as an algorithm is, with the options it declares."""
    if not isinstance(options, tuple) or not all(isinstance(one, Option) for one in options):
        remedy = "Write e.g. options=(komb.Option('depth', 'How deep to look.'),)."
        raise ParameterError.because("options", "be a tuple of komb.Option", options, remedy)
    rule, remedy = (
        "be a function of an engine and a task",
        "Define it as find_blanket(engine, task).",
    )
    if not callable(search):
        raise ParameterError.because("search", rule, search, remedy)
    try:
        inspect.signature(search).bind(None, None)
    except TypeError:
        raise ParameterError.because("search", rule, search, remedy) from None
    for option in options:
        parameter = inspect.signature(search).parameters.get(option.name)
        if parameter is None or parameter.default is inspect.Parameter.empty:
            rule = "name keywords of the function, each with its default"
            remedy = f"Define it as find_blanket(engine, task, *, {option.name}=...)."
            raise ParameterError.because("options", rule, option.name, remedy)


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
    return ALGORITHMS.all()


def find_algorithm(name: str) -> AlgorithmInfo:
    """Look an algorithm up by name."""
    return ALGORITHMS.find(name)


def declared_options(method: str, test: TestChoice) -> dict[str, Option]:
    """Return the options of an algorithm and a test by name."""
    options = (*find_algorithm(method).options, *options_of(find_test(test)))
    return {option.name: option for option in options}


def all_options() -> dict[str, Option]:
    """Return every option that some algorithm or test declares, by name; the first counts."""
    found: dict[str, Option] = {}
    declared = [info.options for info in algorithms().values()]
    for options in (*declared, *(info.options for info in tests().values())):
        for option in options:
            found.setdefault(option.name, option)
    return found
