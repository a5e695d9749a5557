r"""Tables as CSV, Markdown and LaTeX, and claims as Markdown.

>>> from komb.reproduction.paper import Published
>>> from komb.reproduction.tables import Column
>>> entry = Entry(0.75, 0.125, runs=40, usual=40, published=Published(0.5, 0.25))
>>> section = Section("test g, df observed", (Row("GS", "", (entry,)),))
>>> columns = (Column("F1", "or", 3),)
>>> table = Table("synthetic", "Synthetic data", "Of all.", "method", columns, (section,))
>>> print(to_csv(table), end="")
test,method,start,measure,column,mean,std,runs,timed_out,paper_mean,paper_std,difference
"test g, df observed",GS,,F1,or,0.75,0.125,40,0,0.5,0.25,0.25
>>> print(to_markdown(table), end="")
# Synthetic data
<BLANKLINE>
Of all. In brackets: the paper's number, and ours minus the paper's. The best of a column is bold.
<BLANKLINE>
## test g, df observed
<BLANKLINE>
| method | F1 or |
| --- | ---: |
| GS | **0.750 ± 0.125** (paper 0.500 ± 0.250, +0.250) |
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator

from komb.reproduction.claims import Claim
from komb.reproduction.tables import NO_NUMBER, Entry, Row, Section, Table

_FIELDS = (
    "start", "measure", "column", "mean", "std", "runs", "timed_out", "paper_mean", "paper_std",
    "difference",
)  # fmt: skip
_DECIMALS = 6  # of numbers in CSV

_MARKDOWN = re.compile(r"([\\`*_|<>\[\]])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "<=": r"$\leq$",
    "<": r"$<$",
    ">": r"$>$",
    "--": "-{}-",  # no dash: it begins an option of a command
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
}
_IN_LATEX = re.compile("|".join(re.escape(sign) for sign in sorted(_LATEX, key=len, reverse=True)))


def to_markdown(table: Table) -> str:
    """Write a table as Markdown; see the module for an example."""
    caption = f"{table.caption} {_reading(table, 'In brackets')}"
    blocks = [f"# {_mark_down(table.title)}", _mark_down(caption.rstrip())]
    for section in table.sections:
        if section.title:
            blocks.append(f"## {_mark_down(section.title)}")
        blocks.append("\n".join(_markdown_lines(table, section)))
    blocks += map(_mark_down, table.notes)
    return "\n\n".join(blocks) + "\n"


def claims_to_markdown(claims: Iterable[Claim]) -> str:
    r"""Write as Markdown what is claimed, and what came out.

    Examples
    --------
    >>> from komb.reproduction.claims import Finding
    >>> claim = Claim("Two is more than one.", (Finding("always", "holds", "2 > 1"),), False)
    >>> print(claims_to_markdown([claim]), end="")
    # Claims
    <BLANKLINE>
    ## Beyond the paper: Two is more than one.
    <BLANKLINE>
    - always: **holds**. 2 \> 1
    """
    blocks = ["# Claims"]
    for claim in claims:
        title = claim.text if claim.is_of_the_paper else f"Beyond the paper: {claim.text}"
        blocks.append(f"## {_mark_down(title)}")
        lines = []
        for finding in claim.findings:
            conditions = f"{_mark_down(finding.conditions)}: " if finding.conditions else ""
            lines.append(f"- {conditions}**{finding.verdict}**. {_mark_down(finding.why)}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _reading(table: Table, where: str) -> str:
    """Tell how to read a table."""
    if not table.sections:
        return ""
    has_best = any(column.better != "neither" for column in table.columns)
    bold = " The best of a column is bold." if has_best else ""
    return f"{where}: the paper's number, and ours minus the paper's.{bold}"


def _markdown_lines(table: Table, section: Section) -> Iterator[str]:
    headings = [f"{column.group} {column.heading}".strip() for column in table.columns]
    n_labels = 2 if table.has_details else 1
    rows = [
        [_mark_down(text) for text in (*(table.head, "start")[:n_labels], *headings)],
        ["---"] * n_labels + ["---:"] * len(headings),
    ]
    for row in section.rows:
        names = map(_mark_down, (row.label, row.detail)[:n_labels])
        rows.append([*names, *(_markdown_entry(table, *pair) for pair in enumerate(row.entries))])
    return (f"| {' | '.join(cells)} |" for cells in rows)


def _markdown_entry(table: Table, place: int, entry: Entry) -> str:
    column = table.columns[place]
    ours = entry.show_ours(column)
    if table.is_best(place, entry):
        ours = f"**{ours}**"
    if entry.is_empty:
        return ours
    papers = f"paper {entry.show_paper(column)}" if column.is_published else ""
    beside = ", ".join(filter(None, [papers, entry.show_change(column), *entry.remarks]))
    return f"{ours} ({beside})" if beside else ours


def _mark_down(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def to_csv(table: Table) -> str:
    """Write a table as CSV, a line for each number; see the module for an example."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("test", table.head, *_FIELDS))
    for section in table.sections:
        for row in section.rows:
            for column, entry in zip(table.columns, row.entries, strict=True):
                what = section.title, row.label, row.detail, column.group, column.heading
                ours = _round(entry.mean), _round(entry.std), entry.runs, entry.timed_out
                papers = entry.published or (None, None)
                writer.writerow((*what, *ours, *papers, _round(entry.difference)))
    return text.getvalue()


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, _DECIMALS)


