"""The tests of one target, in compiled code: Python sees lots of them, never one.

For tests that kernels know (:class:`~komb.citests.formula.Formula`) on tables without missing
values. What was decided, and the sums over sets that it was decided from, are remembered in hash
tables of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from komb.citests.formula import Formula
from komb.counts.contingency import Contingency
from komb.counts.records import Record
from komb.sessions.formula_memory import HashTables, n_bytes
from komb.sessions.lot_buffers import RECENT, RECENT_COLUMNS, LotBuffers, ends_of, ranges_of
from komb.sessions.questions import (
    Branch,
    Candidates,
    Dependence,
    Position,
    SessionCounts,
    Variables,
)
from komb.sessions.sweeps import Sweep
from komb.sessions.workspace import Workspace

_COLUMNS_AT_FIRST = 8
_ROWS_PER_CALL = 1 << 28  # about half a second: interrupts are heard between two calls

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
    contingency: Contingency | None = None  # for which all is ready
    is_packed: bool = False
    work: Any = None  # all that kernels need
    sweeps: list[Sweep] = field(default_factory=list)


class _Witnesses(NamedTuple):
    """Candidates whose witnesses are wanted, line by line; lines may share candidates and sets."""

    columns: Sequence[int]
    candidates: Sequence[tuple[int, int]]  # for each line, the first of them and the end
    sets: Sequence[Variables]
    witnesses: Sequence[tuple[int, int]]  # the same in the sets
    n_allies: Sequence[int]  # see Branch


class FormulaTests:
    """Counts, decides and remembers, target by target."""

    def __init__(self, formula: Formula, workspace: Workspace) -> None:
        from komb.sessions.formula_kernels import evidence, hash_table, lot, lots

        self._lots, self._names = lots, lot
        self._no_column, self._evidence = hash_table.NO_COLUMN, evidence
        self._formula = formula
        self._formula_record = Record(**formula._asdict())
        n_rows, n_columns = workspace.shared.n_rows, len(workspace.cardinalities)
        self._buffers = workspace.keep("lots", lambda: LotBuffers(n_rows, n_columns))
        self._buffers.given.counts[:] = 0  # a search that was interrupted may have left some
        self._hashes = workspace.keep("hashes", HashTables)
        self._most_tables = max(1, _ROWS_PER_CALL // n_rows)
        self._remembered: dict[int, _Remembered] = {}
        self._counts = [0, 0, 0, 0]
        self._rules: Any = None  # as long as there is no sweep
        self._based_on: tuple[Any, Any] = (
            None,
            None,
        )  # where bases are, whose target they begin with

    @property
    def counts(self) -> SessionCounts:
        """How many tests were made, on how many tables, by a fall-back and unreliable ones."""
        return SessionCounts(*self._counts)

    @property
    def n_tests(self) -> int:
        """How many tests were made."""
        return self._counts[0]

    def weigh(
        self, contingency: Contingency, questions: Sequence[Candidates], *, wants_bits: bool
    ) -> list[list[float]]:
        """Evidence for every candidate of every question; 0 where there is none."""
        sets = [given for _, given in questions]
        width = max(map(len, sets), default=0)
        asked = [candidates for candidates, _ in questions]
        columns = asked[0] if len(asked) == 1 else list(chain.from_iterable(asked))
        lot = self._buffers.lot_for(max(len(columns), len(sets)), width)
        ends = ends_of(asked)
        lot.columns[: len(columns)] = columns
        lot.ends[: len(ends)] = ends
        self._buffers.write_sets(sets, width)
        names = self._names
        asked_for = {names.WANTS_BITS: wants_bits, names.N_LINES: len(sets)}
        self._run(contingency, width, names.SOME_TESTS, asked_for)
        answers = lot.evidence[: len(columns)].tolist()
        if len(asked) == 1:
            return [answers]
        return [answers[end - len(own) : end] for own, end in zip(asked, ends, strict=True)]

    def walk(
        self, contingency: Contingency, columns: Sequence[int], members: Variables, most_given: int
    ) -> Variables:
        """As :meth:`~komb.sessions.session.Session.walk`."""
        room = max(_COLUMNS_AT_FIRST, len(members))
        done = 0
        while True:  # with room for as many as there are, not for all that there could be
            most = min(room, most_given)
            walked, members = self._walk(contingency, columns[done:], members, most)
            done += walked
            if done == len(columns) or most == most_given:
                return members
            room *= 2

    def _walk(
        self, contingency: Contingency, columns: Sequence[int], members: Variables, most: int
    ) -> tuple[int, Variables]:
        """Return how many columns were tested, before one given too many, and the set then."""
        names, lot = self._names, self._buffers.lot_for(len(columns), most)
        lot.columns[: len(columns)] = columns
        lot.pool[: len(members)] = sorted(members)
        asked = {names.N_COLUMNS: len(columns), names.N_POOL: len(members), names.MAX_SIZE: most}
        self._run(contingency, most, names.WALK, asked)
        members = frozenset(lot.free[: lot.place[names.N_ANSWERS]].tolist())
        return int(lot.place[names.LINE]), members

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
        sets = [own for _, own in lines]
        candidates = [(line, line + 1) for line in range(len(lines))]
        asked = _Witnesses(
            columns=[x for x, _ in lines],
            candidates=candidates,
            sets=list(chain.from_iterable(sets)),
            witnesses=[(end - len(own), end) for own, end in zip(sets, ends_of(sets), strict=True)],
            n_allies=[0] * len(lines),
        )
        found = self._find_witnesses(contingency, asked, pool, max_size, one_is_enough)
        answers: list[Variables | None] = [None] * len(lines)
        for line, _, witness in found:
            answers[line] = witness
        return answers[: found[0][0] + 1] if found and one_is_enough else answers

    def witnesses(
        self,
        contingency: Contingency,
        branches: Sequence[Branch],
        blanket: Variables,
        max_separator: int,
        *,
        one_is_enough: bool,
    ) -> dict[Position, Variables]:
        """As :meth:`~komb.sessions.separators.SeparatorFinder.witnesses`."""
        candidates, columns = ranges_of([branch.candidates for branch in branches])
        asked = _Witnesses(
            columns=columns,
            candidates=candidates,
            sets=[branch.group for branch in branches],
            witnesses=[(line, line + 1) for line in range(len(branches))],
            n_allies=[branch.n_allies for branch in branches],
        )
        found = self._find_witnesses(contingency, asked, blanket, max_separator, one_is_enough)
        return {Position(branch, x): witness for branch, x, witness in found}

    def _find_witnesses(
        self,
        contingency: Contingency,
        asked: _Witnesses,
        pool: Variables,
        max_size: int,
        one_is_enough: bool,
    ) -> list[tuple[int, int, Variables]]:
        """Line, candidate and witness of all that have one."""
        if not asked.candidates:
            return []
        names, columns, sets = self._names, asked.columns, asked.sets
        most_set = max(map(len, sets), default=0)
        most_allies = min(max(asked.n_allies, default=0), len(pool))
        width = most_set + most_allies + min(max_size, len(pool))
        n_answers = 1 if one_is_enough else sum(end - first for first, end in asked.candidates) + 1
        n_items = max(len(columns), len(sets), len(asked.candidates), n_answers)
        lot = self._buffers.lot_for(n_items, width)
        lines = zip(asked.candidates, asked.witnesses, asked.n_allies, strict=True)
        starts = [(*own, *among, most) for own, among, most in lines]
        lot.columns[: len(columns)] = columns
        lot.lines[: len(starts)] = starts
        lot.pool[: len(pool)] = sorted(pool)
        self._buffers.write_sets(sets, most_set)
        numbers = {
            names.ONE_IS_ENOUGH: one_is_enough, names.N_LINES: len(starts), names.N_POOL: len(pool),
            names.MAX_SIZE: max_size,
        }  # fmt: skip
        self._run(contingency, width, names.WITNESSES, numbers)
        return self._found_witnesses(lot)

    def _found_witnesses(self, lot: Any) -> list[tuple[int, int, Variables]]:
        return [
            (line, x, frozenset(witness[: witness.index(self._no_column)]))
            for line, x, *witness in lot.answers[: lot.place[self._names.N_ANSWERS]].tolist()
        ]

    def first_witness(
        self,
        contingency: Contingency,
        walk: Any,
        outside: Variables,
        blanket: Variables,
        sizes: tuple[int, int],
        generation: int,
        on_pause: Callable[[], None],
    ) -> Dependence | None:
        """Go on with a walk through the groups outside of a blanket: see ``GROUPS``.

        ``sizes`` are the largest of a witness and of a separator.
        """
        names, (order, max_separator) = self._names, sizes
        width = order + min(max_separator, len(blanket))
        lot = self._buffers.lot_for(max(len(outside), 1), width, walk)
        lot.columns[: len(outside)] = sorted(outside)
        lot.pool[: len(blanket)] = sorted(blanket)
        numbers = {
            names.N_COLUMNS: len(outside), names.N_POOL: len(blanket), names.ORDER: order,
            names.MAX_SIZE: max_separator, names.GENERATION: generation,
        }  # fmt: skip
        self._run(contingency, width, names.GROUPS, numbers, on_pause)
        found = self._found_witnesses(lot)
        return found[0][1:] if found else None

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
        in_turn: bool = False,
    ) -> tuple[dict[int, float], dict[int, Variables]]:
        """Least strength of candidates given subsets of a pool; of the others, what separates them.

        As :meth:`~komb.sessions.separators.SeparatorFinder.weakest` and, without bits,
        :meth:`~komb.sessions.separators.SeparatorFinder.find`; in turn,
        :meth:`~komb.sessions.session.Session.separate_in_turn`.
        """
        if not strengths:
            return {}, {}
        names, candidates = self._names, list(strengths)
        n, largest = len(candidates), min(max_size, len(pool))
        width = len(core) + max(largest, 0)
        lot = self._buffers.lot_for(n, max(width, min_size))
        lot.columns[:n] = candidates
        lot.evidence[:n] = list(strengths.values())
        lot.found[:n] = names.NONE_YET
        lot.pool[: len(pool)] = sorted(pool)
        lot.core[: len(core)] = sorted(core)
        numbers = {
            names.WANTS_BITS: wants_bits, names.N_COLUMNS: n, names.N_POOL: len(pool),
            names.N_CORE: len(core), names.MIN_SIZE: min_size, names.MAX_SIZE: largest,
        }  # fmt: skip
        self._run(contingency, width, names.SEPARATED if in_turn else names.WEAKEST, numbers)
        least: dict[int, float] = {}
        separated: dict[int, Variables] = {}
        found, bits = lot.found[:n].tolist(), lot.evidence[:n].tolist()
        separators = lot.separators[:n, :width].tolist()
        for x, own, size, by in zip(candidates, bits, found, separators, strict=True):
            if size == names.NONE_YET:
                least[x] = own
            else:
                separated[x] = frozenset(by[: len(core) + size])
        return least, separated

    def note_sweep(self, contingency: Contingency, sweep: Sweep) -> None:
        """Have the tests of a sweep looked up in it; sweeps of 1, 2 ... conditions follow."""
        known = self._known_of(contingency)
        before = known.sweeps
        if sweep.size != len(before) + 1 or any(each.pool != sweep.pool for each in before):
            return
        known.sweeps = [*before, sweep]
        known.rules = known.rules.replaced(swept=self._swept(contingency, known.sweeps))
        known.contingency = None

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
        return 0 if known is None else n_bytes(known.tests) + n_bytes(known.sets)

    def forget(self, target: int) -> None:
        """Forget one target."""
        known = self._remembered.pop(target, None)
        if known is not None:
            self._hashes.take_back(known.tests)
            self._hashes.take_back(known.sets)

    def _known_of(self, contingency: Contingency) -> _Remembered:
        known = self._remembered.get(contingency.target)
        if known is None:
            if self._rules is None:  # the same for every target
                self._rules = self._evidence.Rules(
                    formula=self._formula_record,
                    scale=contingency.scale,
                    length_class=contingency.length_class,
                    swept=self._swept(contingency, []),
                )
            shape = len(contingency.cardinalities), RECENT, RECENT_COLUMNS
            recent = np.full(shape, self._no_column, dtype=np.int32)
            tests, sets = (self._hashes.make(_COLUMNS_AT_FIRST) for _ in range(2))
            known = _Remembered(self._rules, recent, tests, sets, _COLUMNS_AT_FIRST)
            self._remembered[contingency.target] = known
        return known

    def _run(
        self,
        contingency: Contingency,
        most_columns: int,
        loop: int,
        asked: Mapping[int, int],
        on_pause: Callable[[], None] | None = None,
    ) -> None:
        """Run a loop to its end; given sets have ``most_columns`` columns at most."""
        known = self._known_of(contingency)
        if contingency is not known.contingency or most_columns > known.most_columns:
            self._get_ready(contingency, known, most_columns)
        if most_columns > 0 and not known.is_packed:
            contingency.pack_all()
            known.is_packed = True
        given = self._buffers.given
        if given is not known.work.given:  # they have grown for another target
            known.work = known.work.replaced(given=given)
        if self._based_on[0] is not given or self._based_on[1] is not contingency:
            self._begin_bases(contingency)
        names, lot = self._names, self._buffers.lot
        lot.asked[:] = 0
        lot.asked[names.LOOP], lot.asked[names.MOST_TABLES] = loop, self._most_tables
        for place, number in asked.items():
            lot.asked[place] = number
        lot.place[: names.FIRST_POSITION] = 0
        given.packed[0] = given.grouped[0] = -1  # others use these buffers between two calls
        while not self._lots.run_lot(lot, known.work):
            self._note_work(given)
            self._enlarge(known)
            if on_pause is not None:
                on_pause()
        self._note_work(given)

    def _note_work(self, given: Any) -> None:
        self._counts = [n + m for n, m in zip(self._counts, given.counts.tolist(), strict=True)]
        given.counts[:] = 0

    def _enlarge(self, known: _Remembered) -> None:
        """Make room in hash tables that are filling up."""
        tests, sets = self._hashes.enlarged(known.tests), self._hashes.enlarged(known.sets)
        if tests is not known.tests or sets is not known.sets:
            known.tests, known.sets = tests, sets
            known.work = known.work.replaced(tests=tests, sets=sets)

    def _get_ready(self, contingency: Contingency, known: _Remembered, most_columns: int) -> None:
        """Put all that kernels need for one target into one record."""
        if known.most_columns < most_columns:
            known.most_columns = max(most_columns, 2 * known.most_columns)
            known.tests = self._hashes.widened(known.tests, known.most_columns)
            known.sets = self._hashes.widened(known.sets, known.most_columns)
        prepared, terms, scratch, labels, groups = contingency.kernel_arguments(
            known.most_columns, self._formula.coded_below, wants_tables=self._formula.needs_tables
        )
        known.work = self._names.Work(
            prepared=prepared, terms=terms, scratch=scratch, labels=labels, groups=groups,
            rules=known.rules, given=self._buffers.given_for(known.most_columns),
            tests=known.tests, sets=known.sets, recent=known.recent,
        )  # fmt: skip
        known.contingency, known.is_packed = contingency, False

    def _begin_bases(self, contingency: Contingency) -> None:
        """Have bases begin with the target."""
        given = self._buffers.given
        given.bases[0] = contingency.codes[contingency.target]
        given.based[0] = -1
        self._based_on = given, contingency
