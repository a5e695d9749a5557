"""Comparisons made by hand."""

from __future__ import annotations

from typing import Any

from komb.results.blanket import Blanket
from komb.results.comparison import Comparison
from komb.results.member import Member

PARAMETERS: dict[str, Any] = {
    "order": None,
    "max_separator": None,
    "max_conditioning": 3,
    "alpha": 0.05,
    "test": "g",
    "df": "observed",
    "start": (),
    "include": (),
    "exclude": (),
}


def make_blanket(*members: Any, method: str = "komb", **changes: Any) -> Blanket:
    values: dict[str, Any] = {
        "target": "ill",
        "evidence": tuple(Member(name, ()) for name in members),
        "method": method,
        "parameters": PARAMETERS,
        "n_rows": 1500,
        "n_columns": 10,
        "tests": 1200,
        "tables": 60,
        "seconds": 0.25,
    }
    return Blanket(**values | changes)


KOMB = make_blanket(
    "age", "sex", parameters=PARAMETERS | {"order": 1, "max_separator": 1, "max_conditioning": None}
)


PCMB = make_blanket("age", "town", method="pcmb", tests=90, seconds=0.002)


def make_comparison(
    blankets: dict[str, Blanket] | None = None,
    truth: tuple[Any, ...] | None = ("age", "sex", "smoker"),
) -> Comparison:
    return Comparison(
        target="ill",
        blankets={"komb": KOMB, "pcmb": PCMB} if blankets is None else blankets,
        members=("age", "sex", "smoker", "town") if truth else ("age", "sex", "town"),
        truth=truth,
    )
