"""Selectors and models: how well models predict with what selectors keep, and how much that is."""

# ruff: noqa: N803, N806 - X is what scikit-learn calls a table of features

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import binom, kendalltau
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LassoCV, LogisticRegression, RidgeCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler

import komb
from common import print_table
from measures.real_tables import FRESH, QUESTIONS, Question, load_question

__all__ = [
    "MODELS",
    "SELECTORS",
    "Tally",
    "add_real_options",
    "measure_split",
    "print_means",
    "run_real",
]

FOLDS = 3
TREES = 60
ROUNDS = 12  # of shuffled columns, for Boruta
_Y = npt.NDArray[Any]  # 0 and 1, or numbers
_Columns = list[str]
_Size = int | None  # how many columns to keep, where a selector has to be told; half of them if not

MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "forest": (
        lambda: RandomForestClassifier(TREES, random_state=0),
        lambda: RandomForestRegressor(TREES, max_features=0.33, random_state=0),
    ),
    "linear": (
        lambda: LogisticRegression(max_iter=500),
        lambda: RidgeCV(np.logspace(-1, 4, 6)),
    ),
    "boosting": (
        lambda: HistGradientBoostingClassifier(random_state=0),
        lambda: HistGradientBoostingRegressor(random_state=0),
    ),
}
"""Models for two classes and for numbers."""


def _has_classes(y: _Y) -> bool:
    return y.dtype.kind in "iub"


def _names(X: pd.DataFrame) -> _Columns:
    return [str(name) for name in X.columns]


def _is_numeric(X: pd.DataFrame) -> list[bool]:
    return [X[name].dtype.kind in "iufb" for name in _names(X)]


def _encoder(X: pd.DataFrame) -> Any:
    """Return what every model sees: numbers on one scale, indicators of levels, gaps filled."""
    is_numeric = _is_numeric(X)
    numbers = [name for name, is_number in zip(_names(X), is_numeric, strict=True) if is_number]
    words = [name for name, is_number in zip(_names(X), is_numeric, strict=True) if not is_number]
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=5, max_categories=30
    )
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            ("words", make_pipeline(SimpleImputer(strategy="most_frequent"), one_hot), words),
        ]
    )


