"""Information in bits: how far estimates are off, and how often intervals hold the truth.

    python benchmarks/effects.py [--tables 300]

Tables are drawn from random distributions of two columns given a third, so the truth is known.
Beside the estimate of komb: the plain one (that of scikit-learn's ``mutual_info_score``, stratum by
stratum) and that of Miller and Madow, which subtracts degrees of freedom.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from sklearn.metrics import mutual_info_score

from common import print_table
from komb.data.table import DiscreteTable
from komb.describe.effects import InformationMeter

ROUNDING = 1e-12

CASES = (
    # levels of x, of y, strata, concentration of the cells (None: independent), rows
    (2, 2, 1, None, 200),
    (5, 5, 9, None, 500),
    (10, 10, 10, None, 500),
    (2, 2, 1, 5.0, 500),
    (3, 3, 4, 3.0, 1000),
    (4, 4, 9, 1.0, 1000),
    (4, 4, 27, 1.0, 1000),
    (4, 4, 9, 1.0, 5000),
)


def draw_distribution(
    n_x: int, n_y: int, n_z: int, concentration: float | None, rng: np.random.Generator
) -> Any:
    """Return probabilities of (x, y, z)."""
    if concentration is not None:
        return rng.dirichlet(np.full(n_x * n_y * n_z, concentration)).reshape(n_x, n_y, n_z)
    of_z = rng.dirichlet(np.full(n_z, 5.0))
    of_x = rng.dirichlet(np.full(n_x, 2.0), n_z).T
    of_y = rng.dirichlet(np.full(n_y, 2.0), n_z).T
    return of_x[:, None, :] * of_y[None, :, :] * of_z


def true_bits(joint: Any) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = joint * joint.sum((0, 1)) / (joint.sum(1)[:, None, :] * joint.sum(0)[None])
        bits = float(np.nansum(joint * np.log2(ratio)))
    return bits if bits > ROUNDING else 0.0


def plain_bits(x: Any, y: Any, z: Any) -> tuple[float, float]:
    """Return the plain estimate, and that of Miller and Madow."""
    plain = freedom = 0.0
    for stratum in np.unique(z):
        rows = z == stratum
        plain += rows.sum() * mutual_info_score(x[rows], y[rows])
        freedom += (len(np.unique(x[rows])) - 1) * (len(np.unique(y[rows])) - 1)
    scale = len(x) * math.log(2)
    return plain / scale, (plain - freedom / 2) / scale


def measure(case: tuple[int, int, int, float | None, int], n_tables: int) -> list[str]:
    n_x, n_y, n_z, concentration, n_rows = case
    rng = np.random.default_rng(0)
    errors, hits, truths = [], 0, []
    for _ in range(n_tables):
        joint = draw_distribution(n_x, n_y, n_z, concentration, rng)
        cells = rng.choice(joint.size, n_rows, p=joint.ravel() / joint.sum())
        columns = np.column_stack(np.unravel_index(cells, joint.shape))
        meter = InformationMeter(DiscreteTable.from_codes(columns), target=1)
        given = frozenset({2})
        [bits] = meter.bits([0], given)
        amount, truth = meter.amount(0, bits, given), true_bits(joint)
        hits += amount.low <= truth <= amount.high
        truths.append(truth)
        errors.append([estimate - truth for estimate in (bits, *plain_bits(*columns.T))])
    bias = np.mean(errors, axis=0)
    error = np.std(errors, axis=0)[0] / math.sqrt(n_tables)
    shown = [f"{n_x} x {n_y} given {n_z}", f"{n_rows:,}", f"{np.mean(truths):.4f}"]
    return [*shown, *(f"{off:+.4f}" for off in bias), f"{error:.4f}", f"{hits / n_tables:.3f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=300, help="drawn of each kind")
    arguments = parser.parse_args()
    print("Bits per row: the truth, and how far estimates are off on average.\n")
    header = ["levels", "rows", "truth", "komb", "plain", "Miller-Madow", "standard error",
              "intervals that hold the truth"]  # fmt: skip
    print_table(header, [measure(case, arguments.tables) for case in CASES])


if __name__ == "__main__":
    main()
