"""Many targets with several workers: the same results, shared data, clean ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

import komb
from komb.api import parallel
from komb.api.options import Search
from komb.api.progress import Progress
from komb.api.run import Finding, Run
from komb.errors import DataError, Interrupted, ParameterError, WorkerError

TABLE = komb.DiscreteNetwork.random(9, cardinality=(2, 4), seed=4).sample(1500, 1)
TARGETS = list(TABLE.names)
EXPECTED = komb.markov_blankets(TABLE)


def facts(blankets: komb.Blankets) -> list[object]:
    """All that a result says, apart from the work it took: targets in one session share it."""
    return list(blankets.values())


class TestHowMany:
    def test_none_is_one_unless_configured(self) -> None:
        assert parallel.count_workers(None, 9) == 1
        with joblib.parallel_config(n_jobs=3):
            assert parallel.count_workers(None, 9) == 3
            assert parallel.count_workers(2, 9) == 2
            assert parallel.count_workers(1, 9) == 1
        with joblib.parallel_config(backend="threading"):
            assert parallel.count_workers(None, 99) == joblib.Parallel().n_jobs

    def test_all_cores_and_never_more_than_there_is_work(self) -> None:
        assert parallel.count_workers(-1, 10**6) == joblib.cpu_count()
        assert parallel.count_workers(64, 3) == 3
        assert parallel.count_workers(64, 1) == 1

    @pytest.mark.parametrize("n_jobs", [0, True, False, 1.5, "all", [2]])
    def test_what_is_no_number_of_jobs(self, n_jobs: Any) -> None:
        rule = r"'n_jobs' must be a whole number other than 0, or None; got .*n_jobs=-1"
        with pytest.raises(ParameterError, match=rule):
            komb.markov_blankets(TABLE, n_jobs=n_jobs)

    def test_numpy_numbers_are_numbers(self) -> None:
        assert parallel.check_jobs(np.int64(-2)) == -2

    def test_no_worker_is_started_without_need(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parallel, "spread", lambda *_: pytest.fail("workers"))
        for n_jobs in (None, 1):
            assert facts(komb.markov_blankets(TABLE, n_jobs=n_jobs)) == facts(EXPECTED)
        assert list(komb.markov_blankets(TABLE, TARGETS[:1], n_jobs=4)) == TARGETS[:1]


class TestSameResults:
    def test_processes(self) -> None:
        found = komb.markov_blankets(TABLE, n_jobs=2)
        assert list(found) == TARGETS
        assert facts(found) == facts(EXPECTED)

    def test_threads(self) -> None:
        for n_jobs in (2, 3, 9):
            with joblib.parallel_config(backend="threading", n_jobs=n_jobs):
                assert facts(komb.markov_blankets(TABLE)) == facts(EXPECTED)

    def test_a_pool_that_returns_all_at_once(self) -> None:
        """As ray's does; more targets than are sent at a time."""
        table = komb.boolean_table("and", 200, n_irrelevant=20)
        with joblib.parallel_config(backend="multiprocessing"):
            found = komb.markov_blankets(table, n_jobs=2)
        assert facts(found) == facts(komb.markov_blankets(table))

    @pytest.mark.parametrize(
        "options",
        [
            {"method": "pcmb", "test": "g", "df": "adjusted"},
            {"order": 2, "exclude": [TARGETS[0]], "level": 0.1, "given": [TARGETS[1]]},
            {"start": [TARGETS[2]], "include": [TARGETS[3]], "test": "sci"},
        ],
        ids=str,
    )
    def test_every_option_arrives(self, options: dict[str, Any]) -> None:
        with joblib.parallel_config(backend="loky", n_jobs=2):
            found = komb.markov_blankets(TABLE, **options)
        assert facts(found) == facts(komb.markov_blankets(TABLE, **options))

    @pytest.mark.parametrize("missing", ["level", "testwise"])
    def test_cut_and_incomplete_columns(self, missing: str) -> None:
        columns: dict[str, Any] = {str(name): TABLE.column(name) for name in TARGETS}
        columns["X1"] = [None, *columns["X1"][1:]]
        columns["time"] = np.random.default_rng(3).random(TABLE.n_rows)
        options: dict[str, Any] = {"discretize": {"time": "uniform"}, "missing": missing}
        table = komb.table(columns, **options)
        found = komb.markov_blankets(table, n_jobs=2)
        assert facts(found) == facts(komb.markov_blankets(table))
        assert list(found["X1"].cuts) == ["time"]

    def test_they_can_be_explained(self) -> None:
        found = komb.markov_blankets(TABLE, TARGETS[:2], n_jobs=2)[TARGETS[0]]
        assert str(found.explain()) == str(EXPECTED[TARGETS[0]].explain())

    def test_chosen_targets_in_their_order(self) -> None:
        chosen = [TARGETS[5], TARGETS[1], TARGETS[8]]
        found = komb.markov_blankets(TABLE, chosen, n_jobs=2)
        assert list(found) == chosen
        assert facts(found) == [facts(EXPECTED)[TARGETS.index(name)] for name in chosen]

    def test_names_and_levels_stay_here(self) -> None:
        """Whatever they are: workers get numbers."""

        class Label:  # cannot be pickled, and is equal to nothing but itself
            pass

        names: tuple[Any, ...] = tuple(Label() for _ in TARGETS)
        levels = tuple(tuple(Label() for _ in column) for column in TABLE.levels)
        table = komb.DiscreteTable(names, TABLE.parts, levels)
        with joblib.parallel_config(backend="multiprocessing"):
            found = komb.markov_blankets(table, n_jobs=2)
        for name, label in zip(TARGETS, names, strict=True):
            members = tuple(TARGETS[names.index(member)] for member in found[label])
            assert members == EXPECTED[name].members

    @pytest.mark.slow  # and needs a package that nothing else does
    def test_dask(self) -> None:
        distributed: Any = import_module("distributed")
        here = {"processes": False, "dashboard_address": None}  # no socket at all
        with (
            distributed.Client(n_workers=1, threads_per_worker=2, **here),
            joblib.parallel_config(backend="dask"),
        ):
            assert parallel.count_workers(None, 9) == 2
            assert facts(komb.markov_blankets(TABLE)) == facts(EXPECTED)


