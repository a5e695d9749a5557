"""The tables and claims of the paper as rows of data, and what fills them from records."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple, TypeAlias

from komb.reproduction import paper
from komb.reproduction.experiments import ADJUSTED, PAPERS_TEST, Record, SeparatorRecord, Variant
from komb.reproduction.paper import Printed, Published, Setting
from komb.views.text import plural

Runs: TypeAlias = Mapping[tuple[str, int, Setting, Variant], list[Record]]
"""Records by dataset, rows, method and how that was run."""

Verdict: TypeAlias = Literal["holds", "holds so far", "does not hold", "not tested"]
"""A claim holds so far if there are no records yet for a part of it."""


def group_runs(records: Iterable[Record]) -> Runs:
    """Group records by what was run; they may come in any order."""
    groups: dict[tuple[str, int, Setting, Variant], list[Record]] = {}
    for record in records:
        key = record.dataset, record.n_rows, record.setting, record.variant
        groups.setdefault(key, []).append(record)
    return groups


def how_to_add(suite: str, out: str, datasets: Iterable[str] = ()) -> str:
    """Return the command that runs what is missing.

    It names the networks, for a run that is resumed keeps to those it began with.
    """
    missing = set(datasets)
    networks = ",".join(name for name in paper.NETWORKS if name in missing)
    only = f" --networks {networks}" if networks else ""
    return f"`komb reproduce {suite} --out {shlex.quote(out)} --resume{only}`"


# ------------------------------------------------------------------------------------------ tables


class Entry(NamedTuple):
    """A number of ours, ``None`` if there is none, and that of the paper, if it has one.

    The standard deviation is that of a sample, as in the paper, and ``None`` for a single run.
    """

    mean: float | None
    std: float | None = None
    runs: int = 0
    timed_out: int = 0
    published: Published | None = None
    caveat: str = ""


class Row(NamedTuple):
    """A line of a table: the method, where it began, and an entry for each column."""

    label: str
    start: str
    entries: tuple[Entry, ...]


class Table(NamedTuple):
    """A table of the paper, made again; without sections there is nothing to show yet."""

    title: str
    caption: str
    headings: Sequence[str] = ()
    digits: Sequence[int] = ()
    best: Literal["highest", "lowest", "none"] = "none"
    sections: Mapping[str, Sequence[Row]] = {}
    note: str = ""


class Plan(NamedTuple):
    """A table before it is filled: which number of which runs stands beside which of the paper's.

    Columns of the paper's table are datasets or, if they are numbers, rows of a sample of ex-1.
    """

    title: str
    caption: str
    suite: str  # that has the runs
    metric: str
    digits: int
    printed: Printed
    finished_only: bool = False  # whether means leave out runs that reached the time cap


def _with_classics(printed: Printed) -> Printed:
    """Add the classics that the paper has no rows for; they are shown if they were run."""
    first, *others = printed
    blank: dict[str, Published | None] = dict.fromkeys(printed[first])
    classics = {Setting(method): blank for method in paper.CLASSICS if method != first.method}
    return {first: printed[first], **classics, **{row: printed[row] for row in others}}


PLANS = (
    Plan(
        "Introduction: recall on ex-1",
        "Share of the true blankets that is found, in percent, by rows of the sample. The target "
        "says whether exactly one of three coins shows heads, and is wrong in one row of ten.",
        "intro", "recall", 2, _with_classics(paper.INTRODUCTION),
    ),
    Plan(
        "Synthetic data",
        f"F1 on Boolean functions at {paper.SYNTHETIC_ROWS} rows.",
        "synthetic", "f1", 3, _with_classics(paper.SYNTHETIC),
    ),
    Plan(
        "Ablation: every k and l",
        f"F1 of kOMB, at {paper.SYNTHETIC_ROWS} rows for Boolean functions and at "
        f"{paper.BENCHMARK_ROWS} for networks. Runs that reached the time cap are left out of "
        "means, as in the paper.",
        "ablation", "f1", 4, paper.ABLATION, finished_only=True,
    ),
    Plan(
        "Full results on benchmark networks",
        f"F1 of every method at {paper.BENCHMARK_ROWS} rows.",
        "benchmark", "f1", 4, paper.FULL,
    ),
    Plan(
        "Full runtimes on benchmark networks",
        f"Seconds per target of every method at {paper.BENCHMARK_ROWS} rows, each search on its "
        "own.",
        "runtime", "seconds", 3, paper.RUNTIMES,
    ),
)  # fmt: skip
"""The tables of the paper in its order.

