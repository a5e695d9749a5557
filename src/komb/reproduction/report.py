"""The report of a run: one page in Markdown with every claim, table and figure."""

from __future__ import annotations

import io
import shlex
import statistics
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from komb.reproduction import paper
from komb.reproduction.experiments import Record, SeparatorRecord, Variant, write_file
from komb.reproduction.paper import Setting
from komb.reproduction.tables import (
    Claim,
    Entry,
    Finding,
    Runs,
    Table,
    check_claims,
    group_runs,
    how_to_add,
    make_tables,
)
from komb.views.text import plural, show_seconds

FIGURES = {"": "synthetic.png", "iamb": "synthetic-from-iamb.png"}
"""Precision, recall and F1 as samples grow, by where kOMB began."""

NOTES = (
    "In brackets: the paper's number, -- where it has none, and ours minus the paper's. The best "
    "of a column is bold. ± is the standard deviation of a sample (divided by n - 1), as in the "
    f"paper, which has {paper.N_SAMPLES} samples of each dataset and, in each of a network, "
    f"{paper.N_TARGETS} targets.",
    "From the empty set is kOMB as the paper prints it, from IAMB's blanket is how its published "
    "runs began; both are compared with the same number of the paper. The paper ran the classics "
    "in pyCausalFS, with the tests of that library; here every method uses the test that is named "
    "above its rows.",
    "The paper's samples of Boolean functions and ours are different draws: a difference of up to "
    "about half the standard deviation can be chance. It has no numbers of the other classics "
    "there, and says that GS was the best of them.",
    "A run that reaches the time cap has an F1 of 0 and counts with the time it took, unless a "
    f"table says otherwise. The paper's times are from an {paper.MACHINE}.",
)


def write_report(
    out: Path,
    records: Sequence[Record],
    separators: Sequence[SeparatorRecord],
    manifest: Mapping[str, Any],
) -> list[Path]:
    """Write ``report.md`` and the figures beside it; returns the files, the page first."""
    figures = draw_figures(records)
    claims = check_claims(records, separators, str(out))
    blocks = [
        "# The paper's experiments, run again",
        *show_origin(manifest, str(out)),
        "## Claims",
        *show_claims(claims),
        "## How to read the tables",
        *NOTES,
        *(block for t in make_tables(records, separators, str(out)) for block in show_table(t)),
        "## Figure: growing samples",
        f"Precision, recall and F1 over the rows of the sample; test {paper.TEST}, df {paper.DF}.",
        *(f"![kOMB {Variant(start=start).origin}]({FIGURES[start]})" for start in figures),
    ]
    if not figures:
        command = how_to_add("synthetic", str(out))
        blocks.append(f"There is none yet. With matplotlib installed, this adds it: {command}")
    files = {out / "report.md": ("\n\n".join(blocks) + "\n").encode()}
    files |= {out / FIGURES[start]: picture for start, picture in figures.items()}
    for path, content in files.items():
        write_file(path, content)
    return list(files)


def show_origin(manifest: Mapping[str, Any], out: str) -> Iterator[str]:
    """Say how a run was made: command, data, time, machine, versions."""
    arguments, machine = manifest["arguments"], manifest["machine"]
    words = ["komb", "reproduce", *manifest["suites"], "--out", out]
    for name, value in arguments.items():
        if name != "suites" and value is not None:
            shown = ",".join(value) if isinstance(value, list | tuple) else str(value)
            words += [f"--{name.replace('_', '-')}", shown]
    yield f"```sh\n{shlex.join(words)}\n```"
    source = "drawn from those in pgmpy, so not as in the paper"
    if arguments["data"] is not None:
        source = "the samples of the MMHC supplement, as in the paper"
    networks = f"Networks: {source}. " if manifest["fingerprints"] else ""
    resumed = "".join(f", resumed {when}" for when in manifest["resumed"])
    took = f"took {show_seconds(manifest['seconds'])}{' since then' if resumed else ''}"
    yield f"{networks}Began {manifest['began']}{resumed}, {took}."
    versions = {"komb": manifest["komb"], **manifest["versions"]}
    made_with = ", ".join(f"{name} {number}" for name, number in versions.items())
    yield f"{machine['cpu']}, {plural(machine['cores'], 'core')}, {machine['system']}; {made_with}."


def show_claims(claims: Sequence[tuple[Claim, Sequence[Finding]]]) -> Iterator[str]:
    """Write every claim as a section with its findings."""
    for claim, findings in claims:
        yield f"### {'' if claim.is_of_the_paper else 'Beyond the paper: '}{claim.text}"
        yield "\n".join(
            f"- {f'{conditions}: ' if conditions else ''}**{verdict}**. {why}"
            for conditions, verdict, why in findings
        )


def show_table(table: Table) -> Iterator[str]:
    """Write a table as a section, with a part for each test."""
    yield f"## {table.title}"
    yield table.caption
    for title, rows in table.sections.items():
        if title:
            yield f"**{title}**"
        headings = [heading.replace("<", "\\<") for heading in table.headings]
        head = "method" if title else "network"
        lines = [[head, "start", *headings], ["---"] * 2 + ["---:"] * len(headings)]
        for label, start, entries in rows:
            cells = (_show_entry(table, place, entry) for place, entry in enumerate(entries))
            lines.append([label, start, *cells])
        if not any(row.start for row in rows):
            lines = [[label, *cells] for label, _, *cells in lines]
        yield "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    if table.note:
        yield table.note


