"""Records of searches that never were, to test reports with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from komb.reproduction.experiments import Record, SeparatorRecord


def make_record(dataset: str = "or", method: str = "gs", f1: float = 0.5, **changes: Any) -> Record:
    """Return a record; its precision and recall are as its F1."""
    is_function = dataset in ("parity", "ex-1", "ex-2", "and", "or")
    values: dict[str, Any] = {
        "dataset": dataset,
        "n_rows": 100 if is_function else 5000,
        "sample": 1,
        "target": "X1",
        "method": method,
        "start": "",
        "order": None,
        "max_separator": None,
        "test": "g-sci",
        "df": "observed",
        "alpha": 0.01,
        "blanket": ("X2",),
        "truth": ("X2", "X3"),
        "precision": f1,
        "recall": f1,
        "f1": f1,
        "distance": 1 - f1,
        "tests": 10,
        "seconds": 0.25,
    }
    return Record(**values | changes)


def make_komb(dataset: str, order: int, bound: int, f1: float = 0.5, **changes: Any) -> Record:
    """Return a record of kOMB."""
    return make_record(dataset, "komb", f1, order=order, max_separator=bound, **changes)


def make_samples(
    scores: Iterable[float], dataset: str, method: str, **changes: Any
) -> list[Record]:
    """Return a record for each score, of one sample each."""
    return [
        make_record(dataset, method, f1, sample=sample, **changes)
        for sample, f1 in enumerate(scores, start=1)
    ]


def make_separators(network: str, sizes: Iterable[int]) -> list[SeparatorRecord]:
    """Return separators of some sizes, of which the smallest possible are one smaller."""
    return [
        SeparatorRecord(network, f"V{place % 2}", f"W{place}", size, max(size - 1, 0))
        for place, size in enumerate(sizes)
    ]
