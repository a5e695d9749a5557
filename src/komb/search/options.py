"""The options that komb's own algorithms declare."""

from __future__ import annotations

from komb.citests.option import Option, check_bound, check_seconds, check_share


def _largest_order(n_columns: int) -> int:
    """Count the columns that a witness can be made of; the default, 1, must do for any table."""
    return max(1, n_columns - 2)


ORDER = Option(
    "order",
    "Largest number of other columns that a dependence may need to become visible.",
    check_bound,
    int,
    wording="searched up to order {}",
    if_left_out="as far as the limits on tests allow",
    letter="-k",
    most=_largest_order,
)
MAX_SEPARATOR = Option(
    "max_separator",
    "Largest number of columns that may together separate a column from the target.",
    check_bound,
    int,
    wording="separators of up to {} columns",
    if_left_out="3",
    letter="-l",
)
MAX_CONDITIONING = Option(
    "max_conditioning",
    "Largest set of columns that the classic methods condition on.",
    check_bound,
    int,
    wording="conditioning on up to {} columns",
    if_left_out="no limit",
)
LEVEL = Option(
    "level",
    "Family-wise error: the probability that the blanket is not empty where nothing depends on "
    "the target.",
    check_share,
    float,
    wording="family-wise level {}",
)
TIME_BUDGET = Option(
    "time_budget",
    "Time limit of the search, in seconds.",
    check_seconds,
    float,
    wording="time budget {} s",
    if_left_out="no limit",
)
