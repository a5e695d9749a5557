"""Which columns act together on a target.

>>> import komb
>>> table = komb.boolean_table("parity", 500, n_irrelevant=3)  # Y is the parity of X1, X2 and X3
>>> [group.columns for group in komb.interactions(table, "Y", order=3).significant]
[('X1', 'X2', 'X3')]
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from komb import __version__
from komb.api.group_columns import GroupColumns, make_columns
from komb.api.opening import find_columns, open_data
from komb.api.options import Search
from komb.api.oracle import find_oracle
from komb.api.parallel import check_jobs, count_threads
from komb.api.progress import Observer, Progress
from komb.api.run import library_of
from komb.api.search_journal import JournalPath, check_journal
from komb.citests.option import check_share
from komb.data.checks import check_count, check_number, check_progress
from komb.data.kinds import IDENTIFIER
from komb.data.names import Name, list_names
from komb.data.read.file_bytes import to_path
from komb.data.table import DiscreteTable
from komb.engine.group_search import Alike, GroupSearch, Outcome, Tested
from komb.engine.journal import Journal, hash_arrays, hash_table
from komb.engine.threads import n_threads, use_threads
from komb.errors import Argument, DataError, InPython, Interrupted, ParameterError
from komb.results.interactions import Cells, Interaction, Interactions, Searched

TESTS = ("interaction", "association")
SCALES = ("auto", "scores", "values", "log")

SCALE_NOTES = {
    "scores": "The target was measured by normal scores of its ranks.",
    "values": "The target was measured by its values.",
    "log": "The target was measured by the logarithm of its values.",
}

MOST_COLUMNS = 5
"""Of a group."""

MOST_PREFIXES = 5_000_000
"""Sets of all columns of a group but two, which are listed beforehand."""

MOST_TABLES = 50
"""Groups whose table of effects is kept."""

_SECONDS_PER_WORD = 2.5e-9
"""Of one processor, about: 64 rows of one cell of a group, counted."""

_EXAMPLE = "Try ", Argument("between", [["x1", "x2"], ["x3", "x4"]]), "."


def interactions(
    data: object,
    target: Name,
    order: int = 2,
    *,
    test: str = "interaction",
    level: float = 0.05,
    given: Iterable[Name] | None = None,
    exclude: Iterable[Name] = (),
    between: Iterable[Iterable[Name]] | None = None,
    scale: str = "auto",
    min_distance: float = 0.0,
    r2: float = 1.0,
    proxies: float = 0.5,
    time_budget: float | None = None,
    n_jobs: int | None = None,
    progress: Observer | None = None,
    resume: JournalPath = None,
) -> Interactions:
    """Find groups of columns that act together on a target, with p-values.

    All groups of 2 up to ``order`` columns are tested. A group acts together if it tells something
    about the target that no smaller group in it tells, as the two inputs of an exclusive or.

    Parameters
    ----------
    data
        A table of any kind, as in :func:`komb.markov_blanket`, with missing values or without: each
        group is tested on the rows that are complete for it. Columns of numbers are cut into 4
        levels of equally many rows, into 3 for groups of more than two; of columns with more than
        16 levels the rarest are taken as one. Groups of columns (``komb.table(data, groups=...)``),
        such as genes, are tested as one column each.
    target
        Name of the column that the groups act on. Numbers with many values are taken as they are
        measured, not cut; any other column by its levels, of which it may have 16.
    order
        Size of the largest groups, 2 to 5.
    test
        ``"interaction"``: whether the group has an effect that its subsets do not have, by the
        score of its highest-order products in a model (logistic, multinomial or linear) with
        all products of fewer columns. ``"association"``: whether its columns tell anything
        together (saturated).
    level
        The family-wise error: the probability that any group is found although none acts together.
    given
        Covariates, such as age, sex or principal components: they are in every model. Numbers with
        more than 20 different values enter as such, others by an indicator for each level.
    exclude
        Columns to leave out.
    between
        Two lists of columns: only groups with a column of each of them count, and no other
        columns are looked at. For effects of one set of columns on those of another.
    scale
        For measured targets: ``"scores"`` takes normal scores of their ranks, which no outlier can
        spoil; ``"values"`` takes the numbers themselves, ``"log"`` their logarithm. ``"auto"``
        searches the values, and the one of the other two that columns by themselves explain better,
        each at half of the level; it takes the scale on which what was found and normal noise are
        the likelier source of the numbers.
    min_distance
        For variants: base pairs that all columns of a group must be apart, if they are on one
        chromosome.
    r2
        Groups with two columns whose squared correlation exceeds this (Cramer's V for nominal ones)
        are not reported: linkage.
    proxies
        Columns with a squared correlation of at least this are near-copies: groups of such
        columns are one finding, with its proxies. So is a group of columns in looser linkage (from
        0.05 on) that is significant no more in a model with the cells of a stronger one.
    time_budget
        Seconds that the search may take; if it would take more, it is refused before any work. No
        limit if left out.
    n_jobs
        How many threads count: all processors if left out, -1 is one per processor.
    progress
        Called now and then with a :class:`komb.api.progress.Progress`.
    resume
        A file in which the search notes about every second what it has counted. If it is there, the
        search goes on where the run that wrote it ended.

    Returns
    -------
    Interactions
        The groups, the most significant first, and what no other group carries.

    Raises
    ------
    komb.errors.InputError
        If anything passed in cannot be used; nothing has been counted then.
    komb.errors.Interrupted
        If the search is interrupted.

    See Also
    --------
    markov_blanket : The columns that matter, alone or together.

    Examples
    --------
    >>> import komb
    >>> found = interactions(komb.boolean_table("parity", 1000, n_parents=2, n_irrelevant=8), "Y")
    >>> found[0].columns, found[0].p_family < 1e-6, len(found.significant)
    (('X1', 'X2'), True, 1)
    """
    _check_choice("test", test, TESTS)
    _check_choice("scale", scale, SCALES)
    order = check_count("order", order, 2, MOST_COLUMNS)
    level = check_share("level", level, 0.05)
    min_distance = check_number("min_distance", min_distance, 0, math.inf, 1_000_000)
    r2, proxies = check_number("r2", r2, 0, 1, 0.2), check_number("proxies", proxies, 0, 1, 0.5)
    if time_budget is not None:
        time_budget = check_number("time_budget", time_budget, 0, math.inf, 60.0)
    check_progress(progress)
    check_journal(resume)
    threads, began = count_threads(check_jobs(n_jobs)), time.perf_counter()
    table, held, sides = _open(data, target, given, exclude, between)
    with use_threads(threads):
        columns = _choose_columns(table, target, held, order, sides)
        order = min(order, len(columns.names))
        _check_work(columns, order, time_budget)
        positions = [_positions(columns, side) for side in sides]
        is_allowed = _filter(columns, positions, min_distance, r2)
        identity = {
            "table": hash_table(table), "target": repr(target), "given": repr(held),
            "columns": hash_arrays(columns.codes, columns.target.values), "version": __version__,
        }  # fmt: skip
        make = partial(_make_search, columns, level, test)
        searches = _choose_scales(columns, scale, make)
        found: dict[str, Outcome] = {}
        with _open_journal(resume, identity) as journal, _explain_interrupt(resume):
            for name, search in searches.items():
                found[name] = search.run(
                    range(2, order + 1), is_allowed, _reporter(progress, target), journal,
                    Alike(columns.likeness, proxies),
                    _count_allowed(len(columns.names), positions),
                )  # fmt: skip
        name = max(found, key=lambda each: found[each].fit)
        best = found[name]
        notes = (*columns.notes, *([SCALE_NOTES[name]] if name in SCALE_NOTES else []))
        groups = tuple(
            _to_group(columns, target, rank, first, others)
            for rank, (first, others) in enumerate(best.findings, 1)
        )
    known = int(columns.target.is_known.sum())
    p_values = dict(zip(columns.names, best.singles.p_values.tolist(), strict=True))
    result = Interactions(
        target, test, level, groups, tuple(Searched(*report) for report in best.reports), p_values,
        {name: columns.places[name] for name in columns.names if name in columns.places},
        held, known, len(columns.names), notes, time.perf_counter() - began,
    )  # fmt: skip
    object.__setattr__(result, "_library", library_of(data))
    return result


def _check_choice(parameter: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        rule = f"be {' or '.join(map(repr, known))}"
        raise ParameterError.because(parameter, rule, value, "Leave it out for the first of them.")


def _open(
    data: object, target: Name, given: Iterable[Name] | None, exclude: Iterable[Name],
    between: Iterable[Iterable[Name]] | None,
) -> tuple[DiscreteTable, tuple[Name, ...], list[list[Name]]]:  # fmt: skip
    """Read the table, and check all names."""
    if find_oracle(data) is not None:
        rule, remedy = "be a table: a model has no rows to test", "Draw one: model.sample(1000)."
        raise DataError.because("data", rule, type(data).__name__, remedy)
    held = tuple(dict.fromkeys(list_names("given", given or ())))
    sides = _check_sides(between)
    search = Search.of(exclude=exclude)
    opened = open_data(data, [target], search).data
    assert isinstance(opened, DiscreteTable)
    table = opened
    if given is None:
        held = tuple(name for name in table.reading.get("covariates") or () if name != target)
    find_columns("target", [target], table)
    find_columns("given", held, table)
    for side in sides:
        find_columns("between", side, table)
        for name in side:
            if name == target or name in held:
                rule, remedy = "name neither the target nor a covariate", "Take it out of the list."
                raise ParameterError.because("between", rule, name, remedy)
    if target in held:
        raise ParameterError.because(
            "given", "not name the target", target, ("Take it out of ", Argument("given"), ".")
        )
    return table, held, sides


def _check_sides(between: Iterable[Iterable[Name]] | None) -> list[list[Name]]:
    if between is None:
        return []
    sides = [] if isinstance(between, str) else [list_names("between", side) for side in between]
    if len(sides) != 2 or not all(sides):
        rule = "be two lists of columns"
        raise ParameterError.because("between", rule, f"{len(sides)} lists", _EXAMPLE)
    both = set(sides[0]) & set(sides[1])
    if both:
        rule, remedy = "have no column in both lists", "Take it out of one of them."
        raise ParameterError.because("between", rule, min(both, key=str), remedy)
    return sides


def _choose_columns(
    table: DiscreteTable, target: Name, held: tuple[Name, ...], order: int,
    sides: list[list[Name]],
) -> GroupColumns:  # fmt: skip
    wanted = {name for side in sides for name in side} or {*table.names}
    strange = {name for name, kind in table.types.items() if kind.kind == IDENTIFIER}
    # the covariates of a cohort are in every model, or in none
    apart = {target, *held, *(table.reading.get("covariates") or ())} | strange
    names = [name for name in table.names if name in wanted and name not in apart]
    return make_columns(table, target, held, order, names)


def _check_work(columns: GroupColumns, order: int, time_budget: float | None) -> None:
    """Raise if the groups are too many, by what is known before any work."""
    n = len(columns.names)
    if math.comb(n, order - 2) > MOST_PREFIXES:
        rule = f"be smaller for {n:,} columns"
        remedy = "Try ", Argument("order", order - 1), ", or fewer columns."
        raise ParameterError.because("order", rule, order, remedy)
    if time_budget is None:
        return
    words = math.prod(sorted(columns.cardinalities.tolist())[-2:]) * (
        len(columns.codes[0]) // 64 + 4
    )
    n_groups = sum(math.comb(n, size) for size in range(2, order + 1))
    seconds = n_groups * words * _SECONDS_PER_WORD / n_threads()
    if seconds > time_budget:
        rule = "be enough for the order"
        shown = f"{time_budget:g} seconds for {n_groups:,} groups, which take some {seconds:,.0f}"
        remedy = "Try ", Argument("time_budget", math.ceil(2 * seconds)), ", or a lower order."
        raise ParameterError.because("time_budget", rule, time_budget, remedy, shown=shown)


def _make_search(
    columns: GroupColumns, level: float, test: str, scale: str, n_searches: int
) -> GroupSearch:
    own = columns.on(scale) if scale in SCALE_NOTES else columns
    return GroupSearch(
        columns.codes, columns.cardinalities, own.target, level,
        is_saturated=test == "association", n_searches=n_searches,
    )  # fmt: skip


def _choose_scales(
    columns: GroupColumns, scale: str, make: Callable[[str, int], GroupSearch]
) -> dict[str, GroupSearch]:
    """Return the searches to run, by scale."""
    if columns.target.n_levels:
        return {"levels": make("levels", 1)}
    is_positive = bool((columns.measured[columns.target.is_known] > 0).all())
    if scale == "log" and not is_positive:
        rule, remedy = "be a scale that the target has", ("Try ", Argument("scale", "scores"), ".")
        shown = "'log', of numbers that are not all positive"
        raise ParameterError.because("scale", rule, scale, remedy, shown=shown)
    if scale != "auto":
        return {scale: make(scale, 1)}
    other = {name: make(name, 2) for name in (["scores", "log"] if is_positive else ["scores"])}
    best = max(other, key=lambda name: other[name].fit())
    return {best: other[best], "values": make("values", 2)}


def _positions(columns: GroupColumns, side: Iterable[Name]) -> frozenset[int]:
    wanted = {*side}
    return frozenset(i for i, name in enumerate(columns.names) if name in wanted)


def _filter(
    columns: GroupColumns, sides: Sequence[frozenset[int]], min_distance: float, r2: float
) -> Callable[[tuple[int, ...]], bool]:
    """Return what says whether a group may be a finding."""

    def is_allowed(group: tuple[int, ...]) -> bool:
        if not all(side.intersection(group) for side in sides):
            return False
        pairs = [*combinations(group, 2)] if min_distance > 0 or r2 < 1 else []
        return all(
            columns.distance(x, z) >= min_distance and (r2 >= 1 or columns.likeness(x, z) <= r2)
            for x, z in pairs
        )

    return is_allowed


def _count_allowed(n: int, sides: Sequence[frozenset[int]]) -> Callable[[int], int]:
    """Return what says how many groups of a size have a column of each side."""

    def count(size: int) -> int:
        missed = sum(math.comb(n - len(side), size) for side in sides)
        return math.comb(n, size) - missed

    return count


@contextmanager
def _open_journal(resume: JournalPath, identity: dict[str, str]) -> Iterator[Journal | None]:
    if resume is None:
        yield None
        return
    with Journal(to_path(resume), identity) as journal:
        yield journal


@contextmanager
def _explain_interrupt(resume: JournalPath) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        advice: Any = InPython(" Name a file as 'resume' to go on where a search was interrupted.")
        if resume is not None:
            advice = " Repeat the call to go on where it was."
        raise Interrupted(("Interrupted before all groups were tested.", advice)) from None


def _reporter(progress: Observer | None, target: Name) -> Callable[[int, int, int], None] | None:
    if progress is None:
        return None

    def report(size: int, done: int, total: int) -> None:
        progress(Progress(target, f"groups of {size}", (), done, done, total))

    return report


def _to_group(
    columns: GroupColumns, target: Name, rank: int, first: Tested, others: Sequence[Tested]
) -> Interaction:
    def named(group: Iterable[int]) -> tuple[Name, ...]:
        return tuple(columns.names[x] for x in group)

    test, names = first.test, named(first.group)
    return Interaction(
        rank, names, test.statistic, test.df, test.p_value, first.p_family, first.p_fdr, test.bits,
        test.bits_in_all, test.n_rows, target,
        tuple(str(columns.places[name]) for name in names if name in columns.places),
        tuple(named(other.group) for other in others),
        _to_cells(columns, first.group) if rank <= MOST_TABLES else None,
    )  # fmt: skip


def _to_cells(columns: GroupColumns, group: Sequence[int]) -> Cells:
    counts, means, level = columns.cells(group)
    return Cells(
        tuple(tuple(map(str, columns.levels[x])) for x in group),
        tuple(counts.tolist()),
        tuple(None if np.isnan(mean) else float(mean) for mean in means),
        None if level is None else str(level),
    )
