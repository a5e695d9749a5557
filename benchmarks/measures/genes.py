"""Genotypes: a confounder in the table, and pairs that act only together."""

from __future__ import annotations

import argparse
import time
from statistics import mean

import numpy as np
import numpy.typing as npt

import komb
from common import print_table
from komb.data.table import DiscreteTable
from measures.methods import AUTO, Options
from measures.options import add_draws

__all__ = [
    "add_epistasis_options",
    "add_population_options",
    "run_epistasis",
    "run_populations",
]

Floats = npt.NDArray[np.float64]

RISK = (0.3, 0.7)  # of the target in each of two populations
SHIFT = 0.2  # largest distance of a population's allele frequency from the mean
PREVALENCE = 0.5
MINOR = (0.2, 0.5)  # allele frequencies of a pair that acts together
TRIES = 10_000
SETTINGS: dict[str, Options] = {
    "auto": AUTO,
    "iamb, g, adjusted df": {"method": "iamb", "test": "g", "df": "adjusted"},
}


def add_population_options(parser: argparse.ArgumentParser) -> None:
    add_draws(parser, tables=50)
    parser.add_argument("--columns", type=int, default=500, help="SNPs")
    parser.add_argument("--rows", type=int, default=1000, help="people")


def run_populations(arguments: argparse.Namespace) -> None:
    """SNPs without effect in the blanket, where two populations differ in all of them."""
    blankets: dict[str, list[set[object]]] = {label: [] for label in SETTINGS}
    for number in range(arguments.tables):
        rng = np.random.default_rng([arguments.seed, number])
        table = population_table(rng, arguments.rows, arguments.columns)
        for label, options in SETTINGS.items():
            blankets[label].append(set(komb.markov_blanket(table, "y", **options).members))
    rows = []
    for label, found in blankets.items():
        strays = [len(members - {"population"}) for members in found]
        n_found = sum("population" in members for members in found)
        shown = [f"{mean(strays):.2f}", str(sum(count > 0 for count in strays)), str(n_found)]
        rows.append([label, *shown])
    print(
        f"{arguments.columns} SNPs, {arguments.rows:,} people of two populations, the target "
        f"depends on the population alone; {arguments.tables} tables\n"
    )
    print_table(["", "SNPs in the blanket", "tables with any", "population found"], rows)


def population_table(rng: np.random.Generator, n_rows: int, n_columns: int) -> DiscreteTable:
    """Draw SNPs whose frequencies differ between populations, and a target that does as well."""
    population = rng.integers(0, 2, n_rows)
    middle = rng.uniform(SHIFT + 0.05, 0.5, n_columns)
    shift = rng.uniform(-SHIFT, SHIFT, n_columns)
    frequencies = np.stack([middle - shift, middle + shift])
    genotypes = rng.binomial(2, frequencies[population])
    target = rng.random(n_rows) < np.array(RISK)[population]
    columns = {f"snp{number}": column for number, column in enumerate(genotypes.T, start=1)}
    return DiscreteTable.from_data({**columns, "population": population, "y": target})


def add_epistasis_options(parser: argparse.ArgumentParser) -> None:
    add_draws(parser, tables=20)
    parser.add_argument("--columns", type=int, default=1000, help="SNPs")
    parser.add_argument("--rows", type=int, default=2000, help="people")
    parser.add_argument("--heritability", type=float, nargs="+", default=[0.02, 0.03, 0.05])


def run_epistasis(arguments: argparse.Namespace) -> None:
    """How often a pair of SNPs without marginal effects is found."""
    rows = []
    for heritability in arguments.heritability:
        n_found = n_alone = 0
        seconds = 0.0
        for number in range(arguments.tables):
            rng = np.random.default_rng([arguments.seed, number])
            table = pair_table(rng, arguments.rows, arguments.columns, heritability)
            started = time.process_time()
            members = set(komb.markov_blanket(table, "y").members)
            seconds += time.process_time() - started
            n_found += members >= {"first", "second"}
            n_alone += members == {"first", "second"}
        counts = [str(arguments.tables), str(n_found), str(n_alone)]
        rows.append([f"{heritability:g}", *counts, f"{seconds / arguments.tables:.2f}"])
    print(
        f"{arguments.columns:,} SNPs, {arguments.rows:,} people, one pair that acts only together "
        f"(random penetrance without marginal effects, prevalence {PREVALENCE})\n"
    )
    print_table(["heritability", "tables", "found", "alone", "seconds per table"], rows)


def pair_table(
    rng: np.random.Generator, n_rows: int, n_columns: int, heritability: float
) -> DiscreteTable:
    """Draw a pair that acts together, all the other SNPs and who is ill."""
    frequencies, risk = draw_penetrance(rng, heritability)
    pair = rng.binomial(2, frequencies, (n_rows, 2))
    is_ill = rng.random(n_rows) < risk[pair[:, 0], pair[:, 1]]
    others = rng.binomial(2, rng.uniform(0.05, 0.5, n_columns - 2), (n_rows, n_columns - 2))
    columns = {f"snp{number}": column for number, column in enumerate(others.T, start=1)}
    acting = {"first": pair[:, 0], "second": pair[:, 1]}
    return DiscreteTable.from_data({**columns, **acting, "y": is_ill})


def draw_penetrance(rng: np.random.Generator, heritability: float) -> tuple[Floats, Floats]:
    """Draw allele frequencies, and risks whose mean is the same whatever one genotype is.

    The heritability is the variance of the risk divided by that of the disease.
    """
    for _ in range(TRIES):
        frequencies = rng.uniform(*MINOR, 2)
        first, second = (np.array([(1 - q) ** 2, 2 * q * (1 - q), q**2]) for q in frequencies)
        effect = rng.normal(size=(3, 3))
        effect -= effect @ second[:, None]
        effect -= first @ effect
        spread = np.sqrt(first @ effect**2 @ second)
        effect *= np.sqrt(heritability * PREVALENCE * (1 - PREVALENCE)) / spread
        risk = PREVALENCE + effect
        if risk.min() >= 0 and risk.max() <= 1:  # most are; the others are no risks
            return frequencies, risk
    raise SystemExit(f"--heritability must leave risks between 0 and 1; {heritability} does not.")
