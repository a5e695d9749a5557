"""What a search says besides the members: from the search to print, pages, JSON and back."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

import komb
from komb.results.member import Remarks
from komb.search import registry
from komb.search.task import Found, Leak, Omission, Sight, Task
from tests.results.blankets import make_blanket

TABLE = komb.boolean_table("and", 500, n_irrelevant=2)  # X1, X2, X3, Y, E1, E2
REMARKS = Remarks(
    equivalents={"X1": (("E1",), ("X3", "E2"))},
    leaks=(Leak("X2", 1.0), Leak("E1", 0.97)),
    sight=(Sight(0, 5, 0.01, 0.0211), Sight(1, 20, 0.0025, 0.0312)),
    omissions=(Omission(2, 1_000_000, 75.0, "the time budget of 10 s is spent"),),
)
LEAK = (
    "Possible leak: 'X2' determines 'Y' completely. If its value is not known before that of 'Y', "
    "leave it out: exclude=['X2'] or --exclude."
)
OMISSION = (
    "Not searched: what shows only together with 2 others (1,000,000 tests more, about 75 s)."
)
WHY = "Order 2 was not searched: the time budget of 10 s is spent."


@pytest.fixture
def _talkative() -> Iterator[None]:
    """Register a method that has something to say of everything, in positions."""

    def find_blanket(session: Any, task: Task) -> Found:
        return Found(
            dict.fromkeys(sorted({0, 1} | task.include), frozenset()),
            equivalents={0: (frozenset({4}), frozenset({5, 2}))},
            leaks=(Leak(1, 1.0), Leak(4, 0.97)),
            sight=REMARKS.sight,
            omissions=REMARKS.omissions,
        )

    registry.register_algorithm("talkative", summary="Talks.")(find_blanket)
    yield
    registry.ALGORITHMS.remove("talkative")


@pytest.fixture
def blanket(_talkative: None) -> komb.Blanket:
    return komb.markov_blanket(TABLE, "Y", method="talkative")


class TestNames:
    def test_a_result_has_names_for_positions(self, blanket: komb.Blanket) -> None:
        assert blanket.remarks == REMARKS
        assert blanket.equivalents == {"X1": (("E1",), ("X3", "E2"))}
        assert blanket.leaks == (Leak("X2", 1.0), Leak("E1", 0.97))
        assert blanket.sight == REMARKS.sight
        assert blanket.omissions == REMARKS.omissions

    @pytest.mark.usefixtures("_talkative")
    def test_threads_and_excluded_columns(self) -> None:
        import joblib

        with joblib.parallel_config(backend="threading"):
            found = komb.markov_blankets(TABLE, ["Y", "E2"], method="talkative", n_jobs=2)
        assert found["Y"].remarks == REMARKS
        moved = komb.markov_blanket(TABLE, "Y", method="talkative", include=["X3"])
        assert moved.leaks == REMARKS.leaks

    def test_others_have_nothing_to_say(self) -> None:
        assert komb.markov_blanket(TABLE, "Y", method="gs").remarks == Remarks()


class TestText:
    def test_leaks_come_after_the_members_then_the_rest(self, blanket: komb.Blanket) -> None:
        lines = str(blanket).splitlines()
        assert lines[0] == "Markov blanket of Y: X1, X2"
        assert lines[5:10] == [
            "",
            LEAK,
            LEAK.replace(
                "'X2' determines 'Y' completely", "'E1' explains 97 % of the variation of 'Y'"
            ).replace("['X2']", "['E1']"),
            "Alternatives: E1; or X3, E2 could take the place of X1.",
            OMISSION,
        ]

    def test_sight_is_a_line_per_order(self, blanket: komb.Blanket) -> None:
        text = str(blanket.details())
        assert WHY in text
        assert "  order  tests  p-value limit  detectable effect, bits per row\n" in text
        assert "\n      1     20         0.0025                            0.031\n" in text
        assert "80 % power" in text
        assert "80 % power" not in str(blanket)
        assert "80 % power" not in str(komb.markov_blanket(TABLE, "Y", method="gs").details())

    def test_explanations_say_it_too(self, blanket: komb.Blanket) -> None:
        explanation = blanket.explain()
        assert explanation.remarks == REMARKS
        text = explanation.to_text(1000)
        assert LEAK in text
        assert OMISSION in text
        assert "E1; or X3, E2 could take the place of X1." in text
        record = json.loads(explanation.to_json())
        assert komb.Explanation.from_dict(record) == explanation

    @pytest.mark.usefixtures("_talkative")
    def test_comparisons_and_pages(self) -> None:
        rows = ["talkative", "gs"]
        text = str(komb.compare(TABLE, "Y", methods=rows))
        assert text.count(LEAK) == 1
        assert f"\ntalkative: {OMISSION}\n" in text
        page = komb.report(TABLE, "Y", method="talkative", methods=[]).html
        answer = page[page.index("<header") : page.index("<details")]
        assert answer.index('class="answer"') < answer.index('<p class="warning">Possible leak: ')
        assert "Not searched: " in answer
        assert "E1; or X3, E2 could take" in answer

    @pytest.mark.usefixtures("_talkative")
    def test_many_targets(self) -> None:
        text = str(komb.markov_blankets(TABLE, ["Y", "X3"], method="talkative"))
        assert LEAK in text
        assert "The search skipped tests for 2 targets: see 'omissions' of each." in text
        many = komb.Blankets(
            make_blanket(target=str(i), remarks=Remarks(leaks=(Leak("id", 1.0),)))
            for i in range(12)
        )
        assert str(many).count("Possible leak: ") == 10
        assert "2 more possible leaks: see 'leaks' of each target." in str(many)


class TestRecords:
    def test_they_come_back(self, blanket: komb.Blanket) -> None:
        record = json.loads(blanket.to_json())
        assert record["equivalents"] == [{"column": "X1", "value": [["E1"], ["X3", "E2"]]}]
        assert record["leaks"][0] == {"column": "X2", "share": 1.0, "by_gaps": False}
        assert record["sight"][1]["effect"] == 0.0312
        assert record["omissions"][0]["seconds"] == 75.0
        assert "remarks" not in record
        assert komb.Blanket.from_dict(record) == blanket
        assert pickle.loads(pickle.dumps(blanket)) == blanket
        assert isinstance(hash(blanket), int)

    def test_older_records_have_none(self, blanket: komb.Blanket) -> None:
        record = blanket.to_dict()
        for key in ("equivalents", "leaks", "sight", "omissions"):
            del record[key]
        assert komb.Blanket.from_dict(record).remarks == Remarks()

    def test_they_are_frozen(self) -> None:
        with pytest.raises(TypeError):
            REMARKS.equivalents["X1"] = ()  # type: ignore[index]

    def test_what_something_would_cost_is_no_part_of_equality(self) -> None:
        assert Omission(1, 9, 1.0, "why") == Omission(1, 9, 2.0, "why")
