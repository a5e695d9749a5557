"""Wide sweeps that the workers of a cluster screen are those that are screened here."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import komb
from komb.engine import cluster_screens, screens, sweep
from komb.engine.cluster_screens import find_workers, use_workers
from tests.local_cluster import local_client

Patch = pytest.MonkeyPatch


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local_client() as client:
        yield client


@pytest.fixture
def sent(monkeypatch: Patch) -> list[int]:
    """Have every sweep sent, in small pieces; returns how many were."""
    lots: list[int] = []
    real = cluster_screens.screen_on

    def screen_on(client: Any, screen: Any, parts: Any) -> Iterator[Any]:
        lots.append(screen.n_bytes)
        return real(client, screen, parts)

    monkeypatch.setattr(sweep, "screen_on", screen_on)
    monkeypatch.setattr(sweep, "LEAST_WORK", 0)
    monkeypatch.setattr(screens, "UNIONS_PER_PART", 300)
    monkeypatch.setattr(cluster_screens, "ROWS_PER_SECOND", 1.0)
    monkeypatch.setattr(cluster_screens, "RECTANGLES_PER_TASK", 2)
    return lots


def wide_table(share_missing: float = 0.0) -> komb.DiscreteTable:
    """Of 90 columns, two of which decide the target together."""
    random = np.random.default_rng(3)
    codes = random.integers(0, 3, (90, 800))
    codes[0] = (codes[30] + codes[60]) % 3
    if share_missing:
        codes[1:][random.random((89, 800)) < share_missing] = -1
    treatment: Any = {"missing": "testwise"} if share_missing else {}
    return komb.DiscreteTable.from_codes(codes.T, **treatment)


def facts(blanket: komb.Blanket) -> Any:
    return blanket.members, [blanket[name].to_dict() for name in blanket.members], blanket.tests


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_same_as_here(client: Any, sent: list[int], share: float) -> None:
    table = wide_table(share)
    expected = komb.markov_blanket(table, 0, order=1)
    assert not sent
    found = komb.markov_blanket(komb.table(table, cluster=client), 0, order=1)
    assert facts(found) == facts(expected)
    assert found.members == (30, 60)
    assert sent


def test_a_worker_that_dies_costs_no_answer(client: Any, sent: list[int]) -> None:
    table = wide_table()
    expected = facts(komb.markov_blanket(table, 0, order=1))
    victim = next(iter(client.run(os.getpid).values()))
    killing = threading.Timer(0.3, os.kill, (victim, signal.SIGKILL))
    killing.start()
    found = [
        facts(komb.markov_blanket(komb.table(table, cluster=client), 0, order=1)) for _ in range(4)
    ]
    killing.join()
    assert found == [expected] * 4
    client.wait_for_workers(2, timeout=30)


def test_an_interrupted_sweep_leaves_no_tasks(client: Any, sent: list[int]) -> None:
    def stop(_: Any) -> None:
        raise KeyboardInterrupt

    table = komb.table(wide_table(), cluster=client)
    with pytest.raises(komb.errors.Interrupted):
        komb.markov_blanket(table, 0, order=1, progress=stop)
    assert not client.futures


class FakeClient:
    """So many threads on each of some workers."""

    def __init__(self, *threads: int) -> None:
        self._threads = dict(enumerate(threads))

    def nthreads(self) -> dict[int, int]:
        return self._threads


@pytest.mark.parametrize(
    ("threads", "n_rows", "n_bytes", "is_sent"),
    [
        ([16] * 4, 10**13, 10**8, True),
        ([16] * 4, 10**9, 10**8, False),  # too little to be worth a message
        ([1, 1], 10**13, 10**8, False),  # no more threads than there are here
        ([16] * 4, 10**12, 10**10, False),  # takes longer to send than to screen
    ],
)
def test_who_is_quicker(threads: list[int], n_rows: int, n_bytes: int, is_sent: bool) -> None:
    client = FakeClient(*threads)
    with use_workers(client):
        assert find_workers(n_rows, n_bytes, threads=2) is (client if is_sent else None)
    assert find_workers(n_rows, n_bytes, threads=2) is None


def test_what_is_sent_screens_as_before(sent: list[int], monkeypatch: Patch) -> None:
    """A copy in another process has what it needs, and nothing else."""

    def screen_on(_: Any, screen: Any, parts: Any) -> Iterator[Any]:
        copy = pickle.loads(pickle.dumps(screen))
        assert copy.n_bytes == screen.n_bytes
        return map(copy.run, parts)

    monkeypatch.setattr(sweep, "screen_on", screen_on)
    monkeypatch.setattr(sweep, "find_workers", lambda *_: object())
    assert komb.markov_blanket(wide_table(), 0, order=1).members == (30, 60)
