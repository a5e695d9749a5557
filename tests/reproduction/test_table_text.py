"""Tables as Markdown, CSV and LaTeX: complete, aligned and escaped."""

from __future__ import annotations

import csv
import io
import re

import pytest

from komb.reproduction.paper import Published
from komb.reproduction.paper_tables import make_tables
from komb.reproduction.table_text import to_csv, to_latex, to_markdown
from komb.reproduction.tables import Column, Entry, Row, Section, Table
from tests.reproduction.made_up import make_komb, make_record, make_separators

COLUMNS = (Column("F1", "a|b_c", 3), Column("seconds", "x & y", 2, "less"))
ENTRIES = (
    Entry(0.75, 0.125, runs=3, usual=10, timed_out=1, published=Published(0.5, 0.25)),
    Entry(2.0, published=Published(1.0)),
)
TABLE = Table(
    name="name",
    title="100 % of it",
    caption="A caption.",
    head="method",
    columns=COLUMNS,
    sections=(
        Section("test g-sci", (Row("GS_1", "", ENTRIES), Row("kOMB", "from nothing", ENTRIES))),
        Section("test g", (Row("GS_1", "", (Entry(), Entry(published=Published(3.0)))),)),
    ),
    notes=("A note: komb reproduce all --out a_b",),
)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


class TestMarkdown:
    def test_every_line_has_as_many_cells(self) -> None:
        lines = [line for line in to_markdown(TABLE).splitlines() if line.startswith("|")]
        assert {len(cells(line)) for line in lines} == {4}
        assert len(lines) == 2 * 2 + 3

    def test_a_cell_has_ours_the_papers_the_difference_and_remarks(self) -> None:
        text = to_markdown(TABLE)
        assert (
            "**0.750 ± 0.125** (paper 0.500 ± 0.250, +0.250, 1 of 3 runs timed out, 3 of 10 runs)"
        ) in text
        assert "**2.00** (paper 1.00, +1.00, 2.0x slower)" in text

    def test_missing_cells(self) -> None:
        last = [line for line in to_markdown(TABLE).splitlines() if line.startswith("|")][-1]
        assert cells(last) == [r"GS\_1", "", "--", "not run (paper 3.00)"]

    def test_names_are_escaped(self) -> None:
        text = to_markdown(TABLE)
        assert r"F1 a\|b\_c" in text
        assert r"--out a\_b" in text


class TestCsv:
    def test_a_line_for_each_number(self) -> None:
        rows = list(csv.DictReader(io.StringIO(to_csv(TABLE))))
        assert len(rows) == 6
        assert rows[0] == {
            "test": "test g-sci", "method": "GS_1", "start": "", "measure": "F1",
            "column": "a|b_c", "mean": "0.75", "std": "0.125", "runs": "3", "timed_out": "1",
            "paper_mean": "0.5", "paper_std": "0.25", "difference": "0.25",
        }  # fmt: skip
        assert rows[2]["start"] == "from nothing"

    def test_what_is_missing_is_empty(self) -> None:
        last = list(csv.DictReader(io.StringIO(to_csv(TABLE))))[-1]
        assert (last["mean"], last["std"], last["difference"]) == ("", "", "")
        assert (last["paper_mean"], last["paper_std"]) == ("3.0", "")


class TestLatex:
    def test_every_line_has_as_many_cells(self) -> None:
        rows = [line for line in to_latex(TABLE).splitlines() if line.endswith(r"\\")]
        counts = {len(re.split(r"(?<!\\)&", line)) for line in rows if "multicolumn" not in line}
        assert counts == {3}

    def test_it_uses_booktabs(self) -> None:
        text = to_latex(TABLE)
        for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\cmidrule(lr){2-2}"):
            assert rule in text
        assert text.count(r"\begin{") == text.count(r"\end{") == 2
        assert text.count("{") == text.count("}")

    def test_signs_are_escaped(self) -> None:
        text = to_latex(TABLE)
        for part in (r"100 \% of it", r"a|b\_c", r"x \& y", r"$\pm$", r"-{}-out a\_b", r"GS\_1"):
            assert part in text
        assert "±" not in text

    def test_no_number_is_a_dash_as_in_the_paper(self) -> None:
        assert re.search(r"GS\\_1 & -- & not run", to_latex(TABLE))

    @pytest.mark.parametrize("sign", ["\\", "~", "^", "#", "$", "{", "}", "<", ">", "<="])
    def test_any_sign(self, sign: str) -> None:
        table = Table("n", sign, "", "m", COLUMNS[:1], (Section("", ()),))
        assert rf"\caption{{{sign}." not in to_latex(table)


@pytest.mark.parametrize("form", [to_markdown, to_csv, to_latex])
def test_every_table_can_be_written(form: object) -> None:
    assert callable(form)
    records = [make_komb("or", 1, 1), make_record("Alarm1"), make_record("Alarm1", suite="runtime")]
    for some, sizes in ((records, [1, 2]), ([], [])):
        for table in make_tables(some, make_separators("Alarm1", sizes), "out"):
            assert form(table).endswith("\n")
