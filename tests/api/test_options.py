"""Options of a search: who declares them, who takes them, and what is refused in which words."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import komb
from komb.api.options import Search
from komb.errors import ParameterError, UnknownNameError
from komb.search.registry import all_options

XOR = komb.boolean_table("parity", 300, n_parents=2)

FUNCTIONS: list[Callable[..., Any]] = [
    komb.markov_blanket,
    lambda data, target, **search: komb.markov_blankets(data, [target], **search),
    komb.compare,
    komb.blanket_path,
    komb.report,
]


@pytest.mark.parametrize("info", [*komb.algorithms().values(), *komb.tests().values()])
def test_what_is_declared_has_a_name_words_and_a_check(info: Any) -> None:
    for option in info.options:
        assert option.help.endswith(".")
        assert option.help[0].isupper()
        value = option.check(option.name, _valid(option.name))
        assert str(value) in option.show(value)


def _valid(name: str) -> Any:
    values = {"level": 0.1, "time_budget": 9.0, "df": "adjusted", "seed": 3}
    return values.get(name, 1)


def test_the_signature_names_what_komb_declares_itself_but_for_a_few() -> None:
    """Those that several methods or tests have are documented with the others."""
    named = inspect.signature(komb.markov_blanket).parameters
    rest = {"max_conditioning", "df", "seed"}
    assert rest <= all_options().keys() - named.keys()
    text = inspect.getdoc(komb.markov_blanket) or ""
    assert all(f"``{name}``" in text for name in rest)
    for parameters in (named, inspect.signature(komb.MarkovBlanketSelector).parameters):
        shared = all_options().keys() & parameters
        assert all(parameters[name].default is None for name in shared)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_refuses_in_the_same_words(function: Callable[..., Any]) -> None:
    with pytest.raises(UnknownNameError, match=r"no option 'alfa'. Did you mean 'alpha'"):
        function(XOR, "Y", alfa=0.1)
    with pytest.raises(ParameterError, match="'alpha' must be a number between 0 and 1"):
        function(XOR, "Y", alpha="high")
    with pytest.raises(ParameterError, match="'df' must be 'observed' or 'adjusted'; got 'all'"):
        function(XOR, "Y", test="g", df="all")
    with pytest.raises(ParameterError, match=r"'df' must be left out.*which have no such option"):
        function(XOR, "Y", test="auto", df="adjusted")
    with pytest.raises(ParameterError, match=r"'include' must be a list.*\['X1'\]"):
        function(XOR, "Y", include="X1")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_names_that_can_be_read_once_are_read_once(function: Callable[..., Any]) -> None:
    found = function(XOR, "Y", include=iter(["X1"]))
    blankets = found.comparison.blankets if function is komb.report else found
    blankets = {"": blankets} if isinstance(blankets, komb.Blanket) else blankets
    blankets = getattr(blankets, "blankets", blankets)
    assert blankets
    assert all("X1" in blanket for blanket in blankets.values())


def test_a_search_is_what_was_asked_for() -> None:
    search = Search.of(method="komb", order=2, test="g", df="adjusted", max_separator=None)
    assert search.options == {"order": 2, "df": "adjusted"}
    assert (search.arguments, search.of_test) == ({"order": 2}, {"df": "adjusted"})
    assert Search.of(include=iter(["X1"])).include == ("X1",)
    assert Search.of(level=None) == Search.of()
