"""Selectors on real tables: how well models predict with what they keep, and how much that is."""

# ruff: noqa: N803, N806 - X is what scikit-learn calls a table of features

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import mutual_info_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler

import komb
from common import print_table
from measures.real_tables import FRESH, QUESTIONS, Question, load_question

__all__ = ["SELECTORS", "add_real_options", "run_real"]

FOLDS = 3
TREES = 60
ROUNDS = 12  # of shuffled columns, for Boruta
_Y = npt.NDArray[np.int64]
_Columns = list[str]


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


def keep_all(X: pd.DataFrame, y: _Y) -> _Columns:
    return _names(X)


def keep_predictors(X: pd.DataFrame, y: _Y) -> _Columns:
    return keep_blanket(X, y, goal="prediction")


def keep_blanket(X: pd.DataFrame, y: _Y, goal: str = "blanket") -> _Columns:
    selector = komb.MarkovBlanketSelector(goal=goal, min_features=1).fit(X, y)
    return [str(name) for name in selector.get_feature_names_out()]


def keep_informative(X: pd.DataFrame, y: _Y) -> _Columns:
    """Mutual information: the better half of the columns."""
    discrete = [not is_number for is_number in _is_numeric(X)]
    worth = mutual_info_classif(_as_matrix(X), y, discrete_features=discrete, random_state=0)
    best = np.argsort(-worth, kind="stable")[: (X.shape[1] + 1) // 2]
    return [_names(X)[i] for i in sorted(best)]


def keep_relevant(X: pd.DataFrame, y: _Y) -> _Columns:
    """MRMR (Peng, Long & Ding 2005), the better half of the columns, numbers in five bins."""
    matrix = _as_matrix(X)
    for i, is_number in enumerate(_is_numeric(X)):
        if is_number and np.unique(matrix[:, i]).size > 5:
            bins = KBinsDiscretizer(5, encode="ordinal", quantile_method="linear")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                matrix[:, [i]] = bins.fit_transform(matrix[:, [i]])
    relevance = np.array([mutual_info_score(column, y) for column in matrix.T])
    redundancy = np.zeros(X.shape[1])
    chosen: list[int] = []
    while len(chosen) < (X.shape[1] + 1) // 2:
        worth = relevance - redundancy / max(1, len(chosen))
        worth[chosen] = -np.inf
        best = int(worth.argmax())
        redundancy += [mutual_info_score(column, matrix[:, best]) for column in matrix.T]
        chosen.append(best)
    return [_names(X)[i] for i in sorted(chosen)]


def keep_shadowless(X: pd.DataFrame, y: _Y) -> _Columns:
    """Boruta's idea (Kursa & Rudnicki 2010): more important than every shuffled column."""
    from scipy.stats import binom

    matrix, rng = _as_matrix(X), np.random.default_rng(0)
    hits = np.zeros(X.shape[1])
    for number in range(ROUNDS):
        both = np.column_stack([matrix, rng.permuted(matrix, axis=0)])
        forest = RandomForestClassifier(40, max_depth=7, random_state=number).fit(both, y)
        importances = forest.feature_importances_
        hits += importances[: X.shape[1]] > importances[X.shape[1] :].max()
    kept = np.flatnonzero(binom.sf(hits - 1, ROUNDS, 0.5) * X.shape[1] <= 0.05)
    return [_names(X)[i] for i in kept]


def keep_penalised(X: pd.DataFrame, y: _Y) -> _Columns:
    """Logistic regression with an L1 penalty, chosen by cross-validation."""
    encoder = _encoder(X).fit(X)
    features = encoder.transform(X)
    models = [
        LogisticRegression(C=c, l1_ratio=1, solver="liblinear", random_state=0)
        for c in (0.03, 0.1, 0.3, 1.0)
    ]
    best = max(
        models, key=lambda m: cross_val_score(m, features, y, cv=3, scoring="roc_auc").mean()
    )
    used = np.abs(best.fit(features, y).coef_[0]) > 1e-6
    names = encoder.get_feature_names_out()[used]
    return [
        name
        for name in _names(X)
        if any(f == f"numbers__{name}" or f.startswith(f"words__{name}_") for f in names)
    ]


SELECTORS: dict[str, Callable[[pd.DataFrame, _Y], _Columns]] = {
    "all columns": keep_all,
    "komb": keep_blanket,
    "komb (for prediction)": keep_predictors,
    "mutual information (half)": keep_informative,
    "mRMR (half)": keep_relevant,
    "Boruta": keep_shadowless,
    "L1": keep_penalised,
}


@dataclass
class Tally:
    """What a selector reached on one table, fold by fold."""

    forest: list[float] = field(default_factory=list)
    regression: list[float] = field(default_factory=list)
    share: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def _score(model: Any, X: tuple[pd.DataFrame, pd.DataFrame], y: tuple[_Y, _Y]) -> float:
    if X[0].shape[1] == 0:
        return 0.5
    pipeline = make_pipeline(_encoder(X[0]), model).fit(X[0], y[0])
    return float(roc_auc_score(y[1], pipeline.predict_proba(X[1])[:, 1]))


def measure(question: Question, names: Sequence[str]) -> dict[str, Tally]:
    """Select in each fold anew, and see how models do on the rows that were left out."""
    tallies = {name: Tally() for name in names}
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(question.X, question.y):
        X, y = question.X.iloc[train], question.y[train]
        known: dict[tuple[str, ...], tuple[float, float]] = {}
        for name in names:
            began = time.process_time()
            kept = SELECTORS[name](X, y)
            tally = tallies[name]
            tally.seconds.append(time.process_time() - began)
            tally.share.append(len(kept) / X.shape[1])
            if tuple(kept) not in known:
                parts = X[kept], question.X.iloc[test][kept]
                answers = y, question.y[test]
                known[tuple(kept)] = (
                    _score(RandomForestClassifier(TREES, random_state=0), parts, answers),
                    _score(LogisticRegression(max_iter=500), parts, answers),
                )
            forest, regression = known[tuple(kept)]
            tally.forest.append(forest)
            tally.regression.append(regression)
    return tallies


def add_real_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--real", action="store_true", help="real tables instead of drawn ones")
    parser.add_argument("--tables", nargs="+", choices=list(QUESTIONS), default=list(QUESTIONS))
    parser.add_argument("--selectors", nargs="+", choices=list(SELECTORS), default=list(SELECTORS))


def run_real(tables: Sequence[str], selectors: Sequence[str]) -> None:
    """Print a line per table as it is done, then means over all tables."""
    warnings.filterwarnings("ignore")
    measured: dict[str, dict[str, Tally]] = {}
    for name in tables:
        question = load_question(name)
        measured[name] = measure(question, selectors)
        shown = ", ".join(
            f"{label} {mean(tally.forest):.3f}/{mean(tally.regression):.3f} {mean(tally.share):.0%}"
            for label, tally in measured[name].items()
        )
        print(f"{name} {question.X.shape}: {shown}", flush=True)
    for title, some in (
        ("all tables", [*measured]),
        ("tables that nothing was chosen by", [name for name in measured if name in FRESH]),
    ):
        if some:
            print(f"\n{title}: {len(some)}\n")
            print_means([measured[name] for name in some], selectors)


def print_means(measured: Sequence[dict[str, Tally]], selectors: Sequence[str]) -> None:
    header = ("selector", "AUC, both models", "forest", "logistic", "columns kept", "seconds")
    rows = []
    for label in selectors:
        tallies = [each[label] for each in measured]
        forest = mean(mean(tally.forest) for tally in tallies)
        regression = mean(mean(tally.regression) for tally in tallies)
        share = mean(mean(tally.share) for tally in tallies)
        seconds = mean(mean(tally.seconds) for tally in tallies)
        both = (forest + regression) / 2
        rows.append((label, f"{both:.4f}", f"{forest:.4f}", f"{regression:.4f}", f"{share:.1%}",
                     f"{seconds:.2f}"))  # fmt: skip
    print_table(header, rows)
