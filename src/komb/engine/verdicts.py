"""What the tests of a table say, for people and for those who decide elsewhere."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from komb.engine.asks import Asks
from komb.engine.engine import Engine, Power
from komb.engine.fixed_point import FloatArray, Int64Array
from komb.engine.kernels import loops, places
from komb.engine.kernels.evidence import MEAN_OF_G, PEARSON_SUMS, SUMS
from komb.engine.kernels.judge import ALL, has_power
from komb.engine.kernels.tails import tail_functions
from komb.engine.questions import EMPTY, Dependence, Outcome, Variables
from komb.engine.rule import Rule
from komb.engine.state import Shared
from komb.engine.test_sums import ROWS_PER_CELL, Counted


class Information(NamedTuple):
    """What a candidate tells about the target."""

    bits: float  # per row, less what chance gives; may be negative
    rows_per_cell: float


class ExaminingEngine(Engine):
    """Everything about single tests, on what counts them.

    An engine that derives from it has a rule, fixed columns, what targets share, and its asks.
    """

    _rule: Rule
    _fixed: tuple[int, ...]
    _shared: Shared
    _asks: Asks

    @abstractmethod
    def _state(self, target: int) -> Any:
        """Return all that kernels need of one target."""

    @abstractmethod
    def _run(self, target: int, ask: Any) -> None:
        """Go on with a loop to its end."""

    @abstractmethod
    def _with_rule(self, rule: Rule) -> ExaminingEngine:
        """Return an engine on the same table with another rule."""

    def _examine(
        self, target: int, tests: Sequence[Dependence], wants: int, fixed: Sequence[int]
    ) -> tuple[Int64Array, FloatArray]:
        """Return sums and verdicts of some tests."""
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
            df, p_value = freedom, math.exp2(log2_p)
            if not rule.has_moments:
                df, p_value = int(freedom), _p_value(statistic, freedom)
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
            longer = self._with_rule(self._rule._replace(coded_below=math.inf))
            return longer.count(target, tests, wants_pearson=wants_pearson, wants_lengths=True)
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

    def information(self, target: int, tests: Sequence[Dependence]) -> list[Information]:
        """Measure what each candidate tells about the target given a set, beyond chance."""
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
        log2_alpha = math.log2(self._rule.alpha)
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


def _p_value(statistic: float, freedom: float) -> float:
    """Chance of a statistic at least this large under independence."""
    from scipy.special import chdtrc

    return 1.0 if freedom == 0.0 else float(chdtrc(freedom, statistic))


def _explained_share(sums: Sequence[int], scale: float) -> float:
    """Share of variation from Pearson's sums of a pair."""
    rows, x_levels = sums[places.ROWS], sums[places.STRATA]
    if x_levels < 2 or sums[places.FREEDOM] == 0 or x_levels == rows:
        return 0.0
    y_freedom = sums[places.FREEDOM] // (x_levels - 1)
    explained, chance = sums[places.PEARSON] / scale / rows / y_freedom, (x_levels - 1) / (rows - 1)
    return (explained - chance) / (1.0 - chance)
