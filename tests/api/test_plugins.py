"""Tests and algorithms that others bring."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import komb
from komb.citests import CITest, Measurement
from komb.citests.registry import TESTS
from komb.errors import ParameterError, UnknownNameError
from komb.search import Found
from komb.search.registry import ALGORITHMS
from tests.conftest import Run

XOR = komb.boolean_table("parity", 300, n_parents=2, n_irrelevant=1)
SOURCE = Path(komb.__file__).parents[1]


class Halved(CITest):
    """G at half the level of everyone else."""

    def measure(self, sums: Any) -> Measurement:
        g = 2 * np.log(2) * sums.gain
        freedom = (sums.levels - 1) * (sums.target_levels - 1) * sums.strata
        return Measurement(np.maximum(g, 0) / 2, freedom, sums.is_thick, "halved")


def find_alone(engine: Any, task: Any) -> Found:
    members = engine.dependents(task.target, task.candidates, frozenset())
    return Found({member: frozenset() for member in [*members, *sorted(task.include)]})


@pytest.fixture
def plugins() -> Iterator[None]:
    komb.register_test("halved", summary="Half of G.", citation="Nobody (2026)")(Halved)
    komb.register_algorithm("alone", summary="What depends by itself.")(find_alone)
    yield
    TESTS.remove("halved")
    ALGORITHMS.remove("alone")


@pytest.mark.usefixtures("plugins")
class TestRegistered:
    def test_they_are_listed(self, run: Run) -> None:
        assert komb.tests()["halved"].citation == "Nobody (2026)"
        assert komb.algorithms()["alone"].summary == "What depends by itself."
        for command, name in (("tests", "halved"), ("methods", "alone")):
            code, out, _ = run(command)
            assert code == 0
            assert name in out

    def test_they_are_suggested(self) -> None:
        with pytest.raises(UnknownNameError, match="Did you mean 'halved'"):
            komb.markov_blanket(XOR, "Y", test="halve")
        with pytest.raises(UnknownNameError, match="Did you mean 'alone'"):
            komb.markov_blanket(XOR, "Y", method="alon")

    def test_they_search(self) -> None:
        assert komb.markov_blanket(XOR, "Y", method="komb", test="halved").members == ("X1", "X2")
        assert komb.markov_blanket(XOR, "Y", method="alone", test="halved").members == ()

    def test_workers_know_them(self) -> None:
        """Also those that run already, and were started before anything was registered."""
        komb.markov_blankets(XOR, n_jobs=2)
        many = komb.markov_blankets(XOR, method="alone", test="halved", n_jobs=2)
        assert many == komb.markov_blankets(XOR, method="alone", test="halved")

    def test_they_are_compared_explained_and_reported(self) -> None:
        compared = komb.compare(XOR, "Y", methods=["alone", "komb"], test="halved")
        assert compared.blankets["komb"].members == ("X1", "X2")
        page = komb.report(XOR, "Y", method="komb", test="halved", methods=["alone"])
        assert "halved" in page.html
        assert "alone" in page.html

    def test_a_name_is_taken_once(self) -> None:
        with pytest.raises(ParameterError, match="another test; got 'g'"):
            komb.register_test("g", summary="Mine.")(Halved)
        with pytest.raises(ParameterError, match="another method; got 'auto'"):
            komb.register_algorithm("auto", summary="Mine.")(find_alone)
        komb.register_test("halved", summary="The same, run again.")(Halved)
        assert komb.tests()["halved"].summary == "The same, run again."


def check_depth(parameter: str, value: Any) -> int:
    if value not in (1, 2, 3):
        raise ParameterError.because(parameter, "be 1, 2 or 3", value, "Try 2.")
    return int(value)


class TestOwnOptions:
    """What an algorithm declares is an option everywhere, without a line elsewhere."""

    depth = komb.Option("depth", "How deep to look.", check_depth, int, wording="{} deep")

    @pytest.fixture
    def calls(self) -> Iterator[list[int]]:
        seen: list[int] = []

        def find(engine: Any, task: Any, *, depth: int = 2) -> Found:
            seen.append(depth)
            return find_alone(engine, task)

        options = (self.depth,)
        komb.register_algorithm("deep", summary="Looks deep.", options=options)(find)
        yield seen
        ALGORITHMS.remove("deep")

    def test_it_reaches_the_function_and_the_result(self, calls: list[int]) -> None:
        for options, depth in (({}, 2), ({"depth": 3}, 3), ({"depth": None}, 2)):
            blanket = komb.markov_blanket(XOR, "Y", method="deep", **options)
            assert blanket.parameters["depth"] == depth == calls[-1]
            assert f"{depth} deep" in str(blanket.details())
        again = komb.Blanket.from_dict(blanket.to_dict() | {"parameters": {
            **blanket.to_dict()["parameters"], "depth": 3}})  # fmt: skip
        assert again.with_table(XOR).run_for("roles").search.arguments == {"depth": 3}

    def test_every_function_takes_it(self, calls: list[int]) -> None:
        komb.markov_blankets(XOR, ["Y"], method="deep", depth=1)
        compared = komb.compare(XOR, "Y", methods=["gs", "deep"], depth=3)
        assert "depth" not in compared.blankets["gs"].parameters
        page = komb.report(XOR, "Y", method="deep", methods=[], depth=1)
        assert calls == [1, 3, 1]
        assert "depth" in page.html
        network = komb.boolean_network("and")
        assert komb.markov_blanket(network, "Y", method="deep", depth=1).parameters["depth"] == 1

    def test_the_selector_takes_it(self, calls: list[int]) -> None:
        X, y = XOR.codes.T[:, [0, 1, 3]], XOR.codes[2]  # noqa: N806
        selector = komb.MarkovBlanketSelector(method="deep", options={"depth": 1}).fit(X, y)
        assert calls == [1]
        assert selector.blanket_.parameters["depth"] == 1
        selector.set_params(method="gs").fit(X, y)  # which has no use for it
        with pytest.raises(ParameterError, match="'depth' must be 1, 2 or 3; got 7"):
            selector.set_params(method="deep", options={"depth": 7}).fit(X, y)

    def test_bad_values_and_other_methods(self, calls: list[int]) -> None:
        with pytest.raises(ParameterError, match=r"'depth' must be 1, 2 or 3; got 9\. Try 2"):
            komb.markov_blanket(XOR, "Y", method="deep", depth=9)
        with pytest.raises(ParameterError, match=r"for method 'auto'.*has it: method 'deep'"):
            komb.markov_blanket(XOR, "Y", depth=2)
        with pytest.raises(UnknownNameError, match=r"no option 'dept'. Did you mean 'depth'"):
            komb.markov_blanket(XOR, "Y", method="deep", dept=2)
        assert calls == []

    def test_the_function_must_take_it_with_a_default(self) -> None:
        for wrong in (find_alone, lambda engine, task, depth: Found({})):
            with pytest.raises(ParameterError, match=r"function of a|each with its default"):
                komb.register_algorithm("wrong", summary="", options=(self.depth,))(wrong)


PACKAGE = """
import komb
from komb.search import Found

