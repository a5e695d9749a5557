"""Feature selection beside other selectors: what is found, what it is good for, how long it takes.

    python benchmarks/selection.py [--seeds N] [--problems NAME ...] [--out FILE]
    python benchmarks/selection.py --real [--tables NAME ...] [--selectors NAME ...]
        [--models NAME ...]

Each problem is a table with known relevant features, drawn anew for every seed. Every selector is
fitted on the whole table, and its features compared with the true ones (precision, recall, F1);
then it is put in front of a random forest, and the accuracy of both together is measured by 3-fold
cross-validation, the selection being made anew in each fold. Times are those of fitting the
selector on the whole table, in seconds of processor time.

Selectors that need the number of features to select are given the true number, which nobody
knows in practice. Mutual information, mRMR, Boruta-style and L1 selection are each written or set
up here in the simplest form that does what the literature says.

With ``--real`` the tables are real ones out of wheels (:mod:`measures.real_tables`), as they come:
numbers, text, gaps and identifiers. Nobody knows the true features there, so what counts is the
area under the ROC curve of a random forest and of a logistic regression on rows that were left out
(3-fold cross-validation, the selection being made anew in each fold), and the share of columns
kept. Mutual information and mRMR keep half of the columns.
"""

# ruff: noqa: N803 - X is what scikit-learn calls a table of features

from __future__ import annotations

import argparse
import contextlib
import io
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    SelectFromModel,
    SelectKBest,
    SelectorMixin,
    mutual_info_classif,
)
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import mutual_info_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import komb
from common import print_table
from komb.reproduction.datasets import open_dataset
from komb.results.comparison import Score
from measures.real_selection import add_real_options, run_real

FOLDS = 3
ALPHA = 0.001

_Codes = npt.NDArray[np.int64]
_Generator = np.random.Generator


@dataclass(frozen=True)
class Problem:
    """A table of features, a target, and which of the features are relevant for it."""

    X: _Codes
    y: _Codes
    relevant: frozenset[int]


def flip(rng: _Generator, values: _Codes, chance: float) -> _Codes:
    return values ^ (rng.random(len(values)) < chance)


def draw(rng: _Generator, chances: npt.NDArray[np.float64]) -> _Codes:
    return (rng.random(len(chances)) < chances).astype(np.int64)


def noise(rng: _Generator, n_rows: int, n_columns: int) -> _Codes:
    """Columns of 2 to 4 equally frequent levels that have nothing to do with anything."""
    return np.stack([rng.integers(0, rng.integers(2, 5), n_rows) for _ in range(n_columns)], axis=1)


def sigmoid(logits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return 1 / (1 + np.exp(-logits))


def shuffled(rng: _Generator, relevant: Sequence[_Codes], others: _Codes, y: _Codes) -> Problem:
    """Put the columns in random order, so that no selector gains by ties."""
    columns = np.column_stack([*relevant, others])
    order = rng.permutation(columns.shape[1])
    places = np.flatnonzero(order < len(relevant))
    return Problem(columns[:, order], y, frozenset(places.tolist()))


def xor_pair(seed: int) -> Problem:
    """Draw an exclusive or of two, an ordinary cause and three copies of it, and 30 of noise."""
    rng = np.random.default_rng(seed)
    first, second, cause = rng.integers(0, 2, (3, 1000))
    y = draw(rng, sigmoid(2.5 * (2 * (first ^ second) - 1) + 1.5 * (2 * cause - 1)))
    copies = np.stack([flip(rng, cause, 0.1) for _ in range(3)], axis=1)
    others = np.column_stack([copies, noise(rng, 1000, 30)])
    return shuffled(rng, [first, second, cause], others, y)


def parity(seed: int) -> Problem:
    """Draw the parity of three coins, wrong in one row of ten, and 20 of noise."""
    rng = np.random.default_rng(seed)
    coins = rng.integers(0, 2, (3, 1000))
    y = flip(rng, coins.sum(axis=0) % 2, 0.1)
    return shuffled(rng, list(coins), noise(rng, 1000, 20), y)


def epistasis(seed: int) -> Problem:
    """Draw two genes that act only together, and 40 others, of 500 cases and 500 controls.

    The risk is the same whatever one of the two genes is, because both have alleles of frequency
    1/2 and so genotypes of frequency 1/4, 1/2, 1/4, over which each row and column averages 1/4.
    """
    rng = np.random.default_rng(seed)
    shape = np.array([[0.0, 0.0, 1.0], [0.0, 0.5, 0.0], [1.0, 0.0, 0.0]])
    risk = 0.05 + 0.4 * shape
    assert np.ptp(risk @ [0.25, 0.5, 0.25]) < 1e-12
    population = 20_000
    genes = rng.binomial(2, 0.5, (2, population))
    is_case = draw(rng, risk[genes[0], genes[1]])
    rows = np.concatenate(
        [rng.choice(np.flatnonzero(is_case == status), 500, replace=False) for status in (0, 1)]
    )
    frequencies = rng.uniform(0.1, 0.5, 40)
    others = rng.binomial(2, frequencies, (1000, 40))
    return shuffled(rng, list(genes[:, rows]), others, is_case[rows])


def alarm(seed: int) -> Problem:
    """Draw 2,000 rows of the Alarm network, with another of its largest blankets each time."""
    dataset = open_dataset("Alarm1", None)
    table = dataset.table(seed, 2000)
    target = dataset.targets(10)[seed % 10]
    position = table.index(target)
    codes = table.codes.T.astype(np.int64)
    places = {table.index(name) for name in dataset.truth[target]}
    relevant = frozenset(place - (place > position) for place in places)
    return Problem(np.delete(codes, position, axis=1), codes[:, position], relevant)


def additive(seed: int) -> Problem:
    """Draw five features that each add their part, so that nothing hides, and 20 of noise."""
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 3, (5, 1000))
    weights = np.array([1.2, -1.0, 0.9, -0.8, 0.7])
    y = draw(rng, sigmoid(weights @ (features - 1)))
    return shuffled(rng, list(features), noise(rng, 1000, 20), y)


