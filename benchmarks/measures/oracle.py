"""Random distributions: asked exactly, so that only the search can be wrong, or sampled."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import komb
from common import print_table
from komb.data.models.bayesian_network import DiscreteNetwork
from komb.engine.oracle import DistributionEngine
from komb.search.auto import find_blanket as search_auto
from komb.search.komb import find_blanket as search_komb
from komb.search.task import Task
from measures.methods import AUTO, Options

__all__ = ["add_options", "run"]

Floats = npt.NDArray[np.float64]
Answers = dict[str, set[int]]
"""The blanket of a target by each of the two searches."""

ORDER, SEPARATOR = 2, 3
STYLES = ("random", "xor", "interaction", "and/or", "mixed")
LABELS = ("auto", f"komb {ORDER},{SEPARATOR}")
N_VARIABLES = (4, 7)
N_PARENTS = (0.15, 0.3, 0.4, 0.15)  # chance of 0, 1, 2, 3 parents
NOISE = (0.05, 0.25)  # chance that a rule is not obeyed


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--networks", type=int, default=500, help="in all, in five styles")
    parser.add_argument("--rows", type=int, help="sample so many rows instead of asking exactly")
    parser.add_argument("--seed", type=int, default=0)


@dataclass
class Count:
    """How often a search was right, and how it was wrong otherwise."""

    targets: int = 0
    exact: int = 0
    missing: int = 0
    extra: int = 0

    def add(self, found: set[int], truth: set[int]) -> None:
        """Count one target."""
        self.targets += 1
        self.exact += found == truth
        self.missing += bool(truth - found)
        self.extra += bool(found - truth)

    def show(self) -> list[str]:
        """Return the share that was exact, and the two numbers of errors."""
        return [f"{self.exact / max(self.targets, 1):.2%}", str(self.missing), str(self.extra)]


def run(arguments: argparse.Namespace) -> None:
    """Share of exact blankets in random distributions."""
    counts = {style: {label: Count() for label in LABELS} for style in (*STYLES, "all")}
    for number in range(arguments.networks):
        style = STYLES[number % len(STYLES)]
        rng = np.random.default_rng([arguments.seed, number])
        network = draw_network(rng, style)
        oracle = DistributionEngine(network.joint())
        for target, answers in answer(network, number, arguments.rows).items():
            truth = true_boundary(oracle, target)
            for label, found in answers.items():
                counts[style][label].add(found, truth)
                counts["all"][label].add(found, truth)
    print_counts(counts, arguments)


def print_counts(counts: dict[str, dict[str, Count]], arguments: argparse.Namespace) -> None:
    source = f"{arguments.rows:,} rows each" if arguments.rows else "asked exactly"
    test = "auto without parameters, kOMB with g, adjusted df" if arguments.rows else "order 2"
    print(
        f"{arguments.networks} random networks of {N_VARIABLES[0]}-{N_VARIABLES[1]} variables, "
        f"{source}; {test}: exact blankets, targets that miss a member, targets with an extra one\n"
    )
    header = ["style", "targets"]
    for label in LABELS:
        header += [f"{label} exact", "missing", "extra"]
    rows = []
    for style, by_label in counts.items():
        row = [style, str(by_label[LABELS[0]].targets)]
        for count in by_label.values():
            row += count.show()
        rows.append(row)
    print_table(header, rows)


def answer(network: DiscreteNetwork, seed: int, n_rows: int | None) -> dict[int, Answers]:
    """Return what both searches say of every target, from the distribution or from a sample."""
    return ask_sample(network, seed, n_rows) if n_rows else ask_distribution(network)


def ask_distribution(network: DiscreteNetwork) -> dict[int, Answers]:
    joint, everything = network.joint(), frozenset(range(len(network.names)))
    answers = {}
    for target in everything:
        task = Task(target, everything - {target})
        auto = search_auto(DistributionEngine(joint), task, order=ORDER)
        fixed = search_komb(DistributionEngine(joint), task, order=ORDER, max_separator=SEPARATOR)
        found = (set(auto.witnesses), set(fixed.witnesses))
        answers[target] = dict(zip(LABELS, found, strict=True))
    return answers


def ask_sample(network: DiscreteNetwork, seed: int, n_rows: int) -> dict[int, Answers]:
    table = network.sample(n_rows, seed)
    fixed: Options = {"method": "komb", "order": ORDER, "max_separator": SEPARATOR}
    settings = [AUTO, {**fixed, "test": "g", "df": "adjusted"}]
    answers = {}
    for target, name in enumerate(table.names):
        if len(table.levels[target]) > 1:
            found = (komb.markov_blanket(table, name, **options) for options in settings)
            positions = [{table.index(member) for member in each.members} for each in found]
            answers[target] = dict(zip(LABELS, positions, strict=True))
    return answers


def true_boundary(oracle: DistributionEngine, target: int) -> set[int]:
    """Return the Markov boundary by its definition: drop what is independent given the rest.

    In a positive distribution, and these are, there is only one.
    """
    boundary = set(range(oracle.n_variables)) - {target}
    for variable in range(oracle.n_variables):
        rest = frozenset(boundary - {variable})
        if variable in boundary and not oracle.is_dependent(target, variable, rest):
            boundary.discard(variable)
    return boundary


def draw_network(rng: np.random.Generator, style: str) -> DiscreteNetwork:
    """Draw a network whose tables are all of one style, or of any."""
    n_variables = int(rng.integers(N_VARIABLES[0], N_VARIABLES[1] + 1))
    names = [f"v{number}" for number in range(n_variables)]
    sizes = rng.choice([2, 2, 3], n_variables).tolist()
    parents, tables = {}, {}
    for i, name in enumerate(names):
        n_parents = min(i, int(rng.choice(len(N_PARENTS), p=N_PARENTS)))
        above = sorted(rng.choice(i, n_parents, replace=False).tolist()) if n_parents else []
        drawn = str(rng.choice(list(TABLES))) if style == "mixed" else style
        draw_table = TABLES[drawn] if above else random_table
        parents[name] = [names[parent] for parent in above]
        tables[name] = draw_table(rng, [sizes[parent] for parent in above], sizes[i])
    return DiscreteNetwork(parents, tables)


def random_table(rng: np.random.Generator, shape: Sequence[int], n_levels: int) -> Floats:
    concentration = float(rng.choice([0.5, 1.0, 2.0]))
    return rng.dirichlet(np.full(n_levels, concentration), size=tuple(shape))


def xor_table(rng: np.random.Generator, shape: Sequence[int], n_levels: int) -> Floats:
    return noisy_rule(rng, np.indices(shape).sum(axis=0) % n_levels, n_levels)


def and_or_table(rng: np.random.Generator, shape: Sequence[int], n_levels: int) -> Floats:
    is_positive = np.indices(shape) > 0
    is_true = is_positive.all(axis=0) if rng.random() < 0.5 else is_positive.any(axis=0)
    return noisy_rule(rng, np.asarray(is_true, np.int64), n_levels)


def noisy_rule(rng: np.random.Generator, rule: npt.NDArray[np.int64], n_levels: int) -> Floats:
    """Give the level that a rule says most of the chance, and the others the rest of it."""
    noise = float(rng.uniform(*NOISE))
    table = np.full((*rule.shape, n_levels), noise / (n_levels - 1))
    np.put_along_axis(table, rule[..., None], 1 - noise, axis=-1)
    return table


def interaction_table(rng: np.random.Generator, shape: Sequence[int], n_levels: int) -> Floats:
    """Logistic, with the effect of each parent and that of their product."""
    levels = np.indices(shape)
    weights = rng.normal(size=len(shape))
    logits = np.tensordot(weights, levels, axes=1)
    logits = logits + 2 * rng.normal() * np.prod(levels - 0.5, axis=0)
    chance = 1 / (1 + np.exp(-logits))
    others = n_levels - 2
    left = 0.8 if others else 1.0
    columns = [left * (1 - chance), left * chance]
    columns += [np.full(chance.shape, (1 - left) / max(others, 1))] * others
    return np.stack(columns, axis=-1)


DrawTable = Callable[[np.random.Generator, Sequence[int], int], Floats]

TABLES: dict[str, DrawTable] = {
    "random": random_table,
    "xor": xor_table,
    "interaction": interaction_table,
    "and/or": and_or_table,
}
