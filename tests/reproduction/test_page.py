"""The page: well-formed, self-contained, and everything on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

import pytest

from komb.reproduction.claims import Claim, Finding, check_claims
from komb.reproduction.journal import Record
from komb.reproduction.manifest import show_command, show_in_short, show_provenance
from komb.reproduction.page import make_page
from komb.reproduction.paper import Published
from komb.reproduction.paper_tables import make_tables
from komb.reproduction.plan import SUITES
from komb.reproduction.tables import Column, Entry, Row, Section, Table
from tests.reproduction.made_up import make_komb, make_record, make_separators

VOID = {"meta", "br", "link", "img", "input", "hr"}
MANIFEST: dict[str, Any] = {
    "komb": "0.1.0",
    "began": "2026-07-01T10:00:00+00:00",
    "ended": "2026-07-01T12:00:00+00:00",
    "seconds": 7200.0,
    "arguments": {
        "data": None,
        "networks": ["Alarm1", "Barley", "Insurance", "Mildew"],
        "samples": 10,
        "targets": 10,
        "time_cap": 1800.0,
        "jobs": 2,
    },
    "versions": {"python": "3.11.7", "numpy": "2.3.1"},
    "machine": {"cpu": "A <fast> one", "cores": 2, "memory_gib": 23.4, "system": "Linux"},
}
RECORDS = [
    make_record("or", f1=0.3),
    make_komb("or", 2, 3, 0.9),
    make_record("Alarm1", "mmmb", 0.8),
    make_komb("Alarm1", 1, 1, 0.7),
    make_komb("Alarm1", 1, 1, 0.75, start="iamb"),
    make_record("Alarm1", "mmmb", 0.9, test="g", df="adjusted"),
]


class Reader(HTMLParser):
    """Checks that every element is closed in order, and keeps what a test wants to see."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            if name == "id":
                self.ids.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def page_of(records: Sequence[Record] = RECORDS, **changes: Any) -> str:
    separators = make_separators("Alarm1", [1, 2])
    values: dict[str, Any] = {
        "claims": check_claims(records, separators, "out"),
        "tables": make_tables(records, separators, "out"),
        "figures": {"kOMB": '<svg viewBox="0 0 1 1"><path d="M0 0"/></svg>'},
        "manifest": MANIFEST,
        "suites": ("synthetic", "benchmark"),
        "out": "out",
    }
    return make_page(**values | changes)


class TestWholeness:
    @pytest.mark.parametrize("records", [RECORDS, [], RECORDS[:1]])
    def test_it_is_well_formed(self, records: list[Record]) -> None:
        reader = read(page_of(records))
        assert len(reader.ids) == len(set(reader.ids))

    def test_it_needs_nothing_else(self) -> None:
        page = page_of()
        reader = read(page)
        assert not [value for _, name, value in reader.attributes if name in ("src", "srcset")]
        links = [value for _, name, value in reader.attributes if name.endswith("href")]
        assert all(link.startswith(("#", "tables/")) for link in links)
        assert not re.search(r"@import|url\(|<script|<link", page)

    def test_links_within_the_page_lead_somewhere(self) -> None:
        reader = read(page_of())
        links = {value[1:] for _, name, value in reader.attributes if value.startswith("#")}
        assert links <= set(reader.ids)
        assert len(links) == 12

    def test_light_and_dark_and_narrow(self) -> None:
        page = page_of()
        assert "prefers-color-scheme: dark" in page
        assert 'name="viewport"' in page
        assert page.count('<div class="scroll') >= page.count("<table>")

    def test_names_are_escaped(self) -> None:
        page = page_of()
        assert "A &lt;fast&gt; one" in page
        assert "<fast>" not in page

    def test_an_empty_page(self) -> None:
        read(make_page([], []))


class TestContent:
    def test_claims_come_first(self) -> None:
        page = page_of()
        assert page.index("Do the paper") < page.index("Synthetic data") < page.index("How to cite")
        assert "✗ does not hold" in page

    def test_verdicts_are_counted(self) -> None:
        claims = [
            Claim("One.", (Finding("a", "holds", ""), Finding("b", "does not hold", ""))),
            Claim("Two.", (Finding("", "holds", ""),)),
            Claim("Ours.", (Finding("", "holds", ""),), is_of_the_paper=False),
        ]
        page = page_of(claims=claims)
        assert "checked 3 times: 2 hold, 1 do not hold." in page
        assert "not claimed by the paper" in page

    def test_parts_without_records_say_what_adds_them(self) -> None:
        text = "".join(read(page_of([])).text)
        assert text.count("Nothing has been run for this table. This adds it: komb") == 6
        assert "komb reproduce intro --out out --resume" in text

    def test_the_figure_or_why_it_is_not_there(self) -> None:
        assert "<svg" in page_of()
        page = page_of(figures={}, figure_note="Left out: <why>.")
        assert "<svg" not in page
        assert "Left out: &lt;why&gt;." in page

    def test_files_are_linked_where_there_are_any(self) -> None:
        page = page_of(RECORDS[:1])
        assert 'href="tables/synthetic.csv"' in page
        assert 'href="tables/full-runtimes.csv"' not in page

    def test_how_it_was_made(self) -> None:
        text = "".join(read(page_of()).text)
        for part in (
            "komb reproduce synthetic benchmark --out out --jobs 2",
            "python 3.11.7, numpy 2.3.1",
            "2 cores, 23.4 GiB of memory",
            "@inproceedings{lee2026komb",
            "Piatkowski",
        ):
            assert part in text


