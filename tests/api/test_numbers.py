"""Numbers with many values, as they come: found truths, what the result says, what keeps bins."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import komb
from komb.data import table as table_module
from komb.errors import DataError
from komb.search import algorithms

Data = dict[str, Any]


def products(n_rows: int = 400, seed: int = 0) -> Data:
    """Two columns that act only together on three targets, and one that does not act."""
    rng = np.random.default_rng(seed)
    a, b, c, noise = rng.normal(size=(4, n_rows))
    return {
        "a": a,
        "b": b,
        "c": c,
        "xor": np.where((a > 0) != (b > 0), "yes", "no"),
        "sign": np.sign(a * b),
        "price": a * b + 0.5 * noise,
    }


def blanket_of(data: Data, target: str, **options: Any) -> komb.Blanket:
    """Search without the other targets."""
    others = {"xor", "sign", "price"} - {target}
    test = options.pop("test", "auto")
    table = komb.table({x: data[x] for x in data if x not in others}, target=target, **options)
    return komb.markov_blanket(table, target, test=test)


class TestTruths:
    @pytest.mark.parametrize("target", ["xor", "sign", "price"])
    def test_what_acts_only_together_is_found(self, target: str) -> None:
        blanket = blanket_of(products(), target)
        assert blanket.members == ("a", "b")
        # the spread of a product depends on each of the two, so that one is seen without the other
        decided_by = "higher" if target == "price" else "interaction"
        assert {member.test for member in blanket.evidence} == {decided_by}

    def test_a_chain_ends_at_its_neighbours(self) -> None:
        steps = np.random.default_rng(1).normal(size=(5, 600)).cumsum(axis=0)
        chain = {f"x{i}": values for i, values in enumerate(steps)}
        assert komb.markov_blanket(chain, "x2").members == ("x1", "x3")

    def test_a_spouse_is_found_through_the_common_child(self) -> None:
        rng = np.random.default_rng(2)
        y, spouse, other, noise = rng.normal(size=(4, 600))
        data = {"y": y, "spouse": spouse, "other": other, "child": y + spouse + 0.5 * noise}
        assert komb.markov_blanket(data, "y").members == ("spouse", "child")

    def test_a_common_cause_separates_whatever_its_effects_look_like(self) -> None:
        """In five tables of six, for a test errs now and then."""
        right = 0
        for seed in range(6):
            z, one, two = np.random.default_rng(seed).normal(size=(3, 800))
            data = {"y": z**2 + 0.3 * one, "x": np.abs(z) + 0.3 * two, "z": z}
            assert not komb.ci_test(data, "x", "y").independent
            is_independent = komb.ci_test(data, "x", "y", given=["z"]).independent
            right += is_independent and komb.markov_blanket(data, "y").members == ("z",)
        assert right >= 5

    def test_nothing_is_found_where_nothing_is(self) -> None:
        rng = np.random.default_rng(4)
        found = [
            komb.markov_blanket(dict(zip("abcdy", rng.normal(size=(5, 100)), strict=True)), "y")
            for _ in range(10)
        ]
        assert sum(bool(blanket.members) for blanket in found) <= 1

    @pytest.mark.parametrize("method", algorithms())
    def test_every_method_takes_numbers(self, method: str) -> None:
        rng = np.random.default_rng(5)
        x, noise, other = rng.normal(size=(3, 200))
        blanket = komb.markov_blanket({"x": x, "o": other, "y": x + noise}, "y", method=method)
        assert blanket.members == ("x",)
        assert blanket.evidence[0].test == "linear"


class TestSameAnswerAlways:
    def test_for_any_order_of_rows_and_columns(self) -> None:
        data = products()
        order = np.random.default_rng(6).permutation(400)
        other = {name: data[name][order] for name in reversed(data)}
        own, turned = blanket_of(data, "price"), blanket_of(other, "price")
        assert set(own.members) == set(turned.members)
        for member in own.evidence:
            again = turned[member.name]
            assert again.statistic == pytest.approx(member.statistic, rel=1e-6)

    def test_for_any_number_of_workers(self) -> None:
        data = products(200)
        assert komb.markov_blankets(data, n_jobs=2) == komb.markov_blankets(data, n_jobs=1)

    def test_monotone_transformations_change_nothing(self) -> None:
        data = products()
        other = data | {"a": np.exp(data["a"]), "price": data["price"] ** 3}
        assert blanket_of(other, "price").members == blanket_of(data, "price").members


def classes(seed: int) -> tuple[Data, npt.NDArray[np.int64]]:
    """Numbers and levels around classes that have no order, and the class of each row."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, 300)
    centres = rng.normal(0, 1.5, (4, 3))
    near = {f"x{i}": centres[y, i] + rng.normal(size=300) for i in range(3)}
    noise = {f"n{i}": rng.normal(size=300) for i in range(2)}
    return near | noise | {"level": (y == 1) + rng.integers(0, 2, 300)}, y


