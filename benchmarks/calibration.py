"""Type-I error and power of every conditional-independence test, beside those of other libraries.

    python benchmarks/calibration.py --out FOLDER [--quick] [--jobs 2] [--draws 1000]

A table has conditions ``Z`` with skewed levels, a target ``Y`` and five candidates ``X``, each of
which depends on all of ``Z`` through a randomly drawn, skewed conditional distribution (a softmax
of one random effect a condition). For the type-I error that is all, so ``X`` and ``Y`` are
independent given ``Z``. For the power, every ``X`` takes the level of ``Y`` in one row of seven.
All tests see the same tables, five draws each; other libraries are slow and get one of the five.
Rates at both levels come from the same tests. A full run takes some five minutes on two cores.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from common import print_table
from komb.citests.engines import open_engine
from komb.data.table import DiscreteTable
from komb.engine.questions import Outcome

LEVELS, CONDITIONS, ROWS = (2, 3, 5, 10, 20), (0, 1, 2, 3), (100, 500, 1000, 5000)
QUICK = (2, 3, 10), (0, 1, 2), (100, 1000)
ALPHAS = (0.01, 0.05)
REPEATED = 1 / 7  # of the rows in which X takes the level of Y, for the power
CANDIDATES = 5  # a table
MANY_ROWS = 1000  # with more, half as many tables are drawn
MAX_PEER_CELLS = 2_000_000  # pgmpy makes a dense table of all possible strata

OURS = {
    "auto": ("auto", "adjusted"),
    "perm": ("perm", "observed"),
    "g": ("g", "observed"),
    "g adjusted": ("g", "adjusted"),
    "chi2": ("chi2", "observed"),
    "chi2 adjusted": ("chi2", "adjusted"),
    "sci": ("sci", "observed"),
    "g-sci": ("g-sci", "observed"),
}
PEERS = ("pgmpy G", "pgmpy chi2", "causal-learn G", "causal-learn chi2")
TESTS = (*OURS, *PEERS)

Codes = npt.NDArray[np.int64]
Decisions = dict[str, Callable[[float], list[bool]]]  # of a test, at a level


@dataclass(frozen=True)
class Cell:
    """One setting, and what came of it."""

    levels: int
    conditions: int
    rows: int

    @property
    def rows_a_cell(self) -> float:
        """Of the table, if all strata were equally frequent."""
        return self.rows / float(self.levels ** (self.conditions + 2))


@dataclass(frozen=True)
class Rate:
    """How often one test said "dependent"."""

    cell: Cell
    test: str
    kind: str  # "type-I error" or "power"
    alpha: float
    draws: int
    rejected: int

    @property
    def value(self) -> float:
        """As a share."""
        return self.rejected / self.draws


# ------------------------------------------------------------------------------------------- data


def draw_levels(effects: Sequence[Codes], levels: int, rng: np.random.Generator) -> Codes:
    """Draw a variable whose skewed distribution depends on others."""
    logits = rng.normal(0, 1, levels)[None, :]
    for other in effects:
        logits = logits + rng.normal(0, 1, (levels, levels))[other]
    chances = np.exp(logits)
    bounds = np.cumsum(chances, axis=1) / chances.sum(axis=1, keepdims=True)
    n_rows = len(effects[0]) if effects else -1
    drawn: Codes = (rng.random(n_rows)[:, None] > bounds[:, :-1]).sum(axis=1)
    return drawn


def draw_data(cell: Cell, has_dependence: bool, rng: np.random.Generator) -> Codes:
    """Draw columns Y, the candidates and Z."""
    nothing = np.zeros(cell.rows, dtype=np.int64)
    given = [draw_levels([nothing], cell.levels, rng) for _ in range(cell.conditions)]
    y, *candidates = (
        draw_levels(given or [nothing], cell.levels, rng) for _ in range(1 + CANDIDATES)
    )
    if has_dependence:
        candidates = [np.where(rng.random(cell.rows) < REPEATED, y, x) for x in candidates]
    return np.column_stack([y, *candidates, *given])


# ------------------------------------------------------------------------------------------ tests


def our_decisions(data: Codes, seed: int) -> Decisions:
    table = DiscreteTable.from_codes(data)
    given = frozenset(range(1 + CANDIDATES, data.shape[1]))
    tests = [(candidate, given) for candidate in range(1, 1 + CANDIDATES)]
    found: Decisions = {}
    for label, (test, df) in OURS.items():
        outcomes = open_engine(table, test, df=df, seed=seed).outcomes(0, tests)
        found[label] = partial(_decide, outcomes)
    return found


def _decide(outcomes: Sequence[Outcome], alpha: float) -> list[bool]:
    """Compare p-values with a level; a test without one has decided."""
    return [
        not each.independent if each.p_value is None else each.p_value <= alpha for each in outcomes
    ]


def peer_decisions(data: Codes, cell: Cell) -> Decisions:
    """Decide for the first candidate only."""
    tested = np.delete(data, range(2, 1 + CANDIDATES), axis=1)
    p_values = causal_learn_p_values(tested)
    if cell.levels ** (cell.conditions + 2) <= MAX_PEER_CELLS:
        p_values |= pgmpy_p_values(tested)
    return {label: partial(_compare, p_value) for label, p_value in p_values.items()}


def _compare(p_value: float, alpha: float) -> list[bool]:
    return [p_value <= alpha]


def causal_learn_p_values(data: Codes) -> dict[str, float]:
    from causallearn.utils.cit import CIT

    given = list(range(2, data.shape[1]))
    kinds = {"causal-learn G": "gsq", "causal-learn chi2": "chisq"}
    return {label: float(CIT(data, kind)(0, 1, given)) for label, kind in kinds.items()}


def pgmpy_p_values(data: Codes) -> dict[str, float]:
    import pandas as pd
    from pgmpy.ci_tests import ChiSquare, GSq

    frame = pd.DataFrame(data, columns=[f"v{i}" for i in range(data.shape[1])])
    given = list(frame.columns[2:])
    found = {}
    for label, kind in {"pgmpy G": GSq, "pgmpy chi2": ChiSquare}.items():
        test = kind(data=frame)
        test(X="v0", Y="v1", Z=given, significance_level=0.05)
        found[label] = float(test.p_value_)
    return found


# ------------------------------------------------------------------------------------------- runs


def run_cell(cell: Cell, tables: dict[str, int], has_peers: bool) -> list[Rate]:
    """Draw, test and count."""
    rates = []
    for kind, n_tables in tables.items():
        if cell.rows > MANY_ROWS:
            n_tables = -(-n_tables // 2)
        counts: dict[tuple[str, float], list[bool]] = {}
        for draw in range(n_tables):
            entropy = [cell.levels, cell.conditions, cell.rows, kind == "power", draw]
            data = draw_data(cell, kind == "power", np.random.default_rng(entropy))
            decisions = our_decisions(data, draw)
            if has_peers:
                decisions |= peer_decisions(data, cell)
            for label, decide in decisions.items():
                for alpha in ALPHAS:
                    counts.setdefault((label, alpha), []).extend(decide(alpha))
        rates += [
            Rate(cell, label, kind, alpha, len(found), sum(found))
            for (label, alpha), found in counts.items()
        ]
    return rates


def run_all(
    cells: Iterable[Cell], tables: dict[str, int], jobs: int, has_peers: bool
) -> list[Rate]:
    from joblib import Parallel, delayed

    largest_first = sorted(cells, key=lambda cell: (-cell.rows, -cell.levels, -cell.conditions))
    parts = Parallel(n_jobs=jobs)(
        delayed(run_cell)(cell, tables, has_peers) for cell in largest_first
    )
    rates = [rate for part in parts for rate in part]
    order = {label: place for place, label in enumerate(TESTS)}
    return sorted(
        rates,
        key=lambda r: (r.kind, r.alpha, r.cell.rows, r.cell.conditions, r.cell.levels,
                       order[r.test]),
    )  # fmt: skip


# ----------------------------------------------------------------------------------------- output


def tabulate(rates: Sequence[Rate], kind: str, alpha: float) -> tuple[list[str], list[list[str]]]:
    """One line per cell, one column per test."""
    chosen = {(r.cell, r.test): r for r in rates if r.kind == kind and r.alpha == alpha}
    tests = [test for test in TESTS if any(test == other for _, other in chosen)]
    header = ["rows", "conditions", "levels", "rows per cell", *tests]
    lines = []
    for cell in dict.fromkeys(cell for cell, _ in chosen):
        facts = [str(cell.rows), str(cell.conditions), str(cell.levels), f"{cell.rows_a_cell:.2g}"]
        values = [chosen.get((cell, test)) for test in tests]
        lines.append([*facts, *("" if rate is None else f"{rate.value:.3f}" for rate in values)])
    return header, lines


def describe(rates: Sequence[Rate], kind: str, alpha: float) -> str:
    """Say what a table shows, and on how many draws it rests."""
    ours, theirs = (
        max((r.draws for r in rates if r.kind == kind and (r.test in OURS) is is_ours), default=0)
        for is_ours in (True, False)
    )
    peers = f", other libraries {theirs}" if theirs else ""
    some = f"{ours} draws{peers}; above {MANY_ROWS} rows half as many"
    return f"{kind[0].upper()}{kind[1:]} at alpha = {alpha} ({some})"


def write_tables(rates: Sequence[Rate], folder: Path) -> None:
    with (folder / "calibration.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["rows", "conditions", "levels", "test", "kind", "alpha", "draws", "rate"])
        for r in rates:
            cell = r.cell
            writer.writerow([cell.rows, cell.conditions, cell.levels, r.test, r.kind, r.alpha,
                             r.draws, f"{r.value:.4f}"])  # fmt: skip
    parts = ["# Calibration of conditional-independence tests"]
    for kind, alpha in product(("type-I error", "power"), ALPHAS):
        header, lines = tabulate(rates, kind, alpha)
        table = [header, ["---"] * len(header), *lines]
        parts.append(f"## {describe(rates, kind, alpha)}")
        parts.append("\n".join("| " + " | ".join(line) + " |" for line in table))
    (folder / "calibration.md").write_text("\n\n".join(parts) + "\n")


# ---------------------------------------------------------------------------------------- picture

# Okabe and Ito's colours, which people with any colour vision can tell apart
STYLES: dict[str, dict[str, Any]] = {
    "auto": {"color": "#7F3C8D", "linestyle": "-", "marker": "*", "linewidth": 2.2},
    "g": {"color": "#D55E00", "linestyle": "-", "marker": "s"},
    "g adjusted": {"color": "#E69F00", "linestyle": "-", "marker": "D"},
    "chi2": {"color": "#0072B2", "linestyle": "--", "marker": "^"},
    "chi2 adjusted": {"color": "#56B4E9", "linestyle": "--", "marker": "v"},
    "sci": {"color": "#CC79A7", "linestyle": ":", "marker": "P"},
    "g-sci": {"color": "#009E73", "linestyle": "-.", "marker": "X"},
    "perm": {"color": "black", "linestyle": "-", "marker": "o", "linewidth": 2.2},
    "pgmpy G": {"color": "0.35", "linestyle": "none", "marker": "$G$"},
    "pgmpy chi2": {"color": "0.35", "linestyle": "none", "marker": r"$\chi^2$"},
    "causal-learn G": {"color": "0.6", "linestyle": "none", "marker": "$G$"},
    "causal-learn chi2": {"color": "0.6", "linestyle": "none", "marker": r"$\chi^2$"},
}
SHIFTS = {"pgmpy": 0.2, "causal-learn": 0.42}  # beside the lines, not on them
LOWEST = 1e-3  # rates below are drawn here


def draw_picture(rates: Sequence[Rate], rows: int, alpha: float, path: Path) -> None:
    """Type-I error above, power below; a column for each number of conditions."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    chosen = [r for r in rates if r.cell.rows == rows and r.alpha == alpha]
    conditions = sorted({r.cell.conditions for r in chosen})
    levels = sorted({r.cell.levels for r in chosen})
    with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(10, 5.8), layout="constrained")
        axes = figure.subplots(2, len(conditions), sharex=True, sharey="row", squeeze=False)
        for column, n_given in enumerate(conditions):
            for row, kind in enumerate(("type-I error", "power")):
                some = [r for r in chosen if r.cell.conditions == n_given and r.kind == kind]
                draw_panel(axes[row][column], some, levels, kind, alpha)
            plural = "" if n_given == 1 else "s"
            axes[0][column].set_title(f"{n_given} condition{plural}", fontsize=9)
            axes[1][column].set_xlabel("levels of each variable")
        axes[0][0].set_ylabel(f"type-I error (should be {alpha})")
        axes[1][0].set_ylabel("power")
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
        figure.suptitle(f"{rows:,} rows, alpha = {alpha}", fontsize=10)
        figure.savefig(path, dpi=110)


