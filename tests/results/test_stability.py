"""Half-samples: how they are drawn, what is counted, what it bounds, and where it is shown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import joblib
import numpy as np
import pytest

import komb
from komb.api.progress import Progress
from komb.api.stability import Tally, draw_halves
from komb.errors import Interrupted, ParameterError
from komb.results.stability import Group, Stability
from komb.views.stability_text import stability_grids

XOR = komb.boolean_table("parity", 400, n_parents=2, n_irrelevant=3)  # X1, X2, Y, E1, E2, E3


class TestHalves:
    @pytest.mark.parametrize("n_rows", [4, 9, 100])
    def test_pairs_share_no_row_and_leave_out_one_at_most(self, n_rows: int) -> None:
        halves = list(draw_halves(n_rows, 6, seed=3))
        assert len(halves) == 6
        for first, second in list(pairwise(halves))[::2]:
            assert len(first) == len(second) == n_rows // 2
            assert len({*first.tolist(), *second.tolist()}) == n_rows // 2 * 2

    def test_the_seed_decides(self) -> None:
        def drawn(seed: int) -> list[list[int]]:
            return [half.tolist() for half in draw_halves(50, 4, seed)]

        assert drawn(1) == drawn(1) != drawn(2)


def count_naively(table: komb.DiscreteTable, target: str, n_halves: int, **options: Any) -> Any:
    """Search every half by a call of its own; shares of columns and of sets seen together."""
    columns: Counter[Any] = Counter()
    groups: Counter[frozenset[Any]] = Counter()
    sizes = []
    for rows in draw_halves(table.n_rows, n_halves, options.get("seed", 0)):
        blanket = komb.markov_blanket(table.take(rows), target, **options)
        found = [member for member in blanket.details if member.witness is not None]
        columns.update(member.name for member in found)
        groups.update({frozenset((m.name, *(m.witness or ()))) for m in found if m.witness})
        sizes.append(len(found))
    return (
        {name: count / n_halves for name, count in columns.items()},
        {group: count / n_halves for group, count in groups.items()},
        sum(sizes) / n_halves,
    )


class TestShares:
    @pytest.mark.parametrize(
        "options",
        [{}, {"seed": 5}, {"method": "komb"}, {"method": "iamb", "alpha": 0.2}, {"order": 1},
         {"include": ["E2"], "start": ["E1"], "level": 0.5}],
    )  # fmt: skip
    def test_they_are_those_of_separate_searches(self, options: dict[str, Any]) -> None:
        stability = komb.markov_blanket(XOR, "Y", stability=6, **options).stability
        assert stability is not None
        shares, groups, mean_size = count_naively(XOR, "Y", 6, **options)
        assert dict(stability.shares) == shares
        assert {frozenset(group.columns): group.share for group in stability.groups} == groups
        assert stability.mean_size == pytest.approx(mean_size)
        assert (stability.n_halves, stability.n_candidates) == (6, 5)

    def test_members_and_groups_carry_theirs(self) -> None:
        blanket = komb.markov_blanket(XOR, "Y", stability=10)
        assert blanket.stability is not None
        assert blanket["X1"].stability == blanket.stability.share("X1") == 1.0
        assert blanket.stability.group_share(["X2", "X1"]) == 1.0
        assert blanket.stability.share("never") == blanket.stability.group_share(["E1", "Y"]) == 0
        assert blanket.to_frame()["stability"].to_list() == [1.0, 1.0]

    def test_the_blanket_is_what_it_is_without(self) -> None:
        plain, both = komb.markov_blanket(XOR, "Y"), komb.markov_blanket(XOR, "Y", stability=4)
        assert plain.stability is None
        assert plain["X1"].stability is None
        assert both.members == plain.members
        assert both.choices == plain.choices
        assert (both.tests, both.tables) == (plain.tests, plain.tables)
        assert both.parameters["stability"] == 4
        assert "stability" not in plain.parameters

    def test_members_by_request_are_not_found(self) -> None:
        tally = Tally()
        tally.add({0: None, 1: frozenset(), 2: frozenset({1})})
        tally.add({})
        stability = tally.settle(("a", "b", "c"), 9)
        assert dict(stability.shares) == {"b": 0.5, "c": 0.5}
        assert stability.groups == (Group(("b", "c"), 0.5),)
        assert stability.mean_size == 1.0

    def test_a_target_that_is_constant_in_a_half(self) -> None:
        rare = {"y": [1] + [0] * 39, "x": [1] + [0] * 39, "z": [0, 1] * 20}
        stability = komb.markov_blanket(rare, "y", stability=6, method="gs").stability
        assert stability is not None
        assert stability.share("x") <= 0.5  # one of every two halves has nothing to search

    def test_columns_without_values_in_a_half(self) -> None:
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 60)
        x = [int(v) for v in y]
        gaps: list[int | None] = [None] * 58 + [0, 1]
        options: dict[str, Any] = {"missing": "testwise", "include": ["gaps"], "stability": 8}
        blanket = komb.markov_blanket({"gaps": gaps, "x": x, "y": x}, "y", **options)
        assert blanket["x"].stability == 1.0
        assert blanket["gaps"].stability == 0.0

    def test_several_targets_and_workers(self) -> None:
        options: dict[str, Any] = {"stability": 4, "seed": 2}
        many = komb.markov_blankets(XOR, ["Y", "X1"], **options)
        with joblib.parallel_config(backend="threading"):
            assert dict(komb.markov_blankets(XOR, ["Y", "X1"], n_jobs=2, **options)) == dict(many)
        assert many["Y"] == komb.markov_blanket(XOR, "Y", **options)


class TestBound:
    def test_shah_and_samworth(self) -> None:
        stability = Stability(50, {}, (), mean_size=3.0, n_candidates=90)
        assert stability.bound_at(0.9) == pytest.approx(3**2 / (90 * 0.8))
        assert stability.bound == pytest.approx(3**2 / (90 * 0.2))

    @pytest.mark.parametrize("threshold", [0.5, 0.0, 1.1, float("nan")])
    def test_thresholds_it_does_not_hold_for(self, threshold: float) -> None:
        with pytest.raises(ParameterError, match=r"'threshold' must be above 0\.5.*Try 0\.6"):
            Stability(2, {}, (), 1.0, 9).bound_at(threshold)

    def test_it_holds_on_noise(self) -> None:
        """Every column is found no more often than any other, so all found again are by chance."""
        counts, bounds = [], []
        for seed in range(30):
            noise = np.random.default_rng(seed).integers(0, 2, (80, 12))
            stability = komb.markov_blanket(
                noise, 0, method="iamb", alpha=0.1, stability=10, seed=seed
            ).stability
            assert stability is not None
            counts.append(sum(share >= 0.6 for share in stability.shares.values()))
            bounds.append(stability.bound)
        assert np.mean(counts) <= np.mean(bounds)


class TestShown:
    blanket = komb.markov_blanket(XOR, "Y", stability=10)

    def test_in_text(self) -> None:
        text = str(self.blanket)
        assert "stability in 10 half-samples, seed 0\n" in text
        assert "  added  stability\n" in text
        assert "\n  X1, X2                  1.00  members found together\n" in text
        assert "Stability: share of 10 half-samples in which the column is in the blanket (" in text
        assert " are expected by chance" in text

    def test_what_is_no_member_but_often_found(self) -> None:
        stability = Stability(10, {"X1": 0.9, "E1": 0.7, "E2": 0.2}, (), 1.8, 5)
        (grid,) = stability_grids(replace(self.blanket, stability=stability))
        assert grid.rows == (("E1", "0.70", "not a member"),)
        assert stability_grids(replace(self.blanket, stability=None)) == ()

    def test_in_json(self) -> None:
        record = json.loads(self.blanket.to_json())
        assert record["details"][0]["stability"] == 1.0
        assert record["stability"]["n_halves"] == 10
        assert record["stability"]["threshold"] == 0.6
        assert self.blanket.stability is not None
        assert record["stability"]["bound"] == pytest.approx(self.blanket.stability.bound)
        assert komb.Blanket.from_dict(record) == self.blanket

    def test_in_pictures_and_pages(self) -> None:
        texts = [text.get_text() for text in self.blanket.plot().texts]
        assert any("stability 1.00" in text for text in texts)
        page = komb.report(XOR, "Y", methods=["gs"], stability=4)
        assert page.blanket.stability is not None
        assert page.comparison is not None
        assert page.comparison.blankets["gs"].stability is None
        assert "half-samples for stability" in page.html
        assert "stability=4" in page.html


class TestProgressAndInterruption:
    @staticmethod
    def stop_at(done: int) -> Callable[[Progress], None]:
        def stop(progress: Progress) -> None:
            if progress.phase == "stability" and progress.done == done:
                raise KeyboardInterrupt

        return stop

    def test_halves_are_counted(self) -> None:
        seen: list[Progress] = []
        komb.markov_blanket(XOR, "Y", stability=4, progress=seen.append)
        counted = [(p.done, p.total, p.blanket) for p in seen if p.phase == "stability"]
        assert counted == [(done, 4, ("X1", "X2")) for done in range(4)]

    @pytest.mark.parametrize("done", [0, 3])
    def test_the_main_answer_is_kept(self, done: int) -> None:
        with pytest.raises(Interrupted, match="while half-samples were searched") as caught:
            komb.markov_blanket(XOR, "Y", stability=4, progress=self.stop_at(done))
        blanket = caught.value.finished
        assert isinstance(blanket, komb.Blanket)
        assert blanket.members == ("X1", "X2")
        assert blanket.stability is None

    def test_of_several_targets_too(self) -> None:
        with pytest.raises(Interrupted, match="after 1 of 2 targets") as caught:
            komb.markov_blankets(XOR, ["Y", "X1"], stability=4, progress=self.stop_at(2))
        assert isinstance(caught.value.finished, komb.Blankets)
        assert list(caught.value.finished) == ["Y"]


@pytest.mark.parametrize("number", [0, 1, 3, -2, 2.0, "10", True])
def test_bad_numbers(number: Any) -> None:
    with pytest.raises(ParameterError, match=r"'stability' must be .*got"):
        komb.markov_blanket(XOR, "Y", stability=number)


def test_a_table_that_cannot_be_halved() -> None:
    with pytest.raises(ParameterError, match="'stability' must be left out for a table of fewer"):
        komb.markov_blanket({"x": [0, 1, 1], "y": [0, 1, 0]}, "y", stability=2)
