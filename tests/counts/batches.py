"""Batches of questions to the contingency layer, and comparisons with the twins of its sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from komb.counts.contingency import Contingency, Summaries
from komb.data.table import DiscreteTable
from tests import naive
from tests.counts.tables import tables

Question = tuple[tuple[int, ...], tuple[int, ...]]  # given set, its candidates


PER_SET = ("fit", "strata", "length", "splits")


NEEDS_TABLES = ("freedom", "pearson", "pearson_mean", "pearson_variance", "pearson_third")


PER_TEST = ("union_fit", "union_strata", "union_length", *NEEDS_TABLES, "split")


EVERYTHING: dict[str, Any] = {
    "length_below": math.inf,
    "wants_tables": True,
    "wants_splits": True,
}


NO_TABLES = EVERYTHING | {"wants_tables": False}


def prepare_with(table: DiscreteTable, cardinalities: Any, target: int) -> Contingency:
    codes: Any = table.codes
    return Contingency(codes, cardinalities, target)


def prepare(table: DiscreteTable, target: int) -> Contingency:
    return prepare_with(table, table.cardinalities, target)


def summarise(contingency: Contingency, questions: Sequence[Question], **options: Any) -> Summaries:
    size = len(questions[0][0])
    sets = np.array([members for members, _ in questions], dtype=np.int64)
    counts = [len(candidates) for _, candidates in questions]
    candidates = [x for _, candidates in questions for x in candidates]
    return contingency.summarise(
        sets.reshape(len(questions), size),
        np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        np.array(candidates, dtype=np.int64),
        **(options or EVERYTHING),
    )


def all_questions(n_columns: int, target: int, size: int) -> list[Question]:
    """Every set of one size with every candidate, as the search asks them."""
    others = [v for v in range(n_columns) if v != target]
    return [
        (members, tuple(x for x in others if x not in members))
        for members in combinations(others, size)
    ]


@st.composite
def batches(
    draw: Any, most_sets: int = 6, source: st.SearchStrategy[DiscreteTable] | None = None
) -> tuple[DiscreteTable, int, list[Question]]:
    """A table, a target and a batch of sets of one size in any order, with columns in any order."""
    table = draw(tables() if source is None else source)
    target = draw(st.integers(0, table.n_columns - 1))
    size = draw(st.integers(0, min(4, table.n_columns - 1)))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    every = all_questions(table.n_columns, target, size)
    chosen = [every[i] for i in rng.permutation(len(every))[:most_sets]]
    return table, target, [(tuple(rng.permutation(m).tolist()), x) for m, x in chosen]


def close(number: float) -> Any:
    return pytest.approx(number, rel=1e-9, abs=1e-9)


def check_moments(
    contingency: Contingency, sums: Summaries, test: int, x: int, t: naive.counts.Tables
) -> None:
    """Compare the moments of Pearson's statistic with their twins; zero is exact."""
    mean, variance = naive.moments.pearson_moments(t)
    scale = contingency.variance_scales[x]
    assert sums.pearson_mean[test] / contingency.pearson_scale == close(float(mean))
    assert sums.pearson_variance[test] / scale == close(float(variance))
    assert (sums.pearson_variance[test] > 0) == (variance > 0)
    third = sums.pearson_third[test] / contingency.third_scales[x]
    tolerance = 1e-8 * max(float(variance), 1.0) ** 1.5
    assert third == pytest.approx(naive.moments.pearson_third(t), rel=1e-8, abs=tolerance)


def twin_split(columns: naive.counts.Columns, y: int, members: Sequence[int], r: int) -> float:
    """What it saves in code lengths of ``r`` levels not to tell apart the levels of ``y``."""
    return naive.counts.length(columns, members, r) - naive.counts.length(columns, (*members, y), r)
