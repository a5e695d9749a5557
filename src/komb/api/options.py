"""What a search can be asked for, checked as far as that goes without data.

A few options are those of every search and stand here. The others are declared by the algorithm or
the test that takes them (:class:`komb.citests.option.Option`). Nothing heavy is imported here, so
that help is quick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

from komb.citests.option import Option, check_share
from komb.data.knowledge import Knowledge
from komb.data.names import Name, check_apart, list_names
from komb.errors import InputError, ParameterError, Text, UnknownNameError

TestOption: TypeAlias = str | type[Any] | Callable[[Any, Any, Any], float]
"""A test by name, by its class, or a function (x, y, z) -> p-value."""

FIXED_ALPHA = 0.01
"""Level of the tests where the method does not choose it."""

COLUMN_LISTS = ("start", "include", "exclude", "given")
"""Options that are lists of columns."""

PAPER_TEST = "g-sci"
"""What the kOMB paper tests with."""


def check_known(kind: str, name: object, known: Iterable[str], parameter: str = "") -> None:
    """Raise unless a name is known; it may be anything."""
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError.among(kind, name, known, parameter or kind)


def check_absent(given: Mapping[str, Any], remedies: Mapping[str, Text]) -> None:
    """Raise if a keyword of other searches is given that has another name here, or no use."""
    for name, remedy in remedies.items():
        if name in given:
            raise ParameterError.because(name, "be left out here", given[name], remedy)


def check_not_reading(name: str, value: object) -> None:
    """Raise if an option is one of :func:`komb.table`."""
    from komb.data.reading import Reading

    if name in Reading.__annotations__.keys() - {"target"}:
        rule, remedy = "be said of the table", f"Pass komb.table(data, {name}=...) as the data."
        raise ParameterError.because(name, rule, value, remedy)


def check_test(value: object) -> None:
    """Raise unless this is the name of a test, a class or a function."""
    from komb.citests import tests

    if callable(value):
        return
    if not isinstance(value, str):
        rule, remedy = "be the name of a test, or a function", f"Tests are: {', '.join(tests())}."
        raise ParameterError.because("test", rule, value, remedy)
    check_known("test", value, tests(), "test")


@dataclass(frozen=True, slots=True)
class Search:
    """What a caller asks of a search.

    ``options`` are those that method and test declare and that the caller has set.

    Examples
    --------
    >>> Search.of(method="komb", order=2).arguments
    {'order': 2}
    >>> Search.of(method="gs", order=2)
    Traceback (most recent call last):
    komb.errors.ParameterError: 'order' must be left out for method 'gs' and test 'auto', which ...
    """

    method: str = "auto"
    test: Any = "auto"
    alpha: float | None = None
    start: tuple[Name, ...] = ()
    include: tuple[Name, ...] = ()
    exclude: tuple[Name, ...] = ()
    given: tuple[Name, ...] = ()
    knowledge: Knowledge | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        method: str = "auto",
        test: TestOption = "auto",
        alpha: float | None = None,
        knowledge: Knowledge | Mapping[str, Any] | None = None,
        **others: Any,
    ) -> Self:
        """Check what was asked for; an option that is ``None`` was left out."""
        from komb.search import algorithms

        check_known("method", method, algorithms(), "method")
        check_test(test)
        columns: dict[str, Any] = {
            name: tuple(list_names(name, others.pop(name, ()))) for name in COLUMN_LISTS
        }
        search = cls(
            method=method,
            test=test,
            alpha=None if alpha is None else check_share("alpha", alpha, FIXED_ALPHA),
            knowledge=None if knowledge is None else Knowledge.of(knowledge),
            **columns,
        )
        named = {name: columns[name] for name in ("exclude", "given")}
        check_apart(named, {name: columns[name] for name in ("include", "start")})
        return replace(search, options=search._check_options(others))

    def _check_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that were set, checked by whoever declares them."""
        declared = self.declared
        for name, value in given.items():
            if value is not None and name not in declared:
                raise self._refuse(name, value)
        return {
            name: declared[name].check(name, value)
            for name, value in given.items()
            if value is not None
        }

    @property
    def declared(self) -> dict[str, Option]:
        """The options that method and test declare, by name."""
        from komb.search.registry import declared_options

        return declared_options(self.method, self.test)

    @property
    def arguments(self) -> dict[str, Any]:
        """The options that were set for the method."""
        own = {option.name for option in self.algorithm.options}
        return {name: value for name, value in self.options.items() if name in own}

    @property
    def of_test(self) -> dict[str, Any]:
        """The options that were set for the test."""
        arguments = self.arguments
        return {name: value for name, value in self.options.items() if name not in arguments}

    @property
    def algorithm(self) -> Any:
        """How the algorithm introduces itself, an ``AlgorithmInfo``."""
        from komb.search.registry import find_algorithm

        return find_algorithm(self.method)

    def _refuse(self, name: str, value: object) -> InputError:
        from komb.citests import tests
        from komb.citests.registry import name_of_test
        from komb.search import algorithms

        takers = [
            f"{kind} {info.name!r}"
            for kind, registry in (("method", algorithms()), ("test", tests()))
            for info in registry.values()
            if name in {option.name for option in info.options}
        ]
        check_not_reading(name, value)
        if not takers:
            common = ["start", "include", "exclude", "given", "knowledge", "alpha"]
            return UnknownNameError.among("option", name, [*common, *self.declared], name)
        rule = (
            f"be left out for method {self.method!r} and test {name_of_test(self.test)!r}, which "
            "have no such option"
        )
        remedy = f"Leave it out, or use one that has it: {', '.join(takers)}."
        return ParameterError.because(name, rule, value, remedy)
