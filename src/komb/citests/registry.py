"""The tests komb knows, found by name.

A test registers itself: ``@register_test("g", summary=..., citation=...)`` above a class derived
from :class:`~komb.citests.contract.CITest`. That is all; the API, the command line
and the parametrised tests read this registry. Tests of other packages are found through the entry
points ``komb.tests``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeGuard, TypeVar, cast

from komb.citests.contract import DF_RULES, AnyTest, TestOptions
from komb.citests.function import FunctionTest, PValueFunction, name_of
from komb.citests.option import Option
from komb.citests.plugins import Registry
from komb.data.checks import check_count
from komb.errors import ParameterError

LARGEST_SEED = (1 << 63) - 1

C = TypeVar("C", bound=type[AnyTest])


@dataclass(frozen=True, slots=True)
class TestInfo:
    """How a test introduces itself.

    Attributes
    ----------
    name : str
        What it goes by.
    summary : str
        What it does, in a line.
    citation : str
        Who introduced it, and where.
    implementation : type
        The class; what it can do is in the attributes of
        :class:`~komb.citests.contract.AnyTest`.
    """

    __test__ = False

    name: str
    summary: str
    citation: str
    implementation: type[AnyTest]

    @property
    def is_random(self) -> bool:
        """Whether it draws random numbers, so that its answers depend on the seed."""
        return self.implementation.is_random

    @property
    def options(self) -> tuple[Option, ...]:
        """The options that a user can give it."""
        return options_of(self.implementation)


def _check_df(parameter: str, value: object) -> object:
    if value not in DF_RULES:
        remedy = (
            "'observed' counts every cell of the observed strata, 'adjusted' only the levels that "
            "occur in each of them."
        )
        raise ParameterError.because(parameter, "be 'observed' or 'adjusted'", value, remedy)
    return value


def _check_seed(parameter: str, value: object) -> int:
    return check_count(parameter, value, maximum=LARGEST_SEED)


DF = Option(
    "df", "Degrees of freedom: 'observed' or 'adjusted'.", _check_df, if_left_out="observed"
)
SEED = Option(
    "seed", "Seed of the random numbers that a test draws.", _check_seed, int, if_left_out="0"
)


def options_of(implementation: type[AnyTest]) -> tuple[Option, ...]:
    """Return the options that a test takes."""
    taken = {DF: implementation.has_df_rule, SEED: implementation.is_random}
    return tuple(option for option, is_taken in taken.items() if is_taken)


TESTS: Registry[TestInfo] = Registry("test", "komb.tests")


def register_test(name: str, *, summary: str, citation: str = "") -> Callable[[C], C]:
    """Register a conditional-independence test under a name.

    Parameters
    ----------
    name : str
        What it is called by: ``komb.markov_blanket(data, target, test=name)``.
    summary : str
        What it does, in a line.
    citation : str
        Who introduced it, and where.

    Returns
    -------
    callable
        A decorator for a class derived from :class:`~komb.citests.contract.CITest`, or from
        :class:`~komb.citests.contract.RuleTest`.

    Examples
    --------
    >>> import numpy as np
    >>> import komb
    >>> from komb.citests import CITest, Measurement
    >>> @komb.register_test("always", summary="Calls everything dependent.")
    ... class Always(CITest):
    ...     def measure(self, sums):
    ...         n_tests = len(sums)
    ...         return Measurement(
    ...             statistic=np.ones(n_tests),
    ...             freedom=np.ones(n_tests),
    ...             is_reliable=np.ones(n_tests, dtype=bool),
    ...             decider="always",
    ...             log2_p_value=np.full(n_tests, -20.0),
    ...         )
    >>> komb.markov_blanket({"a": [0, 1], "y": [0, 1]}, "y", method="gs", test="always").members
    ('a',)
    >>> from komb.citests.registry import TESTS
    >>> TESTS.remove("always")
    """

    def register(implementation: C) -> C:
        if not _is_class(implementation) or inspect.isabstract(implementation):
            rule = "be a class derived from CITest, with a method 'measure'"
            remedy = "To use a function as a test, pass it as 'test'; it need not be registered."
            raise ParameterError.because("test", rule, implementation, remedy)
        TESTS.add(TestInfo(name, summary, citation, implementation))
        return implementation

    return register


def tests() -> Mapping[str, TestInfo]:
    """Conditional-independence tests by name, with a description and a citation.

    Examples
    --------
    >>> import komb
    >>> komb.tests()["chi2"].citation
    'Pearson (1900), Philosophical Magazine 50(302)'
    """
    return TESTS.all()


TestChoice = str | type[AnyTest] | PValueFunction
"""A test as a caller chooses it: by name, by its class, or a function that returns p-values."""


def find_test(test: TestChoice) -> type[AnyTest]:
    """Return the class of a test."""
    if isinstance(test, str):
        return TESTS.find(test).implementation
    return test if _is_class(test) else FunctionTest


def name_of_test(test: TestChoice) -> str:
    """Return what a test goes by; a class or function that was not registered by its own name."""
    return test if isinstance(test, str) else name_of(test)


def _is_class(test: object) -> TypeGuard[type[AnyTest]]:
    return isinstance(test, type) and issubclass(test, AnyTest)


def make_test(
    test: TestChoice, df: str = "observed", seed: int = 0, *, alpha: float = 0.01
) -> AnyTest:
    """Build a test, known by name or a function of the user's, with a rule for its freedom.

    ``seed`` and ``alpha`` are for a test that samples: where its random numbers start, and the
    level that its p-values must be able to reach.
    """
    implementation = find_test(test)  # an unknown name is the first thing to hear of
    _check_df("df", df)
    options = TestOptions(df, _check_seed("seed", seed), alpha)
    if implementation is FunctionTest:
        return FunctionTest(cast("PValueFunction", test))
    return implementation(options)


def statistic_symbol(decider: str) -> str:
    """Return what the statistic of a deciding test is called in print."""
    for info in TESTS.all().values():
        if decider in info.implementation.symbols:
            return info.implementation.symbols[decider]
    return decider


def unreliable_note(name: str, tests: str) -> str:
    """Say what it means, and what helps, if this many tests were unreliable."""
    return _described(name).unreliable_note.format(test=name, tests=tests)


def _described(name: str) -> type[AnyTest]:
    """Return the class of a test, or what holds of any test: results outlive their tests."""
    info = TESTS.all().get(name)
    return AnyTest if info is None else info.implementation
