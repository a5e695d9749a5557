"""Roles of members as users see them: asked for, printed, exported; and networks of targets."""

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
from komb.describe import structure
from komb.errors import ParameterError
from komb.results.roles import Role
from tests.data.models.graphs import NETWORKS


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
        assert {name: str(role) for name, role in blanket.roles().items()} == {
            "a": "cause",
            "b": "spouse through c",
            "c": "effect",
            "e": "cause",
        }

    def test_halves_have_to_confirm_directions(
        self, collider: komb.DiscreteTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(structure, "CONFIRMED", structure.HALVES + 1)
        roles = komb.markov_blanket(collider, "y").roles()
        assert {name: str(role) for name, role in roles.items()} == {
            "a": "neighbour",
            "b": "spouse through c",
            "c": "neighbour",
            "e": "neighbour",
        }

    def test_claims_are_right_in_few_rows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Cause and effect of linear models, where the shape of a line says nothing."""

        def count(confirmed: int) -> tuple[int, int]:
            monkeypatch.setattr(structure, "CONFIRMED", confirmed)
            claims = right = 0
            for seed in range(20):
                rng = np.random.default_rng(seed)
                a, b, c, *noise = rng.normal(size=(6, 300))
                y = 0.4 * a + 0.4 * b + noise[0]
                columns = {"a": a, "b": b, "y": y, "c": 0.5 * y + c, "d": 0.4 * y + noise[1]}
                truly = {"a": "cause", "b": "cause", "c": "effect", "d": "effect"}
                for name, role in komb.markov_blanket(columns, "y").roles().items():
                    if role.direction in ("cause", "effect"):
                        claims, right = claims + 1, right + (role.direction == truly[str(name)])
            return claims, right

        claims, right = count(structure.CONFIRMED)
        assert right >= 0.95 * claims > 0
        many, all_right = count(0)
        assert all_right / many < right / claims

    def test_every_method_has_them(self, collider: komb.DiscreteTable) -> None:
        for method in komb.algorithms():
            found = komb.markov_blanket(collider, "y", method=method)
            assert found.roles()["c"].direction == "effect", method

    def test_a_network_answers_exactly(self) -> None:
        graph = NETWORKS["asia"]
        roles = komb.markov_blanket(graph, "either").roles()
        assert {name: str(role) for name, role in roles.items()} == {
            "bronc": "spouse through dysp",
            "dysp": "effect",
            "lung": "cause",
            "tub": "cause",
            "xray": "effect",
        }

    def test_by_request(self, collider: komb.DiscreteTable) -> None:
        found = komb.markov_blanket(collider, "y", include=["d"])
        role = found.roles()["d"]
        assert (role.kind, role.direction, str(role)) == ("by request", None, "by request")


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
    assert [role.direction for role in found["b"].roles().values()] == directions
    network = found.to_networkx()
    settled = [a + b for a, b, is_directed in network.edges(data="directed") if is_directed]
    assert sorted(settled) == edges


class TestResult:
    def test_print(self, blanket: komb.Blanket) -> None:
        roles = blanket.roles()
        text = str(roles)
        assert text.startswith("What the members are to y\n")
        assert "A spouse, independent of y marginally, but not given their common child c." in text
        assert "if no common cause of the target and a member is missing" in text
        assert "spouse through c" in roles._repr_html_()
        assert repr(roles) == "Roles('y': 4 members)"

    def test_dictionary_and_frame(self, blanket: komb.Blanket) -> None:
        roles = blanket.roles()
        record = json.loads(roles.to_json())
        assert {name: Role.from_dict(own) for name, own in record.items()} == dict(roles)
        frame = roles.to_frame("polars")
        assert frame["member"].to_list() == ["a", "b", "c", "e"]
        assert frame["kind"].to_list() == ["neighbour", "spouse", "neighbour", "neighbour"]
        assert frame["direction"].to_list() == ["cause", None, "effect", "cause"]
        assert frame["children"].to_list() == [[], ["c"], [], []]
        assert roles.to_csv().startswith("member,kind,direction,separator,children,partners\n")
        assert pickle.loads(pickle.dumps(roles)) == roles

    def test_they_are_asked_for_once(self, collider: komb.DiscreteTable) -> None:
        calls = []

        def agreement(x: Any, y: Any, z: Any) -> float:
            calls.append(1)
            return 0.001 if abs(np.mean(x == y) - 0.5) > 0.1 else 0.5

        found = komb.markov_blanket(collider.take(range(300)), "y", test=agreement, method="iamb")
        assert found.members
        before = len(calls)
        roles = found.roles()
        assert roles.keys() == set(found.members)
        after = len(calls)
        assert after > before
        assert found.roles() is roles
        assert len(calls) == after

    def test_without_data(self, collider: komb.DiscreteTable, blanket: komb.Blanket) -> None:
        lost = pickle.loads(pickle.dumps(blanket))
        with pytest.raises(ParameterError, match=r"blanket\.with_table\(data\)\.roles\(\)"):
            lost.roles()
        assert lost.with_table(collider).roles() == blanket.roles()

    def test_the_table_goes_with_the_blanket(self) -> None:
        """Roles and effects do not keep it alive."""
        table = komb.boolean_table("parity", 500, n_parents=2)
        found = komb.markov_blanket(table, "Y")
        kept = found.roles(), found.effects
        found = found.with_table(None)
        alive = weakref.ref(table.codes)
        del table
        gc.collect()
        assert alive() is None
        assert [*kept[0]] == [*kept[1]] == ["X1", "X2"]


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
