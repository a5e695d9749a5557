"""Answers from an exact joint distribution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from komb.sessions.oracle import Oracle
from komb.sessions.questions import Variables
from komb.sessions.session import Session


class DistributionOracle(Session):
    """A session that answers from an exact joint distribution.

    Examples
    --------
    >>> joint = np.zeros((2, 2, 2))
    >>> joint[0, 0, 0] = joint[0, 1, 1] = joint[1, 0, 1] = joint[1, 1, 0] = 0.25  # xor
    >>> xor = DistributionOracle(joint)
    >>> xor.is_dependent(2, 0, frozenset()), xor.is_dependent(2, 0, frozenset({1}))
    (False, True)
    """

    def __init__(self, joint: npt.ArrayLike, *, tolerance: float = 1e-9) -> None:
        super().__init__(DistributionSource(joint, tolerance))


class DistributionSource(Oracle):
    """Independence in an exact joint distribution."""

    name = "distribution"

    def __init__(self, joint: npt.ArrayLike, tolerance: float) -> None:
        self._joint = np.asarray(joint, dtype=np.float64)
        super().__init__(self._joint.ndim)
        self._tolerance = tolerance

    def depends(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
        """For each candidate, whether it depends on the target given the set."""
        return [self._is_dependent(target, candidate, given) for candidate in candidates]

    def _is_dependent(self, target: int, candidate: int, given: Variables) -> bool:
        kept = {target, candidate, *given}
        joint = self._joint.sum(
            axis=tuple(v for v in range(self.n_variables) if v not in kept), keepdims=True
        )
        without_target = joint.sum(axis=target, keepdims=True)
        without_candidate = joint.sum(axis=candidate, keepdims=True)
        condition = without_target.sum(axis=candidate, keepdims=True)
        left, right = joint * condition, without_target * without_candidate
        return bool((np.abs(left - right) > self._tolerance * np.maximum(left, right)).any())
