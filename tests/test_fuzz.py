"""A bounded slice of ``make fuzz``: the same cases every time, and that failures are told."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import numpy as np
import pytest

from tests import fuzz

CASES = {"parquet": 3, "searches": 10, "shuffled": 10, "arguments": 30, "statistics": 20}
SEED = 20


@pytest.mark.parametrize("name", fuzz.CAMPAIGNS)
def test_slice(name: str) -> None:
    for case in range(CASES.get(name, 60)):
        assert fuzz.run_case(name, SEED, case) is None, f"--only {name} --seed {SEED} --case {case}"


def test_failures_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(rng: np.random.Generator, folder: Path) -> None:
        raise TypeError("no\nway")

    monkeypatch.setitem(fuzz.CAMPAIGNS, "broken", (fail, 2))
    tried, failures = fuzz.run_for(60, 5, ["broken"], most=2)
    assert tried == {"broken": 2}
    assert len(failures) == 2
    assert "TypeError: no way (test_fuzz.py:" in failures[0]
    assert "--only broken --seed 5 --case 1" in failures[1]
    assert "FAILED" in capsys.readouterr().out


def test_hangs_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(signal, "SIGALRM"):
        pytest.skip("this system has no alarms")
    monkeypatch.setattr(fuzz, "PATIENCE", 1)
    monkeypatch.setitem(fuzz.CAMPAIGNS, "endless", (lambda *_: time.sleep(30), 1))
    wrong = fuzz.run_case("endless", 0, 0)
    assert wrong is not None
    assert "still not done after 1 s" in wrong