def draw_panel(
    axes: Any, rates: Sequence[Rate], levels: Sequence[int], kind: str, alpha: float
) -> None:
    place = {level: x for x, level in enumerate(levels)}
    for test, style in STYLES.items():
        own = [r for r in rates if r.test == test]
        shift = SHIFTS.get(test.split()[0], 0.0)
        x = [place[r.cell.levels] + shift for r in own]
        y = [max(r.value, LOWEST) if kind == "type-I error" else r.value for r in own]
        axes.plot(x, y, label=test, markersize=6 if shift else 5, **({"linewidth": 1.3} | style))
    axes.set_xticks(range(len(levels)), [str(level) for level in levels])
    axes.grid(axis="y", color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    if kind == "power":
        axes.set_ylim(-0.03, 1.03)
        return
    draws = max((r.draws for r in rates), default=1)
    error = 1.96 * sqrt(alpha * (1 - alpha) / draws)
    axes.axhspan(max(alpha - error, LOWEST), alpha + error, color="0.85", zorder=0)
    axes.set_yscale("log")
    axes.set_ylim(LOWEST * 0.8, 1.25)
    ticks = [LOWEST, 0.01, 0.05, 0.2, 1]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for tables and pictures")
    parser.add_argument("--quick", action="store_true", help="fewer settings and draws")
    parser.add_argument("--draws", type=int, help="for the type-I error; a third for the power")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--without-peers", action="store_true")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    settings = QUICK if arguments.quick else (LEVELS, CONDITIONS, ROWS)
    cells = [Cell(*setting) for setting in product(*settings)]
    n_draws = arguments.draws or (100 if arguments.quick else 1000)
    n_tables = -(-n_draws // CANDIDATES)
    tables = {"type-I error": n_tables, "power": -(-n_tables // 3)}
    our_decisions(draw_data(cells[0], False, np.random.default_rng(0)), 0)  # compile once, here
    started = time.perf_counter()
    rates = run_all(cells, tables, arguments.jobs, not arguments.without_peers)
    write_tables(rates, arguments.out)
    for rows in settings[2]:
        for alpha in ALPHAS:
            path = arguments.out / f"calibration-{rows}-{alpha}.png"
            draw_picture(rates, rows, alpha, path)
    for kind in tables:
        print(f"\n{describe(rates, kind, ALPHAS[0])}\n")
        print_table(*tabulate(rates, kind, ALPHAS[0]))
    print(
        f"\n{time.perf_counter() - started:.0f} s; all tables and pictures are in {arguments.out}"
    )


if __name__ == "__main__":
    main()
