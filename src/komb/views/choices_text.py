"""Why a search chose what it chose, and left out what it left out, in words."""

from __future__ import annotations

from collections.abc import Callable

from komb.search.task import Choice, Fact, GroundedChoice, GroundedOmission, Kind, Omission
from komb.views.text import plural

_WORDS: dict[Kind, Callable[..., str]] = {
    Kind.ORDER_SEARCHED: "order {}: {:,} tests".format,
    Kind.ORDER_OMITTED: "order {} was not searched".format,
    Kind.TIME_SPENT: "the time budget of {:g} s is spent, {:,} tests are left".format,
    Kind.TOO_MANY_TESTS: "{:,} tests, more than the limit of {:,}".format,
    Kind.TOO_MUCH_WORK: "{:,} tests would take too long to make unasked".format,
    Kind.UNDECIDED: "more work than a search does unless 'max_separator' is given".format,
    Kind.TOO_MANY_SETS: "{:,} sets of columns, more than the limit of {:,}".format,
    Kind.DETERMINED: "a column determines the target".format,
    Kind.LARGEST_ORDER: "the maximum automatic order".format,
    Kind.EXHAUSTED: "no larger group of columns is left".format,
    Kind.ASKED: "as asked".format,
    Kind.DEFAULT: "the default".format,
    Kind.WITNESS_NEEDED: "a member is seen only given {} other columns".format,
    Kind.SEPARATOR_BEYOND: "together, up to {} columns separate others from the target".format,
    Kind.SEPARATOR_NEEDED: lambda n: f"the largest separator needed has {plural(n, 'column')}",
    Kind.NOTHING_BELOW: (
        "no column depends by itself, with a p-value below {:.2g} ({:,} tests)".format
    ),
    Kind.DEPENDENT: lambda n, of: (
        f"{n:,} of {plural(of, 'column')} {'is' if n == 1 else 'are'} marginally dependent"
    ),
    Kind.FALSE_SHARE: "false discovery rate at most {:.0%}".format,
    Kind.FALLS_WITH: "falls with the square roots of rows ({:,}) and columns ({:,})".format,
}


def say_facts(*facts: Fact) -> str:
    """Put facts into words."""
    return "; ".join(_WORDS[kind](*numbers) for kind, numbers in facts)


def choice_in_words(choice: Choice) -> Choice:
    """Return a choice with a reason that can be read."""
    if not isinstance(choice, GroundedChoice):
        return choice
    return Choice(choice.value, say_facts(*choice.facts))


def omission_in_words(left_out: Omission) -> Omission:
    """Return an omission with a reason that can be read."""
    if not isinstance(left_out, GroundedOmission):
        return left_out
    cost, reason = (left_out.n_tests, left_out.seconds), say_facts(left_out.limit)
    return Omission(left_out.order, *cost, reason, left_out.n_columns)
