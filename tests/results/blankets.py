"""A blanket made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from komb.results.blanket import Blanket
from komb.results.member import Member

PARAMETERS: dict[str, Any] = {
    "order": 1,
    "max_separator": 2,
    "alpha": 0.05,
    "test": "g-sci",
    "df": "observed",
    "start": (),
    "include": ("sex",),
    "exclude": (),
}


def make_blanket(**changes: Any) -> Blanket:
    blanket = Blanket(
        target="ill",
        evidence=(
            Member("age", ("smoker",), 1234.567, 2, 3e-20, "g", True),
            Member("smoker", (), 7.5, None, None, "sci", True),
            Member("sex", None),
        ),
        method="komb",
        parameters=PARAMETERS,
        n_rows=1500,
        n_columns=10,
        tests=120,
        tables=60,
        seconds=0.25,
    )
    return replace(blanket, **changes)
