"""Directions: the network of all blankets beside PC and GES of causal-learn.

    python benchmarks/orientation.py [--names asia child] [--rows 1000 5000] [--samples 1]
                                     [--most-columns 20] [--roles]

Samples are drawn from networks in pgmpy's wheel. All three learn the graph that all networks share
in which the same variables are independent, and are compared with that of the true network by the
structural Hamming distance: pairs of columns that are joined in one graph and not in the other, or
whose edge has another direction or has one in one graph only. PC has the G test of causal-learn,
with the level that is its default, and with .01; GES has the BDeu score. GES takes hours on large
networks: it is left out for those with more than ``--most-columns`` columns. Seconds are of
processor time; those of komb include the search for all blankets.

With ``--roles``, every column is a target, and what members are said to be, from the blanket alone,
is compared with the true network; with the time that roles and effect sizes take beside the search.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

import komb
from common import print_table
from komb.data.table import DiscreteTable
from komb.describe.partial_graph import PartialGraph
from komb.reproduction.datasets import BundledNetwork

Matrix = npt.NDArray[np.bool_]  # [a, b]: a -> b, or a - b if [b, a] as well
Learn = Callable[[DiscreteTable], Matrix]


def learn_by_komb(table: DiscreteTable) -> Matrix:
    network = komb.markov_blankets(table).to_networkx()
    matrix = np.zeros((table.n_columns, table.n_columns), dtype=np.bool_)
    for a, b in network.edges:
        matrix[table.index(a), table.index(b)] = True
    return matrix


def learn_by_pc(alpha: float) -> Learn:
    def learn(table: DiscreteTable) -> Matrix:
        from causallearn.search.ConstraintBased.PC import pc

        rows = table.codes.T.astype(np.int64)
        found = pc(rows, alpha=alpha, indep_test="gsq", show_progress=False)
        return from_causal_learn(found.G.graph)

    return learn


def learn_by_ges(table: DiscreteTable) -> Matrix:
    from causallearn.search.ScoreBased.GES import ges

    rows = table.codes.T.astype(np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # thousands of how it uses pandas
        found = ges(rows, score_func="local_score_BDeu")
    return from_causal_learn(found["G"].graph)


def from_causal_learn(graph: Any) -> Matrix:
    """Read a graph in which ``graph[b, a] = 1`` is an arrowhead at b, and -1 a tail."""
    marks = np.asarray(graph)
    is_joined = (marks != 0) & (marks.T != 0)
    matrix: Matrix = is_joined & ~((marks.T == -1) & (marks == 1))
    return matrix


def true_graph(truth: Any, names: list[Any]) -> Matrix:
    """Return what all networks share that have the edges and colliders of the true one."""
    place = {name: number for number, name in enumerate(names)}
    edges = {(place[a], place[b]) for a, b in truth.edges}
    joined: dict[int, set[int]] = {number: set() for number in place.values()}
    for a, b in edges:
        joined[a].add(b)
        joined[b].add(a)
    triples = [
        (a, c, b)
        for c in joined
        for a, b in combinations(sorted(joined[c]), 2)
        if b not in joined[a]
    ]
    colliders = [(a, c, b) for a, c, b in triples if {(a, c), (b, c)} <= edges]
    graph = PartialGraph(joined, {way for a, b in edges for way in ((a, b), (b, a))})
    graph.orient(colliders, [triple for triple in triples if triple not in colliders])
    matrix = np.zeros((len(names), len(names)), dtype=np.bool_)
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = True
    for a, b in graph.directed():
        matrix[b, a] = False
    return matrix


def distances(found: Matrix, truth: Matrix) -> tuple[int, int, int, int]:
    """Structural Hamming distance; edges too many, missing, and directed otherwise."""
    is_joined, is_true = found | found.T, truth | truth.T
    too_many = int((is_joined & ~is_true).sum()) // 2
    missing = int((is_true & ~is_joined).sum()) // 2
    differs = (found != truth) | (found.T != truth.T)
    turned = int((differs & is_joined & is_true).sum()) // 2
    return too_many + missing + turned, too_many, missing, turned


def print_roles(name: str, n_rows: int, samples: Iterable[int]) -> None:
    """Compare the roles of members, found from each blanket alone, with the true network."""
    dataset = BundledNetwork(name)
    truth = dataset.graph
    said: Counter[tuple[str, str]] = Counter()
    seconds = {"search": 0.0, "roles": 0.0, "effects": 0.0}

    def timed(step: str, work: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = work()
        seconds[step] += time.process_time() - began
        return result

    for sample in samples:
        table = dataset.table(sample, n_rows)
        for x, target in enumerate(table.names):
            if len(table.levels[x]) < 2:
                continue
            blanket = timed("search", partial(komb.markov_blanket, table, target))
            for role in timed("roles", blanket.roles).values():
                is_neighbour = role.kind == "neighbour"
                shown = str(role.direction) if is_neighbour else role.kind
                said[true_role(truth, role.name, target), shown] += 1
            timed("effects", partial(getattr, blanket, "effects"))
    heads = ("cause", "effect", "undecided", "spouse", "partner")
    print(f"{name}, {n_rows:,} rows: what members truly are, and what they are said to be")
    rows = [
        [true, *(str(said[true, head]) for head in heads)]
        for true in ("cause", "effect", "spouse", "none of these")
    ]
    print_table(["truly", *heads], rows)
    print(", ".join(f"{step} {spent:.2f} s" for step, spent in seconds.items()), "\n", flush=True)


def true_role(truth: Any, member: Any, target: Any) -> str:
    if truth.has_edge(member, target):
        return "cause"
    if truth.has_edge(target, member):
        return "effect"
    is_spouse = {*truth.successors(member)} & {*truth.successors(target)}
    return "spouse" if is_spouse else "none of these"


def measure(name: str, n_rows: int, sample: int, arguments: argparse.Namespace) -> list[list[str]]:
    dataset = BundledNetwork(name)
    table = dataset.table(sample, n_rows)
    varying = [x for x in range(table.n_columns) if len(table.levels[x]) > 1]
    table = table.select(table.names[x] for x in varying)
    truth = true_graph(dataset.graph.subgraph(table.names), list(table.names))
    learners: dict[str, Learn] = {"komb": learn_by_komb, "PC .05": learn_by_pc(0.05)}
    learners["PC .01"] = learn_by_pc(0.01)
    if table.n_columns <= arguments.most_columns:
        learners["GES"] = learn_by_ges
    rows = []
    for label, learn in learners.items():
        began = time.process_time()
        found = learn(table)
        seconds = time.process_time() - began
        shown = map(str, distances(found, truth))
        rows.append([name, f"{n_rows:,}", str(sample), label, *shown, f"{seconds:.1f}"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", nargs="+", default=["asia", "child", "alarm", "insurance"])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 5000])
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--most-columns", type=int, default=20, help="for GES, which takes long")
    parser.add_argument("--roles", action="store_true", help="roles from single blankets instead")
    arguments = parser.parse_args()
    komb.markov_blankets(komb.boolean_table("and", 500)).to_networkx()  # compiled once
    header = ["network", "rows", "sample", "method", "SHD", "too many", "missing", "direction"]
    for name in arguments.names:
        for n_rows in arguments.rows:
            samples = range(1, arguments.samples + 1)
            if arguments.roles:
                print_roles(name, n_rows, samples)
                continue
            rows = [row for s in samples for row in measure(name, n_rows, s, arguments)]
            print_table([*header, "seconds"], rows)
            print(flush=True)


if __name__ == "__main__":
    main()
