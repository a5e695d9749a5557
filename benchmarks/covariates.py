"""Covariates held fixed, and weights: false members, power and time.

    python benchmarks/covariates.py structure [--tables N] [--rows N ...] [--columns N]
    python benchmarks/covariates.py power [--tables N] [--rows N ...]
    python benchmarks/covariates.py speed [--rows N] [--columns N]
    python benchmarks/covariates.py values [--tables N] [--rows N ...]
    python benchmarks/covariates.py weights [--tests N] [--rows N]

``structure``: people of two populations, or of mixed ancestry, that differ in all SNPs; the target
depends on the ancestry alone, so that the blanket given the ancestry is empty. How often it is,
given nothing, given the population, given the first principal component of the SNPs. ``power``: the
same people, and one SNP that acts. ``speed``: an exhaustive search for pairs with a covariate,
beside the one without. ``values``: type-I error of one test given a continuous covariate, by strata
and by its values. ``weights``: type-I error and power of tests with survey weights, beside the
same tests without weights, and with rows repeated by rounded weights.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Callable
from statistics import mean
from typing import Any

import numpy as np
import numpy.typing as npt

import komb
from common import print_table
from komb.data.covariates import count_strata, find_strata
from komb.data.weights import effective_size

Floats = npt.NDArray[np.float64]
People = tuple[Any, Floats, Any]  # genotypes, ancestry, target
Rng = np.random.Generator

LEVEL = 0.05
ITERATIONS = 60  # of the power method


def two_populations(share: float, shift: float, risk: float) -> Callable[[Rng, int, int], People]:
    """Return who draws people of two populations."""

    def draw(rng: Rng, n_rows: int, n_columns: int) -> People:
        ancestry = (rng.random(n_rows) < share).astype(float)
        return draw_people(rng, ancestry, n_columns, shift, risk)

    return draw


def mixed_ancestry(shift: float, risk: float) -> Callable[[Rng, int, int], People]:
    """Return who draws people whose ancestry is anything between two populations."""

    def draw(rng: Rng, n_rows: int, n_columns: int) -> People:
        return draw_people(rng, rng.beta(0.5, 0.5, n_rows), n_columns, shift, risk)

    return draw


def draw_people(rng: Rng, ancestry: Floats, n_columns: int, shift: float, risk: float) -> People:
    """Draw genotypes, and a target whose risk goes from 1/2 - risk to 1/2 + risk."""
    middle = rng.uniform(shift + 0.05, 0.5, n_columns)
    shifts = rng.uniform(-shift, shift, n_columns)
    frequencies = middle + np.outer(2 * ancestry - 1, shifts)
    genotypes = rng.binomial(2, frequencies)
    target = (rng.random(len(ancestry)) < 0.5 + risk * (2 * ancestry - 1)).astype(int)
    return genotypes, ancestry, target


def first_component(genotypes: Any) -> Floats:
    """Return the first principal component of standardised genotypes."""
    scaled = (genotypes - genotypes.mean(0)) / np.maximum(genotypes.std(0), 1e-9)
    component: Floats = scaled[:, 0]
    for _ in range(ITERATIONS):
        component = scaled @ (component @ scaled)
        component /= np.linalg.norm(component)
    return component


SCENES: dict[str, Callable[[Rng, int, int], People]] = {
    "two populations, half each": two_populations(0.5, 0.2, 0.2),
    "two populations, 30:70": two_populations(0.3, 0.2, 0.2),
    "two populations, weak shift": two_populations(0.5, 0.05, 0.2),
    "two populations, strong": two_populations(0.3, 0.3, 0.4),
    "mixed ancestry": mixed_ancestry(0.2, 0.2),
    "mixed ancestry, strong": mixed_ancestry(0.3, 0.4),
}
"""Who is drawn: how far allele frequencies and risks differ."""


def add_structure_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000])
    parser.add_argument("--columns", type=int, default=500, help="SNPs")
    parser.add_argument("--order", type=int, help="of the search; its own if left out")
    parser.add_argument("--without", type=int, default=5, help="tables searched given nothing")
    parser.add_argument("--scenes", type=int, nargs="+", default=list(range(len(SCENES))))
    parser.add_argument("--seed", type=int, default=1)


def run_structure(arguments: argparse.Namespace) -> None:
    """How often the blanket is empty where the target depends on the ancestry alone."""
    rows = []
    names = list(SCENES)
    for number in arguments.scenes:
        for n_rows in arguments.rows:
            found: dict[str, list[int]] = {"nothing": [], "ancestry": [], "PC1": []}
            started = time.process_time()
            for table in range(arguments.tables):
                rng = np.random.default_rng([arguments.seed, table])
                people = SCENES[names[number]](rng, n_rows, arguments.columns)
                for given, strays in found.items():
                    if given != "nothing" or table < arguments.without:
                        strays.append(len(search(people, given, arguments.order)))
            seconds = (time.process_time() - started) / arguments.tables
            shares = [
                f"{sum(count == 0 for count in strays) / len(strays):.0%} ({mean(strays):.2f})"
                if strays
                else "-"
                for strays in found.values()
            ]
            rows.append([names[number], f"{n_rows:,}", *shares, f"{seconds:.1f}"])
            print(rows[-1], file=sys.stderr, flush=True)
    print(
        f"{arguments.columns} SNPs without effect, {arguments.tables} tables (given nothing, "
        f"{arguments.without}); share of empty blankets (SNPs in the blanket), by what is given\n"
    )
    print_table(
        ["people", "rows", "given nothing", "given the ancestry", "given PC1", "seconds per table"],
        rows,
    )


def search(people: People, given: str, order: int | None = None) -> tuple[Any, ...]:
    """Return the SNPs in the blanket."""
    genotypes, ancestry, target = people
    columns: dict[str, Any] = {f"snp{i}": column for i, column in enumerate(genotypes.T, start=1)}
    columns["y"] = target
    if given == "ancestry":
        columns[given] = ancestry
    elif given == "PC1":
        columns[given] = first_component(genotypes)
    held = [given] if given in columns else []
    return komb.markov_blanket(columns, "y", given=held, order=order).members


def add_power_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 4000])
    parser.add_argument("--columns", type=int, default=100, help="SNPs")
    parser.add_argument("--effects", type=float, nargs="+", default=[0.05, 0.1, 0.15, 0.2])
    parser.add_argument("--seed", type=int, default=1)


def run_power(arguments: argparse.Namespace) -> None:
    """How often a SNP that acts is found, and how many others."""
    rows = []
    for n_rows in arguments.rows:
        for effect in arguments.effects:
            found: dict[str, list[bool]] = {"nothing": [], "ancestry": [], "PC1": []}
            strays: dict[str, list[int]] = {given: [] for given in found}
            for table in range(arguments.tables):
                rng = np.random.default_rng([arguments.seed, table])
                genotypes, ancestry, _ = two_populations(0.5, 0.2, 0.2)(
                    rng, n_rows, arguments.columns
                )
                risk = 0.5 + 0.2 * (2 * ancestry - 1) + effect * (genotypes[:, 0] - 1)
                target = (rng.random(n_rows) < risk).astype(int)
                for given in found:
                    members = search((genotypes, ancestry, target), given)
                    found[given].append("snp1" in members)
                    strays[given].append(len(set(members) - {"snp1"}))
            shares = [f"{mean(found[given]):.2f} ({mean(strays[given]):.2f})" for given in found]
            rows.append([f"{n_rows:,}", f"{effect:g}", *shares])
    print(
        f"{arguments.columns} SNPs, one of which adds to the risk; two populations, half each; "
        f"{arguments.tables} tables: how often it is found (other SNPs in the blanket)\n"
    )
    print_table(
        ["rows", "risk per allele", "given nothing", "given the ancestry", "given PC1"], rows
    )


def add_speed_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, nargs="+", default=[100, 500])
    parser.add_argument("--repeats", type=int, default=3)


def run_speed(arguments: argparse.Namespace) -> None:
    """Processor time of a search of order 1, with and without a covariate."""
    rows = []
    for n_columns in arguments.columns:
        people = two_populations(0.5, 0.2, 0.2)(np.random.default_rng(0), arguments.rows, n_columns)
        genotypes, ancestry, target = people
        columns = {f"snp{i}": column for i, column in enumerate(genotypes.T, start=1)}
        data = {**columns, "group": ancestry, "PC1": first_component(genotypes), "y": target}
        calls: dict[str, dict[str, Any]] = {
            "auto": {"order": 1},
            "komb": {"method": "komb", "order": 1},
        }
        for label, options in calls.items():
            best = dict.fromkeys(("nothing", "group", "PC1"), float("inf"))
            for _ in range(arguments.repeats):
                for given in best:
                    held = [given] if given in data else []
                    left = [name for name in ("group", "PC1") if name not in held]
                    started = time.process_time()
                    komb.markov_blanket(data, "y", given=held, exclude=left, n_jobs=1, **options)
                    best[given] = min(best[given], time.process_time() - started)
            plain = best["nothing"]
            rows.append(
                [label, str(n_columns), f"{plain:.2f}"]
                + [f"{best[g]:.2f} ({best[g] / plain:.1f}x)" for g in ("group", "PC1")]
            )
    print(f"{arguments.rows:,} rows, order 1, processor seconds, best of {arguments.repeats}\n")
    print_table(["method", "SNPs", "without", "given the group", "given PC1"], rows)


def add_values_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 5000])
    parser.add_argument("--seed", type=int, default=1)


def run_values(arguments: argparse.Namespace) -> None:
    """Type-I error of tests of two columns that depend on a covariate alone."""
    rows = []
    for n_rows in arguments.rows:
        for correlation in (0.5, 0.8):
            rejected = {"bins": 0, "ranks": 0, "values": 0}
            for table in range(arguments.tables):
                rng = np.random.default_rng([arguments.seed, table])
                covariate, x, y = rng.normal(size=(3, n_rows))
                data: dict[str, Any] = {
                    "x": correlation * covariate + np.sqrt(1 - correlation**2) * x,
                    "y": correlation * covariate + np.sqrt(1 - correlation**2) * y,
                    "z": covariate,
                }
                strata = find_strata(covariate.reshape(-1, 1), count_strata(n_rows, 1))
                held_fixed = {"z": strata.astype(str)}
                cut = {name: quarters(data[name]) for name in ("x", "y")}
                tables = {"bins": cut | held_fixed, "ranks": data | held_fixed, "values": data}
                for kind, held in tables.items():
                    result = komb.ci_test(held, "x", "y", ["z"], alpha=LEVEL)
                    rejected[kind] += not result.independent
            rates = [f"{count / arguments.tables:.2f}" for count in rejected.values()]
            rows.append([f"{n_rows:,}", f"{correlation}", *rates])
    print(f"{arguments.tables} tables, level {LEVEL}; share called dependent\n")
    print_table(
        ["rows", "correlation", "quarters given strata", "ranks given strata", "given values"], rows
    )


def quarters(numbers: Floats) -> Any:
    return np.searchsorted(np.quantile(numbers, [0.25, 0.5, 0.75]), numbers).astype(str)


def add_weights_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tests", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)


def run_weights(arguments: argparse.Namespace) -> None:
    """Type-I error and power with the weights of a survey, by how people are sampled."""
    rows = []
    for design in DESIGNS:
        for effect in (0.0, 0.15):
            rejected = {"no weights": 0, "drawn by weight": 0, "repeated": 0}
            kept, effective = [], []
            for number in range(arguments.tests):
                rng = np.random.default_rng([arguments.seed, number])
                table, weights = draw_survey(rng, arguments.rows, design, effect)
                effective.append(effective_size(weights))
                data = {**table, "w": weights}
                rejected["no weights"] += depends(table)
                by_weight = drawn_by_weight(data)
                kept.append(len(by_weight["y"]))
                rejected["drawn by weight"] += depends(by_weight)
                times = np.maximum(1, np.rint(weights / weights.min())).astype(int)
                rejected["repeated"] += depends({k: np.repeat(v, times) for k, v in table.items()})
            shares = [f"{count / arguments.tests:.3f}" for count in rejected.values()]
            sizes = [f"{mean(effective):.0f}", f"{mean(kept):.0f}"]
            rows.append([design, "power" if effect else "type I", *shares, *sizes])
            print(rows[-1], file=sys.stderr, flush=True)
    print(
        f"{arguments.rows:,} people sampled with unequal chances, {arguments.tests:,} tests of a "
        f"marginal dependence at level {LEVEL}\n"
    )
    print_table(
        ["chance depends on", "", *rejected, "effective size", "rows drawn"],
        rows,
    )


DESIGNS = ("nothing (spread 0.5)", "nothing (spread 1)", "another column", "y", "x", "x and y")
"""What the chance to be in the sample depends on."""


def draw_survey(rng: Rng, n_rows: int, design: str, effect: float) -> tuple[Any, Floats]:
    """Draw a population, and people out of it with unequal chances; weights are their inverse."""
    size = 12 * n_rows
    x, z = rng.integers(0, 3, size), rng.integers(0, 3, size)
    y = (rng.random(size) < 0.3 + effect * (x == 2)).astype(int)
    if design.startswith("nothing"):
        spread = 1.0 if "1)" in design else 0.5
        chance = np.exp(rng.normal(0, spread, size))
    else:
        chance = {
            "another column": np.array([1.0, 3.0, 6.0])[z],
            "y": np.where(y == 1, 5.0, 1.0),
            "x": np.array([1.0, 2.0, 6.0])[x],
            "x and y": np.where((x == 2) & (y == 1), 6.0, 1.0),
        }[design]
    chance /= chance.sum()
    rows = rng.choice(size, n_rows, replace=False, p=chance)
    return {"x": x[rows], "z": z[rows], "y": y[rows]}, 1 / chance[rows]


def drawn_by_weight(data: Any) -> dict[str, Any]:
    """Return the rows that a search with weights of a survey sees."""
    table = komb.table(data, weights={"w": "survey"})
    return {str(name): table.codes[i] for i, name in enumerate(table.names)}


def depends(table: Any) -> bool:
    return not komb.ci_test(table, "x", "y", alpha=LEVEL).independent


COMMANDS: dict[str, tuple[Callable[..., None], Callable[..., None]]] = {
    "structure": (add_structure_options, run_structure),
    "power": (add_power_options, run_power),
    "speed": (add_speed_options, run_speed),
    "values": (add_values_options, run_values),
    "weights": (add_weights_options, run_weights),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (add_options, run) in COMMANDS.items():
        add_options(commands.add_parser(name, help=(run.__doc__ or "").splitlines()[0]))
    arguments = parser.parse_args()
    command_line = shlex.join(["python", "benchmarks/covariates.py", *sys.argv[1:]])
    print(f"```sh\n{command_line}\n```\n", flush=True)
    COMMANDS[arguments.command][1](arguments)


if __name__ == "__main__":
    main()
