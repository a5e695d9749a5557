"""What target and candidate still share given the conditions, in four components.

* **linear**: features of degree 1, that is normal scores and contrasts;
* **quadratic**: degree 1 of one with degree 2 of the other (a bend of the mean, a slope of the
  spread);
* **higher**: higher degrees;
* **interaction**: products of the candidate with conditions. They see ``y = a * b``, where neither
  ``a`` nor ``b`` alone has an effect.

Each sums squares of scalar products of residuals. Under independence the products have mean 0, and
the covariance of two of them is the mean of ``E[e e' | z] E[r r' | z]`` over the conditions, here
with both factors projected on functions of the conditions: without conditions that is what random
permutations give, with nominal ones what permutations within strata give. A sum of squares with so
large a mean and variance is referred to a scaled beta distribution, and so to a chi-square
(Satterthwaite; Bartlett).

Each component has a weight; the weights of those that a test has are scaled to sum up to 1. The
component with the smallest ``p / w`` decides. If ``q`` is that smallest value, and components are
independent, it is so small by chance with probability ``1 - prod(1 - w q)`` (Sidak 1967).

Most tests are decided sooner: if the variances were the same whatever the conditions are, and the
p-value is above ``UNLIKELY``, that is the p-value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations, product

import numpy as np
import numpy.typing as npt

from komb.engine.features import COMPONENTS
from komb.engine.features.columns import Rows
from komb.engine.features.conditions import Adjusted, Conditions
from komb.engine.features.work import Work
from komb.engine.fixed_point import FloatArray
from komb.engine.kernels import gram as kernels
from komb.engine.kernels.tails import tail_functions
from komb.engine.kernels.tiles import NONE
from komb.engine.records import Record

WEIGHTS = np.array([0.76, 0.09, 0.07, 0.08])
"""Of the components. Most is linear, or nearly, so that costs least."""

HIGHER_WEIGHTS = {
    (2, 2): 1.0, (1, 3): 0.8, (3, 1): 0.3, (1, 4): 0.5, (2, 3): 0.5, (3, 2): 0.3, (4, 1): 0.2,
}  # fmt: skip
"""How much squares of higher degrees (of target and candidate) count; others do not."""

MOST_CONDITIONS_CROSSED = 3
"""With more conditions, a candidate is multiplied with one feature of each only."""

UNLIKELY = 0.3
"""Where a p-value under equal variances is above, it is the p-value."""

POWER_DEVIATIONS = 0.84
"""Standard deviations that a statistic stays above its mean less these in four cases of five."""

_DIGITS = 6  # of a logarithm; what rounding errors of sums could change is behind

_Kind = tuple[int, int, bool]  # of a column: its features, those that are multiplied, is it nominal


@dataclass(frozen=True, slots=True)
class Tests:
    """What some tests found out: of each, rows of numbers per component and a verdict."""

    __test__ = False  # the name starts with Test, but pytest has no business here

    found: FloatArray  # [test, row, component], as kernels fill it

    @classmethod
    def nothing(cls, n_tests: int) -> Tests:
        """Return tests in which there is nothing to compare."""
        return cls(np.zeros((n_tests, kernels.VERDICT + 1, len(COMPONENTS))))

    @property
    def log2_p_values(self) -> FloatArray:
        """Logarithm of each p-value."""
        rounded: FloatArray = self.found[:, kernels.VERDICT, kernels.LOG2_P_VALUE].round(_DIGITS)
        return rounded + 0.0

    @property
    def freedom(self) -> FloatArray:
        """Degrees of freedom of each component; 0 where there is nothing to compare."""
        freedom: FloatArray = self.found[:, kernels.FREEDOM]
        return freedom

    @property
    def is_reliable(self) -> npt.NDArray[np.bool_]:
        """Whether anything was compared."""
        return np.asarray((self.freedom > 0).any(axis=1))

    def evidence(self, alpha: float) -> list[float]:
        """Bits of each test; 0 where it says "independent"."""
        logarithms = self.log2_p_values
        bits: list[float] = np.where(logarithms <= np.log2(alpha), -logarithms, 0.0).tolist()
        return bits

    def decider(self, test: int) -> int:
        """Component that decided a test."""
        return int(self.found[test, kernels.VERDICT, kernels.DECIDER])

    def chi_square(self, test: int, component: int) -> tuple[float, float]:
        """Return the statistic of a component, and its degrees of freedom."""
        statistic, freedom = self.found[test, kernels.STATISTIC : kernels.FREEDOM + 1, component]
        return float(statistic), float(freedom)

    def share_left(self, test: int) -> float:
        """Share of the candidate's variance, of degree 1, that the conditions leave."""
        return float(self.found[test, kernels.VERDICT, kernels.SHARE_LEFT])


