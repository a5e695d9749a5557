"""Reasons of choices and omissions in words: every kind, and what is in words already."""

from __future__ import annotations

from dataclasses import replace

import pytest

from komb.results.member import Remarks
from komb.search.task import Choice, Fact, GroundedChoice, GroundedOmission, Kind, Omission, fact
from komb.views.choices_text import choice_in_words, omission_in_words, say_facts
from komb.views.remarks_text import equivalents_note, omission_notes, omission_reasons

CASES = [
    (fact(Kind.ORDER_SEARCHED, 1, 2000), "order 1: 2,000 tests"),
    (fact(Kind.ORDER_OMITTED, 2), "order 2 was not searched"),
    (fact(Kind.TIME_SPENT, 0.5, 2000), "the time budget of 0.5 s is spent, 2,000 tests are left"),
    (fact(Kind.TOO_MANY_TESTS, 9570, 15), "9,570 tests, more than the limit of 15"),
    (fact(Kind.TOO_MANY_SETS, 741, 100), "741 sets of columns, more than the limit of 100"),
    (fact(Kind.UNDECIDED), "more work than a search does unless 'max_separator' is given"),
    (fact(Kind.TOO_MUCH_WORK, 9570), "9,570 tests would take too long to make unasked"),
    (fact(Kind.LARGEST_ORDER), "the maximum automatic order"),
    (fact(Kind.DETERMINED), "a column determines the target"),
    (fact(Kind.EXHAUSTED), "no larger group of columns is left"),
    (fact(Kind.ASKED), "as asked"),
    (fact(Kind.DEFAULT), "the default"),
    (fact(Kind.WITNESS_NEEDED, 3), "a member is seen only given 3 other columns"),
    (fact(Kind.SEPARATOR_BEYOND, 6), "together, up to 6 columns separate others from the target"),
    (fact(Kind.SEPARATOR_NEEDED, 1), "the largest separator needed has 1 column"),
    (
        fact(Kind.NOTHING_BELOW, 0.00123, 5000),
        "no column depends by itself, with a p-value below 0.0012 (5,000 tests)",
    ),
    (fact(Kind.DEPENDENT, 2, 62), "2 of 62 columns are marginally dependent"),
    (fact(Kind.FALSE_SHARE, 0.1), "false discovery rate at most 10%"),
    (fact(Kind.FALLS_WITH, 5000, 6), "falls with the square roots of rows (5,000) and columns (6)"),
]


@pytest.mark.parametrize(("reason", "words"), CASES)
def test_every_fact(reason: Fact, words: str) -> None:
    assert say_facts(reason) == words


def test_no_kind_is_without_words() -> None:
    assert {reason.kind for reason, _ in CASES} == set(Kind)


def test_what_is_in_words_stays_as_it_is() -> None:
    choice, left_out = Choice(1, "why"), Omission(2, 9, 0.5, "late")
    assert choice_in_words(choice) is choice
    assert omission_in_words(left_out) is left_out


def test_results_hold_words() -> None:
    facts = (fact(Kind.ASKED), fact(Kind.SEPARATOR_NEEDED, 0))
    spoken = choice_in_words(GroundedChoice(3, facts=facts))
    assert spoken == Choice(3, "as asked; the largest separator needed has 0 columns")
    left_out = GroundedOmission(2, 9570, 0.25, 22, limit=fact(Kind.TOO_MANY_TESTS, 9570, 15))
    assert Remarks(omissions=(left_out,)).omissions == (
        Omission(2, 9570, 0.25, "9,570 tests, more than the limit of 15", 22),
    )


def test_sentences_about_omissions() -> None:
    some = GroundedOmission(2, 9570, 75.0, 22, limit=fact(Kind.TOO_MANY_TESTS, 9570, 15))
    whole = GroundedOmission(3, 9, 75.0, limit=fact(Kind.TIME_SPENT, 1.0, 9))
    omissions = Remarks(omissions=(some, whole)).omissions
    assert list(omission_notes(omissions, 1)) == [
        "Not searched: what shows only together with 2 or 3 others (9,579 tests more, about 150 s)."
    ]
    assert list(omission_notes(omissions[:1])) == [
        "Not searched for 22 columns: what shows only together with 2 others (9,570 tests more, "
        "about 75 s)."
    ]
    pairs = replace(omissions[1], order=1)
    assert list(omission_notes([pairs])) == [
        "Not searched: what shows only together with 1 other (9 tests more, about 75 s)."
    ]
    assert list(omission_reasons(omissions)) == [
        "Order 2 was not searched for 22 columns: 9,570 tests, more than the limit of 15.",
        "Order 3 was not searched: the time budget of 1 s is spent, 9 tests are left.",
    ]
    cut = Remarks(omissions=(GroundedOmission(0, 0, 0.0, limit=fact(Kind.UNDECIDED)),))
    assert [note[:24] for note in omission_notes(cut.omissions, 1)] == ["Not searched to the end:"]
    assert not list(equivalents_note(cut, is_sought=True))
    assert list(omission_reasons(cut.omissions)) == [
        "Order 0 was not searched to the end: more work than a search does unless "
        "'max_separator' is given."
    ]


def test_what_was_searched() -> None:
    assert list(omission_notes((), 0)) == ["Searched: every column by itself."]
    assert list(omission_notes((), 2)) == [
        "Searched: every column by itself and together with up to 2 others."
    ]
    assert list(omission_notes(())) == []