@komb.register_algorithm("nothing", summary="Finds nothing, quickly.")
def find_nothing(engine, task):
    return Found({})
"""


def test_an_installed_package_is_found(tmp_path: Path) -> None:
    (tmp_path / "outsider.py").write_text(PACKAGE)
    metadata = tmp_path / "outsider-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: outsider\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[komb.algorithms]\nnothing = outsider:find_nothing\n"
        "[komb.tests]\nbroken = outsider:is_not_there\n"
    )
    code = (
        "import warnings, komb\n"
        "table = komb.boolean_table('or', 50)\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    print(komb.markov_blanket(table, 'Y', method='nothing', test='g').members)\n"
        "    print('broken' in komb.tests(), any('outsider' in str(w.message) for w in caught))\n"
    )
    path = f"{SOURCE}{';' if sys.platform == 'win32' else ':'}{tmp_path}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env={"PYTHONPATH": path, "PATH": ""},
    )  # fmt: skip
    assert done.stdout == "()\nFalse True\n", done.stderr


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (None, "return a Found"),
        (Found({99: frozenset()}), "members that are candidates"),
        (Found({2: frozenset()}), "members that are candidates"),  # the target
        (Found({-1: frozenset()}), "members that are candidates"),
        (Found({0: frozenset({77})}), "witnesses made of other candidates"),
        (Found({0: frozenset({0})}), "witnesses made of other candidates"),
        (Found({0: frozenset({2})}), "witnesses made of other candidates"),
        (Found({}), "keep what is included"),
    ],
)
def test_what_an_algorithm_returns_is_checked(returned: Any, words: str) -> None:
    def find(engine: Any, task: Any) -> Any:
        return returned

    komb.register_algorithm("odd", summary="Wrong.")(find)
    try:
        with pytest.raises(ParameterError, match=words):
            komb.markov_blanket(XOR, "Y", method="odd", include=["E1"])
    finally:
        ALGORITHMS.remove("odd")


@pytest.mark.parametrize("name", [3, "", "--x", "a b", "a,b", None])
def test_names_are_words(name: Any) -> None:
    with pytest.raises(ParameterError, match="must be a word of letters"):
        komb.register_test(name, summary="")(Halved)
    with pytest.raises(ParameterError, match="must be a word of letters"):
        komb.register_algorithm(name, summary="")(find_alone)


def test_what_cannot_be_registered() -> None:
    wrong: Any
    for wrong in (3, find_alone, dict, CITest):
        with pytest.raises(ParameterError, match="derived from CITest"):
            komb.register_test("wrong", summary="")(wrong)
    for wrong in (3, lambda engine: engine):
        with pytest.raises(ParameterError, match="function of an engine and a task"):
            komb.register_algorithm("wrong", summary="")(wrong)
    for wrong in ("order", ("foo",), ["order"]):
        with pytest.raises(ParameterError, match=r"tuple of komb\.Option"):
            komb.register_algorithm("wrong", summary="", options=wrong)(find_alone)


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        (lambda n: None, "return a Measurement"),
        (lambda n: Measurement(np.ones(n + 1), np.ones(n), np.ones(n) > 0, "x"), "one per test"),
        (lambda n: Measurement(np.full(n, np.nan), np.ones(n), np.ones(n) > 0, "x"), "numbers"),
        (lambda n: Measurement(np.ones(n), np.full(n, -3), np.ones(n) > 0, "x"), "degrees of fr"),
    ],
)
def test_what_a_test_measures_is_checked(measured: Any, words: str) -> None:
    class Odd(CITest):
        def measure(self, sums: Any) -> Any:
            return measured(len(sums.levels))

    with pytest.raises(ParameterError, match=words):
        komb.markov_blanket(XOR, "Y", method="gs", test=Odd)
