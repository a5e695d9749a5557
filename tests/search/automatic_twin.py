"""The automatic search and its twin, with the same rules."""

from __future__ import annotations

from typing import Any

from komb.engine.engine import Engine
from komb.engine.questions import Variables
from komb.search import _region, _thresholds, auto
from komb.search._region import Region
from komb.search._remarks import find_equivalents
from komb.search.auto import LARGEST_SEPARATOR, find_blanket
from komb.search.grounds import GroundedChoice, Kind, fact
from komb.search.task import Task
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
        share_to_detect=auto.SHARE_TO_DETECT,
        largest_pool=_region.LARGEST_POOL,
        closeness_ratio=_region.CLOSENESS_RATIO,
        largest_witness=auto.LARGEST_WITNESS,
        most_tests=auto.MOST_TESTS,
    )


def search_naively(
    session: naive.sessions.DoubtingSession,
    task: Task,
    alpha: float | None = ALPHA,
    order: int | None = None,
    max_separator: int | None = None,
    level: float = _thresholds.LEVEL,
) -> tuple[Witnesses, dict[int, Variables]]:
    return naive.auto.automatic(
        session,
        task.candidates,
        task.target,
        alpha,
        rules(level),
        order,
        max_separator,
        task.start,
        task.include,
    )


def check_twin(
    engine: Engine,
    twin: naive.sessions.DoubtingSession,
    task: Task,
    alpha: float | None = ALPHA,
    **options: Any,
) -> Witnesses:
    """Search with both, and compare all that can be seen of them.

    Which columns could replace members, and which do for they have more evidence, is asked of the
    engine; ``test_remarks.py`` says whether that is right.
    """
    found = find_blanket(engine, task, alpha=alpha, **options)
    witnesses, separators = search_naively(twin, task, alpha, **options)
    largest = (
        LARGEST_SEPARATOR if options.get("max_separator") is None else options["max_separator"]
    )
    region = Region.of(engine, task.candidates | {task.target}, largest)
    witnesses, equivalents = find_equivalents(region, task, witnesses)
    assert found.equivalents == equivalents
    assert dict(found.witnesses) == witnesses
    largest = max(map(len, separators.values()), default=0)
    chosen = found.choices["max_separator"]
    assert isinstance(chosen, GroundedChoice)
    assert fact(Kind.SEPARATOR_NEEDED, largest) in chosen.facts
    return witnesses
