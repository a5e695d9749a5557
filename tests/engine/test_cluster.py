"""Blocks that are counted by the workers of a cluster are those that are counted here."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import komb
from komb.data.stored.dask import Connection, explained
from komb.data.table import DiscreteTable
from komb.engine import cluster
from komb.engine.blocks import ThreadCounter
from komb.engine.cluster import ClusterCounter
from komb.engine.joint_counts import JointCounts
from komb.errors import FileError, WorkerError
from tests.local_cluster import local_client
from tests.optional import pandas as pd

LEVELS = (2, 3, 5, 300)
TYPES = {"x3": "nominal"}  # or its integers would be numbers, and counted in bins
BLOCKS = [(), (0,), (1, 2), (0, 1, 2), (1, 3)]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local_client() as client:
        yield client


def draw_frame(n_rows: int = 30_000) -> Any:
    random = np.random.default_rng(0)
    return pd.DataFrame({f"x{i}": random.integers(0, n, n_rows) for i, n in enumerate(LEVELS)})


@pytest.fixture(scope="module")
def stored(client: Any, tmp_path_factory: pytest.TempPathFactory) -> DiscreteTable:
    path: Path = tmp_path_factory.mktemp("cluster") / "table.komb"
    folder = komb.encode(draw_frame(), path, types=TYPES)
    return komb.table(folder, memory_limit=10**5, cluster=client)


@pytest.fixture(scope="module")
def held(client: Any) -> DiscreteTable:
    frames = pytest.importorskip("dask.dataframe")
    return komb.table(frames.from_pandas(draw_frame(), npartitions=11), types=TYPES, cluster=client)


@pytest.fixture(params=["stored", "held"])
def table(request: pytest.FixtureRequest) -> DiscreteTable:
    found: DiscreteTable = request.getfixturevalue(request.param)
    return found


EXPECTED = ThreadCounter(DiscreteTable.from_data(draw_frame())).count(BLOCKS)


def assert_equal(found: list[JointCounts], expected: list[JointCounts] = EXPECTED) -> None:
    for own, other in zip(found, expected, strict=True):
        assert own.columns == other.columns
        np.testing.assert_array_equal(own.counts, other.counts)


@pytest.mark.parametrize("n_tasks", [1, 3, 1000])
def test_counts(table: DiscreteTable, n_tasks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where so many tasks count that counts are added in two steps."""
    monkeypatch.setattr(cluster, "TASKS_PER_THREAD", n_tasks)
    assert_equal(ClusterCounter(table).count(BLOCKS))


def test_some_of_the_columns(table: DiscreteTable) -> None:
    [found] = ClusterCounter(table.select(["x2", "x0"])).count([(0, 1)])
    [expected] = ThreadCounter(DiscreteTable.from_data(draw_frame())).count([(0, 2)])
    np.testing.assert_array_equal(
        found.counts.reshape(5, 2), expected.counts.reshape(2, 5).transpose()
    )


def test_a_damaged_file(client: Any, tmp_path: Path) -> None:
    komb.encode(draw_frame(5000), tmp_path / "t.komb")
    table = komb.read_table(tmp_path / "t.komb", memory_limit=10, cluster=client)
    codes = np.load(tmp_path / "t.komb" / "codes.npy", mmap_mode="r+")
    codes[1, 4000] = 9
    codes.flush()
    with pytest.raises(FileError, match="codes without levels in 'x1'"):
        ClusterCounter(table).count(BLOCKS)
    (tmp_path / "t.komb" / "codes.npy").unlink()
    with pytest.raises(FileError, match=r"'codes.npy' is missing"):
        ClusterCounter(table).count(BLOCKS)


def test_a_lost_connection_is_explained() -> None:
    assert isinstance(explained(TimeoutError("late")), WorkerError)
    other = KeyError("x")
    assert explained(other) is other


def test_a_worker_that_dies_costs_no_answer(client: Any, held: DiscreteTable) -> None:
    """Killed while it counts, with parts in its memory; Dask starts another one."""
    counter = ClusterCounter(held)
    assert_equal(counter.count(BLOCKS))
    victim = next(iter(client.run(os.getpid).values()))
    killer = threading.Timer(0.02, os.kill, (victim, signal.SIGKILL))
    killer.start()
    for _ in range(5):
        assert_equal(counter.count(BLOCKS))
    killer.join()
    client.wait_for_workers(2, timeout=60)
    assert victim not in client.run(os.getpid).values()


def test_a_connection_outlives_what_is_made_of_its_table(client: Any) -> None:
    """Tables of other columns or rows are counted by the same cluster."""
    table = komb.table(draw_frame(50), cluster=client)
    assert isinstance(table.connection, Connection)
    assert table.select(["x1"]).cluster is table.take([1, 2]).cluster is client
