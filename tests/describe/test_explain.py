"""What is told about members and columns left out: the right tests, in the right words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import komb
from komb.data.table import DiscreteTable
from komb.describe.explain import explain, explain_blanket, tried_separator
from komb.engine.questions import EMPTY
from komb.results.explanation import Evidence, Explanation, Reason
from komb.search import separated
from komb.search.task import Found, Task
from tests import naive
from tests.describe.small_tables import CHAIN, COLLIDER, PAPER, PARITY, XOR, coin, flip
from tests.engine.engines import on_table
from tests.engine.tables import LOW_KIND, tables

Witnesses = Mapping[int, frozenset[int] | None]


def explain_found(
    table: DiscreteTable,
    target: int,
    witnesses: Witnesses,
    method: str = "komb",
    parameters: Mapping[str, Any] | None = None,
) -> Explanation:
    """Explain what some search may have found, with separators as they are completed."""
    parameters = parameters or {}
    options = {key: parameters[key] for key in ("test", "alpha") if key in parameters}
    engine = on_table(table, **options)
    task = Task(target, frozenset(range(table.n_columns)) - {target})
    found = Found(witnesses)
    size = tried_separator(parameters)
    known = separated.complete_separators(engine, task, found, size)
    found = replace(found, separators=known)
    return explain(engine, table.names, task, found, method=method, parameters=parameters)


class TestWords:
    def test_exclusive_or(self) -> None:
        explanation = komb.markov_blanket(XOR, "Y", **PAPER).explain()
        reason = explanation["X1"]
        assert reason.shown is not None
        assert not reason.alone.is_dependent
        assert str(reason) == (
            f"depends on Y only given X2: {reason.shown}; marginally {reason.alone.brief}."
        )
        assert explanation.rejected == ()
        assert explanation.unrelated == ("E1", "E2")

    def test_parity_of_three(self) -> None:
        reason = komb.markov_blanket(PARITY, "Y", **PAPER | {"order": 2}).explain()["X1"]
        assert reason.part is not None
        assert not reason.part.is_dependent
        assert "depends on Y only given X2, X3: G = " in reason.text
        assert reason.text.endswith(
            f"marginally {reason.alone.brief}, given fewer of them at best {reason.part.brief}."
        )

    def test_chain(self) -> None:
        explanation = komb.markov_blanket(CHAIN, "Y").explain()
        member, rejected = explanation["hall"], explanation["weather"]
        assert member.text == (
            f"is marginally dependent on Y: {member.shown}. "
            "There is no other member that could separate it."
        )
        assert rejected.separator is not None
        assert rejected.text == (
            f"is marginally dependent on Y ({rejected.alone.brief}), but independent given hall "
            f"({rejected.separator.brief})."
        )
        assert [reason.name for reason in explanation.rejected] == ["weather"]
        assert explanation.unrelated == ("coin",)

    def test_collider(self) -> None:
        explanation = komb.markov_blanket(COLLIDER, "Y").explain()
        assert "depends on Y only given child: chi-square = " in explanation["spouse"].text
        below = explanation["below"]
        assert below.separator is not None
        assert below.separator.given == ("child",)
        closest = explanation["child"].separator
        assert closest is not None
        assert closest.given == ("spouse",)
        assert explanation["child"].text.endswith(
            f"No other member separates it; the closest is spouse ({closest.brief})."
        )

    def test_sets_of_members(self) -> None:
        parents = [coin(4000) for _ in range(4)]
        table = {"Y": flip(np.array(sum(parents) >= 2, dtype=int), 0.1)}
        table |= {f"X{i}": parent for i, parent in enumerate(parents)}
        blanket = komb.markov_blanket(table, "Y", order=0, max_separator=2)
        assert "No set of up to 2 other members separates it" in blanket.explain()["X0"].text
        blanket = komb.markov_blanket(table, "Y", order=0, max_separator=3)
        assert "No set of other members separates it" in blanket.explain()["X0"].text

    def test_methods_that_condition_on_everything(self) -> None:
        explanation = komb.markov_blanket(COLLIDER, "Y", method="iamb").explain()
        child = explanation["child"]
        assert child.text.startswith("depends on Y given spouse: chi-square = ")
        assert f"It is marginally dependent too ({child.alone.brief})" in child.text

    def test_a_member_that_small_sets_separate(self) -> None:
        explanation = explain_found(CHAIN, 0, {1: EMPTY, 2: EMPTY}, "hiton-mb")
        assert "Given hall it is independent (p = " in explanation["weather"].text
        assert explanation["weather"].text.endswith(
            "; hiton-mb kept it for a reason that these tests do not show."
        )

    def test_a_column_that_nothing_separates(self) -> None:
        for witnesses in ({2: EMPTY}, {}):
            hall = explain_found(CHAIN, 0, witnesses, "gs")["hall"]
            assert hall.separator is None
            assert hall.text == (
                f"is marginally dependent on Y ({hall.alone.brief}); gs left it out for a reason "
                "that these tests do not show."
            )

    def test_separators_outside_the_blanket(self) -> None:
        """A search may have found a column independent given others that are no members."""
        engine, task = on_table(CHAIN), Task(0, frozenset({1, 2, 3}))
        found = Found({3: None}, separators={2: frozenset({1})})
        explanation = explain(engine, CHAIN.names, task, found, method="auto", parameters={})
        weather = explanation["weather"]
        assert weather.separator is not None
        assert weather.separator.given == ("hall",)
        assert f"but independent given hall ({weather.separator.brief})" in weather.text

    def test_members_rather_than_others(self) -> None:
        hall, coins = np.array(CHAIN.codes[1]), CHAIN.codes[3]
        names = {"Y": CHAIN.codes[0], "hall": hall, "weather": CHAIN.codes[2], "coin": coins}
        blanket = komb.markov_blanket(names | {"copy": flip(hall, 0.01)}, "Y")
        assert blanket.members == ("hall",)
        run = blanket.run_for("a test")
        explanation = explain_blanket(run, blanket, {2: frozenset({4})})
        assert explanation["weather"].separator is not None
        assert explanation["weather"].separator.given == ("hall",)

    def test_only_all_members_together_separate(self) -> None:
        first, second, third = coin(6000), coin(6000), coin(6000)
        table = DiscreteTable.from_data(
            {
                "a": first,
                "b": second,
                "c": third,
                "Y": flip(np.array(first + second + third >= 2, dtype=int), 0.1),
                "X": flip(np.array(first + second + third >= 2, dtype=int), 0.1),
            }
        )
        everything = frozenset({0, 1, 2})
        explanation = explain_found(table, 3, {x: everything - {x} for x in everything}, "iamb")
        assert "but independent given all 3 members (p = " in explanation["X"].text
        assert explanation["X"].is_separated

    def test_by_request(self) -> None:
        blanket = komb.markov_blanket(CHAIN, "Y", include=["weather", "coin"])
        explanation = blanket.explain()
        assert explanation["weather"].status == "by request"
        weather = explanation["weather"]
        assert weather.text.startswith(
            f"is there by request: it is marginally dependent on Y ({weather.alone.brief}), but "
            "independent given hall (p = "
        )
        assert explanation["coin"].shown is None
        assert explanation["coin"].text == (
            "is there by request: it is marginally independent of Y "
            f"({explanation['coin'].alone.brief})."
        )
        kept = komb.markov_blanket(CHAIN, "Y", include=["hall"], exclude=["coin"], alpha=1e-9)
        assert "is there by request" not in kept.explain()["hall"].text
        strange = explain_found(CHAIN, 0, {1: None, 3: EMPTY})["hall"]
        assert strange.separator is not None
        assert strange.text == (
            f"is there by request: it is marginally dependent on Y ({strange.alone.brief}), and no "
            f"other member separates it (the closest: coin, {strange.separator.brief})."
        )
        assert explain_found(CHAIN, 0, {1: None})["hall"].text == (
            f"is there by request: it is marginally dependent on Y ({strange.alone.brief})."
        )

    def test_bits_instead_of_p_values(self) -> None:
        explanation = komb.markov_blanket(CHAIN, "Y", test="sci").explain()
        assert " bits of evidence by sci." in explanation["hall"].text
        assert "but independent given hall (no evidence by sci)" in explanation["weather"].text
        assert "p = " not in explanation["weather"].text

    def test_unreliable_tests_are_told(self) -> None:
        table = komb.boolean_table("parity", 30, n_parents=2, noise=0.0)
        text = komb.markov_blanket(table, "Y", test="g").explain().to_text(1000)
        assert ", unreliable; marginally " in text
        assert "Unreliable: the table has too few rows per cell" in text
        assert "unreliable" not in str(komb.markov_blanket(XOR, "Y").explain()).lower()

    def test_an_empty_blanket(self) -> None:
        explanation = komb.markov_blanket(XOR, "Y", order=0).explain()
        assert len(explanation) == 0
        assert str(explanation).startswith("Markov blanket of Y explained: empty\n")
        assert "4 columns are marginally independent of Y." in str(explanation)

    def test_no_separators_were_wanted(self) -> None:
        explanation = komb.markov_blanket(CHAIN, "Y", max_separator=0).explain()
        assert explanation["weather"].status == "member"
        assert "separate" not in explanation["weather"].text

    def test_witness_with_a_part_that_depends(self) -> None:
        first, second = coin(), coin()
        table = DiscreteTable.from_data({"Y": flip(first ^ second, 0.1), "a": first, "b": second})
        other = DiscreteTable.from_data(
            {name: table.column(name) for name in table.names} | {"c": coin()}
        )
        reason = explain_found(other, 0, {1: frozenset({2, 3}), 2: frozenset({1}), 3: None})["a"]
        assert reason.text.startswith("depends on Y given b, c: ")
        assert "given fewer of them at best p < 1e-300" in reason.text


class TestNumbers:
    @pytest.mark.parametrize("method", ["komb", "iamb", "hiton-mb"])
    @pytest.mark.parametrize("table", [XOR, CHAIN, COLLIDER])
    def test_they_are_those_of_the_session(self, table: DiscreteTable, method: str) -> None:
        bounds: dict[str, Any] = {"order": 1, "max_separator": 1} if method == "komb" else {}
        blanket = komb.markov_blanket(table, "Y", method=method, test="g-sci", **bounds)
        engine, explanation = on_table(table), blanket.explain()
        tests = [
            (reason.name, test)
            for reason in (*explanation.reasons, *explanation.rejected)
            for test in (reason.alone, reason.shown, reason.separator, reason.part)
            if test is not None
        ]
        for name, test in tests:
            condition = frozenset(map(table.index, test.given))
            outcome = engine.outcome(table.index("Y"), table.index(name), condition)
            assert test == Evidence(
                test.given,
                not outcome.independent,
                outcome.statistic or 0.0,
                outcome.df,
                outcome.p_value,
                outcome.test,
                outcome.reliable,
            )

    @settings(max_examples=40, deadline=None)
    @given(
        st.data(),
        tables(LOW_KIND, (20, 200), (2, 6)),
        st.sampled_from(["g", "g-sci", "sci"]),
        st.integers(0, 2),
    )
    def test_the_twin_tells_the_same(
        self, data: st.DataObject, table: DiscreteTable, test: str, bound: int
    ) -> None:
        target = data.draw(st.integers(0, table.n_columns - 1))
        others = frozenset(range(table.n_columns)) - {target}
        members = data.draw(st.sets(st.sampled_from(sorted(others)))) if others else set()
        witnesses: dict[int, frozenset[int] | None] = {
            x: data.draw(st.none() | st.frozensets(st.sampled_from(sorted(members - {x}))))
            if members - {x}
            else frozenset()
            for x in sorted(members)
        }
        parameters = {"max_separator": bound, "test": test, "alpha": 0.1}
        explanation = explain_found(table, target, witnesses, "komb", parameters)
        session = naive.sessions.DataSession(table.codes.tolist(), test, 0.1)
        told = naive.explanation.explain(session, others, target, witnesses, bound)
        assert {table.index(name): _told(table, explanation[name]) for name in explanation} == told
        assert {table.index(name) for name in explanation.unrelated} == others - told.keys()

    def test_the_strongest_is_first(self) -> None:
        hall = coin()
        noises = {"b": 0.3, "a": 0.1, "c": 0.2}
        table = {"Y": flip(hall, 0.05), "hall": hall}
        table |= {name: flip(hall, noise) for name, noise in noises.items()}
        explanation = komb.markov_blanket(table, "Y").explain()
        assert [reason.name for reason in explanation.rejected] == ["a", "c", "b"]

    def test_too_much_work_is_cut_short_and_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        parents = [coin(3000) for _ in range(5)]
        table = {f"X{i}": parent for i, parent in enumerate(parents)} | {"E": coin(3000)}
        table["Y"] = flip(np.array(sum(parents) >= 3, dtype=int), 0.05)
        blanket = komb.markov_blanket(table, "Y", method="komb", order=2, max_separator=3)
        monkeypatch.setattr(separated, "MOST_SETS", 10)
        explanation = blanket.explain()
        assert explanation.max_separator == 1
        text = explanation.to_text(1000)
        assert "tries separators of up to 1 member; the search tried up to 3." in text


def _told(table: DiscreteTable, reason: Reason) -> naive.explanation.Told:
    def positions(test: Evidence | None) -> frozenset[int] | None:
        return None if test is None else frozenset(map(table.index, test.given))

    return naive.explanation.Told(
        positions(reason.shown), positions(reason.separator), positions(reason.alone_separator)
    )
