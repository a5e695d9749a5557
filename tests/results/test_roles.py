"""Roles of members as users see them: asked for, shown, exported; and networks of many targets."""

from __future__ import annotations

import gc
import json
import pickle
import weakref
from typing import Any

import networkx as nx
import numpy as np
import pytest

import komb
from komb.errors import ParameterError
from komb.results.roles import Role
from tests.data.models.graphs import NETWORKS
from tests.optional import MISSING


@pytest.fixture(scope="module")
def collider() -> komb.DiscreteTable:
    """Columns a -> y <- e, y -> c <- b, and d that has nothing to do with them."""
    rng = np.random.default_rng(0)
    a, b, d, e = rng.integers(0, 2, (4, 2000))
    y = (a & e) ^ (rng.random(2000) < 0.1)
    c = (y + b + (rng.random(2000) < 0.1)).clip(0, 2)
    return komb.DiscreteTable.from_data({"a": a, "b": b, "c": c, "d": d, "e": e, "y": y})


@pytest.fixture(scope="module")
def blanket(collider: komb.DiscreteTable) -> komb.Blanket:
    return komb.markov_blanket(collider, "y")


class TestRoles:
    def test_kinds_and_directions(self, blanket: komb.Blanket) -> None:
        assert {name: str(role) for name, role in blanket.roles.items()} == {
            "a": "cause",
            "b": "spouse through c",
            "c": "effect",
            "e": "cause",
        }

    def test_members_know_theirs(self, blanket: komb.Blanket) -> None:
        assert (blanket["a"].role, blanket["a"].direction) == ("neighbour", "cause")
        assert (blanket["b"].role, blanket["b"].children) == ("spouse", ("c",))
        roles = [member.role for member in blanket.details]
        assert roles == ["neighbour", "spouse", "neighbour", "neighbour"]
        assert blanket["a"].partners == ()

    def test_every_method_has_them(self, collider: komb.DiscreteTable) -> None:
        for method in komb.algorithms():
            found = komb.markov_blanket(collider, "y", method=method)
            assert found.roles["c"].direction == "effect", method

    def test_a_network_answers_exactly(self) -> None:
        graph = NETWORKS["asia"]
        roles = komb.markov_blanket(graph, "either").roles
        assert {name: str(role) for name, role in roles.items()} == {
            "bronc": "spouse through dysp",
            "dysp": "effect",
            "lung": "cause",
            "tub": "cause",
            "xray": "effect",
        }

    def test_by_request(self, collider: komb.DiscreteTable) -> None:
        found = komb.markov_blanket(collider, "y", include=["d"])
        assert found["d"].role == "by request"
        assert found["d"].direction is None


