"""The tests komb knows, found by name.

A test registers itself: ``@ci_test("g", summary=..., citation=...)`` above a class with the three
members of :class:`CITest`. Nothing else has to be told; the API, the command line and the
parametrised tests read this registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Protocol

from komb.citests.measure import Measurement, TestSums
from komb.data.checks import check_count
from komb.errors import ParameterError, UnknownNameError

DF_RULES = ("observed", "adjusted")
LARGEST_SEED = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class TestOptions:
    """What a test is built with; most need little of it."""

    __test__ = False

    df: str = "observed"  # rule for the degrees of freedom
    seed: int = 0  # of random numbers
    alpha: float = 0.01  # how fine p-values have to be; comparing is not for a test to do


class CITest(Protocol):
    """A statistic for conditional independence, made from sums over contingency tables."""

    #: Code lengths are wanted for tests of fewer than this many rows a cell.
    length_below: ClassVar[float]

    def __init__(self, options: TestOptions) -> None: ...

    @property
    def needs_tables(self) -> bool:
        """Whether adjusted freedom or Pearson's sum are wanted."""
        ...

    def measure(self, sums: TestSums) -> Measurement:
        """Turn sums into a statistic for each test of the batch."""
        ...


@dataclass(frozen=True, slots=True)
class TestInfo:
    """How a test introduces itself."""

    __test__ = False

    name: str
    summary: str
    citation: str
    factory: type[CITest]
    is_random: bool = False  # whether it shuffles, and so its answers depend on a seed


_TESTS: dict[str, TestInfo] = {}


def ci_test(
    name: str, *, summary: str, citation: str, is_random: bool = False
) -> Callable[[type[CITest]], type[CITest]]:
    """Register a test under ``name``."""

    def register(factory: type[CITest]) -> type[CITest]:
        _TESTS[name] = TestInfo(name, summary, citation, factory, is_random)
        return factory

    return register


def tests() -> Mapping[str, TestInfo]:
    """Conditional-independence tests by name, with a description and a citation.

    Examples
    --------
    >>> import komb
    >>> list(komb.tests())
    ['auto', 'chi2', 'g', 'g-sci', 'perm', 'sci']
    """
    return MappingProxyType(dict(sorted(_TESTS.items())))


def make_test(name: str, df: str = "observed", seed: int = 0, *, alpha: float = 0.01) -> CITest:
    """Build a test by name, with a rule for its degrees of freedom.

    ``seed`` and ``alpha`` are for a test that samples: where its random numbers start, and the
    level that its p-values must be able to reach.

    Examples
    --------
    >>> make_test("G")
    Traceback (most recent call last):
    ...
    komb.errors.UnknownNameError: There is no test 'G'. Did you mean 'g'? Known: ...
    """
    if name not in _TESTS:
        raise UnknownNameError.among("test", name, _TESTS)
    if df not in DF_RULES:
        raise ParameterError.because(
            "df",
            "be 'observed' or 'adjusted'",
            df,
            "'observed' counts every cell of the observed strata, 'adjusted' only the levels that "
            "occur in each of them.",
        )
    checked_seed = check_count("seed", seed, maximum=LARGEST_SEED)
    return _TESTS[name].factory(TestOptions(df, checked_seed, alpha))
