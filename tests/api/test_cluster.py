"""Searches whose counting is done by a cluster find what searches here find."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import komb
from komb.data.stored import dask as clusters
from komb.data.stored.format import is_table_folder
from komb.errors import DataError, ParameterError
from tests.local_cluster import LOOPBACK, local_client
from tests.optional import pandas as pd

LIMIT = 200_000  # bytes: less than the table takes


def make_frame(n_rows: int = 20_000) -> Any:
    random = np.random.default_rng(1)
    a, b, c, d = (random.integers(0, n, n_rows) for n in (2, 2, 3, 4))
    y = (a ^ b) ^ (random.random(n_rows) < 0.1)
    child = np.where(random.random(n_rows) < 0.2, d % 3, np.minimum(y + c, 2))
    level = np.array(["low", "middle", "high"])[child]
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "y": y, "child": level})


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local_client() as client:
        yield client


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found: Path = tmp_path_factory.mktemp("t") / "table.komb"
    komb.encode(make_frame(), found)
    return found


@pytest.fixture
def stored(path: Path) -> komb.DiscreteTable:
    return komb.read_table(path, memory_limit=LIMIT)


def facts(blanket: komb.Blanket) -> list[object]:
    return [
        (member.name, member.witness, member.statistic, member.df, member.p_value, member.test)
        for member in blanket.evidence
    ]


EXPECTED = {"method": "auto"}, {"method": "mmmb"}, {"method": "komb", "order": 1, "test": "g-sci"}


@pytest.mark.parametrize("options", EXPECTED)
def test_a_table_on_disk(client: Any, stored: Any, options: Any) -> None:
    assert not stored.is_in_memory
    expected = komb.markov_blanket(make_frame(), "y", **options)
    found = komb.markov_blanket(komb.table(stored, cluster=client), "y", **options)
    assert facts(found) == facts(expected)
    assert found.members


def test_a_dataframe_stays_where_it_is(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = pytest.importorskip("dask.dataframe")
    frame = make_frame()
    frame.loc[::7, "c"] = None
    data = frames.from_pandas(frame, npartitions=5)
    expected = komb.markov_blankets(frame, ["y", "child"])

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("rows came here")

    monkeypatch.setattr(clusters.CodesOnWorkers, "whole", property(refuse))
    found = komb.markov_blankets(data, ["y", "child"])  # the active client
    for target, blanket in expected.items():
        assert facts(found[target]) == facts(blanket)


def test_a_table_on_a_cluster_is_like_others(client: Any) -> None:
    frames = pytest.importorskip("dask.dataframe")
    frame = make_frame(1000)
    table = komb.table(frames.from_pandas(frame, npartitions=3), types="strict", cluster=client)
    expected = komb.DiscreteTable.from_data(frame)
    assert table == expected
    assert table.levels == expected.levels
    assert table.nbytes == expected.nbytes
    assert repr(table) == "DiscreteTable(1000 rows x 6 columns, 2-4 levels, on a cluster)"
    chosen = table.select(["child", "a"])
    assert chosen == expected.select(["child", "a"])
    assert chosen.level_counts(0).tolist() == expected.select(["child"]).level_counts(0).tolist()
    with pytest.raises(DataError, match="cannot be sent"):
        pickle.dumps(table)


def test_targets_are_dealt_out(client: Any) -> None:
    frame = make_frame(2000)
    expected = komb.markov_blankets(frame)
    found = komb.markov_blankets(komb.table(frame, cluster=client))
    assert {name: facts(found[name]) for name in found} == {
        name: facts(expected[name]) for name in expected
    }


def test_many_targets_of_a_table_on_disk(client: Any, stored: Any) -> None:
    expected = komb.markov_blankets(make_frame(), ["y", "a"])
    found = komb.markov_blankets(komb.table(stored, cluster=client.scheduler.address), ["y", "a"])
    assert [facts(found[name]) for name in found] == [facts(expected[name]) for name in expected]


def test_the_command_line(client: Any, path: Path, run: Any) -> None:
    code, out, err = run(
        "find", path, "-t", "y", "--cluster", client.scheduler.address, "--quiet",
        "--memory-limit", LIMIT,
    )  # fmt: skip
    assert (code, out.split()) == (0, ["a", "b", "c", "d", "child"]), err


def test_a_worker_that_dies_costs_no_answer(client: Any, stored: Any) -> None:
    expected = facts(komb.markov_blanket(make_frame(), "y"))
    victim = next(iter(client.run(os.getpid).values()))
    killer = threading.Timer(0.1, os.kill, (victim, signal.SIGKILL))
    killer.start()
    for _ in range(3):
        assert facts(komb.markov_blanket(komb.table(stored, cluster=client), "y")) == expected
    killer.join()
    client.wait_for_workers(2, timeout=60)


class TestBadInput:
    @pytest.mark.parametrize("cluster", [7, [], {"address": "tcp://127.0.0.1:1"}])
    def test_no_cluster_at_all(self, cluster: object) -> None:
        with pytest.raises(ParameterError, match="'cluster' must be a Dask client, or the address"):
            komb.table(make_frame(100), cluster=cluster)

    def test_nobody_answers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("distributed")
        monkeypatch.setattr(clusters, "CONNECT_SECONDS", 0.2)
        with pytest.raises(ParameterError, match="a scheduler that answers; got 'tcp://127"):
            komb.table(make_frame(100), cluster="tcp://127.0.0.1:1")

    def test_no_workers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        distributed = pytest.importorskip("distributed")
        monkeypatch.setattr(clusters, "CONNECT_SECONDS", 0.2)
        with (
            distributed.LocalCluster(n_workers=0, dashboard_address=LOOPBACK) as empty,
            pytest.raises(ParameterError, match="have at least one worker; got none"),
        ):
            komb.table(make_frame(100), cluster=empty)

    def test_another_version(self, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(client, "run", lambda *_, **__: {"tcp://there": "0.0.1"})
        with pytest.raises(ParameterError, match=r"the same komb.*; got 0\.0\.1 on tcp://there"):
            komb.table(make_frame(100), cluster=client)

    def test_workers_without_komb(self, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        def find_none(*_: object, **__: object) -> dict[str, object]:
            return {"tcp://there": metadata.PackageNotFoundError("komb")}

        monkeypatch.setattr(client, "run", find_none)
        with pytest.raises(ParameterError, match="komb on every worker; got tcp://there: No pack"):
            komb.table(make_frame(100), cluster=client)

    def test_a_disk_that_workers_do_not_see(
        self, client: Any, stored: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = client.run

        def see_nothing(function: Any, *arguments: object, **options: object) -> object:
            if function is is_table_folder:
                return {"tcp://there": False}
            return own(function, *arguments, **options)

        monkeypatch.setattr(client, "run", see_nothing)
        with pytest.raises(ParameterError, match="from every worker; got none on tcp://there"):
            komb.markov_blanket(komb.table(stored, cluster=client), "y")

    def test_a_client_that_is_closed(self) -> None:
        distributed = pytest.importorskip("distributed")
        with distributed.Client(processes=False, n_workers=1, dashboard_address=LOOPBACK) as closed:
            pass
        with pytest.raises(ParameterError, match="'cluster' must be a client that is connected"):
            komb.table(make_frame(100), cluster=closed)

    def test_a_dataframe_without_a_client(self) -> None:
        frames = pytest.importorskip("dask.dataframe")
        data = frames.from_pandas(make_frame(100), npartitions=2)
        if clusters.active_client() is None:
            with pytest.raises(ParameterError, match="'cluster' must be given"):
                komb.markov_blanket(data, "y")
