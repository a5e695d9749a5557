"""Half-samples: how they are drawn, what is counted, what it bounds, and how it is shown."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import komb
from komb.describe import stability
from komb.describe.stability import draw_halves, find_rivals, same_halves
from komb.errors import DataError, Interrupted, ParameterError
from komb.results.member import Member
from komb.results.stability import Group, Stability
from komb.search._thresholds import choose_alpha
from komb.views.effects_text import recurrence_note

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


def count_naively(
    table: komb.DiscreteTable, target: str, n_halves: int, seed: int, **options: Any
) -> Any:
    """Search every half by a call of its own; shares of columns and of sets seen together."""
    columns: Counter[Any] = Counter()
    groups: Counter[frozenset[Any]] = Counter()
    sizes = []
    for rows in draw_halves(table.n_rows, n_halves, seed):
        blanket = komb.markov_blanket(table.take(rows), target, **options)
        found = [member for member in blanket.evidence if member.witness is not None]
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
        [{}, {"method": "komb"}, {"method": "iamb", "alpha": 0.2}, {"order": 1},
         {"include": ["E2"], "start": ["E1"], "level": 0.5}],
    )  # fmt: skip
    @pytest.mark.parametrize("seed", [0, 5])
    def test_they_are_those_of_separate_searches(self, options: dict[str, Any], seed: int) -> None:
        stability = komb.markov_blanket(XOR, "Y", **options).stability(6, seed=seed)
        shares, groups, mean_size = count_naively(XOR, "Y", 6, seed, **options)
        assert dict(stability.shares) == shares
        assert {frozenset(group.columns): group.share for group in stability.groups} == groups
        assert stability.mean_size == pytest.approx(mean_size)
        assert (stability.n_halves, stability.n_candidates) == (6, 5)

    def test_what_was_never_found(self) -> None:
        stability = komb.markov_blanket(XOR, "Y").stability(4)
        assert stability.share("X1") == stability.group_share(["X2", "X1"]) == 1.0
        assert stability.share("never") == stability.group_share(["E1", "Y"]) == 0

    def test_a_target_that_is_constant_in_a_half(self) -> None:
        rare = {"y": [1] + [0] * 39, "x": [1] + [0] * 39, "z": [0, 1] * 20}
        stability = komb.markov_blanket(rare, "y", method="gs").stability(6)
        assert stability.share("x") <= 0.5  # one of every two halves has nothing to search

    def test_columns_without_values_in_a_half_and_members_by_request(self) -> None:
        x = np.random.default_rng(0).integers(0, 2, 60).tolist()
        gaps: list[int | None] = [None] * 58 + [0, 1]
        blanket = komb.markov_blanket({"gaps": gaps, "x": x, "y": x}, "y", include=["gaps"])
        stability = blanket.stability(8)
        assert (stability.share("x"), stability.share("gaps")) == (1.0, 0.0)
        assert stability.members == ("gaps", "x")

    def test_covariates_and_knowledge_hold_in_halves(self) -> None:
        known: dict[str, Any] = {"given": ["E1"], "knowledge": {"forbidden": [["X1", "Y"]]}}
        stability = komb.markov_blanket(XOR, "Y", **known).stability(2)
        assert stability.n_candidates == 4
        assert "E1" not in stability.shares

    def test_every_search_of_several_has_it(self) -> None:
        expected = komb.markov_blanket(XOR, "Y").stability(2, seed=3)
        many = komb.markov_blankets(XOR, ["E1", "Y"])
        assert many["Y"].stability(2, seed=3) == expected
        lost = pickle.loads(pickle.dumps(many["Y"]))
        with pytest.raises(ParameterError, match=r"with_table\(data\)\.stability\(\)"):
            lost.stability(2)
        assert lost.with_table(XOR).stability(2, seed=3) == expected


class TestBound:
    def test_shah_and_samworth(self) -> None:
        stability = Stability("y", (), 50, {}, (), mean_size=3.0, n_candidates=90)
        assert stability.bound_at(0.9) == pytest.approx(3**2 / (90 * 0.8))
        assert stability.bound == pytest.approx(3**2 / (90 * 0.2))

    @pytest.mark.parametrize("threshold", [0.5, 0.0, 1.1, float("nan")])
    def test_thresholds_it_does_not_hold_for(self, threshold: float) -> None:
        with pytest.raises(ParameterError, match=r"'threshold' must be above 0\.5.*Try 0\.6"):
            Stability("y", (), 2, {}, (), 1.0, 9).bound_at(threshold)

    def test_it_holds_on_noise(self) -> None:
        """Every column is found no more often than any other, so all found again are by chance."""
        counts, bounds = [], []
        for seed in range(30):
            noise = np.random.default_rng(seed).integers(0, 2, (80, 12))
            blanket = komb.markov_blanket(noise, 0, method="iamb", alpha=0.1)
            stability = blanket.stability(10, seed=seed)
            counts.append(sum(share >= 0.6 for share in stability.shares.values()))
            bounds.append(stability.bound)
        assert np.mean(counts) <= np.mean(bounds)


@pytest.fixture(scope="module")
def rivals() -> komb.Blanket:
    """Two measurements of one cause, a cause that is clear, and noise."""
    rng = np.random.default_rng(4)
    cause, clear, *noise = rng.normal(size=(30, 150))
    columns = {"one": cause + 0.3 * rng.normal(size=150), "two": cause + 0.3 * rng.normal(size=150)}
    columns |= {"clear": clear, **{f"noise {i}": own for i, own in enumerate(noise)}}
    y = cause + 2 * clear + rng.normal(size=150)
    return komb.markov_blanket({**columns, "y": y}, "y")


class TestFoundAgain:
    """What is said of short tables without being asked."""

    def test_halves_of_members_and_rivals_are_searched_at_the_level_of_all_columns(
        self, rivals: komb.Blanket
    ) -> None:
        found, run = rivals.recurrence, rivals.run_for("recurrence")
        assert found is not None
        assert run is not None
        table, target = run.table, run.data.index("y")
        members = run.positions(rivals)
        others = find_rivals(run, run.open_engine(), target, members)
        assert {"one", "two"} <= {*rivals, *run.named(others)}
        assert others
        assert others.isdisjoint(members)
        some = table.select(run.named({target, *members, *others}))
        counts = Counter[Any]()
        alpha = float(choose_alpha(table.n_rows // 2, table.n_columns).value or 0)
        for rows in same_halves(table, found.n_halves):
            counts.update(komb.markov_blanket(some.take(rows), "y", alpha=alpha).members)
        assert found.shares == {x: count / found.n_halves for x, count in counts.items()}

    def test_in_print(self, rivals: komb.Blanket) -> None:
        [line] = [own for own in str(rivals).splitlines() if own.startswith("Stability")]
        assert line.endswith("recur in at least half of 10 half-samples.") or "; " in line
        shares: dict[Any, float] = {"clear": 1.0, "two": 0.4, "a": 0.5, "other": 0.6}
        found = Stability("y", rivals.members, 10, shares, (), 1.4, 30, replaceable={"one": 0.5})
        note: Any = partial(SimpleNamespace, equivalents={"one": (("two",), ("a", "b"))},
            members=("one", "clear", "asked"),
            evidence=[Member("one", (), 9.0), Member("clear", (), 9.0), Member("asked", None)],
        )  # fmt: skip
        assert recurrence_note(note(recurrence=found)) == (
            "Stability: 2 of 2 members, or an alternative of theirs, recur in at least half of "
            "10 half-samples; one in 0, with its alternatives in 5; as often, but no members: "
            "other in 6."
        )
        rare = replace(found, shares={"clear": 1.0}, replaceable={"one": 0.4})
        assert recurrence_note(note(recurrence=rare)) == (
            "Stability: 1 of 2 members, or an alternative of theirs, recur in at least half of "
            "10 half-samples; one in 0, with its alternatives in 4."
        )

    def test_alternatives_count_for_a_member(self) -> None:
        """A half-sample with one of two copies, or all columns of a set, counts once."""
        rng = np.random.default_rng(3)
        cause, other = rng.normal(size=(2, 300))
        table = {"one": cause, "two": cause + 0.001 * rng.normal(size=300), "other": other}
        table["y"] = cause + other + 2 * rng.normal(size=300)
        blanket = komb.markov_blanket(table, "y")
        [(member, ((alternative,),))] = blanket.equivalents.items()
        assert {member, alternative} == {"one", "two"}
        found = blanket.stability(10, seed=1)
        halves = list(draw_halves(300, 10, seed=1))
        read = blanket.run_for("it").table
        seen = [{*komb.markov_blanket(read.take(rows), "y").members} for rows in halves]
        assert found.replaceable == {member: sum(bool(s & {"one", "two"}) for s in seen) / 10}
        assert found.replaceable[member] > max(found.share("one"), found.share("two"))
        assert "this member or an alternative of it" in str(found)
        assert Stability.from_dict(found.to_dict()) == found

    def test_what_is_stable_and_what_is_not(self, rivals: komb.Blanket) -> None:
        assert rivals.recurrence is not None
        assert rivals.recurrence.share("clear") == 1.0
        quick, full = rivals.recurrence, rivals.stability(10)
        for name in ("one", "two", "clear"):
            assert abs(quick.share(name) - full.share(name)) <= 0.3, name

    def test_it_stops_when_it_has_taken_enough_tests(
        self, rivals: komb.Blanket, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stability, "MOST_TESTS", 1)
        monkeypatch.setattr(stability, "MOST_COSTLY_TESTS", 1)
        few = stability.find_again(rivals.run_for("it"), replace(rivals, tests=1))
        assert few is None
        monkeypatch.setattr(stability, "FEWEST_HALVES", 2)
        few = stability.find_again(rivals.run_for("it"), replace(rivals, tests=1))
        assert few is not None
        assert few.n_halves == 2

    def test_where_nothing_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        blanket = komb.markov_blanket(XOR, "Y")
        assert blanket.recurrence is not None
        assert "ask for stability()" not in str(blanket)
        silent = [
            pickle.loads(pickle.dumps(blanket)),  # no data
            komb.markov_blanket(XOR, "Y", test="g"),
            komb.markov_blanket(XOR, "E1"),  # no members
            komb.markov_blanket(XOR, "E1", include=["E2"]),
            komb.markov_blanket(komb.boolean_network("and"), "Y"),
        ]
        monkeypatch.setattr(stability, "MOST_ROWS", 300)
        silent.append(komb.markov_blanket(XOR, "Y"))
        assert [own.recurrence for own in silent] == [None] * len(silent)
        assert "Stability: not measured yet; ask for stability()" in str(silent[-1])


class TestShown:
    groups = (Group(("X1", "X2"), 0.9),)
    stability = Stability("Y", ("X1", "X2"), 10, {"X1": 0.9, "X2": 0.9, "E1": 0.7}, groups, 2.5, 5)

    def test_in_text(self) -> None:
        text = str(self.stability)
        assert "10 half-samples" in text
        for line in ("X1", "E1", "X1, X2"):
            assert any(own.strip().startswith(line) for own in text.splitlines()[1:]), line
        assert "at least 0.6: 3 columns, at most 6.3 expected by chance" in text
        assert "not a member" in text
        assert "X1, X2" in self.stability._repr_html_()
        assert repr(self.stability) == "Stability('Y': 10 half-samples)"


@pytest.mark.parametrize("done", [0, 3])
def test_an_interrupt_keeps_what_is_done(done: int) -> None:
    blanket, seen = komb.markov_blanket(XOR, "Y"), []

    def stop(number: int) -> None:
        seen.append(number)
        if number == done:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=f"after {done} of 6 half-samples; 'fin") as caught:
        blanket.stability(6, progress=stop)
    finished = caught.value.finished
    assert isinstance(finished, Stability)
    assert finished.n_halves == done
    assert dict(finished.shares) == ({"X1": 1.0, "X2": 1.0} if done else {})
    assert str(finished)
    assert seen == list(range(done + 1))


@pytest.mark.parametrize("number", [0, 1, 3, -2, 2.0, "10", True])
def test_bad_numbers(number: Any) -> None:
    with pytest.raises(ParameterError, match=r"'n_halves' must be an even number.*got"):
        komb.markov_blanket(XOR, "Y").stability(number)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"seed": -1}, "'seed' must be a whole number"), ({"seed": "x"}, "'seed' must be a whole"),
     ({"progress": 3}, "'progress' must be a function")],
)  # fmt: skip
def test_bad_input(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        komb.markov_blanket(XOR, "Y").stability(2, **options)


def test_what_cannot_be_halved() -> None:
    small = komb.markov_blanket({"x": [0, 1, 1], "y": [0, 1, 0]}, "y")
    with pytest.raises(DataError, match="at least 4 rows"):
        small.stability(2)
    with pytest.raises(DataError, match="network or graph"):
        komb.markov_blanket(komb.boolean_network("and"), "Y").stability(2)
