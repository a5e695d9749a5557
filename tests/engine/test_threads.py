"""How many threads count, and that nothing is left of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator

import joblib
import pytest

from komb.engine.threads import map_in_order, n_threads, use_threads


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ours() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("komb")]


def test_one_per_processor_unless_somebody_says_otherwise() -> None:
    assert n_threads() == processors()
    with use_threads(3):
        assert n_threads() == 3
        with use_threads(None):
            assert n_threads() == processors()
    assert n_threads() == processors()


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_one_in_the_workers_of_joblib(backend: str) -> None:
    with joblib.parallel_config(backend=backend):
        assert joblib.Parallel(n_jobs=2)(joblib.delayed(n_threads)() for _ in range(2)) == [1, 1]
    assert n_threads() == processors()


def test_one_in_the_processes_of_a_pool() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(n_threads) == 1


def test_one_in_our_own_threads() -> None:
    assert set(map_in_order(lambda _: n_threads(), range(8), threads=2)) == {1}


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_results_come_in_order(threads: int) -> None:
    def work(item: int) -> int:
        time.sleep(0.001 * (item % 3))
        return item

    assert list(map_in_order(work, range(40), threads)) == list(range(40))
    assert list(map_in_order(work, [], threads)) == []


def test_items_are_drawn_a_few_at_a_time() -> None:
    drawn = []

    def items() -> Iterator[int]:
        for item in range(100):
            drawn.append(item)
            yield item

    results = map_in_order(abs, items(), threads=2)
    next(results)
    assert len(drawn) < 10
    results.close()  # type: ignore[attr-defined]
    assert not ours()


def test_an_error_reaches_the_caller_and_no_thread_is_left() -> None:
    with pytest.raises(ZeroDivisionError):
        list(map_in_order(lambda item: 1 // (item - 5), range(100), threads=2))
    assert not ours()


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_an_interrupt_is_heard_and_no_thread_is_left() -> None:
    is_over = threading.Event()
    alarm = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    alarm.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            for _ in map_in_order(lambda _: is_over.wait(0.05), range(1000), threads=2):
                pass
    finally:
        alarm.join()
    assert not ours()