def look(_: int, __: object, ___: object, *table: Any) -> tuple[bool, bool, int]:
    """Say whether a worker's table is on mapped memory and protected, and which process it is."""
    codes = table[1]
    base: Any = codes
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    return isinstance(base, np.memmap), codes.flags.writeable, os.getpid()


class TestSharing:
    def test_processes_map_the_table(self) -> None:
        codes = np.random.default_rng(0).integers(0, 2, (3000, 400), np.uint8)
        large = komb.DiscreteTable.from_codes(codes)
        shared = (None, None, *parallel._anonymous(large))
        seen = dict(parallel.spread(look, range(4), shared, 2))
        assert sorted(seen) == [0, 1, 2, 3]
        for is_mapped, is_writeable, process in seen.values():
            assert is_mapped
            assert not is_writeable
            assert process != os.getpid()

    def test_threads_have_it_already(self) -> None:
        shared = parallel._anonymous(TABLE)
        codes = next(part for part in shared if isinstance(part, np.ndarray))
        assert np.shares_memory(codes, TABLE.codes)

    def test_little_is_sent_apart_from_the_codes(self) -> None:
        import pickle

        codes = np.zeros((2000, 300), np.uint16)
        codes[:, 0] = range(2000)
        wide = komb.DiscreteTable.from_codes(codes, [f"{i:0>500}" for i in range(300)])
        rest = [part for part in parallel._anonymous(wide) if not isinstance(part, np.ndarray)]
        assert len(pickle.dumps(rest)) < 300 * 50


class TestProgress:
    def test_it_counts_finished_targets(self) -> None:
        seen: list[Progress] = []
        komb.markov_blankets(TABLE, n_jobs=2, progress=seen.append)
        first, *others = seen
        assert (first.phase, first.finished, first.n_targets) == ("start", 0, 9)
        assert [progress.finished for progress in others] == list(range(1, 10))
        assert {progress.phase for progress in others} == {"done"}
        for progress in others:
            assert TARGETS[progress.position] == progress.target
            assert progress.blanket == EXPECTED[progress.target].members
            assert progress.tests > 0

    def test_one_after_the_other_too(self) -> None:
        seen: list[Progress] = []
        komb.markov_blankets(TABLE, TARGETS[:3], progress=seen.append)
        assert [p.finished for p in seen if p.phase == "done"] == [1, 2, 3]
        assert [p.finished for p in seen] == sorted(p.finished for p in seen)


def wait_for(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 120
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def search_or_wait(targets: tuple[int, ...], folder: Path, *others: Any) -> list[Finding]:
    """Search for the first two targets; all others wait until they are ended from outside."""
    (folder / str(os.getpid())).touch()
    if targets[0] > 1:
        time.sleep(600)
    return parallel._search_in_worker(targets, *others)


def search_or_die(targets: tuple[int, ...], folder: Path, *others: Any) -> list[Finding]:
    """Search for the first two targets; the third kills its process once both are done."""
    if targets[0] > 1:
        wait_for(lambda: (folder / "2").exists())
        os._exit(1)
    return parallel._search_in_worker(targets, *others)


def search_or_fail(targets: tuple[int, ...], folder: Path, *others: Any) -> list[Finding]:
    if targets[0] > 1:
        wait_for(lambda: (folder / "2").exists())
        raise (MemoryError("no more") if targets == (2,) else DataError("too large"))
    return parallel._search_in_worker(targets, *others)


@pytest.fixture
def replace_search(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Any], None]:
    """Have workers do something else than search, with a folder at hand."""

    def replace(work: Any) -> None:
        spread = parallel.spread

        def with_folder(_: Any, items: Any, shared: Any, n_workers: int) -> Iterator[Any]:
            return spread(work, sorted(items), (tmp_path, *shared), n_workers)

        monkeypatch.setattr(parallel, "spread", with_folder)

    return replace


