"""The numbers of the paper: all there, and read as they are printed."""

from __future__ import annotations

import statistics

import pytest

import komb
from komb.data.models.boolean_functions import BOOLEAN_FUNCTIONS
from komb.reproduction import paper
from komb.reproduction.paper import Printed, Published, Setting, read_printed

GRID = [Setting("komb", k, bound) for k in range(4) for bound in (1, 2, 3)]
CLASSICS = [Setting(method) for method in paper.CLASSICS]


class TestShape:
    @pytest.mark.parametrize(
        ("printed", "rows", "columns"),
        [
            (paper.INTRODUCTION, 4, ["100", "1000"]),
            (paper.SYNTHETIC, 4, sorted(paper.FUNCTIONS)),
            (paper.ABLATION, 12, [*paper.FUNCTIONS, *paper.NETWORKS]),
            (paper.FULL, 17, list(paper.NETWORKS)),
            (paper.RUNTIMES, 17, list(paper.NETWORKS)),
        ],
    )
    def test_every_row_has_every_column(
        self, printed: Printed, rows: int, columns: list[str]
    ) -> None:
        assert len(printed) == rows
        assert all(list(row) == columns for row in printed.values())

    def test_rows_are_those_of_the_paper(self) -> None:
        assert list(paper.ABLATION) == GRID
        assert list(paper.FULL) == list(paper.RUNTIMES) == CLASSICS + GRID[3:]
        assert list(paper.SEPARATORS) == list(paper.NETWORKS)

    def test_only_the_ablation_has_gaps(self) -> None:
        for printed in (paper.INTRODUCTION, paper.SYNTHETIC, paper.FULL, paper.RUNTIMES):
            assert all(cell is not None for row in printed.values() for cell in row.values())
        gaps = {
            (row.order, name)
            for row, cells in paper.ABLATION.items()
            for name, cell in cells.items()
            if cell is None
        }
        assert gaps == {
            *((0, name) for name in paper.NETWORKS),
            *((3, name) for name in paper.FUNCTIONS),
            (3, "Barley"),
        }

    def test_methods_and_functions_are_those_of_komb(self) -> None:
        assert {*paper.CLASSICS, "komb", "auto"} == set(komb.algorithms())
        assert tuple(BOOLEAN_FUNCTIONS) == paper.FUNCTIONS


class TestNumbers:
    @pytest.mark.parametrize(
        ("printed", "setting", "column", "number"),
        [
            (paper.INTRODUCTION, Setting("gs"), "100", Published(28.33)),
            (paper.INTRODUCTION, Setting("komb", 1, 3), "100", Published(77.5)),
            (paper.SYNTHETIC, Setting("komb", 2, 3), "or", Published(0.71, 0.384)),
            (paper.SYNTHETIC, Setting("gs"), "parity", Published(0.025, 0.11)),
            (paper.ABLATION, Setting("komb", 2, 1), "Barley", Published(0.4634, 0.1774)),
            (paper.ABLATION, Setting("komb", 3, 3), "Mildew", Published(0.3726, 0.1558)),
            (paper.ABLATION, Setting("komb", 0, 2), "Alarm1", None),
            (paper.FULL, Setting("stmb"), "Mildew", Published(0.2734, 0.1765)),
            (paper.FULL, Setting("komb", 1, 1), "Barley", Published(0.5158, 0.1964)),
            (paper.FULL, Setting("komb", 3, 1), "Mildew", Published(0.0419, 0.1458)),
            (paper.RUNTIMES, Setting("lrh"), "Alarm1", Published(89.877, 93.285)),
            (paper.RUNTIMES, Setting("komb", 3, 2), "Barley", Published(1800.0, 0.0)),
        ],
    )
    def test_some_of_them(
        self, printed: Printed, setting: Setting, column: str, number: Published | None
    ) -> None:
        assert printed[setting][column] == number

    def test_separators(self) -> None:
        assert paper.SEPARATORS["Barley"] == (48, 2004, 1.739, 9, 0.835)

    def test_tables_agree_where_no_run_reached_the_time_cap(self) -> None:
        capped = {("Barley", 2, 1), ("Mildew", 3, 1), ("Mildew", 3, 2)}
        for setting in GRID[3:]:
            for name in paper.NETWORKS:
                if (name, *setting[1:]) not in capped and paper.ABLATION[setting][name]:
                    assert paper.ABLATION[setting][name] == paper.FULL[setting][name]

    def test_the_full_results_score_capped_runs_zero(self) -> None:
        setting = Setting("komb", 2, 1)
        finished, all_runs = paper.ABLATION[setting]["Barley"], paper.FULL[setting]["Barley"]
        assert finished is not None
        assert all_runs is not None
        assert round(finished.mean * 99 / 100, 4) == all_runs.mean

    def test_deviations_are_those_of_samples(self) -> None:
        # Means of zeros and ones tell all: on parity two of forty blankets were found at k=1.
        for f1, count in (("parity", 2), ("ex-1", 27)):
            published = paper.ABLATION[Setting("komb", 1, 1)][f1]
            assert published is not None
            scores = [1.0] * count + [0.0] * (40 - count)
            assert round(statistics.fmean(scores), 4) == published.mean
            assert round(statistics.stdev(scores), 4) == published.std
            assert round(statistics.pstdev(scores), 4) != published.std

    def test_time_cap(self) -> None:
        capped = [
            (setting.order, name)
            for setting in paper.FULL
            for name in paper.NETWORKS
            if paper.has_timed_out(setting, name)
        ]
        assert capped == [(3, "Barley")] * 3
        assert not paper.has_timed_out(Setting("komb", 0, 1), "Barley")


class TestReading:
    def test_a_row_of_the_wrong_length_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="zip"):
            read_printed("Alarm1 Barley\n gs 0.5±0.1")

    def test_labels(self) -> None:
        assert Setting("hiton-mb").label == "HITON-MB"
        assert Setting("komb", 1, 2).label == "kOMB (k=1, l=2)"
