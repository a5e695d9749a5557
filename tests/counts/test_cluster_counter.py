"""Counts that come from the workers of a cluster are those that are counted here."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from komb.counts import cluster_counter
from komb.counts.cluster_counter import ClusterCounter, HeldParts, StoredParts
from komb.counts.joint_counts import JointCounts, add_counts, count_part
from komb.data.stored.encoding import encode
from komb.data.stored.stored_table import StoredTable
from komb.errors import WorkerError
from tests.local_cluster import local_client

LEVELS = (2, 3, 5, 300)
LOT = [(), (0,), (1, 2), (0, 1, 2), (1, 3)]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local_client() as client:
        yield client


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> StoredTable:
    random = np.random.default_rng(0)
    data = {f"x{i}": random.integers(0, n, 30_000) for i, n in enumerate(LEVELS)}
    path: Path = tmp_path_factory.mktemp("cluster") / "table.komb"
    return encode(data, path, memory_limit=200_000)  # small, so there are many shards


def counted_here(table: StoredTable) -> list[JointCounts]:
    return reduce(add_counts, (count_part(shard, LEVELS, LOT) for shard in table.shards()))


def make_counter(client: Any, parts: Any, table: StoredTable) -> ClusterCounter:
    return ClusterCounter(table, parts, client, 10**9)


def assert_equal(found: list[JointCounts], expected: list[JointCounts]) -> None:
    for own, other in zip(found, expected, strict=True):
        assert own.columns == other.columns
        np.testing.assert_array_equal(own.counts, other.counts)


@pytest.mark.parametrize("n_tasks", [1, 3, 1000])
def test_shards_on_a_disk(client: Any, table: StoredTable, n_tasks: int) -> None:
    assert table.n_shards > 8, "or counts would not be added in two steps"
    counter = make_counter(client, StoredParts(table, n_tasks), table)
    assert_equal(counter.count(LOT), counted_here(table))


def test_parts_in_memory(client: Any, table: StoredTable) -> None:
    held = client.map(table.shard, range(table.n_shards))
    counter = make_counter(client, HeldParts(held, range(4)), table)
    assert_equal(counter.count(LOT), counted_here(table))


def test_some_of_the_columns(client: Any, table: StoredTable) -> None:
    held = client.map(table.shard, range(table.n_shards))
    chosen = table.select(["x2", "x0"])
    counter = make_counter(client, HeldParts(held, [2, 0]), chosen)  # type: ignore[arg-type]
    [found] = counter.count([(0, 1)])
    [expected] = reduce(
        add_counts, (count_part(shard, LEVELS, [(0, 2)]) for shard in table.shards())
    )
    np.testing.assert_array_equal(
        found.counts.reshape(5, 2), expected.counts.reshape(2, 5).transpose()
    )


def test_an_empty_lot(client: Any, table: StoredTable) -> None:
    assert make_counter(client, StoredParts(table, 2), table).count([]) == []


def test_progress(client: Any, table: StoredTable) -> None:
    seen: list[tuple[int, int]] = []
    counter = make_counter(client, StoredParts(table, 3), table)
    counter.count(LOT, lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_what_fails_on_a_worker_is_raised_here(client: Any, table: StoredTable) -> None:
    counter = make_counter(client, StoredParts(table, 2), table)
    with pytest.raises(IndexError):
        counter.count([(0, 7)])
    assert_equal(counter.count(LOT), counted_here(table))


def test_a_lost_connection_is_explained() -> None:
    assert isinstance(cluster_counter.explained(TimeoutError("late")), WorkerError)
    other = KeyError("x")
    assert cluster_counter.explained(other) is other


def test_a_worker_that_dies_costs_no_answer(client: Any, table: StoredTable) -> None:
    """Killed while it counts, with parts in its memory; Dask starts another one."""
    expected = counted_here(table)
    held = client.map(table.shard, range(table.n_shards))
    counter = make_counter(client, HeldParts(held, range(4)), table)
    counter.count(LOT)
    victim = next(iter(client.run(os.getpid).values()))
    killer = threading.Timer(0.02, os.kill, (victim, signal.SIGKILL))
    killer.start()
    for _ in range(5):
        assert_equal(counter.count(LOT), expected)
    killer.join()
    client.wait_for_workers(2, timeout=60)
    assert victim not in client.run(os.getpid).values()
