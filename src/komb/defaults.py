"""What holds where the caller says nothing, for the functions and for the command line alike.

It is a module of its own so that the command line can show these values without loading the rest.
"""

METHOD = "komb"
ORDER = 1
ALPHA = 0.01
TEST = "g-sci"
DF = "observed"
BINS = 4
MISSING = "error"
SEED = 0
