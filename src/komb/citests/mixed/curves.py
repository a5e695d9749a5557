"""Curves of what conditions predict of a target.

Functions of single conditions and their products need very many terms for a target that is a
crooked function of a sum, such as a threshold: ``1 if f(a) + g(b) + h(c) + noise > 0``. The fit of
a few terms is close to a function of that sum, so that polynomials of the fit bend it into shape.
They are what Ramsey's (1969) test for a wrong form of a regression adds to it.
"""

from __future__ import annotations

import numpy as np

from komb.citests.mixed.features import legendre
from komb.counts.fixedpoint import FloatArray

CURVE_DEGREES = 1.1
"""Degrees of the polynomials, in terms of the rows to the power of 0.2."""

LEAST_PREDICTED = 1e-3
"""Share of the square of a feature that must be predicted to be worth a curve."""


def curves_of(predicted: FloatArray, squares: FloatArray) -> FloatArray:
    """Polynomials of each of some predictions, put between -1 and 1 by the normal distribution.

    Not by ranks: rows with equal conditions are predicted equally but for the last digits.
    """
    from scipy.special import erf

    n_rows = predicted.shape[1]
    explained = np.einsum("ij,ij->i", predicted, predicted)
    curves: list[FloatArray] = []
    for own in np.flatnonzero(explained > LEAST_PREDICTED * squares):
        shares = erf(predicted[own] * np.sqrt(0.5 * n_rows / explained[own]))
        curves += legendre(int(CURVE_DEGREES * n_rows**0.2), shares)
    return np.array(curves).reshape(-1, n_rows)
