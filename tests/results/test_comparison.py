"""Comparisons as objects: scores, a matrix that prints, exports that come back."""

from __future__ import annotations

import csv
from dataclasses import FrozenInstanceError

import pytest

import komb
from komb.errors import ParameterError
from komb.results.comparison import Comparison, Score
from tests.results.comparisons import KOMB, PCMB, make_blanket, make_comparison


class TestScore:
    @pytest.mark.parametrize(
        ("found", "true", "expected"),
        [
            ("ab", "ab", (1, 1, 1)),
            ("ab", "a", (1 / 2, 1, 2 / 3)),
            ("a", "ab", (1, 1 / 2, 2 / 3)),
            ("abc", "bcde", (2 / 3, 1 / 2, 4 / 7)),
            ("ab", "cd", (0, 0, 0)),
            ("", "", (1, 1, 1)),
            ("", "a", (0, 0, 0)),
            ("a", "", (0, 0, 0)),
        ],
    )
    def test_shares(self, found: str, true: str, expected: tuple[float, ...]) -> None:
        assert Score.of(found, true) == pytest.approx(expected)

    def test_f1_is_the_harmonic_mean(self) -> None:
        score = Score.of("abcde", "defghij")
        assert score.f1 == pytest.approx(2 / (1 / score.precision + 1 / score.recall))

    def test_every_method_has_one_if_the_truth_is_known(self) -> None:
        scores = make_comparison().scores
        assert scores is not None
        assert scores["komb"] == pytest.approx((1, 2 / 3, 4 / 5))
        assert scores["pcmb"] == pytest.approx((1 / 2, 1 / 3, 2 / 5))
        assert make_comparison(truth=None).scores is None

    def test_an_empty_truth_is_a_truth(self) -> None:
        scores = make_comparison({"komb": make_blanket(), "pcmb": PCMB}, ()).scores
        assert scores is not None
        assert [score.f1 for score in scores.values()] == [1, 0]


class TestObject:
    def test_it_is_frozen(self) -> None:
        comparison = make_comparison()
        with pytest.raises(FrozenInstanceError):
            comparison.target = "x"  # type: ignore[misc]
        with pytest.raises(TypeError):
            comparison.blankets["x"] = KOMB  # type: ignore[index]
        blankets = {"komb": KOMB}
        other = make_comparison(blankets)
        blankets.clear()
        assert list(other.blankets) == ["komb"]

    def test_time_is_no_part_of_equality(self) -> None:
        slow = make_comparison({"komb": make_blanket("age", seconds=9.0)})
        quick = make_comparison({"komb": make_blanket("age", seconds=1.0)})
        assert slow == quick
        assert hash(slow) == hash(quick)
        assert slow != make_comparison({"komb": make_blanket("sex")})
        assert slow.seconds == 9

    def test_repr_is_short(self) -> None:
        assert repr(make_comparison()) == "Comparison('ill': 2 methods)"