def _as_matrix(X: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Columns as numbers, one for each; for selectors that know nothing else."""
    columns = []
    for name, is_number in zip(_names(X), _is_numeric(X), strict=True):
        column = X[[name]]
        if not is_number:
            column = pd.DataFrame(OrdinalEncoder().fit_transform(column.astype(str)))
        columns.append(SimpleImputer().fit_transform(column)[:, :1])
    return np.hstack(columns)


def keep_all(X: pd.DataFrame, y: _Y, size: _Size = None) -> _Columns:
    return _names(X)


def keep_predictors(X: pd.DataFrame, y: _Y, size: _Size = None) -> _Columns:
    return keep_blanket(X, y, goal="prediction")


def keep_blanket(X: pd.DataFrame, y: _Y, size: _Size = None, goal: str = "blanket") -> _Columns:
    selector = komb.MarkovBlanketSelector(goal=goal, min_features=1).fit(X, y)
    return [str(name) for name in selector.get_feature_names_out()]


def keep_informative(X: pd.DataFrame, y: _Y, size: _Size = None) -> _Columns:
    """Mutual information: the best columns."""
    discrete = [not is_number for is_number in _is_numeric(X)]
    inform = mutual_info_classif if _has_classes(y) else mutual_info_regression
    worth = inform(_as_matrix(X), y, discrete_features=discrete, random_state=0)
    best = np.argsort(-worth, kind="stable")[: size or (X.shape[1] + 1) // 2]
    return [_names(X)[i] for i in sorted(best)]


def keep_relevant(X: pd.DataFrame, y: _Y, size: _Size = None) -> _Columns:
    """MRMR (Peng, Long & Ding 2005), numbers in five bins."""
    matrix = _as_matrix(X)
    for i, is_number in enumerate(_is_numeric(X)):
        if is_number and np.unique(matrix[:, i]).size > 5:
            matrix[:, [i]] = _in_bins(matrix[:, [i]])
    sizes = matrix.max(axis=0).astype(int) + 1
    starts = np.cumsum(sizes) - sizes
    levels = np.zeros((len(X), sizes.sum()), np.float32)
    for column, start in zip(matrix.T, starts, strict=True):
        levels[np.arange(len(X)), start + column.astype(int)] = 1
    answers = y[:, None] if _has_classes(y) else _in_bins(y[:, None])
    relevance = _information(levels, starts, answers == np.unique(answers))
    redundancy = np.zeros(X.shape[1])
    chosen: list[int] = []
    while len(chosen) < (size or (X.shape[1] + 1) // 2):
        worth = relevance - redundancy / max(1, len(chosen))
        worth[chosen] = -np.inf
        best = int(worth.argmax())
        own = slice(starts[best], starts[best] + sizes[best])
        redundancy += _information(levels, starts, levels[:, own])
        chosen.append(best)
    return [_names(X)[i] for i in sorted(chosen)]


def _in_bins(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    bins = KBinsDiscretizer(5, encode="ordinal", quantile_method="linear")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        binned: npt.NDArray[Any] = bins.fit_transform(column)
    return binned


def _information(
    levels: npt.NDArray[Any], starts: npt.NDArray[Any], other: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """Return the mutual information of each column, as indicators, and another one, in nats."""
    joint = levels.T @ other.astype(np.float32) / len(levels)
    expected = joint.sum(axis=1, keepdims=True) * other.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0, joint * np.log(joint / expected), 0.0)
    told: npt.NDArray[np.float64] = np.add.reduceat(terms.sum(axis=1), starts)
    return told


def keep_shadowless(X: pd.DataFrame, y: _Y, size: _Size = None) -> _Columns:
    """Boruta's idea (Kursa & Rudnicki 2010): more important than every shuffled column."""
    matrix, rng = _as_matrix(X), np.random.default_rng(0)
    hits = np.zeros(X.shape[1])
    for number in range(ROUNDS):
        both = np.column_stack([matrix, rng.permuted(matrix, axis=0)])
        make = RandomForestClassifier if _has_classes(y) else RandomForestRegressor
        forest = make(40, max_depth=7, max_features="sqrt", random_state=number).fit(both, y)
        importances = forest.feature_importances_
        hits += importances[: X.shape[1]] > importances[X.shape[1] :].max()
    kept = np.flatnonzero(binom.sf(hits - 1, ROUNDS, 0.5) * X.shape[1] <= 0.05)
    return [_names(X)[i] for i in kept]


def keep_penalised(X: pd.DataFrame, y: _Y, size: _Size = None) -> _Columns:
    """Logistic or linear regression with an L1 penalty, chosen by cross-validation."""
    encoder = _encoder(X).fit(X)
    features = encoder.transform(X)
    models = [
        LogisticRegression(C=c, l1_ratio=1, solver="liblinear", random_state=0)
        for c in (0.03, 0.1, 0.3, 1.0)
    ]
    if _has_classes(y):
        best = max(
            models, key=lambda m: cross_val_score(m, features, y, cv=3, scoring="roc_auc").mean()
        )
    else:
        best = LassoCV(cv=3, random_state=0)
    used = np.abs(np.ravel(best.fit(features, y).coef_)) > 1e-6
    names = encoder.get_feature_names_out()[used]
    return [
        name
        for name in _names(X)
        if any(f == f"numbers__{name}" or f.startswith(f"words__{name}_") for f in names)
    ]


SELECTORS: dict[str, Callable[[pd.DataFrame, _Y, _Size], _Columns]] = {
    "all columns": keep_all,
    "komb": keep_blanket,
    "komb (for prediction)": keep_predictors,
    "mutual information": keep_informative,
    "mRMR": keep_relevant,
    "Boruta": keep_shadowless,
    "L1": keep_penalised,
}


@dataclass
class Tally:
    """What a selector reached on one table, fold by fold; scores by model."""

    scores: dict[str, list[float]] = field(default_factory=dict)
    share: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def mean(self, models: Iterable[str]) -> float:
        """Return the mean score of some models."""
        return mean(mean(self.scores[model]) for model in models)


def _score(model: str, X: tuple[pd.DataFrame, pd.DataFrame], y: tuple[_Y, _Y]) -> float:
    """Return how often the larger of two answers has the larger prediction.

    It is the area under the
    ROC curve for two classes, and the same from Kendall's tau for numbers.
    """
    if X[0].shape[1] == 0:
        return 0.5
    make_classifier, make_regressor = MODELS[model]
    if _has_classes(y[0]):
        pipeline = make_pipeline(_encoder(X[0]), make_classifier()).fit(X[0], y[0])
        return float(roc_auc_score(y[1], pipeline.predict_proba(X[1])[:, 1]))
    pipeline = make_pipeline(_encoder(X[0]), make_regressor()).fit(X[0], y[0])
    return float(1 + kendalltau(y[1], pipeline.predict(X[1])).statistic) / 2


def measure_split(
    X: tuple[pd.DataFrame, pd.DataFrame],
    y: tuple[_Y, _Y],
    tallies: Mapping[str, Tally],
    models: Iterable[str],
    *,
    at_the_size_of: str | None = None,
) -> None:
    """Select and fit on the first rows, score on the second, and add that to the tallies."""
    known: dict[tuple[str, ...], list[float]] = {}
    size: _Size = None
    for name, tally in tallies.items():
        began = time.process_time()
        kept = SELECTORS[name](X[0], y[0], size)
        tally.seconds.append(time.process_time() - began)
        tally.share.append(len(kept) / X[0].shape[1])
        if name == at_the_size_of:
            size = len(kept)
        if tuple(kept) not in known:
            known[tuple(kept)] = [_score(each, (X[0][kept], X[1][kept]), y) for each in models]
        for model, score in zip(models, known[tuple(kept)], strict=True):
            tally.scores.setdefault(model, []).append(score)


def measure(question: Question, names: Sequence[str], models: Iterable[str]) -> dict[str, Tally]:
    """Select in each fold anew, and see how models do on the rows that were left out."""
    tallies = {name: Tally() for name in names}
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(question.X, question.y):
        X = question.X.iloc[train], question.X.iloc[test]
        measure_split(X, (question.y[train], question.y[test]), tallies, models)
    return tallies


def add_real_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--real", action="store_true", help="real tables instead of drawn ones")
    parser.add_argument("--tables", nargs="+", choices=list(QUESTIONS), default=list(QUESTIONS))
    parser.add_argument("--selectors", nargs="+", choices=list(SELECTORS), default=list(SELECTORS))
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=["forest", "linear"])


