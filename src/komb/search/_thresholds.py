"""How strong evidence has to be, given the number of tests.

Evidence is in bits: a p-value of ``2^-b`` is ``b`` bits.

* A **family** is all tests of one kind: the candidates of the target, or all tests with ``k``
  conditions. Unless its p-values are too small for chance, nothing of the family counts. The
  candidates of the target are judged together (Simes 1986), those of higher orders by a Bonferroni
  threshold that each has to pass. The families share the chance ``level`` of a false alarm
  (:func:`share_of_level`), so that with nothing to find a search is silent in all but ``level`` of
  the tables, however many orders it searches.
* Behind that threshold the rule of Benjamini & Hochberg (1995) bounds the **share of false ones**
  (:func:`false_discovery_bits`).
* An **"independent"** counts where the test had the power to detect a dependence
  (:func:`power_to_detect`).
* A single test has the level ``alpha``, which falls with rows and columns (:func:`choose_alpha`).
"""

from __future__ import annotations

import math
from collections.abc import Collection

from komb.engine.engine import Power
from komb.search.task import Choice, GroundedChoice, Kind, fact

LEVEL = 0.05
"""Chance that a blanket is not empty although nothing depends on the target."""

LARGEST_ALPHA = 0.1

COLUMNS_OF_ALPHA = 20
"""In a table of this many columns ``alpha`` is that of the Bayesian information criterion."""

FALSE_SHARE = 0.1
"""Largest share of false dependences among those of a family that pass."""

SHARE_OF_ORDER_0 = 0.7
"""Of the level; of what is left the same share goes to order 1, and so on."""

DENSE_ROWS_PER_CELL = 50.0
"""Rows per cell from which on the formula for the power of a test can be trusted."""

LARGER_SHARE = 3.0
"""How many times the share a test on so dense a table has to detect."""

_NEARLY = 1 - 1e-9  # of a threshold, for p-values that are equal to it but for rounding


def choose_alpha(n_rows: int, n_columns: int) -> Choice:
    """Choose the level of single tests.

    The Bayesian information criterion takes one parameter more if twice the likelihood ratio
    exceeds the logarithm of the number of rows: as a test with one degree of freedom, that is one
    whose level falls with the root of the rows. Here it also falls with the root of the columns.
    """
    from scipy.special import chdtrc

    by_rows = float(chdtrc(1.0, math.log(max(2, n_rows))))
    alpha = min(LARGEST_ALPHA, by_rows * math.sqrt(COLUMNS_OF_ALPHA / max(1, n_columns)))
    facts = (fact(Kind.FALLS_WITH, n_rows, n_columns),)
    return GroundedChoice(float(f"{alpha:.2g}"), facts=facts)


def share_of_level(order: int) -> float:
    """Return the part of the level that the tests of an order may spend."""
    return SHARE_OF_ORDER_0 * (1 - SHARE_OF_ORDER_0) ** order


def family_bits(n_tests: int, chance: float) -> float:
    """Return how strong the strongest of ``n_tests`` must be not to be chance (Bonferroni)."""
    return math.log2(max(1, n_tests) / chance)


def bits_of(alpha: float) -> float:
    """Return the evidence of a p-value that is just small enough."""
    return -math.log2(alpha) * _NEARLY


def false_discovery_bits(
    bits: Collection[float], n_tests: int, false_share: float = FALSE_SHARE
) -> float:
    """Return how strong a dependence must be, if a share of those that are is to be false.

    If nothing is there to be found, then none is strong enough in all but ``false_share`` of the
    cases: that is the test of Simes.
    """
    least = math.inf
    for rank, each in enumerate(sorted(bits, reverse=True), start=1):
        needed = math.log2(n_tests / (rank * false_share))
        if each >= needed:
            least = needed
    return least


def power_to_detect(share: float) -> Power:
    """Return the power to detect so large a share of a dependence."""
    return Power(share, LARGER_SHARE * share, DENSE_ROWS_PER_CELL)