def has_power(test: Tests, seen: Tests, share: float, alpha: float) -> bool:
    """Whether a test would see a share of the dependence that another one has seen.

    By the component that decided the other one. A dependence on a candidate shrinks with what the
    conditions leave of it. Of noncentrality ``c`` it gives a statistic with ``m`` degrees of
    freedom mean ``m + c`` and variance ``2 m + 4 c``, roughly.
    """
    from scipy.special import chdtrc

    own = seen.decider(0)
    (_, freedom), (seen_statistic, seen_freedom) = test.chi_square(0, own), seen.chi_square(0, own)
    if freedom <= 0 or seen_freedom <= 0:
        return False
    left = min(1.0, test.share_left(0) / max(seen.share_left(0), 1e-300))
    excess = max(0.0, seen_statistic - seen_freedom) * share * left
    spread = math.sqrt(2.0 * freedom + 4.0 * excess)
    low = max(freedom + excess - POWER_DEVIATIONS * spread, 0.0)
    weight = WEIGHTS[own] / WEIGHTS[test.freedom[0] > 0].sum()
    return bool(chdtrc(freedom, low) <= alpha * weight)


def compare(
    rows: Rows,
    conditions: Conditions,
    target: Adjusted,
    candidates: Sequence[int],
    work: Work,
    unlikely: float = UNLIKELY,
) -> Tests:
    """Compare what conditions leave of a target and of each of some candidates."""
    tests = Tests.nothing(len(candidates))
    alike: dict[_Kind, list[int]] = {}
    for number, candidate in enumerate(candidates):
        column = rows.columns[candidate]
        if column.degrees and target.degrees:
            alike.setdefault(column.kind, []).append(number)
    kinds = tuple(each.kind for each in conditions.columns)
    for kind, numbers in alike.items():
        asked = np.array([candidates[number] for number in numbers])
        column = rows.columns[candidates[numbers[0]]]
        plan = _plan(target.degrees, column.degrees, kind, kinds)
        work.make_room(
            n_own=max(len(target.degrees), len(column.degrees)),
            n_first=plan.n_first,
            n_features=plan.n_features,
            n_terms=int(target.record.facts[kernels.N_ALL]),
            n_functions=len(column.degrees) + sum(n for _, n, _ in (kind, *kinds)),
        )
        found = tests.found[numbers]
        kernels.compare(
            rows.record, target.record, asked, plan, work.record, found,
            math.log2(unlikely),
        )  # fmt: skip
        tests.found[numbers] = found
    return tests


@lru_cache(maxsize=1024)
def _plan(
    of_target: tuple[int, ...], of_candidate: tuple[int, ...], kind: _Kind, given: tuple[_Kind, ...]
) -> Record:
    """Return how features of some degrees are made and compared; products have degree 0."""
    crossed = list(_crossed(kind, given))
    factors = np.full((len(of_candidate) + len(crossed), 4), NONE, np.int64)
    factors[: len(of_candidate), 0] = range(len(of_candidate))
    for own, places in zip(factors[len(of_candidate) :], crossed, strict=True):
        own[: len(places)] = places
    degrees = of_candidate + (0,) * len(crossed)
    target, candidate = np.array(of_target)[:, None], np.array(degrees)[None, :]
    weights = np.zeros((len(COMPONENTS), len(of_target), len(degrees)))
    weights[kernels.INTERACTION, (target == 1) & (candidate == 0)] = 1.0
    weights[kernels.LINEAR, (target == 1) & (candidate == 1)] = 1.0
    weights[kernels.QUADRATIC, (target + candidate == 3) & (candidate > 0)] = 1.0
    for (own, other), weight in HIGHER_WEIGHTS.items():
        weights[kernels.HIGHER, (target == own) & (candidate == other)] = weight
    return Record(
        factors=factors,
        weights=weights,
        share=WEIGHTS,
        is_in=(weights > 0).any(axis=1),
        n_own=len(of_candidate),
        n_features=len(degrees),
        n_linear=degrees.count(1),
        n_first=of_target.count(1),
        addresses=tail_functions(),
    )


def _crossed(candidate: _Kind, given: tuple[_Kind, ...]) -> Iterator[tuple[int, ...]]:
    """Yield products of a candidate with conditions, as places of joint features.

    All joint features are multiplied with those of every condition, and those that stand for a
    column with products of the same of two or three conditions. Features come first, then joint
    ones of the candidate, and of each condition.
    """
    starts = list(accumulate([candidate[0], candidate[1], *(n for _, n, _ in given)]))
    own = range(starts[0], starts[0] + candidate[1])
    of_given = [
        range(first, first + kind[1]) for first, kind in zip(starts[1:], given, strict=False)
    ]
    if len(given) > MOST_CONDITIONS_CROSSED:
        own = own[:1]
        of_given = [own if kind[2] else own[:1] for own, kind in zip(of_given, given, strict=True)]
    for joint in of_given:
        yield from ((first, other) for other in joint for first in own)
    if len(given) > MOST_CONDITIONS_CROSSED:
        return
    sharp = [_sharpest(joint, kind) for joint, kind in zip(of_given, given, strict=True)]
    for n_factors in range(2, len(given) + 1):
        for chosen in combinations(sharp, n_factors):
            for others in product(*chosen):
                yield from ((first, *others) for first in _sharpest(own, candidate))


def _sharpest(joint: range, kind: _Kind) -> range:
    """Return what stands for a column in products of more than two."""
    return joint if kind[2] else joint[-1:]
