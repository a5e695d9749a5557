"""What holds where the caller says nothing, for the functions and for the command line alike.

It is a module of its own so that the command line can show these values without loading the rest.
"""

AUTO = "auto"
"""Leaves it to the search, which says what it chose."""

METHOD = "komb"
ORDER = AUTO
MAX_SEPARATOR = AUTO
ALPHA = AUTO
TEST = AUTO
DF = "observed"
BINS = 4
MISSING = "error"
SEED = 0

FIXED_ALPHA = 0.01
"""Level of the tests where nothing but the level is left open."""

PAPER_TEST = "g-sci"
"""What the kOMB paper tests with."""
