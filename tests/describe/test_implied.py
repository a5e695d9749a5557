"""Columns that members imply: other causes of effects of the target, through links too weak."""

from __future__ import annotations

import math
import pickle
from itertools import combinations, product
from typing import Any, cast

import numpy as np
import pytest

import komb
from komb.describe.implied import _Apart, _chances_of_causes
from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Outcome
from tests.data.models.graphs import NETWORKS

N_ROWS, N_CAUSES = 3000, 8


def causes_of_one(seed: int, kind: str) -> dict[str, Any]:
    """Eight columns that each move another one a little, and one that this moves."""
    rng = np.random.default_rng(seed)
    causes: Any = rng.normal(size=(N_CAUSES, N_ROWS))
    if kind != "numbers":
        levels = rng.integers(0, 2, (N_CAUSES, N_ROWS))
        causes = 2.0 * levels - 1.0
    middle = 0.24 * causes.sum(axis=0) + rng.normal(size=N_ROWS)
    end = 0.3 * middle + rng.normal(size=N_ROWS)
    if kind == "levels":
        middle, end = np.digitize(middle, [-1, 0, 1]), np.digitize(end, [-1, 0, 1])
    table: dict[str, Any] = {f"x{i}": values for i, values in enumerate(causes)}
    if kind != "numbers":
        table = {name: np.where(values > 0, "high", "low") for name, values in table.items()}
    if kind == "levels":
        middle, end = (np.array(list("abcd"))[each] for each in (middle, end))
    return table | {"middle": middle, "end": end}


class TestColumns:
    @pytest.mark.parametrize("kind", ["numbers", "levels", "mixed"])
    def test_other_causes_are_named_and_an_effect_is_not(self, kind: str) -> None:
        table, n_named, n_outside = causes_of_one(0, kind), 0, 0
        for target in ("x0", "x3"):
            blanket = komb.markov_blanket(table, target)
            implied, outside = blanket.implied(), {f"x{i}" for i in range(N_CAUSES)} - {target}
            outside -= set(blanket.members)
            assert outside.issuperset(implied.names)
            both = {*blanket.members, *implied.names}
            assert implied.graph_blanket == tuple(x for x in table if x in both)
            assert pickle.loads(pickle.dumps(implied)).graph_blanket == implied.graph_blanket
            assert all(implied[name].children == ("middle",) for name in implied.names)
            n_named, n_outside = n_named + len(implied.names), n_outside + len(outside)
        assert n_named >= 0.7 * n_outside > 0

    def test_two_weak_links_do_not_tell(self) -> None:
        rng = np.random.default_rng(0)
        t, s, noise = rng.normal(size=(3, N_ROWS))
        c = 0.15 * t + 0.15 * s + rng.normal(size=N_ROWS)
        implied = komb.markov_blanket({"t": t, "s": s, "c": c, "n": noise}, "t").implied()
        assert implied.names == ()
        assert implied.graph_blanket == ("c",)
        assert "With what is implied: c." in str(implied)
        assert (implied["s"].kind, implied["s"].children) == ("undecided", ("c",))
        assert "if c is an effect of both" in " ".join(str(implied).split())

    def test_a_network_implies_nothing_that_it_does_not_say(self) -> None:
        assert dict(komb.markov_blanket(NETWORKS["asia"], "tub").implied()) == {}


class _Tests:
    """Answers with p-values out of a table."""

    def __init__(self, p_values: dict[tuple[int, int, bool], float]) -> None:
        self.p_values = p_values

    def outcome(self, a: int, b: int, given: frozenset[int]) -> Outcome:
        p_value = self.p_values[a, b, 9 in given]
        return Outcome(p_value > 0.05, 0.0, 1.0, p_value, "g", reliable=True)


def test_chances_are_those_of_all_assignments() -> None:
    rng = np.random.default_rng(1)
    near = [3, 0, 5, 7]
    pairs = list(combinations(near, 2))
    p_values = {(a, b, given): float(rng.random() ** 3) for a, b in pairs for given in (0, 1)}
    apart: dict[tuple[int, int], _Apart | None] = {(5, 7): None}  # these two are joined
    apart |= {(min(pair), max(pair)): _Apart(EMPTY, frozenset({9})) for pair in pairs[:-1]}
    engine = cast("Engine", _Tests({(a, b, bool(z)): p for (a, b, z), p in p_values.items()}))
    found = _chances_of_causes(engine, near, apart)

    from scipy.stats import chi2

    total, both = 0.0, 0.0
    for ways in product((False, True), repeat=4):
        causes = {x for x, is_cause in zip(near, ways, strict=True) if is_cause}
        logarithm = sum(
            (chi2.isf(p_values[a, b, 1], 1) - chi2.isf(p_values[a, b, 0], 1)) / 2
            for a, b in pairs[:-1]
            if {a, b} <= causes
        )
        total += math.exp(logarithm)
        both += math.exp(logarithm) * ({3, 5} <= causes)
    assert found[0, 2] == pytest.approx(both / total)