def to_latex(table: Table) -> str:
    r"""Write a table as LaTeX that needs booktabs and graphicx.

    Examples
    --------
    >>> print(to_latex(Table("name", "Title", "50 % of it.", "method")), end="")
    % Title: nothing to show yet.
    """
    if not table.sections:
        return f"% {table.title}: nothing to show yet.\n"
    shape = "l" + "c" * len(table.columns)
    caption = f"{table.title}. {table.caption} {_reading(table, 'Below each number')}"
    lines = [
        r"\begin{table*}[t]",
        r"  \centering",
        rf"  \caption{{{_escape(caption)}}}",
        rf"  \label{{tab:komb-{table.name}}}",
        r"  \setlength{\tabcolsep}{4pt}",
        # Only what is too wide is made smaller.
        r"  \resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        rf"  \begin{{tabular}}{{{shape}}}",
        r"  \toprule",
        *_latex_head(table),
        *_latex_body(table),
        r"  \bottomrule",
        r"  \end{tabular}}",
        *(rf"  \par{{\footnotesize {_escape(note)}}}" for note in table.notes),
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _latex_head(table: Table) -> Iterator[str]:
    groups = list(table.groups())
    if any(name for name, _ in groups):
        spans = (rf"\multicolumn{{{width}}}{{c}}{{{_escape(name)}}}" for name, width in groups)
        yield rf"  & {' & '.join(spans)} \\"
        yield f"  {''.join(_latex_rules(groups))}"
    headings = (_escape(column.heading) for column in table.columns)
    yield rf"  {_escape(table.head)} & {' & '.join(headings)} \\"


def _latex_rules(groups: Iterable[tuple[str, int]]) -> Iterator[str]:
    first = 2
    for name, width in groups:
        if name:
            yield rf"\cmidrule(lr){{{first}-{first + width - 1}}}"
        first += width


def _latex_body(table: Table) -> Iterator[str]:
    for section in table.sections:
        yield r"  \midrule"
        if section.title:
            width = len(table.columns) + 1
            yield rf"  \multicolumn{{{width}}}{{l}}{{\emph{{{_escape(section.title)}}}}} \\"
        for row in section.rows:
            yield from _latex_rows(table, row)


def _latex_rows(table: Table, row: Row) -> Iterator[str]:
    """Write a row in three lines: ours, the paper's, and the difference with what else there is."""
    ours, papers, rest = [], [], []
    for place, (column, entry) in enumerate(zip(table.columns, row.entries, strict=True)):
        text = _latex_number(entry.show_ours(column))
        ours.append(rf"\textbf{{{text}}}" if table.is_best(place, entry) else text)
        papers.append(_latex_number(entry.show_paper(column)) if column.is_published else "")
        rest.append(_escape(", ".join(filter(None, [entry.show_change(column), *entry.remarks]))))
    yield rf"  {_escape(row.label)} & {' & '.join(ours)} \\"
    for label, cells in ((row.detail, papers), ("", rest)):
        small = [rf"{{\scriptsize {cell}}}" if cell else "" for cell in (_escape(label), *cells)]
        if any(small):
            yield rf"  {' & '.join(small)} \\"
    yield r"  \addlinespace[2pt]"


def _latex_number(text: str) -> str:
    # "--" is a dash here, as it is in the paper.
    return _escape(text).replace(_LATEX[NO_NUMBER], NO_NUMBER)


def _escape(text: str) -> str:
    return _IN_LATEX.sub(lambda match: _LATEX[match.group()], text)
