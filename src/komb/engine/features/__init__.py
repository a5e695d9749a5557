"""A conditional-independence test for any mix of nominal, ordinal and continuous columns.

A column enters as **features** (:mod:`~komb.engine.features.columns`): numbers by their ranks, as
normal scores and polynomials of them, categories as contrasts. Target and candidate are regressed
on functions of the conditions (:mod:`~komb.engine.features.conditions`). What is left of both is
uncorrelated if they are independent given the conditions: that is the generalised covariance
measure of Shah & Peters (2020), for several features at once. Its squares are summed in four
**components** (:mod:`~komb.engine.features.components`), each with the mean and the variance that
it has under independence, whatever the conditions do to the spread of either variable; the p-value
of the test is that of the component with most evidence, corrected for the choice.

The test draws no random numbers and does not change if a numeric column is transformed
monotonically.
"""

COMPONENTS = ("linear", "quadratic", "higher", "interaction")
