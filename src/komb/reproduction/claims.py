"""What the paper claims, and whether it holds in the records of a run.

>>> claims = check_claims([], [], "results")
>>> claims[0].text
'With k=2 kOMB finds every blanket of parity, ex-1 and ex-2 at 100 rows.'
>>> claims[0].findings[0].verdict, claims[0].findings[0].why
('not tested', 'This runs it: komb reproduce synthetic --out results --resume')
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from komb.reproduction import paper
from komb.reproduction.averages import Runs, Variant
from komb.reproduction.journal import Record, SeparatorRecord
from komb.reproduction.paper import Setting
from komb.reproduction.paper_tables import how_to_add
from komb.views.text import plural

Verdict: TypeAlias = Literal["holds", "holds so far", "does not hold", "not tested"]
"""A claim holds so far if there are no records yet for a part of it."""

_UNLOCKED = ("parity", "ex-1", "ex-2")
_FEW_LEVELS, _MANY_LEVELS = ("Alarm1", "Insurance"), ("Barley", "Mildew")
_FIRST, _SECOND = Setting("komb", 1, 1), Setting("komb", 2, 2)
_MEAN_AT_MOST, _SHARE_AT_LEAST = 2.19, 0.83  # of separators
_PAPERS_TEST = Variant()


class Finding(NamedTuple):
    """Whether a claim holds under some conditions, and the numbers that say so."""

    conditions: str
    verdict: Verdict
    why: str


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that the paper says, or that one wants to know beyond that."""

    text: str
    findings: tuple[Finding, ...]
    is_of_the_paper: bool = True


class _Contest(NamedTuple):
    """Mean F1 of two in the runs that both have; without such runs on a dataset there are none."""

    place: str
    favourite: str
    rival: str
    ours: float
    theirs: float
    n_runs: int
    published_runs: int


_Entrant: TypeAlias = tuple[Setting, Variant]


def _hold(runs: Runs, datasets: Sequence[str], favourite: _Entrant, rival: _Entrant) -> _Contest:
    """Compare two on some datasets of one suite."""
    suite, n_rows, n_runs = paper.experiment_on(datasets[0])
    ours, theirs = (
        {
            (dataset, run.sample, run.target): run.f1
            for dataset in datasets
            for run in runs.of(suite, dataset, n_rows, *entrant)
        }
        for entrant in (favourite, rival)
    )
    common = sorted(ours.keys() & theirs.keys())
    if {dataset for dataset, *_ in common} != set(datasets):
        common = []
    return _Contest(
        datasets[0] if len(datasets) == 1 else f"{len(datasets)} datasets together",
        favourite[0].label,
        rival[0].label,
        statistics.fmean(ours[run] for run in common) if common else 0.0,
        statistics.fmean(theirs[run] for run in common) if common else 0.0,
        len(common),
        n_runs * len(datasets),
    )


def check_claims(
    records: Sequence[Record], separators: Sequence[SeparatorRecord], out: str
) -> list[Claim]:
    """Hold the claims of the paper against the records of all suites that were run.

    ``out`` is the folder of the results, for commands that run what is missing. Each claim has at
    least one finding.
    """
    runs = Runs(records)
    return [
        _check_unlocked(runs, out),
        _on_networks(
            "With k=1 kOMB beats all eight classics on all four networks.",
            partial(_against_classics, test=_PAPERS_TEST),
            runs,
            out,
        ),
        *_check_better_tests(runs, out),
        _on_networks(
            "On the networks with few levels (Alarm1, Insurance) k=2 improves on k=1; on those "
            "with many (Barley, Mildew) k=1 is better.",
            _between_orders,
            runs,
            out,
        ),
        _check_best_classic(runs, out),
        _check_separators(separators, out),
    ]


def _on_networks(
    text: str,
    contests: Callable[[Runs, Variant], Iterator[_Contest]],
    runs: Runs,
    out: str,
    *,
    is_of_the_paper: bool = True,
) -> Claim:
    """Judge kOMB on the networks, from wherever it was started."""
    findings = tuple(
        _judge(variant.origin, contests(runs, variant), "benchmark", out)
        for variant in _komb_variants(runs, "benchmark")
    )
    return Claim(text, findings or (_untested("benchmark", out),), is_of_the_paper)


def _check_unlocked(runs: Runs, out: str) -> Claim:
    text = "With k=2 kOMB finds every blanket of parity, ex-1 and ex-2 at 100 rows."
    variants = _komb_variants(runs, "synthetic")
    findings = tuple(filter(None, (_find_unlocked(runs, variant) for variant in variants)))
    return Claim(text, findings or (_untested("synthetic", out),))


def _find_unlocked(runs: Runs, variant: Variant) -> Finding | None:
    f1, counts = {}, []
    for name in _UNLOCKED:
        found = runs.of("synthetic", name, paper.SYNTHETIC_ROWS, Setting("komb", 2, 3), variant)
        if found:
            f1[name] = statistics.fmean(run.f1 for run in found)
            counts.append(len(found))
    if not f1:
        return None
    why = "F1 " + _enumerate(f"{value:.3f} on {name}" for name, value in f1.items())
    why += _say_fewer(min(counts), paper.SYNTHETIC_RUNS)
    if any(value < 1 for value in f1.values()):
        return Finding(variant.origin, "does not hold", why)
    return Finding(variant.origin, _holds(len(f1) == len(_UNLOCKED)), why)