PROBLEMS: Mapping[str, Callable[[int], Problem]] = {
    "xor": xor_pair,
    "parity": parity,
    "epistasis": epistasis,
    "alarm": alarm,
    "additive": additive,
}


class Selector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """What the selectors below share: ``fit`` leaves a mask."""

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        mask: npt.NDArray[np.bool_] = self.mask_
        return mask

    def _keep(self, features: Any, n_features: int) -> Self:
        self.mask_ = np.zeros(n_features, dtype=bool)
        self.mask_[list(features)] = True
        self.n_features_in_ = n_features
        return self


class Everything(Selector):
    """No selection at all."""

    def fit(self, X: _Codes, y: _Codes) -> Self:
        """Learn from data."""
        return self._keep(range(X.shape[1]), X.shape[1])


class Relevant(Selector):
    """The right answer."""

    def __init__(self, features: frozenset[int] = frozenset()) -> None:
        self.features = features

    def fit(self, X: _Codes, y: _Codes) -> Self:
        """Learn from data."""
        return self._keep(self.features, X.shape[1])


class MinimumRedundancy(Selector):
    """mRMR (Peng, Long & Ding 2005): information on y, less that on features chosen before."""

    def __init__(self, k: int = 1) -> None:
        self.k = k

    def fit(self, X: _Codes, y: _Codes) -> Self:
        """Learn from data."""
        relevance = np.array([mutual_info_score(column, y) for column in X.T])
        redundancy = np.zeros(X.shape[1])
        chosen: list[int] = []
        while len(chosen) < self.k:
            worth = relevance - redundancy / max(1, len(chosen))
            worth[chosen] = -np.inf
            best = int(worth.argmax())
            redundancy += [mutual_info_score(column, X[:, best]) for column in X.T]
            chosen.append(best)
        return self._keep(chosen, X.shape[1])


class Shadows(Selector):
    """Boruta's idea (Kursa & Rudnicki 2010): be more important than every shuffled column.

    In each round a feature scores if a forest finds it more important than all shuffled copies of
    the features. Selected is what scores significantly more often than a coin, by a binomial test
    with Bonferroni's correction.
    """

    def __init__(self, rounds: int = 20, level: float = 0.05, seed: int = 0) -> None:
        self.rounds = rounds
        self.level = level
        self.seed = seed

    def fit(self, X: _Codes, y: _Codes) -> Self:
        """Learn from data."""
        rng = np.random.default_rng(self.seed)
        n_features = X.shape[1]
        hits = np.zeros(n_features, dtype=np.int64)
        for number in range(self.rounds):
            both = np.column_stack([X, rng.permuted(X, axis=0)])
            forest = RandomForestClassifier(50, max_depth=7, random_state=number).fit(both, y)
            importances = forest.feature_importances_
            hits += importances[:n_features] > importances[n_features:].max()
        p_values = binom.sf(hits - 1, self.rounds, 0.5)
        return self._keep(np.flatnonzero(p_values * n_features <= self.level), n_features)


class Lasso(Selector):
    """Logistic regression on indicators of levels with an L1 penalty chosen by validation."""

    def fit(self, X: _Codes, y: _Codes) -> Self:
        """Learn from data."""
        encoder = OneHotEncoder(drop="if_binary").fit(X)
        model = LogisticRegressionCV(
            Cs=np.logspace(-2, 0, 5), cv=3, l1_ratios=(1,), solver="saga", tol=1e-2, max_iter=500,
            use_legacy_attributes=False, scoring="accuracy", random_state=0,
        ).fit(encoder.transform(X), y)  # fmt: skip
        sizes = [max(1, len(levels) - (len(levels) == 2)) for levels in encoder.categories_]
        feature = np.repeat(np.arange(X.shape[1]), sizes)
        used = np.abs(model.coef_).max(axis=0) > 1e-6
        return self._keep(np.unique(feature[used]), X.shape[1])


