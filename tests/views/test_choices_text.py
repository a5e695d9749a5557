"""Reasons of choices and omissions in words: every kind, and what is in words already."""

from __future__ import annotations

import pytest

from komb.results.remarks import Remarks
from komb.search.grounds import (
    AlphaGrounds,
    GroundedChoice,
    GroundedOmission,
    Grounds,
    Limit,
    NothingBelow,
    OrderGrounds,
    SeparatorGrounds,
    ThresholdGrounds,
    TimeSpent,
    TooMany,
)
from komb.search.task import Choice, Omission
from komb.views.choices_text import choice_in_words, omission_in_words, say_reason
from komb.views.remarks_text import omission_warnings


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (TimeSpent(0.5, 1), "the time budget of 0.5 s is spent, 1 test is left"),
        (TimeSpent(10, 2000), "the time budget of 10 s is spent, 2,000 tests are left"),
        (TooMany(9570, 15), "9,570 tests, more than the limit of 15"),
        (TooMany(741, 100, "set of columns"), "741 sets of columns, more than the limit of 100"),
        (OrderGrounds((20, 30), "asked"), "order 1: 20 tests; order 2: 30 tests; as asked"),
        (OrderGrounds((), "largest"), "the maximum automatic order"),
        (OrderGrounds((2,), "exhausted"), "order 1: 2 tests; no larger group of columns is left"),
        (
            OrderGrounds((20,), TooMany(9570, 15), omitted=2),
            "order 1: 20 tests; order 2 not searched: 9,570 tests, more than the limit of 15",
        ),
        (SeparatorGrounds(1, True), "as asked; the largest separator needed has 1 column"),
        (SeparatorGrounds(2, False), "the default; the largest separator needed has 2 columns"),
        (
            NothingBelow(0.00123, 5000),
            "marginally, no p-value is below 0.0012, the threshold for 5,000 tests",
        ),
        (
            ThresholdGrounds(2, 62, 0.1),
            "2 of 62 columns are marginally dependent on the target; false discovery rate at most "
            "10%",
        ),
        (AlphaGrounds(500, 6), "falls with the square roots of rows (500) and columns (6)"),
    ],
)
def test_every_reason(reason: Grounds | Limit, words: str) -> None:
    assert say_reason(reason) == words


def test_what_is_in_words_stays_as_it_is() -> None:
    choice, left_out = Choice(1, "why"), Omission(2, 9, 0.5, "late")
    assert choice_in_words(choice) is choice
    assert omission_in_words(left_out) is left_out


def test_results_hold_words() -> None:
    spoken = choice_in_words(GroundedChoice(3, grounds=SeparatorGrounds(0, True)))
    assert spoken == Choice(3, "as asked; the largest separator needed has 0 columns")
    left_out = GroundedOmission(2, 9570, 0.25, 22, limit=TooMany(9570, 15))
    assert Remarks(omissions=(left_out,)).omissions == (
        Omission(2, 9570, 0.25, "9,570 tests, more than the limit of 15", 22),
    )


def test_sentences_about_omissions() -> None:
    some = GroundedOmission(2, 9570, 75.0, 22, limit=TooMany(9570, 15))
    whole = GroundedOmission(3, 9, 75.0, limit=TimeSpent(1, 9))
    assert list(omission_warnings(Remarks(omissions=(some, whole)).omissions)) == [
        "Order 2 was not searched for 22 columns: 9,570 tests, more than the limit of 15 "
        "(about 75 s).",
        "Order 3 was not searched: the time budget of 1 s is spent, 9 tests are left (about 75 s).",
    ]
