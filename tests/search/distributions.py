"""Random exact distributions, and the Markov boundary by its definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.engine.engine import Engine

Joint = npt.NDArray[np.float64]

STYLES = ("random", "xor", "interaction", "and-or", "mixed")


def conditional(style: str, levels: Sequence[int], own: int, rng: np.random.Generator) -> Joint:
    """Chances of the levels of a variable, for each combination of its parents' levels."""
    shape = (*levels, own)
    if style == "random" or not levels:
        concentration = np.full(own, rng.choice([0.5, 1.0, 2.0]))
        drawn: Joint = rng.dirichlet(concentration, tuple(levels)).reshape(shape)
        return drawn
    values = np.indices(tuple(levels)).reshape(len(levels), -1)
    if style == "interaction":  # main effects and a product, on the logarithm of the odds
        weights = rng.normal(size=len(levels))
        sums = weights @ values + 2 * rng.normal() * np.prod(values - 0.5, axis=0)
        share = 1 / (1 + np.exp(-sums))
        rest = np.full((len(share), own - 2), 0.2 / max(1, own - 2))
        common = 0.8 if own > 2 else 1.0
        return np.column_stack([common * (1 - share), common * share, rest]).reshape(shape)
    if style == "xor":
        result = values.sum(axis=0) % own
    else:
        is_all = rng.random() < 0.5
        result = ((values > 0).all(axis=0) if is_all else (values > 0).any(axis=0)).astype(int)
    noise = rng.uniform(0.05, 0.25)
    chances = np.full((values.shape[1], own), noise / (own - 1))
    chances[np.arange(values.shape[1]), result] = 1 - noise
    return chances.reshape(shape)


def random_joint(style: str, n: int, rng: np.random.Generator) -> Joint:
    """The distribution of a network of so many variables with up to three parents each."""
    levels = rng.choice([2, 2, 3], n).tolist()
    joint: Joint = np.ones(())
    for variable in range(n):
        n_parents = min(variable, int(rng.choice(4, p=[0.15, 0.3, 0.4, 0.15])))
        parents = sorted(rng.choice(variable, n_parents, replace=False).tolist())
        own = style if style != "mixed" else str(rng.choice(STYLES[:-1]))
        chances = conditional(own, [levels[p] for p in parents], levels[variable], rng)
        axes = [levels[v] if v in parents else 1 for v in range(variable)]
        joint = joint[..., None] * chances.reshape(*axes, levels[variable])
    return joint


def with_function(joint: Joint, inputs: Sequence[int], values: npt.NDArray[Any]) -> Joint:
    """The joint with one more variable, a function of some others; ``values`` are its levels."""
    axes = [joint.shape[v] if v in inputs else 1 for v in range(joint.ndim)]
    level = values.reshape(axes)[..., None]
    is_level = level == np.arange(int(values.max()) + 1)
    longer: Joint = joint[..., None] * is_level
    return longer


def with_combination(joint: Joint, a: int, b: int) -> Joint:
    """With a variable that has a level for each combination of two others."""
    first, second = sorted((a, b))
    shape = joint.shape[first], joint.shape[second]
    return with_function(joint, (a, b), np.arange(shape[0] * shape[1]).reshape(shape))


def with_copy(joint: Joint, variable: int) -> Joint:
    return with_function(joint, (variable,), np.arange(joint.shape[variable]))


def boundary(engine: Engine, target: int) -> set[int]:
    """All others, less those that the rest makes independent, one at a time."""
    members = set(range(engine.n_variables)) - {target}
    while True:
        for x in sorted(members):
            if not engine.is_dependent(target, x, frozenset(members - {x})):
                members.remove(x)
                break
        else:
            return members


def is_minimal_blanket(engine: Engine, target: int, members: set[int]) -> bool:
    """Whether all others are independent of the target given the members, and no member is."""
    given = frozenset(members)
    for x in sorted(set(range(engine.n_variables)) - members - {target}):
        if engine.is_dependent(target, x, given):
            return False
        given |= {x}  # the chain rule: all of them together, one after the other
    return all(engine.is_dependent(target, x, frozenset(members - {x})) for x in members)