class TestTable:
    def make(self, entry: Entry, column: Column | None = None) -> str:
        columns = (column or Column("F1", "or", 3),)
        rows = (Row("GS", "", (entry,)), Row("IAMB", "", (Entry(0.0),)))
        table = Table("n", "T", "", "method", columns, (Section("", rows),))
        page = make_page([], [table])
        return page[page.index("<tbody>") : page.index("</tbody>")]

    @pytest.mark.parametrize(
        ("mean", "kind", "text"),
        [
            (0.61, "up3", "▲ +0.110"),
            (0.54, "up2", "▲ +0.040"),
            (0.51, "up1", "▲ +0.010"),
            (0.503, "even", "= +0.003"),
            (0.5, "even", "= 0.000"),
            (0.49, "down1", "▼ \N{MINUS SIGN}0.010"),
            (0.3, "down3", "▼ \N{MINUS SIGN}0.200"),
        ],
    )
    def test_differences_have_colour_and_sign(self, mean: float, kind: str, text: str) -> None:
        html = self.make(Entry(mean, published=Published(0.5)))
        assert f'<span class="change {kind}">{text}</span>' in html

    def test_a_shorter_time_is_better(self) -> None:
        column = Column("s", "or", 1, "less")
        html = self.make(Entry(0.1, published=Published(10.0)), column)
        assert '<span class="change up3">▲ \N{MINUS SIGN}9.9</span>' in html
        assert "100x faster" in html
        assert "down" in self.make(Entry(10.0, published=Published(1.0)), column)

    def test_what_is_neither_good_nor_bad(self) -> None:
        column = Column("", "max", 0, "neither")
        assert "≠ +1" in self.make(Entry(4, published=Published(3)), column)
        assert "= 0" in self.make(Entry(3, published=Published(3)), column)

    def test_percent_is_no_larger_a_difference(self) -> None:
        column = Column("recall", "or", 2, whole=100.0)
        assert "change up1" in self.make(Entry(51.0, published=Published(50.0)), column)

    def test_missing_and_capped(self) -> None:
        assert "not run" in self.make(Entry(published=Published(0.5)))
        html = self.make(Entry(0.5, runs=10, usual=10, timed_out=3, published=Published(0.5)))
        assert "3 of 10 runs timed out" in html

    def test_the_best_is_marked(self) -> None:
        assert self.make(Entry(0.5)).count("entry best") == 1

    def test_notes_with_commands(self) -> None:
        notes = ("A < B.", "This runs it: komb <x>")
        page = make_page([], [Table("n", "T", "", "method", notes=notes)])
        assert "<li>A &lt; B.</li>" in page
        assert "<li>This runs it: <code>komb &lt;x&gt;</code></li>" in page


class TestProvenance:
    def test_the_command_says_what_differs_from_the_usual(self) -> None:
        arguments = {
            "data": "my data", "networks": ("Alarm1",), "samples": 2, "targets": 10,
            "time_cap": 60.0, "jobs": 1,
        }  # fmt: skip
        command = show_command({"arguments": arguments}, SUITES, "out")
        assert command == (
            "komb reproduce all --out out --data 'my data' --networks Alarm1 --samples 2 "
            "--time-cap 60 --jobs 1"
        )

    def test_where_samples_come_from(self) -> None:
        def networks(data: str | None) -> str:
            return dict(show_provenance({"arguments": {"data": data}}))["networks"]

        assert "not those of the paper" in networks(None)
        assert "as in the paper, from mmhc" in networks("mmhc")

    def test_a_resumed_run(self) -> None:
        facts = dict(show_provenance(MANIFEST | {"resumed": ["2026-07-02", "2026-07-03"]}))
        assert facts["resumed"] == "2026-07-02, 2026-07-03"
        assert facts["took"] == "7,200 s since it was last resumed"

    @pytest.mark.parametrize("manifest", [{}, {"machine": None, "arguments": "?"}])
    def test_a_manifest_without_anything(self, manifest: dict[str, Any]) -> None:
        assert list(show_provenance(manifest)) == []
        assert list(show_in_short(manifest)) == []
        assert show_command(manifest, ["intro"], "out") == "komb reproduce intro --out out"
