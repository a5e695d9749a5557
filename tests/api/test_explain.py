"""Explanations: the right tests, with the right numbers, in the right words."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import komb
from komb.api import explain
from komb.data.table import DiscreteTable
from komb.errors import DataError, InputError, ParameterError, UnknownNameError
from komb.results.explanation import Evidence, Explanation, Reason
from komb.sessions.data import DataSession
from tests import naive
from tests.counts.tables import LOW_KIND, tables

RNG = np.random.default_rng(7)


def flip(column: np.ndarray[Any, Any], noise: float) -> np.ndarray[Any, Any]:
    return np.where(RNG.random(len(column)) < noise, 1 - column, column)


def coin(n_rows: int = 2000) -> np.ndarray[Any, Any]:
    return RNG.integers(0, 2, n_rows)


def make_chain() -> dict[str, Any]:
    """Y - hall - weather, and a coin."""
    hall = coin()
    return {"Y": flip(hall, 0.2), "hall": hall, "weather": flip(hall, 0.2), "coin": coin()}


def make_collider() -> dict[str, Any]:
    """Y -> child <- spouse, and child -> below."""
    target, spouse = coin(), coin()
    child = flip(target | spouse, 0.1)
    return {"Y": target, "spouse": spouse, "child": child, "below": flip(child, 0.1)}


XOR = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=2)
PARITY = komb.boolean_table("parity", 1000, n_parents=3, n_irrelevant=1)
CHAIN = DiscreteTable.from_data(make_chain())
COLLIDER = DiscreteTable.from_data(make_collider())
PAPER: dict[str, Any] = {"method": "komb", "order": 1, "max_separator": 1, "test": "g-sci"}


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
            "is marginally dependent on Y (p < 1e-16), but independent given hall "
            f"({rejected.separator.brief})."
        )
        assert [reason.name for reason in explanation.rejected] == ["weather"]
        assert explanation.unrelated == ("coin",)

    def test_collider(self) -> None:
        explanation = komb.markov_blanket(COLLIDER, "Y").explain()
        assert "depends on Y only given child: G = " in explanation["spouse"].text
        below = explanation["below"]
        assert below.separator is not None
        assert below.separator.given == ("child",)
        closest = explanation["child"].separator
        assert closest is not None
        assert closest.given == ("spouse",)
        assert explanation["child"].text.endswith(
            "No other member separates it; the closest is spouse (p < 1e-16)."
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
        assert child.text.startswith("depends on Y given spouse: G = ")
        assert "It is marginally dependent too (p < 1e-16)" in child.text

    def test_a_member_that_small_sets_separate(self) -> None:
        witnesses: dict[Any, Any] = {"hall": (), "weather": ()}
        explanation = explain.explain_blanket(CHAIN, "Y", witnesses, "hiton-mb", {})
        assert "Given hall, however, it is independent (p = " in explanation["weather"].text
        assert explanation["weather"].text.endswith("; hiton-mb does not decide by that test.")

    def test_a_column_that_nothing_separates(self) -> None:
        explanation = explain.explain_blanket(CHAIN, "Y", {"weather": ()}, "gs", {})
        assert explanation["hall"].text == (
            "is marginally dependent on Y (p < 1e-16), and no member separates it (the closest: "
            "weather, p < 1e-16): gs left it out for a reason that these tests do not show."
        )
        explanation = explain.explain_blanket(CHAIN, "Y", {}, "gs", {})
        assert "and there is no member that could separate it: gs" in explanation["hall"].text

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
        witnesses: dict[Any, Any] = {"a": ("b", "c"), "b": ("a", "c"), "c": ("a", "b")}
        explanation = explain.explain_blanket(table, "Y", witnesses, "iamb", {})
        assert "but independent given all 3 members (p = " in explanation["X"].text
        assert explanation["X"].is_separated

    def test_by_request(self) -> None:
        blanket = komb.markov_blanket(CHAIN, "Y", include=["weather", "coin"])
        explanation = blanket.explain()
        assert explanation["weather"].status == "by request"
        assert explanation["weather"].text.startswith(
            "is there by request: it is marginally dependent on Y (p < 1e-16), but independent "
            "given hall (p = "
        )
        assert explanation["coin"].shown is None
        assert explanation["coin"].text == (
            "is there by request: it is independent of Y, marginally "
            f"({explanation['coin'].alone.brief}) and given up to 1 other member."
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
        reason = explain.explain_blanket(
            other, "Y", {"a": ("b", "c"), "b": ("a",), "c": None}, "komb", {}
        )["a"]
        assert reason.text.startswith("depends on Y given b, c: ")
        assert "given fewer of them at best p < 1e-16" in reason.text


class TestAutomatic:
    blanket = komb.markov_blanket(CHAIN, "Y")

    def test_choices_are_shown(self) -> None:
        explanation = self.blanket.explain()
        assert explanation.choices == self.blanket.choices
        assert explanation.parameters == self.blanket.settled_parameters
        text = explanation.to_text(1000)
        for name, choice in self.blanket.choices.items():
            assert name in text
            assert choice.reason in text

    def test_left_out_without_a_separator(self) -> None:
        """Dependent at the level of one test, but not among as many as the search makes."""
        table = komb.boolean_table("parity", 200, n_irrelevant=4)
        explanation = komb.markov_blanket(table, "Y").explain()
        weak = [reason for reason in explanation.rejected if reason.separator is None]
        for reason in weak:
            assert "multiple-testing threshold" in reason.text
        assert explanation.order == 1

    def test_fewer_members_than_the_bound_are_no_limit(self) -> None:
        assert "To limit the number" not in str(self.blanket.explain())


class TestNumbers:
    @pytest.mark.parametrize("method", ["komb", "iamb", "hiton-mb"])
    @pytest.mark.parametrize("table", [XOR, CHAIN, COLLIDER])
    def test_they_are_those_of_the_session(self, table: DiscreteTable, method: str) -> None:
        bounds: dict[str, Any] = {"order": 1, "max_separator": 1} if method == "komb" else {}
        blanket = komb.markov_blanket(table, "Y", method=method, test="g-sci", **bounds)
        session = DataSession(table)
        tests = [
            (reason.name, test)
            for reason in blanket.explain().reasons
            for test in (reason.alone, reason.shown, reason.separator, reason.part)
            if test is not None
        ]
        for name, test in tests:
            condition = [table.index(other) for other in test.given]
            outcome = session.outcome(table.index("Y"), table.index(name), condition)
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
        st.integers(0, 2),
    )
    def test_the_twin_tells_the_same(
        self, data: st.DataObject, table: DiscreteTable, test: str, order: int, bound: int
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
        parameters = {"order": order, "max_separator": bound, "test": test, "alpha": 0.1}
        explanation = explain.explain_blanket(
            table,
            table.names[target],
            {
                table.names[x]: None if z is None else [table.names[i] for i in z]
                for x, z in witnesses.items()
            },
            "komb",
            parameters,
        )
        session = naive.sessions.DataSession(table.codes.tolist(), test, 0.1)
        told = naive.explanation.explain(session, others, target, witnesses, order, bound)
        assert {
            table.index(reason.name): _told(table, reason) for reason in explanation.reasons
        } == told
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
        monkeypatch.setattr(explain, "MOST_TESTS", 10)
        explanation = blanket.explain()
        assert (explanation.order, explanation.max_separator) == (1, 1)
        text = explanation.to_text(1000)
        assert "tries separators of up to 1 member; the search tried up to 3." in text
        assert "conditions on up to 1 member; the search conditioned on up to 2." in text


def _told(table: DiscreteTable, reason: Reason) -> naive.explanation.Told:
    def positions(test: Evidence | None) -> frozenset[int] | None:
        return None if test is None else frozenset(map(table.index, test.given))

    return naive.explanation.Told(
        positions(reason.shown), positions(reason.separator), positions(reason.alone_separator)
    )


class TestData:
    """A blanket explains itself as long as it has its data, or gets them."""

    @pytest.mark.parametrize(
        "send",
        [
            lambda blanket: pickle.loads(pickle.dumps(blanket)),
            lambda blanket: komb.Blanket.from_dict(json.loads(blanket.to_json())),
            lambda blanket: blanket.with_table(None),
        ],
    )
    def test_away_from_its_data_it_asks_for_them(self, send: Any) -> None:
        blanket = komb.markov_blanket(XOR, "Y")
        sent = send(blanket)
        assert sent == blanket
        with pytest.raises(ParameterError, match=r"'data' .*blanket\.explain\(data\)"):
            sent.explain()
        assert sent.explain(XOR) == blanket.explain()
        assert sent.with_table(XOR).explain() == blanket.explain()

    def test_copies_keep_their_data(self) -> None:
        blanket = komb.markov_blanket(XOR, "Y")
        for clone in (copy.copy(blanket), copy.deepcopy(blanket)):
            assert clone.explain() == blanket.explain()

    def test_the_table_is_no_part_of_the_blanket(self) -> None:
        blanket = komb.markov_blanket(XOR, "Y")
        assert blanket == blanket.with_table(None)
        assert hash(blanket) == hash(blanket.with_table(None))
        assert "table" not in json.loads(blanket.to_json()).keys() - {"tables"}
        assert len(pickle.dumps(blanket)) < 2000

    @pytest.mark.parametrize("find", ["markov_blankets", "compare", "blanket_path"])
    def test_every_search_hands_it_over(self, find: str) -> None:
        if find == "markov_blankets":
            found = list(komb.markov_blankets(XOR, ["Y"]).values())
        elif find == "compare":
            found = list(komb.compare(XOR, "Y", methods=["komb", "gs"]).blankets.values())
        else:
            found = list(komb.blanket_path(XOR, "Y", orders=[1]).values())
        for blanket in found:
            assert isinstance(blanket.explain(), Explanation)

    def test_excluded_columns_stay_out(self) -> None:
        blanket = komb.markov_blanket(CHAIN, "Y", exclude=["coin"])
        assert blanket.explain().unrelated == ()
        assert blanket.explain(CHAIN) == blanket.explain()

    def test_other_data_are_refused(self) -> None:
        blanket = komb.markov_blanket(CHAIN, "Y")
        with pytest.raises(DataError, match=r"found in, 2,000 rows x 4 columns; got 1,999 rows x"):
            blanket.explain(CHAIN.take(range(1999)))
        with pytest.raises(DataError, match=r"got 2,000 rows x 3 columns\. Pass that table"):
            blanket.explain(CHAIN.select(["Y", "hall", "coin"]))
        columns = {name: CHAIN.column(name) for name in CHAIN.names}
        renamed = {"Hall" if name == "hall" else name: values for name, values in columns.items()}
        with pytest.raises(UnknownNameError, match="no column 'hall'"):
            blanket.explain(renamed)
        swapped = columns | {"hall": columns["weather"], "weather": columns["hall"]}
        with pytest.raises(DataError, match=r"statistic of 'hall' is [\d.]+ instead of [\d.]+"):
            blanket.explain(swapped)
        with pytest.raises(InputError):
            blanket.explain("a table")

    def test_columns_may_come_in_another_order(self) -> None:
        blanket = komb.markov_blanket(COLLIDER, "Y")
        other = blanket.explain(COLLIDER.select(["below", "child", "Y", "spouse"]))
        assert {reason.name for reason in other.members} == set(blanket)

    def test_nothing_is_computed_before_it_is_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(explain, "explain_blanket", lambda *_: pytest.fail("asked"))
        komb.markov_blanket(XOR, "Y")


class TestExplanation:
    explanation = komb.markov_blanket(CHAIN, "Y", **PAPER).explain()

    def test_it_is_a_collection_of_names(self) -> None:
        assert list(self.explanation) == ["hall", "weather"]
        assert len(self.explanation) == 2
        assert "hall" in self.explanation
        assert "coin" not in self.explanation
        assert repr(self.explanation) == "Explanation('Y': 1 member, 1 left out, 1 unrelated)"

    def test_wrong_names(self) -> None:
        with pytest.raises(UnknownNameError, match=r"no explained column 'Hall'.*mean 'hall'"):
            self.explanation["Hall"]
        with pytest.raises(
            UnknownNameError, match=r"'coin': it is independent of 'Y', marginally and"
        ):
            self.explanation["coin"]

    def test_it_is_frozen(self) -> None:
        with pytest.raises(FrozenInstanceError):
            self.explanation.target = "x"  # type: ignore[misc]
        with pytest.raises(TypeError):
            self.explanation.parameters["order"] = 2  # type: ignore[index]

    def test_text_is_wrapped(self) -> None:
        for width in (50, 72, 100):
            lines = self.explanation.to_text(width).splitlines()
            assert max(map(len, lines)) <= width
        assert all("p =" not in line[-4:] for line in self.explanation.to_text(50).splitlines())

    def test_the_terminal_says_how_wide(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "60")
        assert str(self.explanation) == self.explanation.to_text(60)
        monkeypatch.setenv("COLUMNS", "500")
        assert str(self.explanation) == self.explanation.to_text(100)

    def test_whole_text(self) -> None:
        hall, weather = self.explanation["hall"], self.explanation["weather"]
        assert self.explanation.to_text(1000) == (
            "Markov blanket of Y explained: hall\n"
            "method komb, separators of up to 1 member, test g-sci, df observed, alpha 0.01\n"
            "\n"
            "  member  why it is in the blanket\n"
            f"  hall    {hall} Role: a neighbour of Y; whether cause or effect is undecided. It "
            "tells 0.309 bits alone.\n"
            "\n"
            "  left out  why it is not in the blanket\n"
            f"  weather   {weather}\n"
            "\n"
            "1 other column is independent of Y, marginally and given up to 1 member."
        )

    def test_only_some_of_many_are_shown(self) -> None:
        reason = self.explanation.rejected[0]
        many = replace(self.explanation, rejected=(reason,) * 12)
        assert str(many).count("  weather  ") == 10
        assert "2 more columns with weaker dependence on Y were left out." in str(many)
        assert "1 more column with" in str(replace(many, rejected=(reason,) * 11))

    def test_html_is_escaped(self) -> None:
        hall = replace(self.explanation["hall"], name="<b>", text="<script>")
        html = replace(self.explanation, members=(hall,))._repr_html_()
        assert "<script>" not in html
        assert "&lt;script&gt;" in html

    def test_it_comes_back(self) -> None:
        explanation = self.explanation
        assert Explanation.from_dict(explanation.to_dict()) == explanation
        assert Explanation.from_dict(json.loads(explanation.to_json())) == explanation
        assert pickle.loads(pickle.dumps(explanation)) == explanation
        with pytest.raises(ParameterError, match="Explanation"):
            Explanation.from_dict({"target": "Y"})

    def test_frames(self) -> None:
        frame = self.explanation.to_frame()
        assert frame["column"].to_list() == ["hall", "weather"]
        assert frame["status"].to_list() == ["member", "left out"]
        assert frame["separator"].to_list() == [None, ["hall"]]
        assert frame["separated"].to_list() == [False, True]
        assert frame["witness"].to_list() == [[], []]
        empty = replace(self.explanation, members=(), rejected=())
        assert empty.to_frame().schema == frame.schema
        assert list(self.explanation.to_frame("pandas")["column"]) == ["hall", "weather"]

    def test_names_of_any_kind(self) -> None:
        explanation = komb.markov_blanket(CHAIN.codes.T, 0).explain()
        assert explanation[1].status == "member"
        assert explanation.to_frame()["column"].to_list() == [1, 2]
        assert json.loads(explanation.to_json())["unrelated"] == [3]
