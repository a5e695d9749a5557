"""Why a search chose what it chose, and left out what it left out, in words."""

from __future__ import annotations

from collections.abc import Iterator

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
from komb.views.text import plural

_ENDS = {
    "asked": "as asked",
    "largest": "the maximum automatic order",
    "exhausted": "no larger group of columns is left",
}


def choice_in_words(choice: Choice) -> Choice:
    """Return a choice with a reason that can be read.

    Examples
    --------
    >>> choice_in_words(GroundedChoice(0.01, grounds=AlphaGrounds(500, 6)))
    Choice(value=0.01, reason='falls with the square roots of rows (500) and columns (6)')
    """
    if isinstance(choice, GroundedChoice):
        return Choice(choice.value, say_reason(choice.grounds))
    return choice


def omission_in_words(left_out: Omission) -> Omission:
    """Return an omission with a reason that can be read."""
    if isinstance(left_out, GroundedOmission):
        n_tests, seconds, reason = left_out.n_tests, left_out.seconds, say_reason(left_out.limit)
        return Omission(left_out.order, n_tests, seconds, reason, left_out.n_columns)
    return left_out


def say_reason(reason: Grounds | Limit) -> str:
    """Put the reason of a choice or an omission into words.

    Examples
    --------
    >>> say_reason(TooMany(9570, 15))
    '9,570 tests, more than the limit of 15'
    """
    match reason:
        case TimeSpent(seconds, n_tests):
            left = "is" if n_tests == 1 else "are"
            return (
                f"the time budget of {seconds:g} s is spent, {plural(n_tests, 'test')} {left} left"
            )
        case TooMany(count, limit, "test"):
            return f"{plural(count, 'test')}, more than the limit of {limit:,}"
        case TooMany(count, limit):
            return f"{count:,} sets of columns, more than the limit of {limit:,}"
        case OrderGrounds():
            return "; ".join(_say_orders(reason))
        case SeparatorGrounds(needed, is_asked):
            bound = "as asked" if is_asked else "the default"
            return f"{bound}; the largest separator needed has {plural(needed, 'column')}"
        case NothingBelow(p_value, n_tests):
            return (
                f"marginally, no p-value is below {p_value:.2g}, the threshold for "
                f"{n_tests:,} tests"
            )
        case ThresholdGrounds(n_dependent, n_tests, false_share):
            return (
                f"{n_dependent:,} of {n_tests:,} columns are marginally dependent on the target; "
                f"false discovery rate at most {false_share:.0%}"
            )
        case AlphaGrounds(n_rows, n_columns):
            return f"falls with the square roots of rows ({n_rows:,}) and columns ({n_columns:,})"


def _say_orders(grounds: OrderGrounds) -> Iterator[str]:
    for order, n_tests in enumerate(grounds.n_tests, start=1):
        yield f"order {order}: {n_tests:,} tests"
    if isinstance(grounds.end, str):
        yield _ENDS[grounds.end]
    else:
        yield f"order {grounds.omitted} not searched: {say_reason(grounds.end)}"
