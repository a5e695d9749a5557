"""Spouses through weak links, in random linear networks: how many are named, and how rightly."""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt

import komb
from common import print_table

__all__ = ["add_options", "run"]

Parents = list[list[int]]
HUBS = 4  # columns that all others of a network with hubs may cause


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--networks", type=int, default=5, help="of each kind")
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--targets", type=int, default=5, help="of each network")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--strength", type=float, nargs=2, default=[0.15, 0.35])
    parser.add_argument("--seed", type=int, default=0)


def run(arguments: argparse.Namespace) -> None:
    """Columns that members imply: recall and precision in random linear networks."""
    print("Established: both links are found, and the spouse is no member.\n")
    rows = []
    for kind in ("hubs", "any"):
        counts = np.zeros(4, np.int64)
        for number in range(arguments.networks):
            rng = np.random.default_rng([arguments.seed, number])
            counts += count(rng, draw_parents(rng, arguments.columns, kind), arguments)
        established, named, right, undecided = counts.tolist()
        shares = [f"{right / max(1, each):.2f}" for each in (established, named)]
        rows.append([kind, str(established), str(named), *shares, str(undecided)])
    print_table(["parents", "established", "named", "recall", "precision", "undecided"], rows)


def draw_parents(rng: np.random.Generator, n_columns: int, kind: str) -> Parents:
    """Draw up to five parents of each column, or eight of each hub."""
    if kind == "hubs":
        causes = n_columns - HUBS
        own = [sorted(rng.choice(causes, min(8, causes), replace=False)) for _ in range(HUBS)]
        return [[] for _ in range(causes)] + own
    sizes = rng.integers(0, 4, n_columns)
    return [sorted(rng.choice(x, min(x, sizes[x]), replace=False)) for x in range(n_columns)]


def draw_rows(
    rng: np.random.Generator, parents: Parents, arguments: argparse.Namespace
) -> npt.NDArray[np.float64]:
    """Draw rows in which each parent moves a column by a few tenths of a standard deviation."""
    columns = rng.normal(size=(len(parents), arguments.rows))
    for x, own in enumerate(parents):
        least, most = arguments.strength
        weights = rng.uniform(least, most, len(own)) * rng.choice([-1, 1], len(own))
        columns[x] += weights @ columns[own]
        columns[x] /= columns[x].std()
    return columns


def count(
    rng: np.random.Generator, parents: Parents, arguments: argparse.Namespace
) -> npt.NDArray[np.int64]:
    """Count spouses with established links, columns named, those rightly, and the undecided."""
    rows = draw_rows(rng, parents, arguments)
    found = komb.markov_blankets({str(x): values for x, values in enumerate(rows)})
    members = {int(str(t)): {int(str(x)) for x in found[t].members} for t in found}
    counts = np.zeros(4, np.int64)
    for t in rng.choice(len(parents), arguments.targets, replace=False).tolist():
        implied = found[str(t)].implied()
        named = {int(str(name)) for name in implied.names}
        spouses = {
            (int(s), c)
            for c, own in enumerate(parents)
            for s in own
            if t in own and s != t and s not in parents[t] and t not in parents[s]
        }
        true = {s for s, _ in spouses}
        seen = {s for s, c in spouses if c in members[t] and s in members[c]} - members[t]
        counts += [len(seen), len(named), len(named & true), len(implied) - len(named)]
    return counts
