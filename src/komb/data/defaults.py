"""What holds where the caller says nothing, for the functions and for the command line alike.

It is a module of its own so that the command line can show these values without loading the rest.
"""

METHOD = "auto"
TEST = "auto"
DF = "observed"
BINS = 4
MISSING = "error"
SEED = 0

LEVEL = 0.05
"""Chance that the blanket is not empty although nothing depends on the target."""

FIXED_ALPHA = 0.01
"""Level of the tests where the method does not choose it."""

PAPER_TEST = "g-sci"
"""What the kOMB paper tests with."""
