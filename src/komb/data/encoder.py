"""The one encoder: gather what is in the columns, decide what they are, encode them.

A table comes in batches of rows: one if it is in memory, many if it is in files or on a cluster.
Each step is a pass over all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from komb.data.bins import (
    EVEN,
    Floats,
    bins_of,
    find_cuts,
    find_cuts_by_classes,
    find_cuts_by_clusters,
    label_bins,
)
from komb.data.columns import Column
from komb.data.inputs import Source, check_lengths, check_shape, columns_of, open_source
from komb.data.kinds import LEVELS, NOMINAL, ORDINAL, ColumnType
from komb.data.levels import CodeArray, Levels, code_dtype, encode_block
from komb.data.memory_limit import refuse_beyond
from komb.data.names import Name
from komb.data.options import MDL, ReadOptions, Rule
from komb.data.plans import ColumnPlan, decide
from komb.data.problems import (
    FEW_LEVELS,
    MAX_LEVELS,
    ColumnProblem,
    Continuous,
    and_more,
    explain,
    try_each,
)
from komb.data.summary import Summary, are_codes, gather
from komb.errors import Argument, ContinuousColumnError, DataError

Frame = Any
"""Some rows: a dataframe that narwhals knows, or columns by name."""

Result = TypeVar("Result")

_UNLIMITED = 1 << 62  # bytes

_TRUTHS, _FEW_NUMBERS = ColumnType(NOMINAL, LEVELS), ColumnType(ORDINAL, LEVELS)

BYTES_PER_NUMBER = 64
"""Memory that finding cut points takes for each number, where all are needed at once."""


class Batches(ABC):
    """A table in batches of rows.

    Attributes
    ----------
    names : list
        Of the columns.
    done, total : int
        How far the present pass over the batches is, in some unit.
    """

    def __init__(self, names: Sequence[Any]) -> None:
        self.names = list(names)
        self.done = 0
        self.total = 1

    @abstractmethod
    def map(self, work: Callable[[int, Frame], Result], columns: Sequence[Any]) -> Iterator[Result]:
        """Do some work on every batch, given its number and some of its columns."""


class _InMemory(Batches):
    """A table in memory, which is a single batch."""

    def __init__(self, columns: dict[Name, Column]) -> None:
        super().__init__(list(columns))
        self._columns = columns

    def map(self, work: Callable[[int, Frame], Result], columns: Sequence[Any]) -> Iterator[Result]:
        yield work(0, {name: self._columns[name] for name in columns})


class Encoded(NamedTuple):
    """The columns of a table, encoded: what a :class:`~komb.data.table.DiscreteTable` has."""

    names: tuple[Name, ...]
    codes: CodeArray
    levels: tuple[Levels, ...]
    cuts: dict[Name, tuple[float, ...]]
    has_missing: bool
    numbers: dict[Name, Floats]
    types: dict[Name, ColumnType]


@dataclass(frozen=True)
class TablePlan:
    """How the columns of a table are encoded."""

    plans: tuple[ColumnPlan, ...]
    types: Mapping[Name, ColumnType]  # also of columns that are left out; empty if strict
    rows: tuple[int, ...]  # of each batch

    def encode(self, frame: Frame) -> tuple[CodeArray, Floats]:
        """Return the codes of a batch, and the numbers of the columns that keep them."""
        columns = columns_of(frame, [plan.name for plan in self.plans])
        dtype = code_dtype(max(plan.n_codes for plan in self.plans))
        codes = np.stack([plan.encode(columns[plan.name]) for plan in self.plans], dtype=dtype)
        kept = [plan for plan in self.plans if plan.has_numbers]
        numbers = [plan.read_numbers(columns[plan.name]) for plan in kept]
        return codes, np.array(numbers).reshape(len(kept), codes.shape[1])


def plan_table(
    batches: Batches,
    names: Iterable[Name],
    options: ReadOptions,
    *,
    limit: int = _UNLIMITED,
    beside: Collection[Levels] = (),
    progress: Callable[[], None] = lambda: None,
) -> TablePlan:
    """Gather what is in the columns, and decide how each is encoded.

    ``beside`` are the levels of columns of the same table that need no decision.
    """
    rules = {name: options.rule_of(name) for name in names}
    check_shape(list(rules), 1)
    found: dict[Name, Summary] = dict.fromkeys(rules, Summary())
    rows: list[int] = []
    for n_rows, summaries in batches.map(partial(_gather_batch, rules), list(rules)):
        found = {name: found[name] + new if rows else new for name, new in summaries.items()}
        rows.append(n_rows)
        progress()
    check_shape(list(rules), sum(rows))
    cutter = _Cutter(batches, sum(rows), limit)
    if options.needs_target:
        cutter.find_classes(options, found)
    plans, left_out = try_each(
        rules,
        lambda name: cutter.cut(decide(name, found[name], rules[name]), rules[name]),
        is_cutting=isinstance(options.discretize, Mapping),
    )
    if not plans and not beside:
        raise _nothing_left(left_out, sum(rows))
    if not left_out and options.discretize is None and _are_codes(plans.values(), beside):
        codes = {name for name, plan in plans.items() if plan.may_be_codes}
        plans |= {name: decide(name, found[name], rules[name], are_codes=True) for name in codes}
    types = left_out | {name: plan.type for name, plan in plans.items() if plan.type is not None}
    in_order = {name: types[name] for name in rules if name in types}
    return TablePlan(tuple(plans.values()), in_order, tuple(rows))


def _gather_batch(
    rules: Mapping[Name, Rule], _number: int, frame: Frame
) -> tuple[int, dict[Name, Summary]]:
    columns = columns_of(frame, rules)
    summaries = {name: gather(columns[name], rule) for name, rule in rules.items()}
    return next(iter(summaries.values())).n_rows, summaries


def _read_numbers(plan: ColumnPlan, _number: int, frame: Frame) -> Floats:
    return plan.read_numbers(columns_of(frame, [plan.name])[plan.name])


def _encode_column(plan: ColumnPlan, _number: int, frame: Frame) -> CodeArray:
    return plan.encode(columns_of(frame, [plan.name])[plan.name])


def _are_codes(plans: Collection[ColumnPlan], beside: Collection[Levels]) -> bool:
    """Whether all columns of a table hold codes, and some of them more than a few."""
    by_levels = {plan.levels for plan in plans if not plan.may_be_codes}
    has_many = len(plans) > 0 and any(plan.may_be_codes for plan in plans)
    return has_many and all(map(are_codes, by_levels | set(beside)))


def _known(numbers: Floats) -> Floats:
    is_known = ~np.isnan(numbers)
    return numbers if is_known.all() else numbers[is_known]


class _Cutter:
    """Finds where columns of a table are cut."""

    def __init__(self, batches: Batches, n_rows: int, limit: int) -> None:
        self._batches = batches
        self._needed = BYTES_PER_NUMBER * n_rows
        self._limit = limit
        self._classes: npt.NDArray[Any] = np.empty(0, np.uint8)
        self._n_classes = 0

    def find_classes(self, options: ReadOptions, found: Mapping[Name, Summary]) -> None:
        """Encode the target that others are cut by: by its levels, unless it is cut by name."""
        target = options.target
        refuse_beyond(self._needed, self._limit, f"Cutting by the target {target!r} ('mdl')")
        missing = options.missing if options.is_strict else "testwise"
        rule = options.rule_of(target)._replace(is_strict=True, missing=missing)
        try:
            plan = self.cut(decide(target, found[target], rule), rule)
        except Continuous as problem:
            message = f"Column {target!r} {problem.why}; where others are cut by the target "
            example = Argument("discretize", {target: "quantile", "another": MDL})
            raise ContinuousColumnError(
                f"{message}('mdl'), it must hold discrete levels.",
                ("Say for each column how it is cut: ", example, "."),
            ) from None
        except ColumnProblem as problem:
            raise explain({target: problem}) from None
        work = partial(_encode_column, plan)
        self._classes = np.concatenate(list(self._batches.map(work, [target])))
        self._n_classes = len(plan.levels)  # missing values are no class, unless they are a level

    def cut(self, plan: ColumnPlan, rule: Rule) -> ColumnPlan:
        """Find where a column is cut that is to be, and which bins occur."""
        if plan.way is None:
            return plan
        pieces = self._pieces(plan)
        cuts = self._find_cuts(plan, rule, pieces) if isinstance(plan.way, str) else plan.way
        counts = np.ones(len(cuts) + 1, np.int64)
        if plan.way != EVEN:  # each of whose bins begins at a value
            counts = np.sum(
                [
                    np.bincount(bins_of(x, cuts), minlength=len(counts))
                    for x in map(_known, pieces())
                ],
                axis=0,
            )
        labels = label_bins(cuts, are_times=plan.are_times)
        levels = [labels[place] for place in np.flatnonzero(counts)]
        codes = np.maximum(np.cumsum(counts > 0) - 1, 0)
        return replace(
            plan, cuts=cuts, levels=(*levels, *plan.levels), bin_codes=tuple(codes.tolist())
        )

    def _pieces(self, plan: ColumnPlan) -> Callable[[], Iterator[Floats]]:
        """Have the numbers of a column at hand, or read them as often as they are needed."""

        def read() -> Iterator[Floats]:
            return self._batches.map(partial(_read_numbers, plan), [plan.name])

        if self._needed > self._limit:
            return read
        pieces = list(read())
        return lambda: iter(pieces)

    def _find_cuts(
        self, plan: ColumnPlan, rule: Rule, pieces: Callable[[], Iterator[Floats]]
    ) -> tuple[float, ...]:
        if plan.way in ("kmeans", MDL):
            what = f"Cutting column {plan.name!r} by {plan.way!r}"
            refuse_beyond(self._needed, self._limit, what)
            numbers = np.concatenate(list(pieces()))
            is_used = ~np.isnan(numbers)
            if plan.way == MDL:
                is_used &= self._classes < self._n_classes
                classes = self._classes[is_used]
                return find_cuts_by_classes(numbers[is_used], classes) if is_used.any() else ()
            return find_cuts_by_clusters(numbers[is_used], rule.bins)
        assert isinstance(plan.way, str)
        return find_cuts(lambda: map(_known, pieces()), plan.way, rule.bins)


def encode_data(data: object, options: ReadOptions) -> Encoded:
    """Encode a table in memory."""
    source = open_source(data)
    names = options.names_left(source.names)
    if source.n_rows is not None:
        check_shape(names, source.n_rows)
    together = _encode_together(source, names, options)
    columns = {name: source.column(name) for name in names if name not in together}
    sizes = {name: len(column.values) for name, column in columns.items()}
    check_lengths(sizes)
    n_rows = next(iter(sizes.values()), 0) if source.n_rows is None else source.n_rows
    check_shape(names, n_rows)
    beside = [levels for _, levels in together.values()]
    plan = TablePlan((), {}, ())
    if columns:
        plan = plan_table(_InMemory(columns), columns, options, beside=beside)
    plans = {own.name: own for own in plan.plans}
    kept = [name for name in names if name in together or name in plans]
    n_codes = [*map(len, beside), *(own.n_codes for own in plan.plans)]
    codes: CodeArray = np.empty((len(kept), n_rows), code_dtype(max(n_codes)))
    for row, name in enumerate(kept):
        own = plans.get(name)
        codes[row] = together[name][0] if own is None else own.encode(columns[name])
    types = dict(plan.types)
    if not options.is_strict:
        types = {name: types.get(name) or _type_of(together[name][1]) for name in names}
    return Encoded(
        tuple(kept),
        codes,
        tuple(plans[name].levels if name in plans else together[name][1] for name in kept),
        {own.name: own.cuts for own in plan.plans if own.cuts is not None},
        any(own.n_missing for own in plan.plans),
        {
            own.name: own.read_numbers(columns[own.name]).copy()
            for own in plan.plans
            if own.has_numbers
        },
        types,
    )


def _encode_together(
    source: Source, names: Sequence[Name], options: ReadOptions
) -> dict[Name, tuple[CodeArray, Levels]]:
    """Encode columns of whole numbers with few values together, if nothing was said of them."""
    if options.discretize is not None or options.types or options.na_values:
        return {}
    most = MAX_LEVELS if options.is_strict else FEW_LEVELS
    found = {}
    for some, values in source.blocks(names):
        block = encode_block(values, most)
        for name, codes, levels in zip(some, block.codes, block.levels, strict=True):
            if levels:
                found[name] = codes, levels
    return found


def _type_of(levels: Levels) -> ColumnType:
    return _TRUTHS if isinstance(levels[0], bool) else _FEW_NUMBERS


def _nothing_left(types: Mapping[Name, ColumnType], n_rows: int) -> DataError:
    """Return the error about a table of which no column is left."""
    listed = and_more(f"{name!r} ({found})" for name, found in types.items())
    rule, example = "have a column that can be tested", Argument("types", {"name": "nominal"})
    remedy = "Say what it is: ", example, "."
    return DataError.because("data", rule, (n_rows, 0), remedy, shown=listed)