def run_real(tables: Sequence[str], selectors: Sequence[str], models: Sequence[str]) -> None:
    """Print a line per table as it is done, then means over all tables."""
    warnings.filterwarnings("ignore")
    measured: dict[str, dict[str, Tally]] = {}
    for name in tables:
        question = load_question(name)
        measured[name] = measure(question, selectors, models)
        print_line(f"{name} {question.X.shape}", measured[name], models)
    for title, some in (
        ("all tables", [*measured]),
        ("tables that nothing was chosen by", [name for name in measured if name in FRESH]),
    ):
        if some:
            print(f"\n{title}: {len(some)}\n")
            print_means([measured[name] for name in some], models)


def print_line(title: str, tallies: Mapping[str, Tally], models: Iterable[str]) -> None:
    shown = ", ".join(
        f"{label} {'/'.join(f'{mean(tally.scores[model]):.3f}' for model in models)} "
        f"{mean(tally.share):.0%}"
        for label, tally in tallies.items()
    )
    print(f"{title}: {shown}", flush=True)


def print_means(measured: Sequence[Mapping[str, Tally]], models: Sequence[str]) -> None:
    """Print means over tables, and how far each selector is from the first one."""
    header = ("selector", "AUC, all models", "less the first (s.e.)", *models, "columns kept",
              "seconds", "most seconds")  # fmt: skip
    rows = []
    first = [tallies[next(iter(tallies))].mean(models) for tallies in measured]
    for label in measured[0]:
        tallies = [each[label] for each in measured]
        every = np.array([tally.mean(models) for tally in tallies])
        gain = every - first
        error = gain.std(ddof=1) / len(gain) ** 0.5 if len(gain) > 1 else np.nan
        by_model = (
            f"{mean(mean(tally.scores[model]) for tally in tallies):.4f}" for model in models
        )
        share = mean(mean(tally.share) for tally in tallies)
        seconds = [mean(tally.seconds) for tally in tallies]
        rows.append((label, f"{every.mean():.4f}", f"{gain.mean():+.4f} ({error:.4f})", *by_model,
                     f"{share:.1%}", f"{mean(seconds):.2f}", f"{max(seconds):.1f}"))  # fmt: skip
    print_table(header, rows)
