"""Tables and claims: filled from records, whichever way that comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from komb.reproduction import paper
from komb.reproduction.experiments import Record, SeparatorRecord
from komb.reproduction.paper import Published
from komb.reproduction.tables import Claim, Finding, Row, Table, check_claims, make_tables
from tests.reproduction.made_up import make_komb, make_record, make_samples, make_separators

UNLOCKED = ("parity", "ex-1", "ex-2")
OBSERVED, ADJUSTED = "test g-sci, df observed", "test g, df adjusted"


def table(
    start: str, records: Sequence[Record] = (), separators: Sequence[SeparatorRecord] = ()
) -> Table:
    found = make_tables(records, separators, "my out")
    return next(table for table in found if table.title.startswith(start))


def row(found: Table, label: str, start: str = "", section: str = OBSERVED) -> Row:
    [row] = [r for r in found.sections[section] if (r.label, r.start) == (label, start)]
    return row


class TestTables:
    def test_mean_and_deviation_of_a_sample(self) -> None:
        found = table("Synthetic", make_samples([0.25, 0.75], "or", "gs"))
        [entry] = row(found, "GS").entries
        assert (entry.mean, round(entry.std or 0, 4), entry.runs) == (0.5, 0.3536, 2)
        assert entry.published == Published(0.365, 0.374)

    def test_captions_count_samples_and_targets(self) -> None:
        records = make_samples([0.1, 0.2], "or", "gs") + make_samples([0.3], "and", "gs")
        assert table("Synthetic", records).caption.endswith(
            "1 to 2 samples of each dataset and, in each, the 1 target with the largest blankets."
        )
        assert " 1 sample of each dataset" in table("Synthetic", [make_record()]).caption

    def test_recall_is_in_percent_and_by_rows(self) -> None:
        records = [make_record("ex-1", recall=0.5), make_record("ex-1", recall=1, n_rows=1000)]
        found = table("Introduction", records)
        assert found.headings == ["100 rows (%)", "1000 rows (%)"]
        assert [entry.mean for entry in row(found, "GS").entries] == [50, 100]

    def test_starts_and_tests_are_told_apart(self) -> None:
        records = [
            make_komb("Alarm1", 1, 1, f1, start=start) for f1, start in ((1, ""), (0, "iamb"))
        ]
        records.append(make_record("Alarm1", "gs", 0.25, test="g", df="adjusted"))
        found = table("Full results", records)
        assert list(found.sections) == [OBSERVED, ADJUSTED]
        label = "kOMB (k=1, l=1)"
        assert row(found, label, "from the empty set").entries[0].mean == 1
        assert row(found, label, "from IAMB's blanket").entries[0].mean == 0
        assert [r.label for r in found.sections[ADJUSTED]] == ["GS"]

    def test_what_the_paper_has_and_we_have_not(self) -> None:
        found = table("Full results", [make_record("Alarm1", "gs")])
        assert len(found.sections[OBSERVED]) == len(paper.FULL)
        [entry] = row(found, "IAMB").entries
        assert (entry.mean, entry.runs, entry.published) == (None, 0, Published(0.6931, 0.1827))
        assert found.note == (
            "Not run: Barley, Insurance, Mildew. This adds it: `komb reproduce benchmark --out "
            "'my out' --resume --networks Barley,Insurance,Mildew`"
        )

    def test_the_time_cap_counts_as_in_the_paper(self) -> None:
        records = [make_komb("Barley", 3, 1, 0.5, seconds=8.0)]
        records.append(make_komb("Barley", 3, 1, 0, sample=2, seconds=10.0, timed_out=True))
        means = {
            name: row(table(name, records), "kOMB (k=3, l=1)", "from the empty set").entries[0].mean
            for name in ("Ablation", "Full results", "Full runtimes")
        }
        assert means == {"Ablation": 0.5, "Full results": 0.25, "Full runtimes": 9.0}
        [entry] = row(
            table("Full runtimes", records), "kOMB (k=3, l=1)", "from the empty set"
        ).entries
        assert (entry.timed_out, entry.caveat) == (1, "all timed out")

    def test_separators(self) -> None:
        found = table("Separators", separators=make_separators("Alarm1", [1, 2, 4]))
        [only] = found.sections[""]
        means = [entry.mean for entry in only.entries]
        assert means == [
            2,
            3,
            pytest.approx(7 / 3),
            4,
            pytest.approx(2 / 3),
            pytest.approx(4 / 3),
            3,
            1,
        ]
        published = [entry.published and entry.published.mean for entry in only.entries]
        assert published == [37, 1202, 0.621, 3, 1.0, None, None, None]

    def test_without_records_every_table_says_what_adds_it(self) -> None:
        for found in make_tables([], [], "out"):
            assert not found.sections
            assert "This adds it: `komb reproduce " in found.note


def find(
    start: str, records: Sequence[Record] = (), separators: Sequence[SeparatorRecord] = ()
) -> list[Finding]:
    claims: list[tuple[Claim, list[Finding]]] = check_claims(records, separators, "out")
    return next(findings for claim, findings in claims if claim.text.startswith(start))


def on_networks(ours: float, theirs: float, **changes: Any) -> list[Record]:
    """Let kOMB and all classics run once on each network."""
    records = [make_komb(name, 1, 1, ours) for name in paper.NETWORKS]
    return records + [
        make_record(name, method, theirs, **changes)
        for name in paper.NETWORKS
        for method in paper.CLASSICS
    ]


class TestEveryBlanket:
    FOUND = tuple(make_komb(name, 2, 3, 1.0) for name in UNLOCKED)

    def test_it_holds(self) -> None:
        [(conditions, verdict, why)] = find("With k=2", self.FOUND)
        assert (conditions, verdict) == ("from the empty set", "holds")
        assert why.endswith("1.0000 against the best possible 1.0000 (from 1 run, not 40)")

    def test_one_blanket_is_enough_to_break_it(self) -> None:
        [finding] = find("With k=2", [*self.FOUND, make_komb("ex-1", 2, 3, 0.8, sample=2)])
        assert finding.verdict == "does not hold"
        assert finding.why.startswith("ex-1: kOMB (k=2, l=3) 0.9000 against")

    def test_each_start_is_judged(self) -> None:
        others = [make_komb(name, 2, 3, 0.5, start="iamb") for name in UNLOCKED]
        verdicts = [finding.verdict for finding in find("With k=2", [*self.FOUND, *others])]
        assert verdicts == ["holds", "does not hold"]

    def test_a_part_of_it(self) -> None:
        assert find("With k=2", self.FOUND[:1])[0].verdict == "holds so far"

    def test_other_sizes_do_not_count(self) -> None:
        records = [make_komb(name, 2, 3, 1.0, n_rows=1000) for name in UNLOCKED]
        assert find("With k=2", records)[0].verdict == "not tested"


class TestClassics:
    def test_it_holds(self) -> None:
        [finding] = find("With k=1 kOMB beats", on_networks(0.8, 0.7))
        assert finding.verdict == "holds"
        assert finding.why.startswith("closest: Alarm1: kOMB (k=1, l=1) 0.8000 against BAMB 0.7000")

    def test_who_is_better_is_named(self) -> None:
        records = on_networks(0.8, 0.7)
        better = [
            make_record("Barley", name, 0.95 - i / 20) for i, name in enumerate(("pcmb", "gs"))
        ]
        records = [r for r in records if r.cell not in {b.cell for b in better}] + better
        [finding] = find("With k=1 kOMB beats", records)
        assert finding.verdict == "does not hold"
        assert finding.why.startswith(
            "Barley: kOMB (k=1, l=1) 0.8000 against PCMB 0.9500, GS 0.9000 (from 1 run, not 100)"
        )

    def test_a_tie_is_no_win(self) -> None:
        assert find("With k=1 kOMB beats", on_networks(0.7, 0.7))[0].verdict == "does not hold"

    def test_only_runs_that_both_have_are_compared(self) -> None:
        records = on_networks(0.8, 0.7)
        records += [make_komb(name, 1, 1, 0.0, sample=2) for name in paper.NETWORKS]
        assert find("With k=1 kOMB beats", records)[0].verdict == "holds"

    def test_a_missing_network(self) -> None:
        records = [record for record in on_networks(0.8, 0.7) if record.dataset != "Mildew"]
        [finding] = find("With k=1 kOMB beats", records)
        assert finding.verdict == "holds so far"
        assert finding.why.endswith("not complete: Mildew")

    def test_better_tests_for_the_classics_are_a_question_of_their_own(self) -> None:
        records = on_networks(0.8, 0.7) + on_networks(0.8, 0.9, test="g", df="adjusted")[4:]
        assert find("With k=1 kOMB beats", records)[0].verdict == "holds"
        assert find("With k=1 kOMB, on the paper's", records)[0].verdict == "does not hold"


class TestOtherClaims:
    @pytest.mark.parametrize(("barley", "verdict"), [(0.4, "holds"), (0.7, "does not hold")])
    def test_orders(self, barley: float, verdict: str) -> None:
        second = {"Alarm1": 0.8, "Insurance": 0.8, "Barley": barley, "Mildew": 0.4}
        records = [make_komb(name, 1, 1, 0.6) for name in second]
        records += [make_komb(name, 2, 2, value) for name, value in second.items()]
        [finding] = find("On the networks", records)
        assert finding.verdict == verdict
        assert finding.why.removeprefix("closest: ").startswith("Barley: kOMB (k=1, l=1) 0.6000")

    @pytest.mark.parametrize(("others", "verdict"), [(0.4, "holds"), (0.5, "does not hold")])
    def test_gs_may_tie(self, others: float, verdict: str) -> None:
        records = [
            make_record(name, method, 0.4 if method == "gs" else others)
            for name in paper.FUNCTIONS
            for method in paper.CLASSICS
        ]
        assert find("Of the eight", records)[0].verdict == verdict

    def test_separators(self) -> None:
        small = [pair for name in paper.NETWORKS for pair in make_separators(name, [1, 2, 2])]
        assert find("Separators", separators=small)[0].verdict == "holds"
        large = [*small, *make_separators("Barley", [9] * 5)]
        [finding] = find("Separators", separators=large)
        assert finding.verdict == "does not hold"
        assert "Barley" in finding.why
        [finding] = find("Separators", separators=make_separators("Alarm1", [1]))
        assert finding.verdict == "holds so far"

    def test_without_records_every_claim_says_what_runs_it(self) -> None:
        for _, findings in check_claims([], [], "my folder"):
            [finding] = findings
            assert finding.verdict == "not tested"
            assert finding.why.startswith("This runs it: `komb reproduce ")
            assert finding.why.endswith(" --out 'my folder' --resume`")