def chain_rows() -> dict[str, Any]:
    """Columns a -> b -> c -> d."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2, 3000)]
    for _ in "bcd":
        columns.append(columns[-1] ^ (rng.random(3000) < 0.2))
    return dict(zip("abcd", columns, strict=True))


@pytest.mark.parametrize(
    ("knowledge", "directions", "edges"),
    [
        ({}, ["undecided", "undecided"], []),
        ({"tiers": [["a"], ["b", "c"]]}, ["cause", "effect"], ["ab", "bc", "cd"]),
        ({"required": [("b", "c")]}, ["undecided", "effect"], ["bc", "cd"]),
        ({"tiers": [["b"], ["a", "c", "d"]]}, ["effect", "effect"], ["ba", "bc", "cd"]),
        # a blanket does not know of d, the network does
        ({"tiers": [["d"], ["c"]]}, ["undecided", "undecided"], ["ba", "cb", "dc"]),
        ({"tiers": [["a"], ["d"]]}, ["undecided", "undecided"], []),  # they are no neighbours
    ],
)
def test_what_is_known_settles_directions(
    knowledge: dict[str, Any], directions: list[str], edges: list[str]
) -> None:
    """And what follows from it: nothing in a chain is a collider."""
    known: dict[str, Any] = {"knowledge": komb.Knowledge(**knowledge)} if knowledge else {}
    found = komb.markov_blankets(chain_rows(), **known)
    assert [role.direction for role in found["b"].roles.values()] == directions
    network = found.to_networkx()
    settled = [a + b for a, b, is_directed in network.edges(data="directed") if is_directed]
    assert sorted(settled) == edges


class TestWhereItIsShown:
    def test_print(self, blanket: komb.Blanket) -> None:
        text = str(blanket)
        assert "spouse through c" in text
        assert "if no common cause of the target and a member is missing" in text

    def test_explanation(self, blanket: komb.Blanket) -> None:
        reasons = blanket.explain()
        text = reasons.to_text(1000)
        assert "Role: a neighbour of y, and an effect of it." in text
        assert "but not given their common child c." in text
        assert reasons["b"].role == blanket.roles["b"]

    def test_dictionary_and_frame(self, blanket: komb.Blanket) -> None:
        record = json.loads(blanket.to_json())
        again = komb.Blanket.from_dict(record)
        assert again.roles == blanket.roles
        assert again["a"].direction == "cause"
        frame = blanket.to_frame()
        assert frame["role"].to_list() == ["neighbour", "spouse", "neighbour", "neighbour"]
        assert frame["children"].to_list() == [[], ["c"], [], []]
        assert Role.from_dict(blanket.roles["b"].to_dict()) == blanket.roles["b"]

    @pytest.mark.skipif("matplotlib" in MISSING, reason="needs matplotlib")
    def test_picture(self, blanket: komb.Blanket) -> None:
        texts = [text.get_text() for text in blanket.plot().texts]
        assert any(text.startswith("b\nspouse through c\n") for text in texts)

    def test_pickles_keep_what_is_known(self, collider: komb.DiscreteTable) -> None:
        fresh = komb.markov_blanket(collider, "y")
        lost = pickle.loads(pickle.dumps(fresh))
        assert lost["a"].role is None
        with pytest.raises(ParameterError, match=r"blanket\.with_table\(table\)\.roles"):
            _ = lost.roles
        assert "spouse" not in str(lost)
        assert lost.with_table(collider)["b"].role == "spouse"
        kept = pickle.loads(pickle.dumps((fresh, fresh.roles)[0]))
        assert kept["b"].children == ("c",)

    def test_a_slow_test_is_not_asked_in_print(self, collider: komb.DiscreteTable) -> None:
        """But it is when someone wants to know."""
        calls = []

        def agreement(x: Any, y: Any, z: Any) -> float:
            calls.append(1)
            return 0.001 if abs(np.mean(x == y) - 0.5) > 0.1 else 0.5

        found = komb.markov_blanket(collider.take(range(300)), "y", test=agreement, method="iamb")
        before = len(calls)
        assert "role" not in str(found)
        assert found.to_dict()["roles"] is None
        assert len(calls) == before
        assert found.roles.keys() == set(found.members)
        assert len(calls) > before or not found.members

    def test_the_table_goes_with_the_blanket(self) -> None:
        """Roles and effects that are known do not keep it alive."""
        table = komb.boolean_table("parity", 500, n_parents=2)
        found = komb.markov_blanket(table, "Y")
        roles, effects = found.roles, found.effects
        found = found.with_table(None)
        alive = weakref.ref(table.codes)
        del table
        gc.collect()
        assert alive() is None
        assert (found.roles, found.effects) == (roles, effects)


class TestNetwork:
    def test_directions(self, collider: komb.DiscreteTable) -> None:
        network = komb.markov_blankets(collider).to_networkx()
        assert isinstance(network, nx.DiGraph)
        assert set(network) == {"a", "b", "c", "d", "e", "y"}
        assert set(network.edges) == {("a", "y"), ("e", "y"), ("y", "c"), ("b", "c")}
        assert all(directed for _, _, directed in network.edges(data="directed"))
        assert network.graph["groups"] == []

    def test_without_a_collider_both_directions_are_there(self) -> None:
        """a -> b -> c and all that is like it."""
        rng = np.random.default_rng(1)
        a = rng.integers(0, 2, 2000)
        b = a ^ (rng.random(2000) < 0.1)
        c = b ^ (rng.random(2000) < 0.1)
        network = komb.markov_blankets({"a": a, "b": b, "c": c}).to_networkx()
        assert set(network.edges) == {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")}
        assert not any(directed for _, _, directed in network.edges(data="directed"))

    def test_groups(self) -> None:
        table = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=1)
        network = komb.markov_blankets(table).to_networkx()
        assert network.graph["groups"] == [("X1", "X2", "Y")]
        assert network.nodes["X1"]["groups"] == [("X1", "X2", "Y")]
        assert network.nodes["E1"]["groups"] == []
        assert not network.edges

    def test_some_targets(self, collider: komb.DiscreteTable) -> None:
        network = komb.markov_blankets(collider, ["y"]).to_networkx()
        assert set(network.nodes) == {"y", "a", "b", "c", "e"}
        assert network.nodes["a"] == {"searched": False, "groups": []}
        assert network.has_edge("y", "c")

    def test_none(self) -> None:
        assert not komb.Blankets().to_networkx()

    def test_symmetry(self, collider: komb.DiscreteTable) -> None:
        with pytest.raises(ParameterError, match="'symmetry' must be 'and' or 'or'"):
            komb.markov_blankets(collider, ["y"]).to_networkx("xor")  # type: ignore[arg-type]

    def test_without_data(self, collider: komb.DiscreteTable) -> None:
        lost = pickle.loads(pickle.dumps(komb.markov_blankets(collider, ["y"])))
        with pytest.raises(ParameterError, match="at hand"):
            lost.to_networkx()
