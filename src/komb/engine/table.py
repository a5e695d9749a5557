"""An engine that answers from a table in memory, by a test that the compiled judge knows."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from komb.counts.records import Record
from komb.engine.engine import AllSets, Engine, Power, Query, Witness
from komb.engine.fixed_point import FloatArray, Int64Array, entropies
from komb.engine.journal import Journal
from komb.engine.kernels import loops, places
from komb.engine.kernels.evidence import MEAN_OF_G, PEARSON_SUMS, SUMS
from komb.engine.kernels.judge import ALL, BITS, CONSERVATIVE, DECISION, bounds_for, has_power
from komb.engine.kernels.places import FALLBACKS, TABLES, TESTS, UNRELIABLE
from komb.engine.kernels.tails import tail_functions
from komb.engine.questions import (
    EMPTY,
    Dependence,
    OnProgress,
    Outcome,
    Question,
    SessionCounts,
    StrongDependence,
    Variables,
)
from komb.engine.rule import Rule
from komb.engine.screens import Bits
from komb.engine.state import Shared, with_room
from komb.engine.sweep import Sweep, cut, find_strong, least_gain
from komb.engine.test_sums import ROWS_PER_CELL, Counted


class Information(NamedTuple):
    """What a candidate tells about the target."""

    bits: float  # per row, less what chance gives; may be negative
    rows_per_cell: float


class TableEngine(Engine):
    """Answers from counts."""

    def __init__(
        self,
        codes: npt.NDArray[Any],
        levels: Int64Array,
        rule: Rule,
        *,
        weight: npt.NDArray[np.int32] | None = None,
        fixed: Variables = EMPTY,
    ) -> None:
        super().__init__(len(codes))
        self._rule, self._fixed = rule, tuple(sorted(fixed))
        self._shared = Shared(codes, levels, np.empty(0, np.int32) if weight is None else weight)
        self._states: dict[int, Any] = {}
        self._kept = {}
        self._asks = Asks(len(codes))
        self._before = self._shared.fields["work"].copy()
        self.journal: Journal | None = None

    @classmethod
    def on(cls, codes, levels, rule, **options):
        first = cls(codes, levels, rule, **options)

        def again():
            other = object.__new__(cls)
            other.__dict__ = dict(first.__dict__)
            other._states = {}
            other._before = first._shared.fields["work"].copy()
            other._kept = first._kept
            return other
        return again

    @property
    def n_rows(self) -> int:
        return self._shared.n_rows

    @property
    def n_levels(self) -> Sequence[int]:
        levels: list[int] = self._shared.levels.tolist()
        return levels

    @property
    def alpha(self) -> float:
        return self._rule.alpha

    @property
    def work(self) -> SessionCounts:
        work = (self._shared.fields["work"] - self._before).tolist()
        return SessionCounts(work[TESTS], work[TABLES], work[FALLBACKS], work[UNRELIABLE])

    def _state(self, target: int) -> Any:
        if target not in self._states:
            if target not in self._kept:
                self._kept[target] = self._shared.state_of(target, self._rule)
            from komb.engine.state import empty_memory
            self._states[target] = self._kept[target].replaced(**empty_memory(len(self._shared.codes)))
        return self._states[target]

    def _run(self, target: int, ask: Any) -> None:
        """Go on with a loop to its end."""
        state = self._states.get(target) or self._state(target)
        while not loops.ask(ask, state):
            self._states[target] = state = with_room(state)

    def evidence(
        self,
        target: int,
        questions: Sequence[Question],
        *,
        wants_bits: bool = True,
        is_conservative: bool = False,
    ) -> list[dict[int, float]]:
        wants = CONSERVATIVE if is_conservative else BITS if wants_bits else DECISION
        return self._weigh(target, loops.EVIDENCE, questions, wants)

    def _weigh(
        self, target: int, loop: int, questions: Sequence[Question], wants: int
    ) -> list[dict[int, float]]:
        """Bits of the candidates of each question that are dependent."""
        fixed = self._fixed
        asked = [
            (sorted(candidates - given), [*fixed, *sorted(given)]) for candidates, given in questions
        ]
        ask = self._asks.write(loop, asked, wants=wants)
        self._run(target, ask)
        if len(asked) == 1:
            candidates = asked[0][0]
            bits = ask.bits[: len(candidates)].tolist()
            return [{x: own for x, own in zip(candidates, bits) if own}]
        answers = iter(ask.bits[: sum(len(candidates) for candidates, _ in asked)].tolist())
        return [{x: own for x, own in zip(candidates, answers) if own} for candidates, _ in asked]

    def first_witness(
        self, target: int, queries: Sequence[Query], pool: Variables, max_separator: int
    ) -> Witness | None:
        asked = [(query.candidates, [*self._fixed, *sorted(query.group)]) for query in queries]
        ask = self._asks.write(
            loops.FIRST_WITNESS, asked, [query.n_allies for query in queries], pool=sorted(pool),
            max_size=max_separator,
        )  # fmt: skip
        self._run(target, ask)
        query, column, size, *witness = ask.found[: 3 + self._shared.codes.shape[0]].tolist()
        if query < 0:
            return None
        return Witness(query, column, frozenset(witness[len(self._fixed) : size]))

    def weakest(
        self,
        target: int,
        bits: Mapping[int, float],
        pool: Variables | Mapping[int, Variables],
        max_size: int,
        *,
        min_size: int = 0,
        core: Variables = EMPTY,
        wants_bits: bool = True,
        is_in_turn: bool = False,
    ) -> tuple[dict[int, float], dict[int, Variables]]:
        if not bits:
            return {}, {}
        candidates, n, n_fixed = list(bits), len(bits), len(self._fixed)
        held = [*self._fixed, *sorted(core)]
        if isinstance(pool, Mapping):
            asked = [([x], sorted(pool[x] - core)) for x in candidates]
        else:
            shared = sorted(pool - core)
            asked = [([x], shared) for x in candidates] if is_in_turn else [(candidates, shared)]
        ask = self._asks.write(
            loops.WEAKEST, asked, core=held, min_size=min_size, max_size=max_size,
            wants=BITS if wants_bits else DECISION, is_in_turn=is_in_turn,
        )  # fmt: skip
        ask.bits[:n] = array("d", bits.values())
        ask.found[:n] = loops.NOT_SEPARATED
        self._run(target, ask)
        done = int(ask.place[loops.QUERY]) if is_in_turn else n
        kept: dict[int, float] = {}
        separated: dict[int, Variables] = {}
        found, least = ask.found[:done].tolist(), ask.bits[:done].tolist()
        for place, (x, size, own) in enumerate(zip(candidates, found, least)):
            if size == loops.NOT_SEPARATED:
                kept[x] = own
            else:
                separated[x] = frozenset(ask.separators[place, n_fixed:size].tolist())
        return kept, separated

    def strong(
        self,
        target: int,
        asked: Sequence[Question] | AllSets,
        least_bits: float,
        *,
        is_conservative: bool = False,
        on_progress: OnProgress | None = None,
    ) -> list[StrongDependence]:
        """All dependences of at least so many bits, the strongest first."""

        def weigh(questions: Sequence[Question]) -> list[dict[int, float]]:
            return self._strong(target, questions, least_bits, is_conservative)

        if not isinstance(asked, AllSets):
            return find_strong(weigh, cut(asked), len(asked), on_progress)
        sweep = self._sweep(target, asked, least_bits)
        bits = self._pack(target, sweep.screened) if len(sweep.screened) else None
        batches, work = sweep.batches(bits, self.journal, str(target)), self._shared.fields["work"]
        n_tests = work[TESTS]
        found = find_strong(weigh, batches, sweep.total, on_progress)
        work[TESTS] = n_tests + sweep.n_tests
        work[TABLES] += sweep.n_counted
        return found

    def _sweep(self, target: int, asked: AllSets, least_bits: float) -> Sweep:
        levels, n_rows, most = self._shared.levels, self._shared.n_rows, math.inf
        n_y = int(levels[target])
        if asked.min_rows_per_cell:
            most = n_rows / (asked.min_rows_per_cell * n_y * self.n_strata)
        need = None if self._fixed else least_gain(self._rule, n_y, self._shared.scale, least_bits, n_rows)
        has_bitmaps = self._state(target).first_bitmap >= 0
        return Sweep(asked, levels, n_rows, most, has_bitmaps, need)

    def _pack(self, target: int, columns: Int64Array) -> Bits:
        """Return the bitmaps of some columns."""
        self._run(target, self._asks.write(loops.PACK, [(columns.tolist(), [])]))
        s = self._state(target)
        return Bits(
            s.bitmaps, s.level_counts, s.words, s.first_bitmap, s.levels,
            entropies(s.n_rows, s.scale), len(s.order), bool(s.is_incomplete[columns].any()),
        )  # fmt: skip

    def _strong(
        self, target: int, asked: Sequence[Question], least_bits: float, is_conservative: bool
    ) -> list[dict[int, float]]:
        """Evidence of the tests that have so many bits."""
        bounds = self._state(target).bounds
        ordinary = bounds.copy()
        bounds[:] = bounds_for(self.alpha, least_bits, is_conservative=is_conservative)
        try:
            return self._weigh(target, loops.STRONG, asked, CONSERVATIVE if is_conservative else BITS)
        finally:
            bounds[:] = ordinary

    def _examine(
        self, target: int, tests: Sequence[Dependence], wants: int, fixed: Sequence[int]
    ) -> tuple[Int64Array, FloatArray]:
        """Sums and verdicts of some tests."""
        asked = [([x], [*fixed, *sorted(given)]) for x, given in tests]
        ask = self._asks.write(loops.EXAMINE, asked, wants=wants)
        self._run(target, ask)
        return ask.sums[: len(asked)].copy(), ask.verdicts[: len(asked)].copy()

    def outcomes(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        """Everything that each of some tests has to say."""
        _, verdicts = self._examine(target, tests, ALL, self._fixed)
        return [self._outcome(verdict) for verdict in verdicts.tolist()]

    def _outcome(self, verdict: Sequence[float]) -> Outcome:
        rule, freedom, log2_p = self._rule, verdict[places.FREE], verdict[places.LOG2_P]
        statistic = verdict[places.STATISTIC]
        if freedom == places.NO_FREEDOM:
            depends, df, p_value = statistic > 0.0, None, None
        else:
            depends = freedom > 0.0 and log2_p <= math.log2(rule.alpha)
            df, p_value = freedom if rule.has_moments else int(freedom), math.exp2(log2_p)
        return Outcome(
            independent=not depends,
            statistic=statistic,
            df=df,
            p_value=p_value,
            test=rule.other_name if verdict[places.BY_OTHER] else rule.name,
            reliable=verdict[places.IS_RELIABLE] == 1.0,
        )

    def count(
        self, target: int, tests: Sequence[Dependence], *, wants_pearson: bool, wants_lengths: bool
    ) -> Counted:
        """Count the tables of some tests; what is not wanted may be anything."""
        if wants_lengths and self._rule.coded_below < math.inf:
            return self._with_lengths.count(
                target, tests, wants_pearson=wants_pearson, wants_lengths=True
            )
        wants = PEARSON_SUMS if wants_pearson else SUMS
        sums, _ = self._examine(target, tests, wants, self._fixed)
        s, columns, by_name = self._state(target), [x for x, _ in tests], sums.T
        own_fit, fit, own_length, length, split = by_name[
            [places.OWN_FIT, places.FIT, places.OWN_LENGTH, places.LENGTH, places.SPLIT]
        ]
        return Counted(
            rows=by_name[places.ROWS],
            strata=by_name[places.OWN_STRATA],
            gain=(fit - own_fit) / s.scale,
            target_saving=(own_length - length) / s.scale,
            candidate_saving=split / s.scale,
            freedom=by_name[places.FREEDOM],
            pearson=by_name[places.PEARSON] / s.pearson_scale,
            mean=by_name[places.MEAN] / s.pearson_scale,
            variance=by_name[places.VARIANCE] / s.variance_scales[columns],
            third=by_name[places.THIRD] / s.third_scales[columns],
        )

    @cached_property
    def _with_lengths(self) -> TableEngine:
        """An engine on the same table that sums code lengths for every test."""
        shared, rule = self._shared, self._rule._replace(coded_below=math.inf)
        fixed = frozenset(self._fixed)
        return TableEngine(shared.codes, shared.levels, rule, weight=shared.weight, fixed=fixed)

    def information(self, target: int, tests: Sequence[Dependence]) -> list[Information]:
        """What each candidate tells about the target given a set, beyond chance."""
        sums, verdicts = self._examine(target, tests, MEAN_OF_G, self._fixed)
        levels = self._shared.levels
        found = []
        for (x, _), own, verdict in zip(tests, sums.tolist(), verdicts.tolist(), strict=True):
            rows, cells = own[places.ROWS], levels[x] * levels[target] * own[places.OWN_STRATA]
            beyond = verdict[places.STATISTIC] - verdict[places.NULL_MEAN]
            bits = beyond / (2.0 * max(rows, 1) * math.log(2.0))
            found.append(Information(bits, rows / max(int(cells), 1)))
        return found

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, power: Power
    ) -> bool:
        """Whether a test has the power to see a share of the dependence that a witness shows."""
        tests = [(candidate, witness), (candidate, given)]
        sums, (shown, asked) = self._examine(target, tests, ALL, self._fixed)
        cells = self._shared.levels[[target, candidate]].prod() * sums[1, places.OWN_STRATA]
        rows = sums[1, places.ROWS]
        if rows < ROWS_PER_CELL * cells or cells == 0:
            return False
        is_dense = rows >= power.dense_rows_per_cell * cells
        excess = max(shown[places.STATISTIC] - shown[places.FREE], 0.0)
        if shown[places.FREE] <= 0.0:
            excess = 0.0
        share = power.dense_share if is_dense else power.share
        log2_alpha = math.log2(self.alpha)
        return bool(has_power(asked, share * excess, log2_alpha, tail_functions()))

    def explained_shares(self, target: int, candidates: Sequence[int]) -> list[float]:
        """Share of the target's variation that each candidate explains, beyond chance.

        The share is ``(X2 - e) / (N (|Y| - 1) - e)`` with Pearson's statistic and its mean ``e``
        under independence: 1 if the candidate determines the target, about 0 if it has nothing to
        do with it, however many levels it has.
        """
        counted, _ = self._examine(target, [(x, EMPTY) for x in candidates], PEARSON_SUMS, ())
        scale = self._state(target).pearson_scale
        return [_explained_share(sums, scale) for sums in counted.tolist()]


def _explained_share(sums: Sequence[int], scale: float) -> float:
    """Share of variation from Pearson's sums of a pair."""
    rows, x_levels = sums[places.ROWS], sums[places.STRATA]
    if x_levels < 2 or sums[places.FREEDOM] == 0 or x_levels == rows:
        return 0.0
    y_freedom = sums[places.FREEDOM] // (x_levels - 1)
    explained, chance = sums[places.PEARSON] / scale / rows / y_freedom, (x_levels - 1) / (rows - 1)
    return (explained - chance) / (1.0 - chance)


