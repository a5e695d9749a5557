"""Claims of the paper: held against records, whichever way that comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from komb.reproduction import paper
from komb.reproduction.claims import Claim, check_claims
from komb.reproduction.journal import Record, SeparatorRecord
from tests.reproduction.made_up import make_komb, make_record, make_separators

UNLOCKED = ("parity", "ex-1", "ex-2")


def find(
    start: str, records: Sequence[Record] = (), separators: Sequence[SeparatorRecord] = ()
) -> Claim:
    claims = check_claims(records, separators, "out")
    return next(claim for claim in claims if claim.text.startswith(start))


def on_networks(ours: float, theirs: float, **changes: Any) -> list[Record]:
    """Let kOMB and all classics run once on each network."""
    records = [make_komb(name, 1, 1, ours) for name in paper.NETWORKS]
    return records + [
        make_record(name, method, theirs, **changes)
        for name in paper.NETWORKS
        for method in paper.CLASSICS
    ]


class TestUnlocked:
    def test_it_holds(self) -> None:
        claim = find("With k=2", [make_komb(name, 2, 3, 1.0) for name in UNLOCKED])
        assert claim.findings == (
            (
                "from the empty set",
                "holds",
                "F1 1.000 on parity, 1.000 on ex-1 and 1.000 on ex-2 (from 1 run, not 40)",
            ),
        )

    def test_one_blanket_is_enough_to_break_it(self) -> None:
        records = [make_komb(name, 2, 3, 1.0) for name in UNLOCKED]
        records.append(make_komb("ex-1", 2, 3, 0.8, sample=2))
        [finding] = find("With k=2", records).findings
        assert finding.verdict == "does not hold"
        assert "0.900 on ex-1" in finding.why

    def test_each_start_is_judged(self) -> None:
        records = [make_komb(name, 2, 3, 1.0) for name in UNLOCKED]
        records += [make_komb(name, 2, 3, 0.5, start="iamb") for name in UNLOCKED]
        findings = find("With k=2", records).findings
        assert [finding.verdict for finding in findings] == ["holds", "does not hold"]

    def test_a_part_of_it(self) -> None:
        [finding] = find("With k=2", [make_komb("ex-1", 2, 3, 1.0)]).findings
        assert finding.verdict == "holds so far"

    def test_other_sizes_do_not_count(self) -> None:
        records = [make_komb(name, 2, 3, 1.0, n_rows=1000) for name in UNLOCKED]
        assert find("With k=2", records).findings[0].verdict == "not tested"


class TestClassics:
    def test_it_holds(self) -> None:
        [finding] = find("With k=1 kOMB beats", on_networks(0.8, 0.7)).findings
        assert finding.verdict == "holds"
        assert finding.why.startswith("closest: Alarm1: kOMB (k=1, l=1) 0.8000 against BAMB 0.7000")

    def test_who_is_better_is_named(self) -> None:
        records = [*on_networks(0.8, 0.7)]
        records = [
            make_record("Barley", "pcmb", 0.9)
            if (record.dataset, record.method) == ("Barley", "pcmb")
            else record
            for record in records
        ]
        [finding] = find("With k=1 kOMB beats", records).findings
        assert finding.verdict == "does not hold"
        assert finding.why.startswith("Barley: kOMB (k=1, l=1) 0.8000 against PCMB 0.9000")

    def test_a_tie_is_no_win(self) -> None:
        [finding] = find("With k=1 kOMB beats", on_networks(0.7, 0.7)).findings
        assert finding.verdict == "does not hold"

    def test_only_runs_that_both_have_are_compared(self) -> None:
        records = on_networks(0.8, 0.7)
        records += [make_komb(name, 1, 1, 0.0, sample=2) for name in paper.NETWORKS]
        assert find("With k=1 kOMB beats", records).findings[0].verdict == "holds"

    def test_a_missing_network(self) -> None:
        records = [record for record in on_networks(0.8, 0.7) if record.dataset != "Mildew"]
        [finding] = find("With k=1 kOMB beats", records).findings
        assert finding.verdict == "holds so far"
        assert finding.why.endswith("not complete: Mildew")

    def test_better_tests_for_the_classics_are_a_question_of_their_own(self) -> None:
        records = on_networks(0.8, 0.7)
        assert not [claim for claim in check_claims(records, [], "") if not claim.is_of_the_paper]
        records += on_networks(0.8, 0.9, test="g", df="adjusted")[4:]
        claim = find("With k=1 kOMB, on the paper's test", records)
        assert not claim.is_of_the_paper
        assert "test g, df adjusted" in claim.text
        assert [finding.verdict for finding in claim.findings] == ["does not hold"]
        assert find("With k=1 kOMB beats", records).findings[0].verdict == "holds"


class TestOthers:
    def test_orders(self) -> None:
        f1 = {"Alarm1": 0.8, "Insurance": 0.8, "Barley": 0.4, "Mildew": 0.4}
        records = [make_komb(name, 1, 1, 0.6) for name in f1]
        records += [make_komb(name, 2, 2, value) for name, value in f1.items()]
        assert find("On the networks", records).findings[0].verdict == "holds"
        records = [make_komb(name, 1, 1, 0.6) for name in f1]
        records += [make_komb(name, 2, 2, 0.7) for name in f1]
        [finding] = find("On the networks", records).findings
        assert finding.verdict == "does not hold"
        assert "Barley" in finding.why
        assert "Alarm1" not in finding.why

    def test_gs_may_tie(self) -> None:
        records = [
            make_record(name, method, 0.4) for name in paper.FUNCTIONS for method in paper.CLASSICS
        ]
        assert find("Of the eight", records).findings[0].verdict == "holds"
        records = [
            make_record(name, method, 0.4 if method == "gs" else 0.5)
            for name in paper.FUNCTIONS
            for method in paper.CLASSICS
        ]
        assert find("Of the eight", records).findings[0].verdict == "does not hold"

    def test_separators(self) -> None:
        small = [pair for name in paper.NETWORKS for pair in make_separators(name, [1, 2, 2])]
        assert find("Separators", separators=small).findings[0].verdict == "holds"
        large = [*small, *make_separators("Barley", [9] * 5)]
        [finding] = find("Separators", separators=large).findings
        assert finding.verdict == "does not hold"
        assert "Barley" in finding.why
        [finding] = find("Separators", separators=make_separators("Alarm1", [1])).findings
        assert finding.verdict == "holds so far"

    def test_without_records_every_claim_says_what_runs_it(self) -> None:
        for claim in check_claims([], [], "my folder"):
            [finding] = claim.findings
            assert finding.verdict == "not tested"
            assert finding.why.startswith("This runs it: komb reproduce ")
            assert finding.why.endswith(" --out 'my folder' --resume")
