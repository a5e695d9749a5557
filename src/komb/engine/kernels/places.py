"""Names of the places of arrays that kernels fill."""

from __future__ import annotations

# ``s.sums``: of the given set Z in the rows of the test, of its union with the candidate, and of
# the test itself. Fit is the log-likelihood of the target; length what coding the target costs
# beyond it; SPLIT what a code of the candidate would save beyond the fit if it knew the target.
(
    ROWS, OWN_FIT, OWN_STRATA, OWN_LENGTH, SPLIT, FIT, STRATA, LENGTH, FREEDOM, PEARSON, MEAN,
    VARIANCE, THIRD,
) = range(13)  # fmt: skip
N_SUMS = 13

# ``s.verdict``: what a test says
(
    STATISTIC,
    FREE,  # degrees of freedom, or NO_FREEDOM
    LOG2_P,  # logarithm of the p-value; of code lengths, bits that are saved, negative
    SECOND_LOG2_P,  # of another statistic of the same table
    BY_OTHER,  # whether the other statistic of the rule decided
    IS_RELIABLE,
    NULL_MEAN,  # cumulants of the statistic under independence
    NULL_VARIANCE,
    NULL_THIRD,
) = range(9)
N_VERDICT = 9
NO_FREEDOM = -1.0

# ``s.counted``: the test that was counted last. Rows are in the groups of some leading columns of
# the given set; the code of a row combines the others with the candidate, which comes last.
WAY, COLUMN, N_GIVEN, BUILT, LINE, N_RESTS = range(6)  # combinations of the others
N_COUNTED = 6
NOTHING, DENSE, SPARSE = range(3)  # the ways

# ``s.noted``: tests whose rows are elsewhere, one behind the other, each as its size, the candidate
# and the given set. Before them, how many words they take, and how many they may take
N_NOTED, MOST_NOTED, IS_UNCOUNTED = range(3)  # the last: whether the present test is such a test
FIRST_NOTED = 3

# ``s.work``: since the state was last looked at
TESTS, TABLES, FALLBACKS, UNRELIABLE, ROWS_COUNTED = range(5)
N_WORK = 5
RECENT = 4  # separators of a column in ``s.recent``, and columns of each