class Forest(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A random forest, or the commonest class where a selector left no features."""

    def fit(self, X: _Codes, y: _Codes) -> Self:
        """Learn from data."""
        is_empty = X.shape[1] == 0
        model = DummyClassifier() if is_empty else RandomForestClassifier(random_state=0)
        # the forest does not mind integers, the dummy wants at least one column
        self.model_ = model.fit(np.zeros((len(X), 1)) if is_empty else X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: _Codes) -> _Codes:
        """Guess the classes."""
        shown = np.zeros((len(X), 1)) if X.shape[1] == 0 else X
        predictions: _Codes = self.model_.predict(shown)
        return predictions


def information(X: _Codes, y: _Codes) -> npt.NDArray[np.float64]:
    worth: npt.NDArray[np.float64] = mutual_info_classif(X, y, discrete_features=True)
    return worth


def paper_search(order: int) -> komb.MarkovBlanketSelector:
    """Select with kOMB at a fixed order."""
    return komb.MarkovBlanketSelector(
        method="komb",
        order=order,
        max_separator=order,
        test="g-sci",
        alpha=ALPHA,
    )


def selectors(problem: Problem) -> dict[str, Any]:
    """Every selector by its label; those given the number of features say so."""
    count = len(problem.relevant)
    forest = RandomForestClassifier(random_state=0)
    return {
        "komb": komb.MarkovBlanketSelector(),
        "komb, for prediction": komb.MarkovBlanketSelector(goal="prediction"),
        "komb, order 1": paper_search(1),
        "komb, order 2": paper_search(2),
        "mutual information (given the number)": SelectKBest(information, k=count),
        "mRMR (given the number)": MinimumRedundancy(count),
        "Boruta-style": Shadows(),
        "forest importance > mean": SelectFromModel(forest),
        "forest importance (given the number)": SelectFromModel(
            forest, max_features=count, threshold=-np.inf
        ),
        "L1 logistic regression": Lasso(),
        "all features": Everything(),
        "the true features": Relevant(problem.relevant),
    }


@dataclass(frozen=True)
class Result:
    """What one selector did on one table."""

    score: Score
    size: int
    accuracy: float
    seconds: float


def measure(selector: Any, problem: Problem) -> Result:
    began = time.process_time()
    fitted = clone(selector).fit(problem.X, problem.y)
    seconds = time.process_time() - began
    found = set(fitted.get_support(indices=True).tolist())
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    pipeline = make_pipeline(selector, Forest())
    accuracy = cross_val_score(pipeline, problem.X, problem.y, cv=folds).mean()
    return Result(Score.of(found, problem.relevant), len(found), float(accuracy), seconds)


def rows_of(name: str, seeds: Sequence[int]) -> list[tuple[str, ...]]:
    results: dict[str, list[Result]] = {}
    for seed in seeds:
        problem = PROBLEMS[name](seed)
        for label, selector in selectors(problem).items():
            results.setdefault(label, []).append(measure(selector, problem))
    return [(label, *show(outcomes)) for label, outcomes in results.items()]


def show(results: Sequence[Result]) -> tuple[str, ...]:
    return (
        f"{mean(result.score.precision for result in results):.2f}",
        f"{mean(result.score.recall for result in results):.2f}",
        f"{mean(result.score.f1 for result in results):.2f}",
        f"{mean(result.size for result in results):.1f}",
        f"{mean(result.accuracy for result in results):.3f}",
        f"{mean(result.seconds for result in results):.3f}",
    )


def describe(name: str, seeds: Sequence[int]) -> str:
    """Return the Markdown section of one problem."""
    summary = (PROBLEMS[name].__doc__ or "").splitlines()[0].removeprefix("Draw ")
    summary = summary[:1].upper() + summary[1:]
    text = io.StringIO()
    header = ("selector", "precision", "recall", "F1", "features", "accuracy", "seconds")
    with contextlib.redirect_stdout(text):
        print(f"### {name}\n\n{summary} Means over {len(seeds)} tables.\n")
        print_table(header, rows_of(name, seeds))
    return text.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5, help="tables a problem")
    parser.add_argument("--problems", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    parser.add_argument("--out", type=Path, help="file to write the tables to, as Markdown")
    add_real_options(parser)
    arguments = parser.parse_args()
    if arguments.real:
        run_real(arguments.tables, arguments.selectors, arguments.models)
        return
    warnings.filterwarnings("ignore", "No features were selected")
    komb.MarkovBlanketSelector().fit([[0], [1]] * 9, [0, 1] * 9)  # compiles, if need be
    sections = []
    for name in arguments.problems:
        sections.append(describe(name, range(1, arguments.seeds + 1)))
        print(sections[-1], flush=True)
    if arguments.out is not None:
        arguments.out.write_text("\n".join(sections), "utf-8")


if __name__ == "__main__":
    main()
