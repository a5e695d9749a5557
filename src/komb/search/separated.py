"""What separates the candidates outside a blanket from the target."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables, count_subsets
from komb.search.task import Found, Task

MOST_SETS, ROWS_OF_COSTLY = 500, 2_000
"""Sets of members that are tried as separators, besides all members together; of tests that cost
more than those on counts, fewer sets with more rows."""


def of_those_outside(
    task: Task, members: Collection[int], separators: Mapping[int, Variables]
) -> dict[int, Variables]:
    """Return the separators of the candidates that are no members, in the order of the table."""
    return {
        x: separators[x] for x in sorted(task.candidates.difference(members)) if x in separators
    }


def complete_separators(
    engine: Engine, task: Task, found: Found, max_separator: int = 1
) -> dict[int, Variables]:
    """Find what separates candidates outside a blanket: what the search knows, or else members.

    Few members are tried before all of them together. On data it may be that nothing separates a
    candidate; then it is not in the result.
    """
    blanket, known = frozenset(found.witnesses), dict(found.separators)
    unknown = task.candidates - blanket - known.keys()
    known |= find_separators(engine, task.target, unknown, blanket, max_separator)
    left = unknown - known.keys()
    known |= dict.fromkeys(left.difference(engine.dependents(task.target, left, blanket)), blanket)
    return of_those_outside(task, blanket, known)


def find_separators(
    engine: Engine, target: int, candidates: Variables, blanket: Variables, max_separator: int
) -> dict[int, Variables]:
    """Find which of the smallest sets of members separate candidates, as far as any do."""
    alone = engine.dependents(target, candidates, EMPTY)
    size = affordable_size(len(blanket), max_separator, engine)
    separated = engine.separators(target, alone, blanket, size, min_size=1)
    return dict.fromkeys(sorted(candidates.difference(alone)), EMPTY) | separated


def affordable_size(n_members: int, size: int, engine: Engine | None = None) -> int:
    """Lower a number of members, unless it is one, until there are few sets of so many."""
    size, n_rows = min(size, max(1, n_members)), ROWS_OF_COSTLY
    if engine is not None and engine.test_cost > 1.0:
        n_rows = max(n_rows, engine.n_rows or 0)
    while size > 1 and count_subsets(n_members, size) * n_rows > MOST_SETS * ROWS_OF_COSTLY:
        size -= 1
    return size
