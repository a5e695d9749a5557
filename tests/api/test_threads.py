"""However many threads count, the result is the same."""

from __future__ import annotations

import numpy as np
import pytest

import komb
from komb.engine.features import feature_engine
from tests.engine.tables import make_table

METHODS = [{"method": "komb", "order": 2, "max_separator": 2}] + [
    {"method": name} for name in ("gs", "iamb", "mmmb", "pcmb", "hiton-mb", "lrh", "stmb", "bamb")
]


@pytest.mark.parametrize("options", METHODS, ids=lambda options: str(options["method"]))
@pytest.mark.parametrize("test", ["g-sci", "g"])
def test_witnesses_and_statistics(options: dict[str, object], test: str) -> None:
    table = make_table([2, 3, 2, 12, 3, 40, 2, 5, 2, 3, 2, 4], 400, seed=3)
    ones = [
        komb.markov_blanket(table, name, test=test, alpha=0.2, n_jobs=1, **options)  # type: ignore[arg-type]
        for name in table.names[:3]
    ]
    for threads in (2, 4):
        for one in ones:
            other = komb.markov_blanket(
                table,
                one.target,
                test=test,
                alpha=0.2,
                n_jobs=threads,
                **options,  # type: ignore[arg-type]
            )
            assert other.evidence == one.evidence
            assert (other.tests, other.tables) == (one.tests, one.tables)


def test_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_engine, "ROWS_FOR_THREADS", 1)
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(9, 300))
    numbers[8] += 2 * numbers[0] * numbers[1] + numbers[2]
    data = {f"x{place}": values for place, values in enumerate(numbers)}
    one, *others = (komb.markov_blanket(data, "x8", n_jobs=threads) for threads in (1, 2, 4))
    assert one.members == ("x0", "x1", "x2")
    for other in others:
        assert other.evidence == one.evidence
        assert (other.tests, other.tables) == (one.tests, one.tables)
