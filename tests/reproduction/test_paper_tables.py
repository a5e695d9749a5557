"""Tables: means and deviations, what the paper has beside them, and what is not there."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import pytest

from komb.reproduction import paper
from komb.reproduction.averages import Average, Runs, Variant, average
from komb.reproduction.differences import measure_differences
from komb.reproduction.journal import Record, SeparatorRecord
from komb.reproduction.paper import Published
from komb.reproduction.paper_tables import make_tables
from komb.reproduction.tables import Column, Entry, Row, Section, Table
from tests.reproduction.made_up import make_komb, make_record, make_samples, make_separators

ADJUSTED: dict[str, Any] = {"test": "g", "df": "adjusted"}


def tables_of(
    records: Sequence[Record] = (), separators: Sequence[SeparatorRecord] = ()
) -> dict[str, Table]:
    return {table.name: table for table in make_tables(records, separators, "out")}


def find_row(table: Table, label: str, detail: str = "", section: int = 0) -> Row:
    rows = table.sections[section].rows
    return next(row for row in rows if (row.label, row.detail) == (label, detail))


def find_entry(table: Table, label: str, heading: str, **where: object) -> Entry:
    headings = [column.heading for column in table.columns]
    row = find_row(table, label, **where)  # type: ignore[arg-type]
    return row.entries[headings.index(heading)]


class TestAverage:
    def test_mean_and_deviation_of_a_sample(self) -> None:
        scores = [0.0, 0.5, 1.0, 1.0]
        entry = average(make_samples(scores, "or", "gs"), "f1")
        assert entry.mean == statistics.fmean(scores)
        assert entry.std == statistics.stdev(scores)
        assert (entry.runs, entry.timed_out) == (4, 0)

    def test_as_in_the_paper(self) -> None:
        entry = average(make_samples([1.0] * 2 + [0.0] * 38, "parity", "gs"), "f1")
        assert entry.mean == pytest.approx(0.05)
        assert entry.std == pytest.approx(0.2207, abs=5e-5)

    def test_one_run_has_no_deviation(self) -> None:
        assert average([make_record()], "f1").std is None

    def test_none(self) -> None:
        assert average([], "f1") == Average(None, None, 0, 0)

    def test_capped_runs_count_or_are_left_out(self) -> None:
        runs = [make_record(f1=0.8), make_record(f1=0.0, seconds=1800.0, timed_out=True)]
        assert average(runs, "f1").mean == 0.4
        assert average(runs, "seconds").mean == pytest.approx(900.125)
        finished = average(runs, "f1", finished_only=True)
        assert (finished.mean, finished.runs, finished.timed_out) == (0.8, 2, 1)


class TestRuns:
    def test_the_papers_test_and_the_empty_set_come_first(self) -> None:
        records = [
            make_record(**ADJUSTED),
            make_komb("or", 1, 1, start="iamb"),
            make_record(test="chi2"),
            make_record(),
        ]
        assert Runs(records).variants(["synthetic"]) == [
            Variant("g-sci", "observed"),
            Variant("g-sci", "observed", "iamb"),
            Variant("chi2", "observed"),
            Variant("g", "adjusted"),
        ]
        assert Runs(records).variants(["benchmark"]) == []


class TestNumbers:
    def test_ours_stands_beside_the_papers(self) -> None:
        table = tables_of(make_samples([0.5, 0.7], "Alarm1", "gs"))["full-results"]
        entry = find_entry(table, "GS", "Alarm1")
        assert entry.mean == pytest.approx(0.6)
        assert entry.published == Published(0.3434, 0.1503)
        assert entry.difference == pytest.approx(0.6 - 0.3434)
        assert entry.show_change(table.columns[0]) == "+0.2566"

    def test_recall_is_in_percent(self) -> None:
        records = [make_komb("ex-1", 2, 3, 1.0), make_komb("ex-1", 2, 3, 0.5, sample=2)]
        entry = find_entry(
            tables_of(records)["introduction"],
            "kOMB (k=2, l=3)",
            "100 rows",
            detail="from the empty set",
        )
        assert entry.mean == 75.0
        assert entry.std == pytest.approx(35.355, abs=1e-3)
        assert entry.published == Published(100.0)

    def test_times_come_from_the_runtime_suite_alone(self) -> None:
        records = [make_record("Alarm1", seconds=9.0)]
        assert not tables_of(records)["full-runtimes"].sections
        records.append(make_record("Alarm1", suite="runtime", seconds=0.5))
        table = tables_of(records)["full-runtimes"]
        entry = find_entry(table, "GS", "Alarm1")
        assert entry.mean == 0.5
        assert entry.show_change(table.columns[0]) == "-4.375, 9.8x faster"

    def test_only_samples_of_the_papers_size_count(self) -> None:
        assert not tables_of([make_record("or", n_rows=200)])["synthetic"].sections
        assert not tables_of([make_record("Alarm1", n_rows=500)])["full-results"].sections

    def test_komb_stands_there_twice(self) -> None:
        records = [
            make_komb("Alarm1", 1, 1, 0.7),
            make_komb("Alarm1", 1, 1, 0.8, start="iamb"),
        ]
        for name in ("benchmark", "ablation", "full-results"):
            table = tables_of(records)[name]
            means = {
                row.detail: row.entries[0].mean
                for row in table.rows
                if row.label == "kOMB (k=1, l=1)"
            }
            assert means == {"from the empty set": 0.7, "from IAMB's blanket": 0.8}

    def test_other_tests_have_a_section_of_their_own(self) -> None:
        records = [make_record("Alarm1", f1=0.4), make_record("Alarm1", f1=0.6, **ADJUSTED)]
        table = tables_of(records)["full-results"]
        titles = [section.title for section in table.sections]
        assert titles == ["test g-sci, df observed", "test g, df adjusted"]
        assert [row.label for row in table.sections[1].rows] == ["GS"]
        assert find_entry(table, "GS", "Alarm1", section=1).mean == 0.6

    def test_a_classic_that_beats_komb_is_seen_to(self) -> None:
        records = [
            make_record("Alarm1", "mmmb", 0.85, **ADJUSTED),
            make_record("Alarm1", "mmmb", 0.7),
            make_komb("Alarm1", 1, 1, 0.8),
        ]
        table = tables_of(records)["benchmark"]
        best = [row.entries[0].mean for row in table.rows if table.is_best(0, row.entries[0])]
        assert best == [0.85]

    def test_classics_that_the_paper_leaves_out_are_shown_if_they_were_run(self) -> None:
        table = tables_of([make_record("or"), make_record("or", "iamb", 0.9)])["synthetic"]
        labels = [row.label for row in table.rows]
        assert labels[:2] == ["GS", "IAMB"]
        assert "PCMB" not in labels
        assert find_entry(table, "IAMB", "or").published is None


class TestMissing:
    def test_nothing_at_all(self) -> None:
        tables = tables_of()
        assert len(tables) == 7
        for table in tables.values():
            assert not table.sections
            assert len(table.notes) == 1
        suites = [table.notes[0].split()[-4] for table in tables.values()]
        assert suites == [
            "intro", "synthetic", "runtime", "ablation", "benchmark", "runtime", "separators",
        ]  # fmt: skip

    def test_columns_without_records_are_left_out_and_named(self) -> None:
        table = tables_of([make_record("Alarm1")])["full-results"]
        assert [column.heading for column in table.columns] == ["Alarm1"]
        assert table.notes[-1] == (
            "Not run, and left out: F1 of Barley, Insurance, Mildew. This adds it: "
            "komb reproduce benchmark --out out --resume --networks Barley,Insurance,Mildew"
        )

    def test_rows_that_were_not_run_are_shown_as_such(self) -> None:
        table = tables_of([make_record("Alarm1")])["full-results"]
        entry = find_entry(table, "IAMB", "Alarm1")
        assert entry.show_ours(table.columns[0]) == "not run"
        assert entry.show_paper(table.columns[0]) == "0.6931 ± 0.1827"
        assert entry.show_change(table.columns[0]) == ""
        assert len(table.rows) == len(paper.FULL)

    def test_what_neither_has_is_a_dash(self) -> None:
        records = [make_komb("Alarm1", 1, 1), make_komb("or", 1, 1)]
        table = tables_of(records)["ablation"]
        where = {"detail": "from the empty set"}
        entry = find_entry(table, "kOMB (k=0, l=1)", "Alarm1", **where)
        assert entry.is_empty
        assert entry.show_ours(table.columns[0]) == "--"

    def test_what_timed_out_in_the_paper_says_so(self) -> None:
        record = make_komb("Barley", 3, 1, 0.3)
        column = Column("F1", "Barley", 4)
        where = {"detail": "from the empty set"}
        for name, shown in (
            ("ablation", "-- (all timed out)"),
            ("full-results", "0.0000 ± 0.0000 (all timed out)"),
        ):
            entry = find_entry(tables_of([record])[name], "kOMB (k=3, l=1)", "Barley", **where)
            assert entry.show_paper(column) == shown

    def test_capped_runs_are_counted(self) -> None:
        records = [
            make_komb("Mildew", 3, 1, 0.6),
            make_komb("Mildew", 3, 1, 0.0, sample=2, timed_out=True),
        ]
        where = {"detail": "from the empty set"}
        tables = tables_of(records)
        full = find_entry(tables["full-results"], "kOMB (k=3, l=1)", "Mildew", **where)
        ablation = find_entry(tables["ablation"], "kOMB (k=3, l=1)", "Mildew", **where)
        assert (full.mean, ablation.mean) == (0.3, 0.6)
        assert full.remarks == ablation.remarks == ("1 of 2 runs timed out",)

    def test_all_capped(self) -> None:
        records = [make_komb("Mildew", 3, 1, 0.0, timed_out=True)]
        where = {"detail": "from the empty set"}
        entry = find_entry(tables_of(records)["ablation"], "kOMB (k=3, l=1)", "Mildew", **where)
        assert entry.mean is None
        assert entry.show_ours(Column("F1", "Mildew", 4)) == "1 of 1 run timed out"
        assert entry.remarks == ()

    def test_fewer_runs_than_in_the_paper_are_told(self) -> None:
        records = [*make_samples([0.5] * 3, "Alarm1", "gs"), make_record("Alarm1", "iamb")]
        table = tables_of(records)["full-results"]
        assert "From 3 runs, where the paper has 100: F1 of Alarm1." in table.notes
        assert find_entry(table, "GS", "Alarm1").remarks == ()
        assert find_entry(table, "IAMB", "Alarm1").remarks == ("1 of 3 runs",)


class TestSeparators:
    def test_numbers(self) -> None:
        table = tables_of(separators=make_separators("Alarm1", [0, 1, 2, 5]))["separators"]
        shown = [
            entry.show_ours(column)
            for column, entry in zip(table.columns, table.rows[0].entries, strict=True)
        ]
        assert shown == ["2", "4", "2.000", "5", "0.750", "1.250", "4", "0.750"]

    def test_the_paper_is_beside_what_it_has(self) -> None:
        table = tables_of(separators=make_separators("Alarm1", [0, 1]))["separators"]
        published = [entry.published for entry in table.rows[0].entries]
        assert published[:5] == [Published(value) for value in (37, 1202, 0.621, 3, 1.0)]
        assert published[5:] == [None] * 3
        assert [column.is_published for column in table.columns] == [True] * 5 + [False] * 3

    def test_networks_that_are_not_there_are_named(self) -> None:
        table = tables_of(separators=make_separators("Alarm1", [0]))["separators"]
        assert table.notes[-1].startswith("Not run, and left out: sizes of Barley, Insurance, Mil")


class TestBest:
    def make(self, better: str, *means: float | None) -> tuple[Table, list[Entry]]:
        entries = [Entry(mean) for mean in means]
        rows = tuple(Row(f"row {place}", "", (entry,)) for place, entry in enumerate(entries))
        column = Column("", "x", 2, better)  # type: ignore[arg-type]
        return Table("t", "T", "", "method", (column,), (Section("", rows),)), entries

    @pytest.mark.parametrize(
        ("better", "expected"),
        [
            ("more", [False, True, True, False]),
            ("less", [True, False, False, False]),
            ("neither", [False, False, False, False]),
        ],
    )
    def test_ties_to_the_shown_digits_are_all_best(self, better: str, expected: list[bool]) -> None:
        table, entries = self.make(better, 0.1, 0.501, 0.502, None)
        assert [table.is_best(0, entry) for entry in entries] == expected


class TestDifferences:
    def test_kinds_are_told_apart(self) -> None:
        records = [
            make_record("Alarm1", f1=0.4434),
            make_komb("Alarm1", 1, 1, 0.7304),
            make_komb("Alarm1", 1, 1, 0.7904, start="iamb"),
        ]
        found = measure_differences([tables_of(records)["full-results"]])
        assert [(near.kind, near.compared, near.median) for near in found] == [
            ("classics, test g-sci, df observed", 1, "0.1000"),
            ("kOMB from the empty set, test g-sci, df observed", 1, "0.0500"),
            ("kOMB from IAMB's blanket, test g-sci, df observed", 1, "0.0100"),
        ]
        assert found[1].farthest == "-0.0500 (kOMB (k=1, l=1) on Alarm1)"

    def test_times_are_ratios(self) -> None:
        records = [
            make_record("Alarm1", suite="runtime", seconds=4.875 / 2),
            make_record("Barley", suite="runtime", seconds=1.575 * 2),
        ]
        [near] = measure_differences([tables_of(records)["full-runtimes"]])
        assert (near.median, near.farthest) == ("1.2x faster", "2.0x slower (GS on Barley)")

    def test_nothing_to_compare(self) -> None:
        assert measure_differences(tables_of().values()) == []