def _check_better_tests(runs: Runs, out: str) -> Iterator[Claim]:
    """Give the classics the other tests that they were run with; kOMB keeps that of the paper."""
    for test in runs.variants(["benchmark"]):
        is_other = test.section != _PAPERS_TEST.section and not test.start
        if is_other and _komb_variants(runs, "benchmark"):
            yield _on_networks(
                "With k=1 kOMB, on the paper's test, also beats all eight classics when they use "
                f"the {test.section}.",
                partial(_against_classics, test=test),
                runs,
                out,
                is_of_the_paper=False,
            )


def _check_best_classic(runs: Runs, out: str) -> Claim:
    text = "Of the eight classics none is better than GS on the synthetic data at 100 rows."
    best, *others = sorted(paper.CLASSICS, key=lambda method: method != "gs")
    favourite = Setting(best), _PAPERS_TEST
    contests = (
        _hold(runs, paper.FUNCTIONS, favourite, (Setting(method), _PAPERS_TEST))
        for method in others
    )
    judged = _judge("all on the same test", contests, "synthetic", out, may_tie=True)
    return Claim(text, (judged,))


def _check_separators(separators: Sequence[SeparatorRecord], out: str) -> Claim:
    text = (
        f"Separators are small: {_MEAN_AT_MOST} members on average at most, and in at least "
        f"{_SHARE_AT_LEAST:.0%} of pairs three suffice."
    )
    sizes: dict[str, list[int]] = {}
    for record in separators:
        sizes.setdefault(record.network, []).append(record.size)
    if not sizes:
        return Claim(text, (_untested("separators", out),))
    means = {name: round(statistics.fmean(some), 2) for name, some in sizes.items()}
    shares = {name: sum(s <= paper.SMALL for s in some) / len(some) for name, some in sizes.items()}
    largest, smallest = max(means, key=means.__getitem__), min(shares, key=shares.__getitem__)
    holds = means[largest] <= _MEAN_AT_MOST and shares[smallest] >= _SHARE_AT_LEAST
    why = f"{means[largest]} members on {largest}; {shares[smallest]:.1%} of pairs on {smallest}"
    verdict = _holds(len(sizes) == len(paper.NETWORKS)) if holds else "does not hold"
    return Claim(text, (Finding("in the graphs, whatever the data", verdict, why),))


def _komb_variants(runs: Runs, suite: str) -> list[Variant]:
    """Return from where kOMB was started on the paper's test."""
    section = _PAPERS_TEST.section
    return [variant for variant in runs.variants([suite]) if variant.section == section]


def _against_classics(runs: Runs, variant: Variant, test: Variant) -> Iterator[_Contest]:
    for name in paper.NETWORKS:
        for method in paper.CLASSICS:
            yield _hold(runs, (name,), (_FIRST, variant), (Setting(method), test))


def _between_orders(runs: Runs, variant: Variant) -> Iterator[_Contest]:
    first, second = (_FIRST, variant), (_SECOND, variant)
    for name in _FEW_LEVELS:
        yield _hold(runs, (name,), second, first)
    for name in _MANY_LEVELS:
        yield _hold(runs, (name,), first, second)


def _judge(
    conditions: str, contests: Iterable[_Contest], suite: str, out: str, *, may_tie: bool = False
) -> Finding:
    """Say whether the favourites win all contests, which they lose, or which is the closest."""
    wanted = list(contests)
    held = [contest for contest in wanted if contest.n_runs]
    if not held:
        return _untested(suite, out, conditions)
    fewer = _say_fewer(*min((contest.n_runs, contest.published_runs) for contest in held))
    lost = [
        contest
        for contest in held
        if contest.ours < contest.theirs or (contest.ours == contest.theirs and not may_tie)
    ]
    if lost:
        return Finding(conditions, "does not hold", _show(lost) + fewer)
    closest = min(held, key=lambda contest: contest.ours - contest.theirs)
    missing = dict.fromkeys(contest.place for contest in wanted if not contest.n_runs)
    incomplete = f"; not complete: {_enumerate(missing)}" if missing else ""
    why = f"closest: {_show([closest])}{fewer}{incomplete}"
    return Finding(conditions, _holds(not missing), why)


def _show(contests: Iterable[_Contest]) -> str:
    """Tell contests, those with the same favourite at the same place in one breath."""
    rivals: dict[str, list[tuple[float, str]]] = {}
    for contest in contests:
        favourite = f"{contest.place}: {contest.favourite} {contest.ours:.4f}"
        rival = (-contest.theirs, f"{contest.rival} {contest.theirs:.4f}")
        rivals.setdefault(favourite, []).append(rival)
    return "; ".join(
        f"{favourite} against {', '.join(name for _, name in sorted(some))}"
        for favourite, some in rivals.items()
    )


def _holds(is_complete: bool) -> Verdict:
    return "holds" if is_complete else "holds so far"


def _say_fewer(n_runs: int, published: int) -> str:
    return f" (from {plural(n_runs, 'run')}, not {published})" if n_runs < published else ""


def _untested(suite: str, out: str, conditions: str = "") -> Finding:
    return Finding(conditions, "not tested", f"This runs it: {how_to_add([suite], out)}")


def _enumerate(parts: Iterable[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last
