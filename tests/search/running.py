"""Running every search of the registry, and its naive twin, on the same task."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

import komb
from komb.data.table import DiscreteTable
from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables
from komb.search._automatic import LEFT_SHARE_TO_DETECT
from komb.search._thresholds import power_to_detect
from komb.search.options import MAX_CONDITIONING
from komb.search.task import Task
from tests import naive
from tests.engine.engines import on_table
from tests.engine.tables import LOW_KIND, columns_of, tables

Witnesses = dict[int, frozenset[int] | None]

METHODS = list(komb.algorithms())

#: The searches that take ``max_conditioning``; a new one is tested like the others, and fails if it
#: has no twin. Those with other options have comparisons of their own.
CLASSICS = [name for name, info in komb.algorithms().items() if MAX_CONDITIONING in info.options]


def everyone(engine: Engine, target: int) -> Task:
    """Find the blanket of a target among all other variables."""
    return Task(target, frozenset(range(engine.n_variables)) - {target})


def is_bounded(name: str) -> bool:
    """Whether a search bounds its conditioning sets even if not asked to."""
    return komb.algorithms()[name].defaults["max_conditioning"] is not None


def bounds(name: str) -> tuple[int | None, ...]:
    """Bounds to try, from nothing at all to more than there is."""
    return (0, 1, 2, 3, 9 if is_bounded(name) else None)


def unbounded(name: str, n_variables: int) -> int | None:
    """The bound that is none."""
    return n_variables if is_bounded(name) else None


def search(name: str, engine: Engine, task: Task, bound: int | None) -> Witnesses:
    """Run a classic search."""
    find_blanket = komb.algorithms()[name].search
    return dict(find_blanket(engine, task, max_conditioning=bound).witnesses)


def search_naively(
    name: str, session: naive.sessions.WeighingSession, task: Task, bound: int | None
) -> Witnesses:
    """Run its twin; a search without one fails here."""
    twin: Any = naive.CLASSICS[name]
    found: Witnesses = twin(session, task.candidates, task.target, bound, task.start, task.include)
    return found


class OneByOne:
    """The answers of a komb session, one at a time, as a naive search asks for them."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def independent(self, y: int, x: int, given: Variables) -> bool:
        return not self.engine.is_dependent(y, x, given)

    def strength(self, y: int, x: int, given: Variables) -> float:
        return self.engine.evidence(y, [({x}, given)])[0].get(x, 0.0)

    def can_detect(
        self, y: int, x: int, given: Variables, witness: Variables, share: float
    ) -> bool:
        return self.engine.can_detect(
            y, x, given, witness, power_to_detect(share)._replace(left_share=LEFT_SHARE_TO_DETECT)
        )

    def confirmed(self, y: int, x: int, given: Variables) -> float:
        [bits] = self.engine.evidence(y, [({x}, given)], is_conservative=True)
        return bits.get(x, 0.0)

    def is_large(self, y: int, x: int, given: Variables) -> bool:
        """Whether a table of all levels would have fewer than two rows per cell."""
        if self.engine.n_rows is None:
            return False
        return self.engine.n_rows < 2 * math.prod(self.engine.n_levels[v] for v in (y, x, *given))


class NaiveOnTable(OneByOne):
    """Answers of the naive twin of a test; what a test could see is asked of komb.

    So the twin of a search follows every test, whatever its distribution is like.
    """

    def __init__(self, table: DiscreteTable, test: str, alpha: float) -> None:
        super().__init__(on_table(table, test, alpha=alpha))
        self.twin = naive.sessions.DataSession(columns_of(table), test, alpha)

    def independent(self, y: int, x: int, given: Variables) -> bool:
        return self.twin.independent(y, x, given)

    def strength(self, y: int, x: int, given: Variables) -> float:
        return self.twin.strength(y, x, given)


@st.composite
def tasks(
    draw: Any,
    kinds: Any = LOW_KIND,
    n_rows: tuple[int, int] = (5, 200),
    n_columns: tuple[int, int] = (3, 7),
) -> tuple[DiscreteTable, Task]:
    """A table and a task with columns left out, a start and fixed members."""
    table = draw(tables(kinds=kinds, n_rows=n_rows, n_columns=n_columns))
    target = draw(st.integers(0, table.n_columns - 1))
    others = sorted(set(range(table.n_columns)) - {target})
    roles = draw(
        st.lists(
            st.sampled_from(["free"] * 7 + ["start", "include", "exclude"]),
            min_size=len(others),
            max_size=len(others),
        )
    )
    by_role = {
        role: frozenset(x for x, mine in zip(others, roles, strict=True) if mine == role)
        for role in ("free", "start", "include")
    }
    candidates = EMPTY.union(*by_role.values())
    return table, Task(target, candidates, by_role["start"], by_role["include"])


def hinges_on_rounding(twin: naive.sessions.DataSession) -> bool:
    """Whether two strengths for one target differ by so little that rounding may order them."""
    by_target: dict[int, list[float]] = {}
    for y, x, given_set in twin.memory:
        by_target.setdefault(y, []).append(twin.strength(y, x, given_set))
    return any(
        0 < second - first <= 1e-9 * second
        for strengths in by_target.values()
        for first, second in pairwise(sorted(strengths))
    )


def compare_end_to_end(
    table: DiscreteTable, task: Task, which: int, test: str, alpha: float, df: str
) -> None:
    """Counts, statistics, strengths, decisions and search: everything is done by the twin."""
    twin = naive.sessions.DataSession(columns_of(table), test, alpha, df)
    for name in CLASSICS:
        bound = bounds(name)[which]
        found = search(name, on_table(table, test, alpha=alpha, df=df), task, bound)
        expected = search_naively(name, twin, task, bound)
        assert found == expected or hinges_on_rounding(twin), name
        assert list(found) == sorted(found)
        assert task.include <= found.keys() <= task.candidates
