"""Explanations as results: printed, exported, asked by name."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace

import pytest

import komb
from komb.errors import UnknownNameError
from tests.describe.small_tables import CHAIN, PAPER


class TestAutomatic:
    blanket = komb.markov_blanket(CHAIN, "Y")

    def test_choices_are_shown(self) -> None:
        explanation = self.blanket.explain()
        assert explanation.choices == self.blanket.choices
        assert explanation.parameters == self.blanket.settled_parameters
        text = str(self.blanket.details())
        for name, choice in self.blanket.choices.items():
            assert name.replace("threshold", "p-value limit") in text
            assert choice.reason in text

    def test_left_out_without_a_separator(self) -> None:
        """Dependent at the level of one test, but not among as many as the search makes."""
        table = komb.boolean_table("parity", 200, n_irrelevant=4)
        explanation = komb.markov_blanket(table, "Y").explain()
        weak = [reason for reason in explanation.rejected if reason.separator is None]
        for reason in weak:
            assert "multiple-testing threshold" in reason.text

    def test_fewer_members_than_the_bound_are_no_limit(self) -> None:
        assert "To limit the number" not in str(self.blanket.explain())


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
        with pytest.raises(UnknownNameError, match=r"'coin': it is marginally independent of 'Y'"):
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
            f"  hall    {hall}\n"
            "\n"
            "  left out  why it is not in the blanket\n"
            f"  weather   {weather}\n"
            "\n"
            "1 other column is marginally independent of Y."
        )

    def test_only_some_of_many_are_shown(self) -> None:
        reason = self.explanation.rejected[0]
        many = replace(self.explanation, rejected=(reason,) * 12)
        assert str(many).count("  weather  ") == 10
        assert "2 more columns with weaker dependence on Y were left out." in str(many)
        assert "1 more column with" in str(replace(many, rejected=(reason,) * 11))

    def test_frames(self) -> None:
        frame = self.explanation.to_frame("polars")
        assert frame["column"].to_list() == ["hall", "weather"]
        assert frame["status"].to_list() == ["member", "left out"]
        assert frame["separator"].to_list() == [None, ["hall"]]
        assert frame["separated"].to_list() == [False, True]
        assert frame["witness"].to_list() == [[], []]
        empty = replace(self.explanation, reasons=(), rejected=())
        assert empty.to_frame("polars").schema == frame.schema
        assert list(self.explanation.to_frame("pandas")["column"]) == ["hall", "weather"]

    def test_names_of_any_kind(self) -> None:
        explanation = komb.markov_blanket(CHAIN.codes.T, 0).explain()
        assert explanation[1].status == "member"
        assert explanation.to_frame("polars")["column"].to_list() == [1, 2]
        assert json.loads(explanation.to_json())["unrelated"] == [3]