def mark(folder: Path) -> Callable[[Progress], None]:
    return lambda progress: (folder / str(progress.finished)).touch()


class TestInterruption:
    def test_what_is_finished_is_kept_and_no_worker_stays(
        self, replace_search: Callable[[Any], None], tmp_path: Path
    ) -> None:
        def interrupt_once_two_are_done() -> None:
            wait_for(lambda: (tmp_path / "2").exists())
            signal.raise_signal(signal.SIGINT)

        replace_search(search_or_wait)
        threading.Thread(target=interrupt_once_two_are_done).start()
        message = "^Interrupted after 2 of 9 targets; 'finished' holds their blankets"
        with pytest.raises(Interrupted, match=message) as caught:
            komb.markov_blankets(TABLE, n_jobs=2, progress=mark(tmp_path))
        assert isinstance(caught.value.finished, komb.Blankets)
        assert facts(caught.value.finished) == facts(EXPECTED)[:2]
        workers = [int(path.name) for path in tmp_path.iterdir() if len(path.name) > 1]
        assert workers
        assert wait_for(lambda: not any(map(is_alive, workers)))

    def test_threads_end_themselves(self) -> None:
        large = komb.boolean_table("and", 5000, n_parents=2, n_irrelevant=150)

        def stop(progress: Progress) -> None:
            raise KeyboardInterrupt

        before = threading.active_count()
        with (
            joblib.parallel_config(backend="threading"),
            pytest.raises(Interrupted, match="after 0 of 2 targets"),
        ):
            komb.markov_blankets(large, ["Y", "X1"], order=3, n_jobs=2, progress=stop)
        assert wait_for(lambda: threading.active_count() <= before)

    def test_threads_at_work_are_told(self) -> None:
        """Each of these searches would take minutes."""
        large = komb.boolean_table("and", 5000, n_parents=2, n_irrelevant=150)
        stop, ticket = parallel.Stop(), (0, -1)
        run = Run(large, Search.of(method="komb", order=3, test="g"), alpha=0.01)
        run = parallel._without_data(run)
        shared = ticket, stop, ([], []), run, *parallel._anonymous(large)
        with joblib.parallel_config(backend="threading"):
            found = parallel.spread(parallel._search_in_worker, [(0,), (1,)], shared, 2)
            threading.Timer(0.5, setattr, (stop, "is_set", True)).start()
            with pytest.raises(WorkerError, match="Stopped"):
                list(found)

    def test_an_error_of_the_callback_is_the_callers(self) -> None:
        def fail(progress: Progress) -> None:
            if progress.finished:
                raise LookupError("mine")

        with joblib.parallel_config(backend="threading"), pytest.raises(LookupError, match="mine"):
            komb.markov_blankets(TABLE, n_jobs=2, progress=fail)


class TestLostWorkers:
    def test_what_is_finished_is_kept(
        self, replace_search: Callable[[Any], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        replace_search(search_or_die)
        message = r"worker was killed, .*memory.* after 2 of 9 targets; 'finished' .*fewer 'n_jobs'"
        with pytest.raises(WorkerError, match=message) as caught:
            komb.markov_blankets(TABLE, n_jobs=2, progress=mark(tmp_path))
        assert isinstance(caught.value.finished, komb.Blankets)
        assert facts(caught.value.finished) == facts(EXPECTED)[:2]
        monkeypatch.undo()  # the next run has new workers
        assert facts(komb.markov_blankets(TABLE, n_jobs=2)) == facts(EXPECTED)

    def test_a_failure_names_its_cause(
        self, replace_search: Callable[[Any], None], tmp_path: Path
    ) -> None:
        replace_search(search_or_fail)
        message = r"A worker failed \(MemoryError: no more\) after 2 of 3 targets"
        with (
            joblib.parallel_config(backend="threading"),
            pytest.raises(WorkerError, match=message) as caught,
        ):
            komb.markov_blankets(TABLE, TARGETS[:3], n_jobs=2, progress=mark(tmp_path))
        assert isinstance(caught.value.__cause__, MemoryError)

    def test_bad_input_is_bad_input_wherever_it_is_noticed(
        self, replace_search: Callable[[Any], None], tmp_path: Path
    ) -> None:
        replace_search(search_or_fail)
        chosen = [*TARGETS[:2], TARGETS[3]]
        with (
            joblib.parallel_config(backend="threading"),
            pytest.raises(DataError, match="too large"),
        ):
            komb.markov_blankets(TABLE, chosen, n_jobs=2, progress=mark(tmp_path))
