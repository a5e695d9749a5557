"""Effect sizes and rankings: what has to come out, whatever the numbers, and how it is shown."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import komb
from komb.errors import DataError, InputError, ParameterError, UnknownNameError
from komb.results.effects import Effect, Effects, Ranking
from tests.optional import MISSING

N_ROWS = 2000


def coins(n_columns: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 2, (n_columns, N_ROWS))


def flipped(column: Any, share: float, seed: int = 9) -> Any:
    return column ^ (np.random.default_rng(seed).random(len(column)) < share)


def effects_of(columns: dict[str, Any], target: str, **options: Any) -> Effects:
    return komb.markov_blanket(columns, target, **options).effects


class TestParts:
    def test_parity_is_all_synergy(self) -> None:
        a, b = coins(2)
        effects = effects_of({"a": a, "b": b, "y": flipped(a ^ b, 0.1)}, "y")
        for name in ("a", "b"):
            effect = effects[name]
            assert effect.synergy == pytest.approx(0.531, abs=0.05)  # 1 - H(.1)
            assert effect.unique < 0.005
            assert effect.redundancy < 0.005
            assert effect.added_low < effect.added < effect.added_high
        [group] = effects.groups
        assert group.columns == ("a", "b")
        assert group.together == pytest.approx(effects["a"].added, abs=0.01)
        assert group.synergy == pytest.approx(0.531, abs=0.05)

    def test_a_copy_is_all_redundancy(self) -> None:
        [a] = coins(1)
        columns = {"a": a, "copy": a, "y": flipped(a, 0.1)}
        effects = effects_of(columns, "y", method="gs", include=["a", "copy"])
        for name in ("a", "copy"):
            assert effects[name].redundancy == pytest.approx(0.531, abs=0.05)
            assert effects[name].unique == effects[name].synergy == 0

    def test_a_single_cause_is_all_unique(self) -> None:
        a, b = coins(2)
        effects = effects_of({"a": a, "b": b, "y": flipped(a, 0.1)}, "y")
        assert list(effects) == ["a"]
        assert effects["a"].unique == pytest.approx(0.531, abs=0.05)
        assert effects["a"].synergy == effects["a"].redundancy == 0
        assert effects["a"].complete
        assert effects.entropy == pytest.approx(1, abs=0.01)

    def test_parts_add_up(self) -> None:
        effect = Effect("x", 0.3, 0.2, 0.4, 0.1, 0.0, 0.2, (), True)
        assert effect.unique + effect.redundancy == pytest.approx(effect.alone)
        assert effect.unique + effect.synergy == pytest.approx(effect.added)

    def test_nothing_is_negative_in_the_parts(self) -> None:
        effect = Effect("x", -0.01, 0.0, 0.0, -0.02, 0.0, 0.0, (), True)
        assert effect.unique == effect.synergy == effect.redundancy == 0


class TestInvariance:
    def test_rows_and_names_of_levels(self) -> None:
        """Estimates are a function of the counts, and so are intervals but for their halves."""
        table = komb.boolean_table("ex-1", 500, n_irrelevant=2, seed=1)
        before = komb.markov_blanket(table, "Y").effects
        turned = komb.markov_blanket(table.take(np.arange(500)[::-1]), "Y").effects
        assert turned == before
        renamed = {
            name: [["no", "yes"][code] for code in table.codes[x]]
            for x, name in enumerate(table.names)
        }
        for effect in komb.markov_blanket(renamed, "Y").effects.details:
            assert effect.alone == pytest.approx(before[effect.name].alone)
            assert effect.added == pytest.approx(before[effect.name].added)


class TestThinTables:
    def test_few_rows_condition_on_fewer(self) -> None:
        """Six members of four levels would make 4^7 cells: none of 2,000 rows would be left."""
        rng = np.random.default_rng(3)
        parents = rng.integers(0, 4, (6, N_ROWS))
        noise = rng.integers(0, 6, N_ROWS)
        y = ((parents.sum(axis=0) + noise) // 5).clip(0, 3)
        columns = {f"x{i}": column for i, column in enumerate(parents)}
        effects = effects_of({**columns, "y": y}, "y", method="gs", include=list(columns))
        for effect in effects.details:
            assert not effect.complete
            assert 0 < len(effect.given) < 5
            assert effect.added > 0.02  # given all of them it would be lost
        assert "too few rows per cell" in str(effects)


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    a, b, c, free = coins(4)
    y = flipped(a, 0.1) ^ (b & c)
    columns = {"free": free, "far": flipped(a, 0.2, 5), "a": a, "b": b, "c": c, "y": y}
    return komb.markov_blanket(columns, "y").ranking()


class TestRanking:
    def test_all_columns_are_there_members_first(self, ranking: Ranking) -> None:
        assert {entry.column for entry in ranking} == {"free", "far", "a", "b", "c"}
        assert [entry.is_member for entry in ranking] == [True] * 3 + [False] * 2
        assert [entry.rank for entry in ranking] == [1, 2, 3, 4, 5]
        assert ranking[0].column == "a"

    def test_what_separates_the_others(self, ranking: Ranking) -> None:
        far, free = ranking.of("far"), ranking.of("free")
        assert far.separator is not None
        assert "a" in far.separator
        assert far.alone > 0.04
        assert abs(far.added) < 0.005
        assert free.separator == ()
        assert far.given == free.given == ("a", "b", "c")
        assert ranking.of("a").separator is None

    def test_a_wrong_name(self, ranking: Ranking) -> None:
        with pytest.raises(UnknownNameError, match="no column 'fre'"):
            ranking.of("fre")

    def test_an_empty_blanket(self) -> None:
        a, y = coins(2)
        ranking = komb.markov_blanket({"a": a, "y": y}, "y").ranking()
        assert [(entry.column, entry.is_member) for entry in ranking] == [("a", False)]

    def test_many_columns_are_cut_in_print(self) -> None:
        columns = {f"x{i}": column for i, column in enumerate(coins(30))}
        ranking = komb.markov_blanket(columns, "x0").ranking()
        assert len(ranking) == 29
        assert "more columns: see 'to_frame'" in str(ranking)


class TestMissingValues:
    def test_rows_that_are_complete_count(self) -> None:
        a, b = coins(2)
        y = flipped(a ^ b, 0.1).astype(float)
        y[::5] = np.nan
        labels = [None if np.isnan(value) else int(value) for value in y]
        blanket = komb.markov_blanket({"a": a, "b": b, "y": labels}, "y")
        assert blanket.effects["a"].synergy == pytest.approx(0.531, abs=0.06)
        assert len(blanket.ranking()) == 2


@pytest.fixture(scope="module")
def blanket() -> komb.Blanket:
    return komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")


class TestWhereItIsShown:
    def test_print(self, blanket: komb.Blanket) -> None:
        assert "What the members tell about Y, in bits per row" in str(blanket.effects)

    def test_without_data(self) -> None:
        table = komb.boolean_table("parity", 500, n_parents=2)
        blanket = pickle.loads(pickle.dumps(komb.markov_blanket(table, "Y")))
        for ask in (lambda: blanket.effects, blanket.ranking):
            with pytest.raises(ParameterError, match=r"with_table\(data\)"):
                ask()
        assert blanket.with_table(table).effects["X1"].synergy > 0.4

    def test_a_network_has_no_rows(self) -> None:
        blanket = komb.markov_blanket(komb.boolean_network("and"), "Y")
        with pytest.raises(DataError, match="no rows to measure on"):
            blanket.ranking()
        with pytest.raises(InputError):
            _ = blanket.effects

    def test_a_wrong_member(self, blanket: komb.Blanket) -> None:
        with pytest.raises(UnknownNameError, match="no member 'X9'"):
            blanket.effects["X9"]

    @pytest.mark.skipif("matplotlib" in MISSING, reason="needs matplotlib")
    def test_bars(self, blanket: komb.Blanket) -> None:
        axes = blanket.effects.plot()
        assert {label.get_text() for label in axes.get_yticklabels()} == {"X1", "X2"}
        bars: list[Any] = list(axes.patches)
        widths = [bar.get_width() for bar in bars]
        assert sum(widths) == pytest.approx(
            sum(e.unique + e.synergy + e.redundancy for e in blanket.effects.details)
        )
        assert len(blanket.ranking().plot().patches) == 2
        with pytest.raises(ParameterError, match="matplotlib axes"):
            blanket.effects.plot("effects.png")  # type: ignore[arg-type]