def _show_entry(table: Table, place: int, entry: Entry) -> str:
    """Write our number and in brackets the paper's, the difference, and what else to know."""
    digits = table.digits[place]
    column = [row.entries[place] for rows in table.sections.values() for row in rows]
    means = [round(each.mean, digits) for each in column if each.mean is not None]
    most = max(each.runs for each in column)
    ours = "not run" if entry.published else "--"
    if entry.mean is not None:
        ours = _show_number(digits, entry.mean, entry.std)
        best = {"highest": max, "lowest": min}.get(table.best)
        if best and round(entry.mean, digits) == best(means):
            ours = f"**{ours}**"
    elif entry.runs:
        ours = "no mean"
    remarks = [
        f"paper {_show_paper(digits, entry)}" if entry.published or entry.runs else "",
        _show_change(table, digits, entry),
        f"{entry.timed_out} of {plural(entry.runs, 'run')} timed out" if entry.timed_out else "",
        f"{entry.runs} of {plural(most, 'run')}" if 0 < entry.runs < most else "",
    ]
    return f"{ours} ({', '.join(filter(None, remarks))})" if any(remarks) else ours


def _show_number(digits: int, mean: float, std: float | None = None) -> str:
    return f"{mean:.{digits}f}" if std is None else f"{mean:.{digits}f} ± {std:.{digits}f}"


def _show_paper(digits: int, entry: Entry) -> str:
    shown = "--" if entry.published is None else _show_number(digits, *entry.published)
    return f"{shown} ({entry.caveat})" if entry.caveat else shown


def _show_change(table: Table, digits: int, entry: Entry) -> str:
    """Write ours minus the paper's, for times with how much faster we are; zero has no sign."""
    if entry.mean is None or entry.published is None:
        return ""
    change = f"{entry.mean - entry.published.mean:+.{digits}f}"
    shown = change if float(change) else change[1:]
    if table.best != "lowest" or not entry.mean:
        return shown
    ratio = entry.published.mean / entry.mean
    factor, word = (ratio, "faster") if ratio >= 1 else (1 / ratio, "slower")
    return f"{shown}, {factor:,.{int(factor < 9.95)}f}x {word}"


# ----------------------------------------------------------------------------------------- figures

# From the bottom up: a line that covers another leaves part of it visible. Colours are those of
# Okabe and Ito; marks and dashes do without.
_LINES: Mapping[Setting, Mapping[str, Any]] = {
    Setting(*setting): {"color": colour, "marker": mark, "linestyle": dashes, "markersize": size}
    for setting, colour, mark, dashes, size in (
        (("komb", 2, 3), "#0072B2", "o", "solid", 7),
        (("komb", 1, 3), "#009E73", "D", "dashdot", 5),
        (("komb", 0, 3), "#E69F00", "^", "dashed", 5),
        (("gs",), "#808080", "s", "dotted", 3),
    )
}
_METRICS = ("precision", "recall", "f1")
_TICKS = (50, 100, 200, 500, 1000)


def draw_figures(records: Sequence[Record]) -> dict[str, bytes]:
    """Draw what there are runs of, by where kOMB began; nothing without matplotlib."""
    runs = group_runs(records)
    drawn = {}
    for start in FIGURES if find_spec("matplotlib") else ():
        is_run = {key[0] for key in runs if key[2] in _LINES and key[3] == Variant(start=start)}
        functions = [name for name in paper.FUNCTIONS if name in is_run]
        if functions:
            drawn[start] = _draw_figure(runs, functions, start)
    return drawn


def _draw_figure(runs: Runs, functions: Sequence[str], start: str) -> bytes:
    """Draw a row of panels for each metric, a column for each function."""
    from matplotlib.figure import Figure

    size = 1.9 * len(functions) + 0.6, 1.6 * len(_METRICS) + 0.9
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(_METRICS), len(functions), sharex=True, sharey=True, squeeze=False)
    for row, metric in zip(panels, _METRICS, strict=True):
        row[0].set_ylabel(metric.replace("f1", "F1"))
        for axes, function in zip(row, functions, strict=True):
            _draw_panel(axes, runs, function, metric, start)
    for axes, function in zip(panels[0], functions, strict=True):
        axes.set_title(function)
    figure.supxlabel("rows of the sample", fontsize="medium")
    handles, labels = panels[0][0].get_legend_handles_labels()
    style: dict[str, Any] = {"ncols": min(len(labels), 2 * len(functions)), "frameon": False}
    figure.legend(handles[::-1], labels[::-1], loc="outside upper center", **style)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=200)
    return file.getvalue()


def _draw_panel(axes: Any, runs: Runs, function: str, metric: str, start: str) -> None:
    for setting, style in _LINES.items():
        variant = Variant(start=start if setting.method == "komb" else "")
        found = {rows: runs.get((function, rows, setting, variant)) for rows in paper.SIZES}
        points = {
            rows: statistics.fmean(float(getattr(run, metric)) for run in some)
            for rows, some in found.items()
            if some
        }
        axes.plot(list(points), list(points.values()), label=setting.label, linewidth=1.6, **style)
    axes.set_xscale("log")
    axes.set_xticks(_TICKS, [str(size) for size in _TICKS])
    axes.set_xticks([], minor=True)
    axes.set_ylim(-0.05, 1.05)
    axes.grid(alpha=0.3, linewidth=0.6)
