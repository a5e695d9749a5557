"""The automatic search and its twin, with the same rules."""

from __future__ import annotations

from komb.engine.engine import Engine
from komb.engine.questions import Variables
from komb.search import _automatic, _definition, _region, _thresholds, auto, separated
from komb.search._region import Region
from komb.search._remarks import find_determining, find_equivalents, find_leaks
from komb.search.auto import LARGEST_SEPARATOR, find_blanket
from komb.search.task import GroundedChoice, Kind, Task, fact
from tests import naive
from tests.search.running import Witnesses

ALPHA = 0.05


def rules(level: float = _thresholds.LEVEL) -> naive.auto.Rules:
    """The numbers that the search goes by at this moment."""
    return naive.auto.Rules(
        level=level,
        first_share=_thresholds.SHARE_OF_ORDER_0,
        false_share=_thresholds.FALSE_SHARE,
        partner_chance=auto.PARTNER_CHANCE,
        share_to_detect=_automatic.SHARE_TO_DETECT,
        largest_pool=_region.LARGEST_POOL,
        closeness_ratio=_region.CLOSENESS_RATIO,
        largest_witness=_definition.LARGEST_WITNESS,
        most_witnesses=_definition.MOST_WITNESSES,
        most_sets=separated.MOST_SETS,
        missed_chance=_definition.MISSED_CHANCE,
        largest_order=_automatic.LARGEST_ORDER,
    )


def check_twin(
    engine: Engine,
    twin: naive.sessions.DoubtingSession,
    task: Task,
    alpha: float | None = ALPHA,
    *,
    order: int | None = None,
    max_separator: int | None = None,
    level: float = _thresholds.LEVEL,
) -> Witnesses:
    """Search with both, and compare all that can be seen of them.

    Which columns determine the target, copy each other or could replace members, and which do for
    they have more evidence, is asked of the engine; ``test_remarks.py`` says whether that is right.
    """
    found = find_blanket(
        engine, task, alpha=alpha, order=order, max_separator=max_separator, level=level
    )
    largest = LARGEST_SEPARATOR if max_separator is None else max_separator
    region = Region.of(engine, task.candidates | {task.target}, largest)
    alone = region.alone(task.target)
    equivalents: dict[int, tuple[Variables, ...]] = {}

    def exchange(witnesses: Witnesses) -> Witnesses:
        members, replacements = find_equivalents(region, task, witnesses)
        equivalents.clear()
        equivalents.update(replacements)
        return members

    members, separators = naive.auto.automatic(
        twin, task.candidates, task.target, alpha, rules(level), order, max_separator,
        task.start, task.include,
        lambda needed: find_determining(find_leaks(engine, task, alone, needed), alone),
        lambda x, z: _region.is_copied(engine, x, frozenset({z})),
        exchange,
    )  # fmt: skip
    assert found.equivalents == equivalents
    assert dict(found.witnesses) == members
    chosen = found.choices["max_separator"]
    assert isinstance(chosen, GroundedChoice)
    needed = max(map(len, separators.values()), default=0)
    kind = Kind.SEPARATOR_BEYOND if needed > largest else Kind.SEPARATOR_NEEDED
    assert fact(kind, needed) in chosen.facts
    return members
