"""Covariates, groups, knowledge and weights as a user gives them: results, and bad input."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import komb
from komb.errors import InputError

RNG = np.random.default_rng(0)
N = 600
GROUP = RNG.integers(0, 2, N)
DATA: dict[str, Any] = {
    **{f"s{i}": RNG.binomial(2, np.where(GROUP, 0.7, 0.3)) for i in range(6)},
    "group": GROUP,
    "pc": GROUP + RNG.normal(0, 0.1, N),
    "w": RNG.uniform(0.5, 2, N),
}
DATA["y"] = (RNG.random(N) < np.where(GROUP, 0.75, 0.25)).astype(int)
REST: dict[str, Any] = {"exclude": ["group", "w"]}

BAD: list[tuple[dict[str, Any], str]] = [
    ({"given": ["y"]}, "'given' must not name the target"),
    ({"given": ["pc"], "include": ["pc"]}, "'given' must have no column in common with 'include'"),
    ({"given": ["pc"], "start": ["pc"]}, "'given' must have no column in common with 'start'"),
    ({"given": ["pc"], "exclude": ["pc"]}, "'given' must have no column in common with 'exclude'"),
    ({"given": ["nope"]}, "In 'given': There is no column 'nope'"),
    ({"given": "pc"}, "'given' must be a list of column names"),
    ({"given": [["pc"]]}, r"'given' must have names of columns in its list; got \['pc'\]. Name"),
    ({"include": [{}]}, "'include' must have names of columns in its list; got {}"),
    ({"start": [("s0", [])]}, r"'start' must have names of columns in its list; got \('s0', \[\]"),
    ({"exclude": [["s0"]]}, "'exclude' must have names of columns in its list"),
    ({"knowledge": {"tiers": [[["s0"]]]}}, "'knowledge' must have names of columns in its list"),
    ({"knowledge": {"forbidden": [(["s0"], "y")]}}, "'knowledge' must have names of columns"),
    ({"knowledge": komb.Knowledge(tiers=[["nope"]])}, "In 'knowledge': There is no column"),
    ({"knowledge": "tiers"}, "'knowledge' must be a komb.Knowledge"),
    (
        {"knowledge": {"required": [("s0", "y")]}, "exclude": ["s0", "group", "w", "pc"]},
        "not require a column that is excluded",
    ),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_input(options: dict[str, Any], message: str) -> None:
    exclude = {"exclude": ["group", "w", *([] if "pc" in str(options) else ["pc"])]}
    with pytest.raises(InputError, match=message):
        komb.markov_blanket(DATA, "y", **(exclude | options))


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("y", {"knowledge": {"tiers": [["s0"]]}}, "'knowledge' must speak of groups as a whole"),
        ("s0", {}, "'target' must speak of groups as a whole; got 's0'. Name the group 'gene'"),
        ("y", {"given": ["s0"]}, "'given' must speak of groups as a whole; got 's0'"),
        ("y", {"include": ["s1"]}, "'include' must speak of groups as a whole; got 's1'"),
        ("w", {}, "In 'target': There is no column 'w'"),
    ],
)
def test_columns_that_are_used_otherwise(
    target: str, options: dict[str, Any], message: str
) -> None:
    table = komb.table(DATA, groups={"gene": ["s0", "s1"]}, weights={"w": "survey"})
    with pytest.raises(InputError, match=message):
        komb.markov_blanket(table, target, **options)


@pytest.mark.parametrize("given", ["group", "pc"])
@pytest.mark.parametrize("method", list(komb.algorithms()))
def test_given_the_group_nothing_is_left(method: str, given: str) -> None:
    left = [name for name in ("group", "pc", "w") if name != given]
    alpha = None if method == "auto" else 0.001
    blanket = komb.markov_blanket(
        DATA, "y", method=method, given=[given], exclude=left, alpha=alpha
    )
    assert blanket.members == ()
    assert komb.markov_blanket(DATA, "y", method=method, exclude=["group", "pc", "w"]).members


def test_results_tell_and_come_back() -> None:
    options: dict[str, Any] = {
        "given": ["pc", "group"],
        "knowledge": komb.Knowledge(tiers=[["gene"], ["y"]], required=[("s2", "y")]),
    }
    table = komb.table(DATA, groups={"gene": ["s0", "s1"]}, weights={"w": "survey"})
    blanket = komb.markov_blanket(table, "y", **options)
    assert "s2" in blanket
    assert blanket.parameters["given"] == ("pc", "group")
    assert blanket.parameters["weights"] == {"w": "survey"}
    again = komb.Blanket.from_dict(json.loads(blanket.to_json()))
    assert again == blanket
    assert again.with_table(DATA).explain() == blanket.explain()
    text = str(blanket.details())
    assert "given pc, group in every test" in text
    assert "groups gene" in text
    assert "required: s2 -> y" in text
    page = komb.report(table, "y", methods=[], source="a.csv", **options)
    for said in ("a.csv", "held fixed in every test", "pc, group", "gene: s0, s1", "w: survey"):
        assert said in page.html


def test_many_targets_and_workers() -> None:
    options: dict[str, Any] = {"given": ["pc"], **REST, "knowledge": {"forbidden": [["s0", "s1"]]}}
    alone = komb.markov_blankets(DATA, ["y", "s0"], **options)
    assert "pc" not in komb.markov_blankets(DATA, order=0, **options)
    assert komb.markov_blankets(DATA, ["y", "s0"], n_jobs=2, **options) == alone


def test_a_model_answers_given_covariates_and_knowledge() -> None:
    import networkx as nx

    graph = nx.DiGraph([("a", "b"), ("a", "c"), ("c", "d")])
    assert komb.markov_blanket(graph, "b").members == ("a",)
    assert komb.markov_blanket(graph, "b", given=["a"]).members == ()
    graph.add_node("e")
    found = komb.markov_blanket(graph, "b", knowledge={"required": [("b", "e")]})
    assert found.members == ("a", "e")
    assert found["e"].is_by_request
    with pytest.raises(InputError, match="not name the target"):
        komb.markov_blanket(graph, "b", given=["b"])


class TestSelector:
    colour = RNG.integers(0, 3, N)
    X = np.column_stack([colour == 0, colour == 1, colour == 2, GROUP, RNG.integers(0, 2, N)])
    y = (colour == 1) ^ (RNG.random(N) < 0.1)

    def test_all_columns_of_a_group_are_selected(self) -> None:
        selector = komb.MarkovBlanketSelector(
            reading={"groups": {"colour": [0, 1, 2]}}, options={"given": [3]}
        )
        support = selector.fit(self.X.astype(int), self.y).get_support()
        assert support.tolist() == [True, True, True, False, False]
        assert selector.transform(self.X.astype(int)).shape == (N, 3)

    def test_sample_weight(self) -> None:
        X, counts = self.X.astype(int), RNG.integers(1, 4, N)  # noqa: N806
        weighted = komb.MarkovBlanketSelector().fit(X, self.y, sample_weight=counts)
        longer = np.repeat(X, counts, axis=0), np.repeat(self.y, counts)
        assert (
            weighted.blanket_.evidence
            == komb.MarkovBlanketSelector().fit(*longer).blanket_.evidence
        )
        halves = komb.MarkovBlanketSelector().fit(X, self.y, sample_weight=counts / 2)
        assert halves.blanket_.parameters["weights"] == "survey"
        with pytest.raises(InputError, match=r"'reading' must not have 'weights'.*Pass weights to"):
            komb.MarkovBlanketSelector(reading={"weights": "x3"}).fit(X, self.y)
        with pytest.raises(InputError, match="numbers from 0 on"):
            komb.MarkovBlanketSelector().fit(X, self.y, sample_weight=counts - 2)
        with pytest.raises(InputError, match=rf"'sample_weight' must have one.*{N:,} .*got 3 we"):
            komb.MarkovBlanketSelector().fit(X, self.y, sample_weight=counts[:3])


def make_bottleneck(n_between: int) -> Any:
    """Causes and effects with so many variables between; all of these it takes to separate."""
    import networkx as nx

    between = [f"b{i}" for i in range(n_between)]
    graph = nx.DiGraph([("y", b) for b in between] + [(b, "x") for b in between])
    graph.add_edges_from([("y", "z"), ("x", "z")])  # so that the two meet in a blanket
    return graph


@pytest.mark.parametrize("n_between", [3, 4, 5, 6])
def test_separators_of_forbidden_pairs_in_a_model(n_between: int) -> None:
    """Up to 5 variables are tried in a model; what is forbidden and not separated is no member."""
    graph = make_bottleneck(n_between)
    found = komb.markov_blanket(graph, "y", method="gs", knowledge={"forbidden": [("x", "y")]})
    between = {f"b{i}" for i in range(n_between)}
    assert set(found.members) == between | {"z"} | ({"x"} if n_between <= 5 else set())


@pytest.mark.parametrize("n_between", [3, 4])
def test_separators_of_forbidden_pairs_in_data(n_between: int) -> None:
    """Up to 3 columns are tried in data."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)

    def flip(column: Any) -> Any:
        return column ^ (rng.random(4000) < 0.2)

    data = {f"b{i}": flip(y) for i in range(n_between)}
    data["x"] = flip(sum(data.values()) * 2 > n_between)
    data["z"] = 2 * flip(y) + flip(y ^ data["x"])
    knowledge = {"forbidden": [("x", "y")]}
    found = komb.markov_blanket(
        data | {"y": y}, "y", method="gs", test="g", alpha=1e-4, knowledge=knowledge
    )
    assert ("x" in found) == (n_between <= 3)
    assert {f"b{i}" for i in range(n_between)} | {"z"} <= set(found.members)
