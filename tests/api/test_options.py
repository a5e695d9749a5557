"""The options of a search exist once; whatever spells them out agrees with that."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

import komb
from komb.api.options import (
    DEFAULTS,
    DESCRIPTIONS,
    FIXED_ALPHA,
    PAPER_TEST,
    CommonKeywords,
    MethodKeywords,
    SearchKeywords,
    SearchOptions,
)
from komb.errors import ParameterError

XOR = komb.boolean_table("parity", 300, n_parents=2)
TYPES = get_type_hints(SearchOptions)

FUNCTIONS: dict[Callable[..., Any], dict[str, Any]] = {
    komb.markov_blanket: {},
    komb.markov_blankets: {},
    komb.compare: {"alpha": FIXED_ALPHA},
    komb.blanket_path: {"alpha": FIXED_ALPHA, "test": PAPER_TEST},
    komb.report: {},
}
"""What takes the options, and which defaults are its own."""

KEYWORDS: dict[Callable[..., Any], type] = {
    komb.markov_blankets: SearchKeywords,
    komb.compare: MethodKeywords,
    komb.blanket_path: CommonKeywords,
    komb.report: SearchKeywords,
}


def options_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(function).parameters
    return {name: parameter for name, parameter in parameters.items() if name in DEFAULTS}


class TestSignatures:
    def test_markov_blanket_spells_all_of_them_out(self) -> None:
        found = options_of(komb.markov_blanket)
        assert list(found) == list(DEFAULTS)
        hints = get_type_hints(komb.markov_blanket)
        assert {name: hints[name] for name in found} == TYPES

    def test_keywords_have_the_same_types(self) -> None:
        assert get_type_hints(SearchKeywords) == TYPES
        assert not SearchKeywords.__required_keys__

    @pytest.mark.parametrize("function", KEYWORDS)
    def test_functions_take_their_keywords(self, function: Callable[..., Any]) -> None:
        found = options_of(function)
        assert set(found) == set(get_type_hints(KEYWORDS[function]))
        assert all(found[name].annotation == TYPES[name] for name in found)
        kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds

    @pytest.mark.parametrize("function", FUNCTIONS)
    def test_defaults(self, function: Callable[..., Any]) -> None:
        expected = {**DEFAULTS, **FUNCTIONS[function]}
        for name, parameter in options_of(function).items():
            assert parameter.default == expected[name], name

    def test_the_selector_spells_them_out_too(self) -> None:
        found = options_of(komb.MarkovBlanketSelector)
        assert set(found) == set(DEFAULTS) - {"stability", "memory_limit"}
        assert {name: found[name].default for name in found} == {
            name: DEFAULTS[name] for name in found
        }
        hints = get_type_hints(komb.MarkovBlanketSelector.__init__)
        assert {name: hints[name] for name in found} == {name: TYPES[name] for name in found}


class TestHelp:
    @pytest.mark.parametrize("function", KEYWORDS)
    def test_every_option_is_described(self, function: Callable[..., Any]) -> None:
        text = inspect.getdoc(function) or ""
        lines = text.splitlines()
        for name in options_of(function):
            above = lines.index(name)
            described = " ".join(line.strip() for line in lines[above + 1 : above + 4])
            assert DESCRIPTIONS[name].about[:60] in described
        assert "**keywords" not in text

    def test_every_description_is_a_sentence(self) -> None:
        for name, option in DESCRIPTIONS.items():
            assert option.about.endswith("."), name
            assert option.about[0].isupper(), name
            assert not option.in_shell or option.in_shell.endswith("."), name


class TestCalls:
    def test_type_checkers_know_the_keywords(self) -> None:
        """Each of these is an error to mypy too, which complains of an ignore without a use."""
        with pytest.raises(ParameterError, match="'alpha'"):
            komb.compare(XOR, "Y", alpha="high")  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="'order'"):
            komb.markov_blankets(XOR, order="auto")  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="'seed'"):
            komb.report(XOR, "Y", seed=None)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"blanket_path\(\) got an .* argument 'order'"):
            komb.blanket_path(XOR, "Y", order=2)  # type: ignore[call-arg]

    @pytest.mark.parametrize("function", FUNCTIONS)
    def test_an_unknown_keyword(self, function: Callable[..., Any]) -> None:
        message = rf"{function.__name__}\(\) got an unexpected keyword argument 'alfa'"
        with pytest.raises(TypeError, match=message):
            function(XOR, "Y", alfa=0.1)

    def test_methods_are_no_option_of_a_comparison(self) -> None:
        with pytest.raises(TypeError, match=r"compare\(\) got an unexpected .* 'method'"):
            komb.compare(XOR, "Y", method="komb")  # type: ignore[call-arg]

    def test_names_are_read_once(self) -> None:
        options = SearchOptions(include=iter(["X1"]), exclude=iter(["X2"]), start="iamb")
        assert (options.include, options.exclude) == (("X1",), ("X2",))
        assert options.start_method == "iamb"
        assert SearchOptions(**options.as_keywords()) == options

    def test_a_report_reads_names_once(self) -> None:
        page = komb.report(XOR, "Y", methods=["iamb"], include=iter(["X1"]))
        assert page.comparison is not None
        assert all("X1" in blanket for blanket in page.comparison.blankets.values())
