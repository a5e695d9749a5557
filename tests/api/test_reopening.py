"""A blanket and its data: what needs them, what does not, and how they are given back."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import networkx as nx
import numpy as np
import pytest

import komb
from komb.api.run import Run
from komb.describe import explain
from komb.errors import DataError, InputError, ParameterError, UnknownNameError
from komb.results.explanation import Explanation
from tests.describe.small_tables import CHAIN, COLLIDER, XOR


def to_record(blanket: komb.Blanket) -> komb.Blanket:
    return komb.Blanket.from_dict(json.loads(blanket.to_json()))


@pytest.mark.parametrize(
    "send",
    [
        lambda blanket: pickle.loads(pickle.dumps(blanket)),
        to_record,
        lambda blanket: blanket.with_table(None),
    ],
)
def test_away_from_its_data_it_asks_for_them(send: Any) -> None:
    blanket = komb.markov_blanket(XOR, "Y")
    sent = send(blanket)
    assert sent == blanket
    assert hash(sent) == hash(blanket)
    for ask in ("explain", "roles", "ranking", "stability"):
        with pytest.raises(ParameterError, match=rf"'data' .*with_table\(data\)\.{ask}\(\)"):
            getattr(sent, ask)()
    with pytest.raises(ParameterError, match=r"'data' .*with_table\(data\)\.effects"):
        _ = sent.effects
    again = sent.with_table(XOR)
    assert again == blanket
    assert again.explain() == blanket.explain()
    assert again.effects == blanket.effects
    assert again.roles() == blanket.roles()
    assert again.ranking() == blanket.ranking()


def test_copies_keep_their_data_and_pickles_are_small() -> None:
    blanket = komb.markov_blanket(XOR, "Y")
    for clone in (copy.copy(blanket), copy.deepcopy(blanket)):
        assert clone.explain() == blanket.explain()
    assert len(pickle.dumps(blanket)) < 2000


@pytest.mark.parametrize("find", ["markov_blankets", "compare", "blanket_path"])
def test_every_search_hands_them_over(find: str) -> None:
    if find == "markov_blankets":
        found = list(komb.markov_blankets(XOR, ["Y"]).values())
    elif find == "compare":
        found = list(komb.compare(XOR, "Y", methods=["komb", "gs"]).blankets.values())
    else:
        found = list(komb.blanket_path(XOR, "Y", orders=[1]).values())
    for blanket in found:
        assert isinstance(blanket.explain(), Explanation)


@pytest.mark.parametrize("data", [XOR, komb.boolean_network("and")], ids=["table", "model"])
def test_showing_it_opens_no_engine(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    many = komb.markov_blankets(data, ["Y"])
    compared = komb.compare(data, "Y", methods=["gs"])
    str(many["Y"])  # half-samples are searched when it is printed first

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("opened")

    monkeypatch.setattr(Run, "open_engine", refuse)
    monkeypatch.setattr(explain, "explain_blanket", refuse)
    for result in (many["Y"], many, compared):
        texts = str(result), repr(result), result._repr_html_(), result.to_csv(), result.to_json()
        assert all(texts)
        assert result.to_dict()
        assert len(result.to_frame())
        assert result.plot().get_title(loc="left")
    with pytest.raises(AssertionError, match="opened"):  # as would be noticed
        many["Y"].roles()


def test_excluded_columns_stay_out() -> None:
    blanket = komb.markov_blanket(CHAIN, "Y", exclude=["coin"])
    assert blanket.explain().unrelated == ()
    again = to_record(blanket)
    for data in (CHAIN, {name: CHAIN.column(name) for name in CHAIN.names}):
        assert again.with_table(data).explain() == blanket.explain()


def test_columns_may_come_in_another_order() -> None:
    blanket = komb.markov_blanket(COLLIDER, "Y")
    other = to_record(blanket).with_table(COLLIDER.select(["below", "child", "Y", "spouse"]))
    assert set(other.explain().members) == set(blanket)


RNG = np.random.default_rng(0)
AGE = RNG.normal(50, 10, 600)
RAW: dict[str, Any] = {
    "age": AGE,
    "zip": RNG.integers(10_000, 10_005, 600),
    "red": (zone := RNG.integers(0, 3, 600)) == 0,
    "blue": zone == 1,
    "w": RNG.integers(1, 3, 600),
    "s": RNG.uniform(0.5, 2, 600),
    "code": np.where(RNG.random(600) < 0.1, -9, RNG.integers(0, 3, 600)),
    "y": ((AGE > 50) ^ (zone == 0) ^ (RNG.random(600) < 0.05)).astype(int),
}
READINGS: list[dict[str, Any]] = [
    {},
    {"types": {"zip": "nominal", "age": "ordinal"}, "exclude": ["s"]},
    {"types": "strict", "discretize": {"age": [50]}, "exclude": ["s"]},
    {"groups": {"colour": ["red", "blue"]}, "exclude": ["s"]},
    {"weights": "w"},
    {"weights": {"s": "survey"}},
    {"discretize": {"age": [40, 50, 60.0]}, "na_values": {"code": [-9]}, "missing": "level"},
    {"discretize": "quantile", "bins": {"age": 3}, "target": "y"},
    {"discretize": "mdl", "target": "y"},
    {"discretize": {"age": "mdl", "s": "uniform"}, "target": "y", "missing": "testwise"},
]


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_raw_data_are_read_as_they_were(reading: dict[str, Any]) -> None:
    blanket = komb.markov_blanket(komb.table(RAW, **reading), "y")
    assert blanket.members
    again = to_record(blanket).with_table(RAW)
    assert again == blanket
    assert again.explain() == blanket.explain()
    assert again.effects == blanket.effects


def test_weights_that_were_no_column_come_with_a_table() -> None:
    weighted = komb.table(RAW, weights=RAW["w"] + 1, exclude=["w"])
    blanket = to_record(komb.markov_blanket(weighted, "y"))
    assert blanket.with_table(weighted).explain().members == blanket.members
    with pytest.raises(DataError, match=r"were no column.*komb\.table\(data, weights=\.\.\.\)"):
        blanket.with_table(RAW)


OPTIONS: list[dict[str, Any]] = [
    {"method": "komb", "test": "g", "df": "adjusted", "order": 2, "alpha": 0.02},
    {"method": "komb", "test": "perm", "seed": 3},
    {"method": "mmmb", "max_conditioning": 2, "include": ["zip"], "start": ["s"]},
    {"given": ["zip"], "knowledge": {"required": [("code", "y")], "tiers": [["age"]]}},
    {"method": "gs", "test": lambda x, y, z: 0.001 if (x == y).all() else 0.9},
]


@pytest.mark.parametrize("options", OPTIONS, ids="-".join)
def test_the_search_is_what_it_was(options: dict[str, Any]) -> None:
    data = RAW | {"copy": RAW["y"]} if callable(options.get("test")) else RAW
    blanket = komb.markov_blanket(data, "y", **options)
    function = options["test"] if callable(options.get("test")) else None
    again = to_record(blanket).with_table(data, test=function)
    assert again.explain() == blanket.explain()
    assert again.roles() == blanket.roles()


def test_a_model_is_given_back_too() -> None:
    network = komb.boolean_network("and", n_parents=2)
    for model in (network, nx.DiGraph(network.graph)):
        blanket = komb.markov_blanket(model, "Y")
        again = to_record(blanket).with_table(model)
        assert again.roles() == blanket.roles()
        with pytest.raises(DataError, match="found in, 0 rows x 3 columns; got 50 rows"):
            again.with_table(network.sample(50))


def test_other_data_are_refused() -> None:
    blanket = komb.markov_blanket(CHAIN, "Y")
    with pytest.raises(DataError, match=r"found in, 2,000 rows x 4 columns; got 1,999 rows x"):
        blanket.with_table(CHAIN.take(range(1999)))
    with pytest.raises(DataError, match=r"got 2,000 rows x 3 columns\. Pass that table"):
        blanket.with_table(CHAIN.select(["Y", "hall", "coin"]))
    columns = {name: CHAIN.column(name) for name in CHAIN.names}
    renamed = {"Hall" if name == "hall" else name: values for name, values in columns.items()}
    with pytest.raises(UnknownNameError, match="no column 'hall'"):
        blanket.with_table(renamed)
    swapped = columns | {"hall": columns["weather"], "weather": columns["hall"]}
    with pytest.raises(DataError, match=r"statistic of 'hall' is [\d.]+ instead of [\d.]+"):
        blanket.with_table(swapped)
    with pytest.raises(InputError):
        blanket.with_table("a table")
    with pytest.raises(InputError, match="no method 'gone'"):
        komb.Blanket.from_dict(blanket.to_dict() | {"method": "gone"}).with_table(CHAIN)
    own = komb.markov_blanket(CHAIN, "Y", method="gs", test=lambda x, y, z: 0.5)
    with pytest.raises(InputError, match="<lambda>"):
        to_record(own).with_table(CHAIN)
