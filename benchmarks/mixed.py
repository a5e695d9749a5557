"""The test for mixed columns beside those of other libraries, and the blankets it leads to.

    python benchmarks/mixed.py calibration [--draws 400] [--rows 200 1000 5000] [--jobs 2]
        [--conditions 0 1 2 3] [--others]
    python benchmarks/mixed.py power [--draws 200] [--slow-draws 50] [--rows 200] [--kinds xor ...]
    python benchmarks/mixed.py speed [--rows 200 500 1000]
    python benchmarks/mixed.py blankets [--networks 4] [--first 0] [--rows 500]
    python benchmarks/mixed.py calls --rows 5000 [--columns 2000]

``calibration``: target and candidate depend on 0 to 3 conditions of every kind (continuous, heavy
tails, skewed, ordinal, nominal) in one of four ways (linear; nonlinear functions drawn at random;
spreads that depend on a condition; heavy-tailed noise), and on nothing else. Printed is how often
each says "dependent". ``--others``: conditions and ways that were not looked at when the constants
of the test were chosen (two layers of a neural network), or were with other conditions (products,
the largest of several functions, steps, waves). ``power``: one kind of dependence a line.
``speed``: seconds a test, as ratios. ``blankets``: random networks with linear, nonlinear,
categorical and interaction mechanisms; mean F1 over all targets. ``calls``: processor seconds of
the default call on a wide table of numbers, beside bins, on a long network of mixed columns, and on
numbers that depend on each other so that no few of them separate the others.

Peers: Fisher's z, KCI and RCIT of causal-learn (RCoT is not in that library), CMIknn of tigramite
(100 shuffles), and komb's test ``auto`` on quantiles. tigramite is optional.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

import komb
from common import best_of, f1_score, print_table
from komb.citests.engines import open_engine
from komb.data.table import DiscreteTable
from komb.engine.engine import Engine
from komb.engine.features.columns import FeatureColumns
from komb.engine.features.feature_engine import FeatureEngine
from komb.search.auto import find_blanket
from komb.search.task import Task

Values = npt.NDArray[Any]
ALPHAS = (0.05, 0.01)
BINS = 4


@dataclass(frozen=True)
class Column:
    """Values, and whether they are numbers rather than categories."""

    values: Values
    is_number: bool = True


@dataclass(frozen=True)
class Case:
    """One test: a target, a candidate and conditions."""

    target: Column
    candidate: Column
    conditions: tuple[Column, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """All of them."""
        return (self.target, self.candidate, *self.conditions)


# ------------------------------------------------------------------------------------------ tests


def codes_of(column: Column, bins: int = BINS) -> Values:
    """Categories, or quantiles of numbers."""
    if not column.is_number:
        return column.values.astype(np.int64)
    cuts = np.quantile(column.values, np.arange(1, bins) / bins)
    return np.searchsorted(np.unique(cuts), column.values, side="right")


def mixed_engine(columns: Sequence[Column], alpha: float = 0.01) -> Engine:
    table = DiscreteTable.from_codes(np.column_stack([codes_of(each) for each in columns]))
    numbers = {i: each.values.astype(float) for i, each in enumerate(columns) if each.is_number}
    return FeatureEngine(
        FeatureColumns.of(table, numbers, ()),
        open_engine(table, test="auto", alpha=alpha, df="adjusted"),
        alpha=alpha,
    )


def binned_engine(columns: Sequence[Column], alpha: float = 0.01) -> Engine:
    table = DiscreteTable.from_codes(np.column_stack([codes_of(each) for each in columns]))
    return open_engine(table, test="auto", alpha=alpha, df="adjusted")


def p_value_of(engine: Engine, case: Case) -> float:
    p_value = engine.outcome(0, 1, frozenset(range(2, len(case.columns)))).p_value
    assert p_value is not None
    return p_value


def komb_mixed(case: Case) -> float:
    return p_value_of(mixed_engine(case.columns), case)


def komb_binned(case: Case) -> float:
    return p_value_of(binned_engine(case.columns), case)


def causal_learn(kind: str, case: Case) -> float:
    from causallearn.utils.cit import CIT

    np.random.seed(0)  # noqa: NPY002  RCIT draws from there
    data = np.column_stack([each.values.astype(float) for each in case.columns])
    return float(CIT(data, kind)(0, 1, list(range(2, data.shape[1]))))


def cmi_knn(case: Case) -> float:
    from tigramite.independence_tests.cmiknn import CMIknn

    data = np.array([each.values.astype(float) for each in case.columns])
    kinds = np.array([0, 1] + [2] * len(case.conditions))
    test = CMIknn(sig_samples=100, significance="shuffle_test", sig_blocklength=1, workers=1)
    measured = test.get_dependence_measure(data, kinds)
    return float(np.atleast_1d(test.get_shuffle_significance(data, kinds, measured))[0])


Test = Callable[[Case], float]
OURS: dict[str, Test] = {"komb": komb_mixed}
QUICK: dict[str, Test] = {
    "Fisher z": partial(causal_learn, "fisherz"),
    "RCIT": partial(causal_learn, "rcit"),
    f"{BINS} quantiles": komb_binned,
}
KCI: dict[str, Test] = {"KCI": partial(causal_learn, "kci")}
SLOW: dict[str, Test] = {"CMIknn": cmi_knn}


def has_tigramite() -> bool:
    from importlib.util import find_spec

    return find_spec("tigramite") is not None


# ------------------------------------------------------------------------------------ calibration

CONDITIONS: tuple[tuple[str, ...], ...] = (
    (),
    ("normal",),
    ("ordinal",),
    ("nominal",),
    ("normal", "t3"),
    ("skewed", "nominal"),
    ("normal", "t3", "uniform"),
    ("normal", "ordinal", "nominal"),
)
VARIABLES = (
    ("continuous", "continuous"),
    ("binary", "continuous"),
    ("continuous", "nominal"),
    ("ordinal", "binary"),
)
MECHANISMS = ("linear", "nonlinear", "spread", "heavy")
OTHER_CONDITIONS = (("skewed",), ("uniform", "t3"), ("skewed", "uniform", "t3"))
OTHER_MECHANISMS = ("products", "largest", "steps", "waves", "two layers")


def draw_condition(rng: np.random.Generator, n_rows: int, kind: str) -> Column:
    if kind == "normal":
        return Column(rng.normal(size=n_rows))
    if kind == "t3":
        return Column(rng.standard_t(3, size=n_rows))
    if kind == "uniform":
        return Column(rng.uniform(-1.7, 1.7, size=n_rows))
    if kind == "skewed":
        return Column(np.exp(rng.normal(size=n_rows)))
    if kind == "ordinal":
        return Column(np.floor(5 * rng.beta(1, 2, size=n_rows)))
    return Column(rng.choice(6, size=n_rows, p=[0.4, 0.25, 0.15, 0.1, 0.06, 0.04]), False)


def draw_effect(rng: np.random.Generator, column: Column, mechanism: str) -> Values:
    """Draw a function of a column, of about unit variance."""
    if not column.is_number:
        by_level: Values = rng.normal(size=int(column.values.max()) + 1)
        effect: Values = by_level[column.values]
        return effect
    z = (column.values - column.values.mean()) / max(column.values.std(), 1e-9)
    if mechanism == "linear" or (mechanism == "spread" and rng.random() < 0.5):
        line: Values = z * rng.choice([-1, 1])
        return line
    functions: tuple[Callable[[], Values], ...] = (
        lambda: (z**2 - 1) / 1.4,
        lambda: 1.4 * np.sin(rng.uniform(1, 2) * z),
        lambda: 1.3 * np.tanh(2 * z),
        lambda: 1.6 * (np.abs(z) - 0.8),
        lambda: np.exp(np.clip(z, -4, 2.5) / 1.5) - 1.25,
    )
    drawn: Values = functions[rng.integers(len(functions))]()
    return drawn


def draw_signal(
    rng: np.random.Generator, conditions: Sequence[Column], n_rows: int, mechanism: str
) -> Values:
    """Draw a function of all conditions."""
    if mechanism == "steps":
        return sum((draw_steps(rng, each) for each in conditions), start=np.zeros(n_rows))
    if mechanism in {"waves", "two layers"}:
        scaled = np.array([each.values / each.values.std() for each in conditions])
        if mechanism == "waves":
            phases = rng.uniform(0, 6, (len(scaled), 1))
            waves = np.sin(rng.uniform(2, 3, (len(scaled), 1)) * scaled + phases)
            return np.asarray(waves.sum(axis=0))
        hidden = np.tanh(1.5 * rng.normal(size=(4, len(scaled))) @ scaled + rng.normal(size=(4, 1)))
        return np.asarray(rng.normal(size=4) @ hidden)
    effects = [draw_effect(rng, each, mechanism) for each in conditions]
    if mechanism == "largest":
        return np.asarray(1.5 * np.maximum.reduce(effects))
    weight = (0.8 if mechanism == "products" else 1.5) / np.sqrt(max(1, len(effects)))
    signal = sum((weight * each for each in effects), start=np.zeros(n_rows))
    if mechanism == "products":
        for one, other in combinations(effects, 2):
            signal += 0.7 * one * np.clip(other, -3, 3)
    return signal


def draw_steps(rng: np.random.Generator, column: Column) -> Values:
    """Draw a function of a column with two jumps."""
    cuts = np.quantile(column.values, np.sort(rng.uniform(0.1, 0.9, 2)))
    steps: Values = rng.normal(size=3)[np.searchsorted(cuts, column.values)]
    return steps


def draw_variable(
    rng: np.random.Generator, conditions: Sequence[Column], n_rows: int, kind: str, mechanism: str
) -> Column:
    """Draw a variable that depends on the conditions and on nothing else."""
    signal = draw_signal(rng, conditions, n_rows, mechanism)
    if kind == "nominal":
        logits = 0.7 * rng.normal(size=4) + np.outer(signal, rng.normal(size=4))
        drawn = logits + rng.gumbel(size=logits.shape)
        return Column(drawn.argmax(axis=1), False)
    noise: Values = (
        rng.standard_t(3, size=n_rows) / 1.7 if mechanism == "heavy" else rng.normal(size=n_rows)
    )
    if mechanism == "spread" and conditions:
        first = conditions[0]
        if first.is_number:
            z = (first.values - first.values.mean()) / first.values.std()
            noise *= np.exp(0.7 * np.clip(z, -2.5, 2.5))
        else:
            noise *= np.array([0.4, 1.0, 2.0, 0.7, 1.5, 0.5])[first.values]
    values = signal + noise
    if kind == "ordinal":
        return Column(np.digitize(values, [-0.5, 0.3, 1, 2]).astype(float))
    if kind == "binary":
        return Column((values > 0.8).astype(np.int64), False)
    return Column(values)


def draw_null(seed: Sequence[int], n_rows: int, kinds: Sequence[str], names: Sequence[str]) -> Case:
    """Draw a case in which target and candidate are independent given the conditions."""
    rng = np.random.default_rng(seed)
    target, candidate, mechanism = names
    conditions = tuple(draw_condition(rng, n_rows, kind) for kind in kinds)
    own = draw_variable(rng, conditions, n_rows, target, mechanism)
    return Case(own, draw_variable(rng, conditions, n_rows, candidate, mechanism), conditions)


def run_null(n_rows: int, kinds: Sequence[str], mechanism: str, draws: int) -> list[Any]:
    """Count rejections of one cell, of each pair of kinds of variables."""
    found = []
    for pair in VARIABLES:
        cases = [draw_null([n_rows, i], n_rows, kinds, (*pair, mechanism)) for i in range(draws)]
        p_values = np.array([komb_mixed(case) for case in cases])
        rates = [float((p_values <= alpha).mean()) for alpha in ALPHAS]
        found.append((n_rows, " ".join(kinds) or "none", mechanism, " ~ ".join(pair), rates))
    return found


def calibration(options: argparse.Namespace) -> None:
    from joblib import Parallel, delayed

    settings = product(CONDITIONS, MECHANISMS)
    if options.others:
        settings = product(OTHER_CONDITIONS, OTHER_MECHANISMS)
    cells = [
        (n_rows, kinds, mechanism)
        for n_rows, (kinds, mechanism) in product(options.rows, settings)
        if len(kinds) in options.conditions and (kinds or mechanism == "heavy")
    ]
    work = (delayed(run_null)(*cell, options.draws) for cell in cells)
    found = [rate for part in Parallel(n_jobs=options.jobs)(work) for rate in part]
    lines, is_within = [], dict.fromkeys(ALPHAS, 0)
    for n_rows, kinds, mechanism, pair, rates in found:
        for alpha, rate in zip(ALPHAS, rates, strict=True):
            error = np.sqrt(alpha * (1 - alpha) / options.draws)
            is_within[alpha] += 0.5 * alpha - 2 * error <= rate <= 1.5 * alpha + 2 * error
        lines.append((str(n_rows), kinds, mechanism, pair, *(f"{rate:.3f}" for rate in rates)))
    print_table(
        ["rows", "conditions", "mechanism", "target ~ candidate", "at .05", "at .01"], lines
    )
    for place, alpha in enumerate(ALPHAS):
        rates_at = np.array([rates[place] for *_, rates in found])
        print(
            f"level {alpha}: mean {rates_at.mean():.4f}, from {rates_at.min():.3f} to "
            f"{rates_at.max():.3f}; within [.5, 1.5] x level, give or take two standard errors of "
            f"{options.draws} draws: {is_within[alpha]} of {len(found)} cells"
        )


# ------------------------------------------------------------------------------------------ power

STRENGTHS = {  # at 200 rows; falls with the root of the rows
    "linear": 0.23, "linear, 3 conditions": 0.23, "linear, none": 0.2, "monotone": 0.14,
    "quadratic": 0.22, "sine": 0.4, "spread, slope": 0.25, "spread, both ends": 0.6,
    "xor": 0.3, "sign of product": 0.28, "product": 0.24, "binary, linear": 0.5,
}  # fmt: skip


def draw_alternative(kind: str, seed: Sequence[int], n_rows: int) -> Case:
    """Draw a case in which the candidate has an effect."""
    rng = np.random.default_rng(seed)
    c = STRENGTHS[kind] * np.sqrt(200 / n_rows)
    e, a, b = rng.normal(size=(3, n_rows))
    if kind in {"xor", "sign of product", "product"}:
        if kind == "xor":
            keeps = rng.random(n_rows) < c
            y = np.where(keeps, (a > 0) != (b > 0), rng.random(n_rows) < 0.5).astype(np.int64)
            return Case(Column(y, False), Column(a), (Column(b),))
        effect = np.sign(a * b) if kind == "sign of product" else a * b
        return Case(Column(c * effect + e), Column(a), (Column(b),))
    if kind == "linear, 3 conditions":
        given = rng.normal(size=(3, n_rows))
        x = 0.4 * given.sum(axis=0) + a
        return Case(
            Column(0.4 * given.sum(axis=0) + c * x + e), Column(x), tuple(map(Column, given))
        )
    x = 0.6 * b + 0.8 * a
    if kind == "linear, none":
        return Case(Column(c * x + e), Column(x))
    if kind == "binary, linear":
        y = (0.5 * b + c * x + rng.logistic(size=n_rows) > 0).astype(np.int64)
        return Case(Column(y, False), Column(x), (Column(b),))
    effects = {
        "linear": c * x + e, "monotone": c * np.exp(x) + e, "quadratic": c * x**2 + e,
        "sine": c * np.sin(3 * x) + e, "spread, slope": np.exp(c * x) * e,
        "spread, both ends": (1 + c * np.abs(x)) * e,
    }  # fmt: skip
    return Case(Column(0.6 * b + effects[kind]), Column(x), (Column(b),))


def run_power(kind: str, n_rows: int, draws: int, slow_draws: int) -> list[dict[str, float]]:
    """Measure how often each test says "dependent", at each level."""
    tests = OURS | QUICK | (KCI if n_rows <= 1000 else {})
    slow = SLOW if has_tigramite() and slow_draws and n_rows <= 500 else {}
    p_values: dict[str, list[float]] = {}
    for draw in range(draws):
        case = draw_alternative(kind, [n_rows, draw], n_rows)
        for name, test in (tests | slow if draw < slow_draws else tests).items():
            p_values.setdefault(name, []).append(test(case))
    return [
        {name: float((np.array(own) <= alpha).mean()) for name, own in p_values.items()}
        for alpha in ALPHAS
    ]


def power(options: argparse.Namespace) -> None:
    from joblib import Parallel, delayed

    for n_rows in options.rows:
        work = (
            delayed(run_power)(kind, n_rows, options.draws, options.slow_draws)
            for kind in options.kinds
        )
        found = Parallel(n_jobs=options.jobs)(work)
        for place, alpha in enumerate(ALPHAS):
            names = list(found[0][place])
            print(f"\npower at level {alpha}, {n_rows} rows, {options.draws} draws")
            lines = []
            for kind, rates in zip(options.kinds, found, strict=True):
                own = rates[place]
                best = max(rate for name, rate in own.items() if name != "komb")
                lines.append(
                    (kind, *(f"{own[name]:.2f}" for name in names), f"{own['komb'] - best:+.2f}")
                )
            print_table(["dependence", *names, "komb less the best other"], lines)


# ------------------------------------------------------------------------------------------ speed


def speed(options: argparse.Namespace) -> None:
    """Time one test of an engine that has many to do, and KCI on the same columns."""
    lines = []
    for n_rows, n_given in product(options.rows, (0, 1, 3)):
        rng = np.random.default_rng(n_rows)
        data = rng.normal(size=(n_rows, 40 + n_given))
        data[:, 0] += 0.5 * data[:, 1:].sum(axis=1) / np.sqrt(40)
        columns = [Column(values) for values in data.T]
        candidates, given = list(range(1, 40)), frozenset(range(40, 40 + n_given))
        engine = mixed_engine(columns)
        engine.evidence(0, [(set(candidates[:2]), frozenset())])  # compiles

        def ours(
            columns: Sequence[Column] = columns,
            candidates: list[int] = candidates,
            given: frozenset[int] = given,
        ) -> None:
            mixed_engine(columns).evidence(0, [(set(candidates), given)])

        chosen = tuple(columns[z] for z in sorted(given))
        case = Case(columns[0], columns[1], chosen)
        own = best_of(3, ours, time.process_time) / len(candidates)
        peers = {
            name: best_of(2, partial(test, case), time.process_time)
            for name, test in (QUICK | KCI).items()
        }
        ratios = [f"{seconds / own:.0f}x" for seconds in peers.values()]
        lines.append((str(n_rows), str(n_given), f"{1000 * own:.2f} ms", *ratios))
    names = list(QUICK | KCI)
    print_table(["rows", "conditions", "komb, a test of 39", *names], lines)


# --------------------------------------------------------------------------------------- blankets


def draw_network(
    seed: int, n_rows: int, n_columns: int = 12
) -> tuple[list[Column], list[set[int]]]:
    """Draw a table out of a random network, and its true blankets."""
    rng = np.random.default_rng(seed)
    columns: list[Column] = []
    parents: list[list[int]] = []
    for own in range(n_columns):
        n_parents = min(own, int(rng.choice([0, 1, 2, 3], p=[0.15, 0.35, 0.4, 0.1])))
        chosen = sorted(rng.choice(own, size=n_parents, replace=False).tolist()) if own else []
        columns.append(_draw_child(rng, [columns[p] for p in chosen], n_rows))
        parents.append(chosen)
    children = [[c for c in range(n_columns) if p in parents[c]] for p in range(n_columns)]
    blankets = [
        {*parents[x], *children[x], *(p for c in children[x] for p in parents[c])} - {x}
        for x in range(n_columns)
    ]
    return columns, blankets


def _draw_child(rng: np.random.Generator, parents: Sequence[Column], n_rows: int) -> Column:
    """Draw a column: continuous, skewed, ordinal or nominal, by one of several mechanisms."""
    scaled = [
        (p.values - p.values.mean()) / p.values.std()
        if p.is_number
        else rng.permutation(np.linspace(-1.3, 1.3, int(p.values.max()) + 1))[p.values]
        for p in parents
    ]
    signal = np.zeros(n_rows)
    if len(scaled) == 2 and rng.random() < 0.4:
        signal = 1.2 * scaled[0] * scaled[1]
    else:
        for z in scaled:
            functions = (
                z,
                1.3 * np.tanh(2 * z),
                0.7 * (z**2 - 1),
                np.exp(z.clip(-3, 2) / 1.5) - 1.2,
            )
            signal = signal + rng.choice([-1, 1]) * functions[rng.integers(len(functions))]
    kind = rng.choice(["continuous", "skewed", "ordinal", "nominal"], p=[0.45, 0.15, 0.15, 0.25])
    if kind == "nominal":
        n_levels = int(rng.integers(2, 5))
        logits = 1.5 * np.outer(signal, rng.normal(size=n_levels))
        return Column((logits + rng.gumbel(size=logits.shape)).argmax(axis=1), False)
    values = signal + 0.7 * rng.normal(size=n_rows)
    if kind == "ordinal":
        return Column(np.digitize(values, [-0.8, 0, 0.8, 1.6]).astype(float))
    return Column(np.exp(values) if kind == "skewed" else values)


def komb_blanket(make: Callable[..., Engine], columns: Sequence[Column]) -> list[set[int]]:
    """Find all blankets with one engine."""
    from komb.search._thresholds import choose_alpha

    n_rows, everything = len(columns[0].values), frozenset(range(len(columns)))
    engine = make(columns, choose_alpha(n_rows, len(columns)).value)
    return [
        set(find_blanket(engine, Task(target=y, candidates=everything - {y})).witnesses)
        for y in sorted(everything)
    ]


def iamb(kind: str, columns: Sequence[Column]) -> list[set[int]]:
    """Find all blankets by IAMB with a test of causal-learn at level 0.01."""
    from causallearn.utils.cit import CIT

    data = np.column_stack([each.values.astype(float) for each in columns])
    test = CIT(data, kind)
    everything = range(len(columns))
    return [
        _iamb(lambda x, given, y=y: test(y, x, sorted(given)), y, everything) for y in everything
    ]


def _iamb(p_value: Callable[..., float], target: int, everything: Sequence[int]) -> set[int]:
    blanket: set[int] = set()
    while True:
        others = [x for x in everything if x != target and x not in blanket]
        p_values = {x: p_value(x, blanket) for x in others}
        best = min(p_values, key=p_values.__getitem__, default=None)
        if best is None or p_values[best] > 0.01:
            break
        blanket.add(best)
    for x in sorted(blanket):
        if p_value(x, blanket - {x}) > 0.01:
            blanket.discard(x)
    return blanket


def score_network(seed: int, n_rows: int, has_kci: bool) -> dict[str, tuple[float, float]]:
    """Measure the mean F1 of each way, and its seconds, on one network."""
    columns, truth = draw_network(seed, n_rows)
    ways: dict[str, Callable[[], list[set[int]]]] = {
        "komb, mixed": partial(komb_blanket, mixed_engine, columns),
        f"komb, {BINS} quantiles": partial(komb_blanket, binned_engine, columns),
        "IAMB, Fisher z": partial(iamb, "fisherz", columns),
        "IAMB, RCIT": partial(iamb, "rcit", columns),
    }
    if has_kci:
        ways["IAMB, KCI"] = partial(iamb, "kci", columns)
    found = {}
    for name, way in ways.items():
        started = time.process_time()
        blankets = way()
        scores = [f1_score(true, own) for true, own in zip(truth, blankets, strict=True)]
        found[name] = float(np.mean(scores)), time.process_time() - started
    return found


def blankets(options: argparse.Namespace) -> None:
    from joblib import Parallel, delayed

    for n_rows in options.rows:
        work = (
            delayed(score_network)(seed, n_rows, n_rows <= options.kci_rows)
            for seed in range(options.first, options.first + options.networks)
        )
        found = Parallel(n_jobs=options.jobs)(work)
        lines = []
        for name in found[0]:
            scores = [each[name][0] for each in found]
            seconds = [each[name][1] for each in found]
            error = np.std(scores) / np.sqrt(len(scores))
            lines.append(
                (name, f"{np.mean(scores):.3f}", f"{error:.3f}", f"{np.mean(seconds):.1f}")
            )
        print(f"\n{options.networks} networks of 12 columns, {n_rows} rows, every target")
        print_table(["way", "mean F1", "standard error", "seconds a network"], lines)


# ------------------------------------------------------------------------------------------ calls


def draw_alike() -> dict[str, dict[str, Values]]:
    """Draw tables of numbers of which no few separate the others from the target, y."""

    def named(x: Values, y: Values, size: float = 1.0) -> dict[str, Values]:
        y = y + size * rng.normal(size=len(y))
        return {f"x{i}": own for i, own in enumerate(x.T)} | {"y": y}

    rng = np.random.default_rng(1)
    causes = rng.normal(size=(10_000, 3))
    copies = causes[:, np.arange(20) // 7] + 0.3 * rng.normal(size=(10_000, 20))
    series = rng.normal(size=(5_000, 60))
    for place in range(1, 60):
        series[:, place] = 0.95 * series[:, place - 1] + 0.3 * series[:, place]
    common = 0.7 * rng.normal(size=(5_000, 1)) + 0.7 * rng.normal(size=(5_000, 30))
    return {
        "20 copies of 3 causes, 10,000 rows": named(copies, causes.sum(axis=1)),
        "60 numbers in a row, r = .95, 5,000 rows": named(series, series[:, [10, 30, 50]].sum(1)),
        "15 of 30 alike add up, 5,000 rows": named(common, common[:, :15].sum(axis=1), 2.0),
    }


def calls(options: argparse.Namespace) -> None:
    """Time the default call."""
    rng = np.random.default_rng(0)
    numbers = {f"x{i}": values for i, values in enumerate(rng.normal(size=(options.columns, 500)))}
    numbers["y"] = np.sign(numbers["x0"] * numbers["x1"]) + rng.normal(size=500)
    columns, truth = draw_network(0, options.rows[0], n_columns=30)
    network = {
        str(i): each.values if each.is_number else each.values.astype(str)
        for i, each in enumerate(columns)
    }
    largest = sorted(range(30), key=lambda x: -len(truth[x]))[:2]
    work: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
        (f"{options.columns} numbers, 500 rows", numbers, "y", {}),
        ("the same, by bins", numbers, "y", {"discretize": "quantile"}),
        *((f"30 mixed columns, {options.rows[0]} rows", network, str(x), {}) for x in largest),
        *((label, data, "y", {}) for label, data in draw_alike().items()),
    ]
    komb.markov_blanket({"a": rng.normal(size=100), "b": rng.normal(size=100)}, "a")  # compiles
    lines = []
    for label, data, target, reading in work:
        started = time.process_time()
        blanket = komb.markov_blanket(komb.table(data, **reading), target, n_jobs=1)
        seconds = time.process_time() - started
        lines.append(
            (label, target, f"{seconds:.1f}", f"{blanket.tests:,}", str(len(blanket.members)))
        )
    print_table(["table", "target", "processor seconds", "tests", "members"], lines)


COMMANDS = {
    "calibration": calibration, "power": power, "speed": speed, "blankets": blankets,
    "calls": calls,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=list(COMMANDS))
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--slow-draws", type=int, default=0, help="of CMIknn")
    parser.add_argument("--rows", type=int, nargs="+", default=[200])
    parser.add_argument("--kinds", nargs="+", choices=STRENGTHS, default=list(STRENGTHS))
    parser.add_argument("--conditions", type=int, nargs="+", default=[0, 1, 2, 3], help="how many")
    parser.add_argument("--others", action="store_true", help="other conditions and mechanisms")
    parser.add_argument("--columns", type=int, default=2000, help="of the wide table of calls")
    parser.add_argument("--networks", type=int, default=4)
    parser.add_argument("--first", type=int, default=0, help="seed of the first network")
    parser.add_argument("--kci-rows", type=int, default=200, help="up to which KCI finds blankets")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    COMMANDS[options.what](options)


if __name__ == "__main__":
    main()