class TestText:
    def test_the_whole_sheet(self) -> None:
        assert str(make_comparison()) == (
            "Markov blanket of ill: 2 methods compared\n"
            "every method at alpha 0.05, test g, df observed\n"
            "\n"
            "  member  komb  pcmb\n"
            "  age      ✓     ✓\n"
            "  sex      ✓     -\n"
            "  smoker   -     -\n"
            "  town     ·     +\n"
            "\n"
            "  method  size  tests    time  precision  recall    F1\n"
            "  komb       2  1,200  250 ms       1.00    0.67  0.80\n"
            "  pcmb       2     90  2.0 ms       0.50    0.33  0.40\n"
            "\n"
            "✓ found and true, + found but not true, - true but missed.\n"
            "komb: searched up to order 1, separators of up to 1 column.\n"
            "pcmb: conditioning on up to 3 columns.\n"
            "1,290 tests on 1,500 rows in 252 ms."
        )

    def test_without_a_truth_there_are_ticks_and_no_scores(self) -> None:
        text = str(make_comparison(truth=None))
        assert "  age      ✓     ✓\n  sex      ✓     ·\n  town     ·     ✓\n" in text
        assert "precision" not in text
        assert "missed" not in text

    def test_settings_that_all_share_are_told_once(self) -> None:
        text = str(make_comparison({"a": PCMB, "b": PCMB}))
        assert text.count("conditioning on up to 3 columns") == 1
        assert text.splitlines()[1] == (
            "every method at alpha 0.05, conditioning on up to 3 columns, test g, df observed"
        )

    def test_rows_with_the_same_settings_are_told_together(self) -> None:
        assert "\npcmb, gs: conditioning on up to 3 columns.\n" in str(
            make_comparison({"komb": KOMB, "pcmb": PCMB, "gs": make_blanket(method="gs")})
        )

    def test_many_methods_are_folded(self) -> None:
        labels = [f"komb with settings number {i}" for i in range(5)]
        text = str(make_comparison(dict.fromkeys(labels, KOMB)))
        assert text.count("\n  member ") == 3
        matrix = text.split("\n  method ")[0].split("\n\n", 1)[1]
        assert all(matrix.count(label) == 1 for label in labels)
        assert max(map(len, matrix.splitlines())) <= 80

    def test_many_members_take_a_row_each(self) -> None:
        names = tuple(f"a_rather_long_name_{i}" for i in range(25))
        found = make_blanket(*names[::2])
        comparison = Comparison("ill", {f"m{i}": found for i in range(9)}, names)
        lines = str(comparison).splitlines()
        assert max(map(len, lines)) <= 80
        assert sum("a_rather_long_name" in line for line in lines) == 25

    def test_nobody_found_anything(self) -> None:
        text = str(Comparison("ill", {"komb": make_blanket()}, ()))
        assert "No method found a member." in text
        assert "  member" not in text

    def test_nothing_at_all(self) -> None:
        text = str(Comparison("ill", {}, ()))
        assert text == "Markov blanket of ill: 0 methods compared\n\nNothing was searched."

    def test_cautions(self) -> None:
        row = make_blanket("age", unreliable=7, identifiers=("row",))
        text = str(make_comparison({"komb": row, "pcmb": row}))
        assert "  unreliable  " in text
        assert text.count("Caution: row has a different value in most rows") == 1
        assert "Caution: unreliable tests had too few rows per cell." in text

    def test_marks_of_sides_do_not_touch_labels(self) -> None:
        assert "  x>^  " in str(Comparison("ill", {"x>^": KOMB, "komb": KOMB}, ("age",)))


class TestExport:
    def test_what_they_hold(self) -> None:
        record = make_comparison().to_dict()
        assert record["members"] == ["age", "sex", "smoker", "town"]
        assert record["truth"] == ["age", "sex", "smoker"]
        assert record["scores"]["pcmb"]["precision"] == 0.5
        assert record["blankets"]["pcmb"]["members"] == ["age", "town"]
        assert make_comparison(truth=None).to_dict()["scores"] is None

    def test_json_is_indented_on_request(self) -> None:
        assert make_comparison().to_json(indent=2).startswith('{\n  "target": "ill",\n')

    def test_polars_frame(self) -> None:
        frame = make_comparison().to_frame("polars")
        assert frame.columns == [
            "label",
            "method",
            "members",
            "size",
            "tests",
            "unreliable",
            "seconds",
            "precision",
            "recall",
            "f1",
        ]
        assert frame.row(1)[:7] == ("pcmb", "pcmb", ["age", "town"], 2, 90, 0, 0.002)
        assert frame["f1"].to_list() == pytest.approx([0.8, 0.4])
        unknown = make_comparison(truth=None).to_frame("polars")
        assert unknown["f1"].to_list() == [None, None]
        assert unknown.schema == frame.schema
        assert Comparison("ill", {}, ()).to_frame("polars").schema == frame.schema

    def test_pandas_frame(self) -> None:
        frame = make_comparison().to_frame("pandas")
        assert list(frame["label"]) == ["komb", "pcmb"]
        assert frame["members"].iloc[0] == ["age", "sex"]
        assert str(frame["f1"].dtype) == "float64"
        assert make_comparison(truth=None).to_frame("pandas")["f1"].isna().all()
        with pytest.raises(ParameterError, match="'backend' must be"):
            make_comparison().to_frame("r")  # type: ignore[call-overload]

    def test_numbered_columns_stay_numbers_in_a_frame(self) -> None:
        comparison = Comparison(9, {"komb": make_blanket(3, 1)}, (1, 3))
        assert comparison.to_frame("polars")["members"].to_list() == [[3, 1]]

    def test_csv(self) -> None:
        comparison = make_comparison({"a, b": KOMB, "pcmb": PCMB})
        first, second = csv.DictReader(comparison.to_csv().splitlines())
        assert first["label"] == "a, b"
        assert first["members"] == "age;sex"
        assert second["tests"] == "90"
        assert float(second["f1"]) == pytest.approx(0.4)
        unknown = next(csv.DictReader(make_comparison(truth=None).to_csv().splitlines()))
        assert unknown["f1"] == ""


def test_the_public_class_is_this() -> None:
    assert komb.Comparison is Comparison