Those of the benchmark in its main text are rows of the two full ones; that of the separators is not
about runs.
"""


def make_tables(
    records: Sequence[Record], separators: Sequence[SeparatorRecord], out: str
) -> list[Table]:
    """Make every table of the paper; notes say what was not run, and which command adds it."""
    runs = group_runs(records)
    return [*(_fill(plan, runs, out) for plan in PLANS), _fill_separators(separators, out)]


def _fill(plan: Plan, runs: Runs, out: str) -> Table:
    keys = list(next(iter(plan.printed.values())))
    found = {
        key: [
            run
            for (*place, setting, _), some in runs.items()
            if tuple(place) == _place(key) and setting in plan.printed
            for run in some
        ]
        for key in keys
    }
    absent = [key for key in keys if not found[key]]
    command = how_to_add(plan.suite, out, absent)
    note = f"Not run: {', '.join(absent)}. This adds it: {command}" if absent else ""
    filled = [key for key in keys if found[key]]
    if not filled:
        return Table(plan.title, plan.caption, note=note)
    samples = [len({run.sample for run in found[key]}) for key in filled]
    targets = [len({run.target for run in found[key]}) for key in filled]
    caption = (
        f"{plan.caption} {_span(samples, 'sample')} of each dataset and, in each, the "
        f"{_span(targets, 'target')} with the largest blankets."
    )
    variants = {run.variant for key in filled for run in found[key]}
    unit = {"recall": "{} rows (%)", "f1": "F1 {}", "seconds": "{} (s)"}[plan.metric]
    return Table(
        plan.title,
        caption,
        [unit.format(key) for key in filled],
        [plan.digits] * len(filled),
        "lowest" if plan.metric == "seconds" else "highest",
        _sections(plan, runs, filled, variants),
        note,
    )


def _place(key: str) -> tuple[str, int]:
    """Return the dataset and the rows that a column of the paper is about."""
    return ("ex-1", int(key)) if key.isdecimal() else (key, paper.rows_of(key))


def _span(counts: Sequence[int], noun: str) -> str:
    low, high = min(counts), max(counts)
    return plural(high, noun) if low == high else f"{low} to {plural(high, noun)}"


def _sections(
    plan: Plan, runs: Runs, keys: Sequence[str], variants: Iterable[Variant]
) -> dict[str, list[Row]]:
    """Make a section for each test; what was not run is shown as such, but only in the first."""
    sections: dict[str, list[Row]] = {}
    ordered = sorted(variants, key=lambda variant: (variant[:2] != PAPERS_TEST[:2], variant))
    for test, df in dict.fromkeys(variant[:2] for variant in ordered):
        rows = []
        alike = [variant for variant in ordered if variant[:2] == (test, df)]
        for setting, variant in product(plan.printed, alike):
            entries = tuple(_make_entry(plan, runs, key, setting, variant) for key in keys)
            is_missed = not (sections or variant.start) and any(e.published for e in entries)
            if is_missed or any(entry.runs for entry in entries):
                origin = variant.origin if setting.method == "komb" else ""
                rows.append(Row(setting.label, origin, entries))
        sections[f"test {test}, df {df}"] = rows
    return sections


def _make_entry(plan: Plan, runs: Runs, key: str, setting: Setting, variant: Variant) -> Entry:
    """Set our number beside that of the paper."""
    dataset, n_rows = _place(key)
    found = runs.get((dataset, n_rows, setting, variant), [])
    factor = 100 if plan.metric == "recall" else 1  # which is in percent
    used = [run for run in found if not (plan.finished_only and run.timed_out)]
    values = [factor * float(getattr(run, plan.metric)) for run in used]
    return Entry(
        mean=statistics.fmean(values) if values else None,
        std=statistics.stdev(values) if len(values) > 1 else None,
        runs=len(found),
        timed_out=sum(run.timed_out for run in found),
        published=plan.printed[setting][key],
        caveat="all timed out" if paper.has_timed_out(setting, dataset) else "",
    )


def _fill_separators(separators: Sequence[SeparatorRecord], out: str) -> Table:
    rows, names = [], dict.fromkeys(record.network for record in separators)
    for name in names:
        pairs = [record for record in separators if record.network == name]
        minimal = _measure([pair.size for pair in pairs])
        ours = (len({pair.target for pair in pairs}), len(pairs), *minimal)
        beside = zip(ours, paper.SEPARATORS[name], strict=True)
        compared = (Entry(number, published=Published(theirs)) for number, theirs in beside)
        smallest = map(Entry, _measure([pair.minimum_size for pair in pairs]))
        rows.append(Row(name, "", (*compared, *smallest)))
    absent = [name for name in paper.NETWORKS if name not in names]
    command = how_to_add("separators", out, absent)
    kinds = product(("inclusion-minimal", "smallest"), ("mean", "max", f"share <= {paper.SMALL}"))
    return Table(
        "Separators in the benchmark networks",
        "How many members of a target's true blanket it takes to d-separate it from a variable "
        "outside: in a separator that no member can be taken from, as in the paper, and in the "
        "smallest one there is.",
        ["targets", "pairs", *map(" ".join, kinds)],
        [0, 0, 3, 0, 3, 3, 0, 3],
        sections={"": rows} if rows else {},
        note=f"Not run: {', '.join(absent)}. This adds it: {command}" if absent else "",
    )


def _measure(sizes: Sequence[int]) -> tuple[float, float, float]:
    """Return the mean size of separators, the largest, and the share of the small ones."""
    share = sum(size <= paper.SMALL for size in sizes) / len(sizes)
    return statistics.fmean(sizes), max(sizes), share


# ------------------------------------------------------------------------------------------ claims


class Contest(NamedTuple):
    """One method must do better than another on some datasets; ``None`` is a perfect score."""

    datasets: tuple[str, ...]
    favourite: Setting
    rival: Setting | None
    rivals_test: Variant = PAPERS_TEST


class Claim(NamedTuple):
    """Something that the paper says, or that one wants to know beyond that."""

    text: str
    suite: str
    contests: tuple[Contest, ...]
    may_tie: bool = False
    is_of_the_paper: bool = True

    @property
    def starts(self) -> tuple[str, ...]:
        """From where the favourites began; only kOMB has a choice."""
        is_of_komb = any(contest.favourite.method == "komb" for contest in self.contests)
        return ("", "iamb") if is_of_komb else ("",)


class Finding(NamedTuple):
    """Whether a claim holds under some conditions, and the numbers that say so."""

    conditions: str
    verdict: Verdict
    why: str


_FIRST, _SECOND, _THIRD = Setting("komb", 1, 1), Setting("komb", 2, 2), Setting("komb", 2, 3)
_MEAN_AT_MOST, _SHARE_AT_LEAST = 2.19, 0.83


def _against_classics(test: Variant) -> tuple[Contest, ...]:
    pairs = product(paper.NETWORKS, map(Setting, paper.CLASSICS))
    return tuple(Contest((name,), _FIRST, classic, test) for name, classic in pairs)


CLAIMS = (
    Claim(
        "With k=2 kOMB finds every blanket of parity, ex-1 and ex-2 at 100 rows.",
        "synthetic",
        tuple(Contest((name,), _THIRD, None) for name in ("parity", "ex-1", "ex-2")),
        may_tie=True,
    ),
    Claim(
        "With k=1 kOMB beats all eight classics on all four networks.",
        "benchmark",
        _against_classics(PAPERS_TEST),
    ),
    Claim(
        "With k=1 kOMB, on the paper's test, also beats all eight classics when they use the test "
        f"{ADJUSTED.test}, df {ADJUSTED.df}.",
        "benchmark",
        _against_classics(ADJUSTED),
        is_of_the_paper=False,
    ),
    Claim(
        "On the networks with few levels (Alarm1, Insurance) k=2 improves on k=1; on those with "
        "many (Barley, Mildew) k=1 is better.",
        "benchmark",
        (
            *(Contest((name,), _SECOND, _FIRST) for name in ("Alarm1", "Insurance")),
            *(Contest((name,), _FIRST, _SECOND) for name in ("Barley", "Mildew")),
        ),
    ),
    Claim(
        "Of the eight classics none is better than GS on the synthetic data at 100 rows.",
        "synthetic",
        tuple(
            Contest(paper.FUNCTIONS, Setting("gs"), Setting(method))
            for method in paper.CLASSICS
            if method != "gs"
        ),
        may_tie=True,
    ),
    Claim(
        f"Separators are small: {_MEAN_AT_MOST} members on average at most, and in at least "
        f"{_SHARE_AT_LEAST:.0%} of pairs three suffice.",
        "separators",
        (),
    ),
)


def check_claims(
    records: Sequence[Record], separators: Sequence[SeparatorRecord], out: str
) -> list[tuple[Claim, list[Finding]]]:
    """Hold every claim against the records; each has at least one finding."""
    runs = group_runs(records)
    checked = []
    for claim in CLAIMS:
        findings = [_judge(claim, runs, start) for start in claim.starts]
        if claim.suite == "separators":
            findings = [_check_sizes(separators)]
        untested = Finding("", "not tested", f"This runs it: {how_to_add(claim.suite, out)}")
        checked.append((claim, [finding for finding in findings if finding] or [untested]))
    return checked


_Score: TypeAlias = tuple[Contest, float, float, int]
"""Mean F1 of both in the runs that both have, and how many these are."""


def _hold(contest: Contest, runs: Runs, start: str) -> _Score | None:
    """Compare two methods; ``None`` if one of them has no runs on one of the datasets."""

    def scores(setting: Setting, test: Variant) -> dict[tuple[str, int, str], float]:
        variant = test._replace(start=start) if setting.method == "komb" else test
        keys = ((name, paper.rows_of(name), setting, variant) for name in contest.datasets)
        found = (run for key in keys for run in runs.get(key, ()))
        return {(run.dataset, run.sample, run.target): run.f1 for run in found}

    ours = scores(contest.favourite, PAPERS_TEST)
    theirs = dict.fromkeys(ours, 1.0)
    if contest.rival is not None:
        theirs = scores(contest.rival, contest.rivals_test)
    common = sorted(ours.keys() & theirs.keys())
    if {dataset for dataset, *_ in common} != set(contest.datasets):
        return None
    first, second = (statistics.fmean(some[run] for run in common) for some in (ours, theirs))
    return contest, first, second, len(common)


def _judge(claim: Claim, runs: Runs, start: str) -> Finding | None:
    """Say whether the favourites win all contests, which they lose, or which is the closest."""
    scores = {contest: _hold(contest, runs, start) for contest in claim.contests}
    held = [score for score in scores.values() if score]
    if not held:
        return None
    conditions = Variant(start=start).origin if claim.starts[1:] else "all on the same test"
    needed = sum(map(paper.runs_of, claim.contests[0].datasets))
    least = min(n_runs for *_, n_runs in held)
    fewer = f" (from {plural(least, 'run')}, not {needed})" if least < needed else ""
    lost = [s for s in held if s[1] < s[2] or (s[1] == s[2] and not claim.may_tie)]
    if lost:
        return Finding(conditions, "does not hold", _show(lost) + fewer)
    closest = min(held, key=lambda score: score[1] - score[2])
    missing = dict.fromkeys(", ".join(c.datasets) for c, score in scores.items() if not score)
    incomplete = f"; not complete: {', '.join(missing)}" if missing else ""
    why = f"closest: {_show([closest])}{fewer}{incomplete}"
    return Finding(conditions, "holds so far" if missing else "holds", why)


def _show(scores: Iterable[_Score]) -> str:
    """Tell scores, those with the same favourite on the same data in one breath."""
    rivals: dict[str, list[tuple[float, str]]] = {}
    for (names, favourite, rival, _), ours, theirs, _ in scores:
        place = names[0] if len(names) == 1 else f"{len(names)} datasets together"
        label = rival.label if rival else "the best possible"
        said = rivals.setdefault(f"{place}: {favourite.label} {ours:.4f}", [])
        said.append((-theirs, f"{label} {theirs:.4f}"))
    return "; ".join(
        f"{favourite} against {', '.join(text for _, text in sorted(some))}"
        for favourite, some in rivals.items()
    )


def _check_sizes(separators: Sequence[SeparatorRecord]) -> Finding | None:
    names = dict.fromkeys(record.network for record in separators)
    measured = {n: _measure([r.size for r in separators if r.network == n]) for n in names}
    if not measured:
        return None
    mean, largest = max((round(mean, 2), name) for name, (mean, *_) in measured.items())
    share, smallest = min((share, name) for name, (*_, share) in measured.items())
    holds = mean <= _MEAN_AT_MOST and share >= _SHARE_AT_LEAST
    so_far: Verdict = "holds" if len(measured) == len(paper.NETWORKS) else "holds so far"
    why = f"{mean} members on {largest}; {share:.1%} of pairs on {smallest}"
    return Finding("in the graphs, whatever the data", so_far if holds else "does not hold", why)