class Asks:
    """Memory for what is asked and answered, kept from question to question."""

    def __init__(self, n_columns: int) -> None:
        self._room = n_columns + 4
        self._ask = self._make(1024, 256, 8)

    def _make(self, n_words: int, n_items: int, width: int) -> Any:
        return Record(
            words=np.zeros(n_words, np.int64),
            place=np.zeros(loops.CHOSEN + self._room, np.int64),
            bits=np.zeros(n_items),
            found=np.zeros(max(n_items, self._room), np.int64),
            separators=np.zeros((n_items, width), np.int32),
            sums=np.zeros((n_items, places.N_SUMS), np.int64),
            verdicts=np.zeros((n_items, places.N_VERDICT)),
        )

    def write(
        self,
        loop: int,
        queries: Sequence[tuple[Sequence[int], Sequence[int]]],
        n_allies: Sequence[int] | None = None,
        *,
        pool: Sequence[int] = (),
        core: Sequence[int] = (),
        min_size: int = 0,
        max_size: int = 0,
        wants: int = DECISION,
        is_in_turn: bool = False,
    ) -> Any:
        """Write down queries: candidates and columns, the same sequence once."""
        first = loops.N_HEADER
        end_of_pool = first + len(pool)
        end_of_core = end_of_pool + len(core)
        words = [
            loop, 0, len(queries), 0, first, end_of_pool, end_of_pool, end_of_core, min_size,
            max_size, wants, is_in_turn, *pool, *core,
        ]  # fmt: skip
        rows: list[int] = []
        known: Sequence[int] | None = None
        start = end = n_items = widest = 0
        for place, (candidates, columns) in enumerate(queries):
            if candidates is not known:
                start, known = len(words), candidates
                words += candidates
                end = len(words)
            n_items += end - start
            first = len(words)
            words += columns
            widest = max(widest, len(columns))
            rows += (start, end, first, len(words), n_allies[place] if n_allies else 0)
        words[loops.FIRST_QUERY] = len(words)
        words += rows
        width = len(core) + max(min_size, min(max_size, widest)) if loop == loops.WEAKEST else 0
        n_items = 0 if loop == loops.FIRST_WITNESS else n_items
        ask = self._ask
        if (
            len(words) > ask.words.size
            or n_items > ask.bits.size
            or width > ask.separators.shape[1]
        ):
            self._ask = ask = self._make(
                max(ask.words.size, 2 * len(words)),
                max(ask.bits.size, 2 * n_items),
                max(ask.separators.shape[1], 2 * width),
            )
        ask.words[: len(words)] = array("q", words)
        return ask
