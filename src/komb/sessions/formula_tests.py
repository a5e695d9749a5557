"""The tests of one target, in compiled code: Python sees lots of them, never one.

For tests that kernels know (:class:`~komb.citests.formula.Formula`) on tables without missing
values. What was decided, and the sums over sets that it was decided from, are remembered in hash
tables of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.citests.formula import Formula
from komb.counts.contingency import Contingency
from komb.counts.fixedpoint import Int64Array
from komb.counts.records import Record
from komb.sessions.questions import Branch, Candidates, Position, Variables
from komb.sessions.sweeps import Sweep

#: Bytes of remembered decisions and sums per target; all are forgotten beyond.
REMEMBERED_BYTES = 256 << 20

_PLACES_AT_FIRST, _COLUMNS_AT_FIRST = 1 << 10, 8
_ROWS_PER_CALL = 1 << 28  # about half a second: interrupts are heard between two calls
_RECENT = 4  # separators tried again for each candidate
_RECENT_COLUMNS = 4  # of so many columns at most
_STACK_CELLS = 1 << 21  # rows times columns: beyond, bases are not kept from set to set

Int32Array = npt.NDArray[np.int32]
Lines = Sequence[tuple[int, Sequence[Variables]]]


@dataclass(slots=True)
class _Remembered:
    """What is known of one target."""

    rules: Any
    recent: Int32Array  # separators that worked
    tests: Any  # decisions
    sets: Any  # sums
    most_columns: int  # of a set that there is room for
    sweeps: list[Sweep] = field(default_factory=list)
    work: Any = None  # all that kernels need


class FormulaTests:
    """Counts, decides and remembers, target by target.

    Parameters
    ----------
    formula : Formula
    note_work : callable
        Told of the numbers of tests, tables, tests of a fall-back and unreliable ones, now and
        then.
    """

    def __init__(self, formula: Formula, note_work: Callable[..., None]) -> None:
        from komb.sessions.formula_kernels import counting, evidence, hash_table, lots

        self._lots, self._hash, self._counting = lots, hash_table, counting
        self._evidence = evidence
        self._formula = formula
        self._formula_record = Record(**formula._asdict())
        self._note_work = note_work
        self._remembered: dict[int, _Remembered] = {}
        self._empty_lot = _make_empty_lot()
        self._given: Any = None
        self._based_on: Contingency | None = None  # whose target the bases begin with

    def weigh(
        self, contingency: Contingency, questions: Sequence[Candidates], *, wants_bits: bool
    ) -> list[list[float]]:
        """Evidence for every candidate of every question; 0 where there is none."""
        columns = np.fromiter(chain.from_iterable(asked for asked, _ in questions), np.int64)
        starts = np.array([0, *accumulate(len(asked) for asked, _ in questions)], dtype=np.int64)
        sets = self._rows_of([given for _, given in questions])
        evidence = np.empty(len(columns))
        lot = self._lot(
            contingency,
            self._lots.SOME_TESTS,
            wants_bits=wants_bits,
            lines=np.arange(len(questions)),
            starts=starts,
            sets=sets,
            columns=columns,
            evidence=evidence,
        )
        self._run(contingency, lot, sets.shape[1])
        answers = evidence.tolist()
        if len(questions) == 1:
            return [answers]
        return [
            answers[lo:hi] for lo, hi in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
        ]

    def first_inseparable(
        self,
        contingency: Contingency,
        lines: Lines,
        pool: Variables,
        max_size: int,
        *,
        one_is_enough: bool,
    ) -> list[Variables | None]:
        """As :meth:`~komb.sessions.separators.SeparatorFinder.first_inseparable`."""
        witnesses = [witness for _, own in lines for witness in own]
        sets = self._rows_of(witnesses)
        members = np.array(sorted(pool), dtype=np.int64)
        found = np.full(len(lines), self._lots.NONE_YET)
        lot = self._lot(
            contingency,
            self._lots.FIRST_INSEPARABLE,
            one_is_enough=one_is_enough,
            max_size=max_size,
            lines=np.array([candidate for candidate, _ in lines], dtype=np.int64),
            starts=np.array([0, *accumulate(len(own) for _, own in lines)], dtype=np.int64),
            sets=sets,
            found=found,
            pool=members,
        )
        self._run(contingency, lot, sets.shape[1] + min(max_size, len(pool)))
        self._note_recent(lot)
        answers: list[Variables | None] = []
        for place in found.tolist():
            if place == self._lots.NONE_YET:
                break
            answers.append(None if place < 0 else witnesses[place])
        return answers

    def witnesses(
        self,
        contingency: Contingency,
        branches: Sequence[Branch],
        blanket: Variables,
        n_allies: int,
        max_separator: int,
        *,
        one_is_enough: bool,
    ) -> dict[Position, Variables]:
        """As :meth:`~komb.sessions.separators.SeparatorFinder.witnesses`."""
        groups = self._rows_of([branch.group for branch in branches])
        starts, columns = _ranges_of([branch.candidates for branch in branches])
        settled, rows = self._settled(contingency, [branch.settled for branch in branches])
        n_answers = 1 if one_is_enough else sum(len(branch.candidates) for branch in branches)
        width = groups.shape[1] + n_allies
        answers = np.empty((n_answers + 1, 2 + width), dtype=np.int32)
        lot = self._lot(
            contingency,
            self._lots.WITNESSES,
            one_is_enough=one_is_enough,
            min_size=n_allies,
            max_size=max_separator,
            starts=starts,
            sets=groups,
            columns=columns,
            found=rows,
            pool=np.array(sorted(blanket), dtype=np.int64),
            settled=settled,
            answers=answers,
        )
        self._run(contingency, lot, width + min(max_separator, len(blanket)))
        found = answers[: lot.place[self._lots.N_ANSWERS]].tolist()
        return {
            Position(branch, x): frozenset(column for column in witness if column >= 0)
            for branch, x, *witness in found
        }

    def _settled(
        self, contingency: Contingency, settled: Sequence[Variables | None]
    ) -> tuple[npt.NDArray[np.uint8], Int64Array]:
        """Give every different set a row that marks its columns; None has row -1."""
        rows = {
            each: row for row, each in enumerate({each for each in settled if each is not None})
        }
        marks = np.zeros((len(rows), len(contingency.cardinalities)), dtype=np.uint8)
        for each, row in rows.items():
            marks[row, list(each)] = 1
        numbers = [-1 if each is None else rows[each] for each in settled]
        return marks, np.array(numbers, dtype=np.int64)

    def _note_recent(self, lot: Any) -> None:
        """Have what separated the candidates of a lot tried on any other, in the next ones."""
        recent = lot.recent
        own = recent[lot.lines[: lot.place[self._lots.LINE]], 0]
        own = own[own[:, 0] != self._hash.NO_COLUMN]
        for separator in own[-_RECENT:]:
            others = recent[-1][(recent[-1] != separator).any(axis=1)]
            recent[-1] = np.concatenate((separator[None], others))[:_RECENT]

    def weakest(
        self,
        contingency: Contingency,
        strengths: Mapping[int, float],
        pool: Variables,
        max_size: int,
        *,
        min_size: int = 0,
        core: Variables = frozenset(),
        wants_bits: bool = True,
    ) -> tuple[dict[int, float], dict[int, Variables]]:
        """Least strength of candidates given subsets of a pool; of the others, what separates them.

        As :meth:`~komb.sessions.separators.SeparatorFinder.weakest` and, without bits,
        :meth:`~komb.sessions.separators.SeparatorFinder.find`.
        """
        candidates = list(strengths)
        largest = min(max_size, len(pool))
        found = np.full(len(candidates), self._lots.NONE_YET)
        separators = np.empty((len(candidates), len(core) + largest), dtype=np.int32)
        evidence = np.array(list(strengths.values()), dtype=np.float64)
        place = np.zeros(largest + 4, dtype=np.int64)
        place[0] = min_size
        place[1 : min_size + 1] = np.arange(min_size) if min_size <= largest else 0
        place[-2] = len(candidates)
        lot = self._lot(
            contingency,
            self._lots.WEAKEST,
            wants_bits=wants_bits,
            max_size=largest,
            columns=np.array(candidates, dtype=np.int64),
            evidence=evidence,
            found=found,
            pool=np.array(sorted(pool), dtype=np.int64),
            core=np.array(sorted(core), dtype=np.int64),
            separators=separators,
            place=place,
        )
        if candidates:
            self._run(contingency, lot, len(core) + largest)
        least: dict[int, float] = {}
        separated: dict[int, Variables] = {}
        sizes = found.tolist()
        for number, (candidate, own) in enumerate(zip(candidates, evidence.tolist(), strict=True)):
            if sizes[number] == self._lots.NONE_YET:
                least[candidate] = own
            else:
                by = separators[number, : len(core) + sizes[number]]
                separated[candidate] = frozenset(by.tolist())
        return least, separated

    def note_sweep(self, contingency: Contingency, sweep: Sweep) -> None:
        """Have the tests of a sweep looked up in it; sweeps of 1, 2 ... conditions follow."""
        known = self._known(contingency)
        before = known.sweeps
        if sweep.size != len(before) + 1 or any(each.pool != sweep.pool for each in before):
            return
        known.sweeps = [*before, sweep]
        known.rules = known.rules.replaced(swept=self._swept(contingency, known.sweeps))

    def _swept(self, contingency: Contingency, sweeps: Sequence[Sweep]) -> Any:
        position = np.full(len(contingency.cardinalities), -1, dtype=np.int64)
        none = np.zeros(1, dtype=np.int64)
        if not sweeps:
            return self._evidence.Swept(
                position=position, binomials=none[None], first=none, starts=none,
                members=none.astype(np.int32),
            )  # fmt: skip
        pool = sorted(sweeps[0].pool)
        position[pool] = np.arange(len(pool))
        starts, members = [none], [np.empty(0, dtype=np.int32)]
        first = [0]
        for sweep in sweeps:
            first.append(sum(map(len, starts)))
            starts.append(sweep.starts + sum(map(len, members)))
            members.append(sweep.members)
        return self._evidence.Swept(
            position=position,
            binomials=sweeps[-1].binomials,
            first=np.array(first, dtype=np.int64),
            starts=np.concatenate(starts),
            members=np.concatenate(members),
        )

    def n_bytes(self, target: int) -> int:
        """Bytes of what is remembered of one target."""
        known = self._remembered.get(target)
        if known is None:
            return 0
        return sum(each.keys.nbytes + each.values.nbytes for each in (known.tests, known.sets))

    def forget(self, target: int) -> None:
        """Forget one target."""
        self._remembered.pop(target, None)
        self._based_on = None

    def _known(self, contingency: Contingency) -> _Remembered:
        known = self._remembered.get(contingency.target)
        if known is None:
            n_columns = len(contingency.cardinalities)
            rules = self._evidence.Rules(
                formula=self._formula_record,
                scale=contingency.scale,
                length_class=contingency.length_class,
                swept=self._swept(contingency, []),
            )
            shape = n_columns + 1, _RECENT, _RECENT_COLUMNS
            recent = np.full(shape, self._hash.NO_COLUMN, dtype=np.int32)
            tests, sets = (self._make_hash(_PLACES_AT_FIRST, _COLUMNS_AT_FIRST) for _ in range(2))
            known = _Remembered(rules, recent, tests, sets, _COLUMNS_AT_FIRST)
            self._remembered[contingency.target] = known
        return known

    def _rows_of(self, sets: Sequence[Variables]) -> Int32Array:
        """Write sets into the rows of an array."""
        width = max(map(len, sets), default=0)
        none = self._hash.NO_COLUMN
        rows = [sorted(each) + [none] * (width - len(each)) for each in sets]
        return np.array(rows, dtype=np.int32).reshape(len(sets), width)

    def _lot(self, contingency: Contingency, loop: int, **fields: Any) -> Any:
        """Describe what is asked; what a loop does not use is left as it is."""
        n_free, largest = len(fields.get("pool", ())), fields.get("max_size", 0)
        fields.setdefault("place", np.zeros(3, dtype=np.int64))
        return self._empty_lot.replaced(
            loop=loop,
            most_tables=max(1, _ROWS_PER_CALL // contingency.n_rows),
            free=np.empty(n_free, dtype=np.int64),
            chosen=np.empty(largest + fields.get("min_size", 0) + 1, dtype=np.int64),
            recent=self._known(contingency).recent,
            **fields,
        )

    def _run(self, contingency: Contingency, lot: Any, most_columns: int) -> None:
        """Run a loop to its end; given sets have ``most_columns`` columns at most."""
        known = self._known(contingency)
        self._make_room(contingency, known, most_columns)
        arguments = contingency.kernel_arguments(
            known.most_columns,
            self._formula.coded_below,
            wants_tables=self._formula.needs_tables,
            is_conditioned=most_columns > 0,
        )
        given = self._given
        given.packed[0] = given.grouped[0] = -1  # others use these buffers between two calls
        is_done = False
        while not is_done:
            given.counts[:] = 0
            is_done = self._lots.run_lot(lot, self._work(known, arguments))
            self._note_work(*given.counts.tolist())
            known.tests = self._enlarged(known.tests)
            known.sets = self._enlarged(known.sets)

    def _work(self, known: _Remembered, arguments: tuple[object, ...]) -> Any:
        """Put all that kernels need into one record; made anew if a part of it is another one."""
        names = ("prepared", "terms", "scratch", "labels", "groups")
        parts = dict(zip(names, arguments, strict=True))
        parts |= {"rules": known.rules, "given": self._given}
        parts |= {"tests": known.tests, "sets": known.sets}
        work = known.work
        if work is None or any(getattr(work, name) is not part for name, part in parts.items()):
            work = known.work = self._lots.Work(**parts)
        return work

    def _make_room(self, contingency: Contingency, known: _Remembered, most_columns: int) -> None:
        """Have keys and buffers for given sets of so many columns."""
        if known.most_columns < most_columns:
            most_columns = max(most_columns, 2 * known.most_columns)
            known.most_columns = most_columns
            known.tests = self._moved(known.tests, len(known.tests.keys), most_columns)
            known.sets = self._moved(known.sets, len(known.sets.keys), most_columns)
        if self._given is None or len(self._given.packed) <= known.most_columns:
            self._given = self._make_given(contingency.n_rows, known.most_columns)
            self._based_on = None
        if self._based_on is not contingency:
            self._given.bases[0] = contingency.codes[contingency.target]
            self._given.based[0] = -1
            self._based_on = contingency

    def _make_given(self, n_rows: int, most_columns: int) -> Any:
        n_bases = most_columns + 1 if n_rows * (most_columns + 1) <= _STACK_CELLS else 2

        def integers(size: int) -> Int64Array:
            return np.zeros(size, dtype=np.int64)

        # what separated a candidate before is written down before it turns out to be too large
        room = most_columns + _RECENT_COLUMNS + 1
        return self._counting.Given(
            columns=integers(room),
            ordered=integers(room),
            union=integers(room + 1),
            state=integers(self._counting.N_STATE),
            own=integers(3),
            packed=integers(most_columns + 1),
            based=integers(most_columns + 1),
            grouped=integers(most_columns + 1),
            bases=np.empty((n_bases, n_rows), dtype=np.uint32),
            sums=np.zeros((1, 9), dtype=np.int64),
            counts=integers(4),
        )

    def _enlarged(self, hashed: Any) -> Any:
        """Double a hash table that is a quarter full, or clear it if it is too large for that."""
        n_places, width = hashed.keys.shape
        if 4 * hashed.used[0] < n_places:
            return hashed
        if 2 * (hashed.keys.nbytes + hashed.values.nbytes) > REMEMBERED_BYTES // 2:
            return self._make_hash(n_places, width - 2)
        return self._moved(hashed, 2 * n_places, width - 2)

    def _moved(self, hashed: Any, n_places: int, most_columns: int) -> Any:
        larger = self._make_hash(n_places, most_columns)
        self._hash.move(hashed, larger)
        return larger

    def _make_hash(self, n_places: int, most_columns: int) -> Any:
        keys = np.empty((n_places, most_columns + 2), dtype=np.int32)
        keys[:, 0] = self._hash.FREE
        values = np.empty((n_places, self._hash.N_VALUES), dtype=np.int64)
        return self._hash.Hash(keys=keys, values=values, used=np.zeros(1, dtype=np.int64))


def _ranges_of(candidates: Sequence[Variables]) -> tuple[Int64Array, Int64Array]:
    """Write sets one after the other, every different one once; returns where each is."""
    ranges: dict[Variables, tuple[int, int]] = {}
    columns: list[int] = []
    for each in candidates:
        if each not in ranges:
            ranges[each] = len(columns), len(columns) + len(each)
            columns += sorted(each)
    starts = [end for each in candidates for end in ranges[each]]
    return np.array(starts, dtype=np.int64), np.array(columns, dtype=np.int64)


@lru_cache(maxsize=1)
def _make_empty_lot() -> Any:
    """Return a lot that asks for nothing."""
    from komb.sessions.formula_kernels.lots import Lot

    integers, sets = np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.int32)
    return Lot(
        loop=0,
        wants_bits=False,
        one_is_enough=False,
        min_size=0,
        max_size=0,
        most_tables=1,
        lines=integers,
        starts=integers,
        sets=sets,
        columns=integers,
        evidence=np.empty(0),
        found=integers,
        pool=integers,
        core=integers,
        separators=sets,
        place=integers,
        free=integers,
        chosen=integers,
        settled=np.empty((0, 0), dtype=np.uint8),
        answers=sets,
        recent=np.empty((0, 0, 0), dtype=np.int32),
    )