class TestCodesOfClasses:
    """Which class has which number is nobody's business."""

    @pytest.mark.parametrize("seed", range(6))
    def test_any_coding_of_the_target_gives_the_blanket_of_its_names(self, seed: int) -> None:
        data, y = classes(seed)
        rng = np.random.default_rng(seed)
        names = np.array(["blue", "green", "red", "white"])
        named = komb.markov_blanket(data | {"y": names[y]}, "y")
        assert named.members
        for codes in (
            rng.permutation(4),
            rng.choice(50, 4, replace=False),
            -1.0 * rng.permutation(4),
        ):
            coded = komb.markov_blanket(data | {"y": codes[y]}, "y")
            assert coded.members == named.members
            assert coded.types["y"].kind == "nominal"
            assert "taken as classes" in str(coded.details())

    def test_searches_of_many_targets_agree_with_those_of_one(self) -> None:
        data, y = classes(7)
        table = komb.table(data | {"y": y})
        every = komb.markov_blankets(table)
        assert komb.markov_blankets(table, n_jobs=2) == every
        for name in table.names:
            assert every[name] == komb.markov_blanket(table, name)
        assert every["level"].types["y"].kind == "ordinal"  # as a candidate it has an order

    def test_a_target_that_is_named_ordinal_is_one(self) -> None:
        data, y = classes(8)
        found = komb.markov_blanket(komb.table(data | {"y": y}, types={"y": "ordinal"}), "y")
        assert found.types["y"].kind == "ordinal"
        assert "taken as classes" not in str(found.details())


class TestWhatTheResultSays:
    def test_how_each_column_was_treated(self) -> None:
        blanket = blanket_of(products(), "price")
        assert str(blanket.types["a"]) == "continuous, by ranks"
        assert not blanket.cuts
        assert "Numbers, tested by their ranks: a, b, c, price." in str(blanket.details())

    @pytest.mark.parametrize(
        "options", [{"discretize": "quantile"}, {"test": "g"}, {"weights": "n"}], ids=str
    )
    def test_what_keeps_bins(self, options: dict[str, Any]) -> None:
        data = products() | {"n": np.full(400, 1)}
        blanket = blanket_of(data, "price", **options)
        assert blanket.types["a"].treatment == "bins"
        assert "a" in blanket.cuts
        assert "ranks" not in str(blanket.details())

    def test_a_table_of_many_numbers_keeps_bins(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert komb.DiscreteTable.from_data(products(), types="auto").has_ranks
        monkeypatch.setattr(table_module, "MOST_RANKED_NUMBERS", 399)
        assert blanket_of(products(), "price").types["a"].treatment == "bins"

    def test_a_group_keeps_bins(self) -> None:
        blanket = blanket_of(products(), "price", groups={"ab": ["a", "b"]})
        assert blanket.members == ("ab",)
        assert blanket.types["c"].treatment == "bins"

    @pytest.mark.parametrize("given", [["age"], ["sex"], ["sex", "age"]], ids=str)
    def test_covariates_are_held_fixed_and_numbers_stay_numbers(self, given: list[str]) -> None:
        rng = np.random.default_rng(9)
        age, a, noise = rng.normal(size=(3, 500))
        sex = rng.choice(["f", "m"], 500)
        data = {"age": age, "sex": sex, "x": 2 * age + a, "y": 2 * age + (sex == "f") + noise}
        assert komb.markov_blanket(data, "y").members == ("age", "sex")
        blanket = komb.markov_blanket(data, "y", given=given)
        assert set(blanket.members) == {"age", "sex"}.difference(given)
        assert blanket.types["x"].treatment == "ranks"
        explanation = blanket.with_table(data).explain()
        assert list(explanation.members) == list(blanket.members)

    def test_a_covariate_is_cut_finely_where_no_other_number_is(self) -> None:
        rng = np.random.default_rng(8)
        age, one, two = rng.normal(size=(3, 500))
        data = {"age": age, "x": (age + one > 0).astype(int), "y": (age + two > 0).astype(int)}
        blanket = komb.markov_blanket(data, "y", given=["age"])
        assert blanket.members == ()
        assert blanket.choices["strata"].value == 16

    def test_explanations_effects_roles_and_records(self) -> None:
        blanket = blanket_of(products(), "sign")
        explanation = blanket.explain()
        assert explanation["a"].shown is not None
        assert explanation["a"].shown.statistic == blanket["a"].statistic
        assert blanket.effects["a"].added > 0.1
        assert blanket.ranking().columns[0].column in {"a", "b"}
        assert blanket.roles()["a"].partners == ("b",)
        assert komb.Blanket.from_dict(blanket.to_dict()).types == blanket.types

    def test_half_samples_are_searched_by_ranks_too(self) -> None:
        assert blanket_of(products(), "price").stability(4).share("a") == 1.0


class TestSelector:
    def test_a_continuous_target_and_scores(self) -> None:
        data = products()
        features = np.column_stack([data[name] for name in "abc"])
        selector = komb.MarkovBlanketSelector().fit(features, data["price"])
        assert selector.get_support().tolist() == [True, True, False]
        assert selector.scores_[0] > selector.scores_[2]


class TestBadInput:
    def test_infinite_values_are_an_error(self) -> None:
        data = products()
        data["a"][3] = np.inf
        with pytest.raises(DataError, match="infinite"):
            blanket_of(data, "price")

    def test_missing_values_cost_the_tests_they_concern(self) -> None:
        data = products()
        data["a"][::7] = np.nan
        data["price"][::11] = np.nan
        assert blanket_of(data, "price").members == ("a", "b")

    def test_few_rows_say_nothing(self) -> None:
        few = {name: values[:25] for name, values in products().items()}
        few["c"][:20] = np.nan
        assert "c" not in blanket_of(few, "price").members
