"""Lots of tests in compiled code, against the same questions asked one batch at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests.registry import make_test
from komb.data.table import DiscreteTable
from komb.search._batched_walk import BatchedWalk
from komb.sessions.data import DataSession, TableSource
from komb.sessions.formula_source import FormulaSource
from komb.sessions.questions import EMPTY, Branch, Dependence, Variables, subsets
from komb.sessions.session import Session
from tests.citests.kinds import EVERY_TEST
from tests.counts.tables import LOW_KIND, make_table, tables

thorough = settings(max_examples=25, deadline=None, derandomize=True)
KNOWN = [each for each in EVERY_TEST if each.values[0] != "auto"]
known_tests = pytest.mark.parametrize(("test", "df"), KNOWN)
THICK_AND_THIN = [2, 3, 2, 12, 3, 40, 2, 5]


def by_batches(table: DiscreteTable, test: str, df: str, alpha: float) -> Session:
    """The twin: kernels only count, and everything else is done in Python."""
    return Session(TableSource(table, make_test(test, df, alpha=alpha), alpha))


def compiled(table: DiscreteTable, test: str, df: str, alpha: float) -> Session:
    session = DataSession(table, test, df=df, alpha=alpha)
    assert isinstance(session.source, FormulaSource)
    return session


def draw(items: Sequence[int], most: int, rng: np.random.Generator) -> Variables:
    size = rng.integers(min(most, len(items)) + 1)
    return frozenset(rng.permutation(np.array(items, int))[:size].tolist())


def check_questions(one: Session, other: Session, rng: np.random.Generator) -> None:
    """Everything that a search asks, in any order, of two targets."""
    n = one.n_variables
    for _ in range(6):
        target = int(rng.choice([0, n - 1]))
        others = [x for x in range(n) if x != target]
        pool, core = draw(others, 5, rng), draw(others, 1, rng)
        questions = [(draw(others, n, rng), draw(others, 4, rng)) for _ in range(3)]
        assert one.ask(target, questions) == other.ask(target, questions)
        assert one.strengths(target, questions) == other.strengths(target, questions)
        candidates, most = frozenset(others) - core, int(rng.integers(0, 4))
        assert one.separators.find(target, candidates, pool, most, core=core) == (
            other.separators.find(target, candidates, pool, most, core=core)
        )
        least = dict.fromkeys(sorted(candidates), 1e9)
        assert one.separators.weakest(target, least, pool, most, core=core) == (
            other.separators.weakest(target, least, pool, most, core=core)
        )
        check_witnesses(one, other, target, rng)
        check_turns(one, other, target, rng)
        check_group_walks(one, other, target, rng)


def check_group_walks(one: Session, other: Session, target: int, rng: np.random.Generator) -> None:
    """Walks outside of a blanket that grows, from success to success."""
    others = [x for x in range(one.n_variables) if x != target]
    candidates, start = frozenset(others) - draw(others, 1, rng), draw(others, 2, rng)
    order, most = int(rng.integers(0, 4)), int(rng.integers(0, 3))
    walk = one.walk_groups(target, candidates, order, most)
    assert walk is not None
    assert other.walk_groups(target, candidates, order, most) is None
    batched = BatchedWalk(other, target, candidates, order, most)
    blanket = start & candidates
    while True:
        first = walk.first_witness(blanket, lambda: None)
        assert first == batched.first_witness(blanket, lambda: None)
        assert first == first_naively(other, target, candidates, (order, most), blanket)
        if first is None:
            return
        candidate, witness = first
        blanket |= {candidate} | draw(sorted(witness), order, rng)


def first_naively(
    session: Session,
    target: int,
    candidates: Variables,
    sizes: tuple[int, int],
    blanket: Variables,
) -> Dependence | None:
    """Return the first witness in the order of the loops of Algorithms 2 and 3."""
    order, most = sizes
    outside = candidates - blanket
    groups = sorted(tuple(sorted(group)) for group in subsets(outside, order))
    for group in map(frozenset, groups):  # tuples are in the order of the tree
        for x in sorted(outside - group):
            for allies in subsets(blanket, order - len(group)):
                if is_witness(session, target, x, group | allies, blanket, most):
                    return x, group | allies
    return None


def is_witness(
    session: Session, target: int, x: int, witness: Variables, blanket: Variables, most: int
) -> bool:
    """Whether x depends on the target given a set, whatever is given besides."""
    separators = subsets(blanket - witness - {x}, most)
    return all(session.is_dependent(target, x, witness | some) for some in separators)


def check_turns(one: Session, other: Session, target: int, rng: np.random.Generator) -> None:
    """What is asked of one column after the other."""
    others = [x for x in range(one.n_variables) if x != target]
    pool, members = draw(others, 5, rng), draw(others, 3, rng)
    columns = rng.permutation(np.array(others)).tolist()
    least, most = int(rng.integers(0, 3)), int(rng.integers(0, 4))
    asked = [x for x in columns if x not in members]
    turns = [
        each.separate_in_turn(target, asked, pool, most, min_size=least, core=members)
        for each in (one, other)
    ]
    assert turns[0] == turns[1]
    for bound in (None, most):
        walked = one.walk(target, columns, members, bound)
        assert walked == other.walk(target, columns, members, bound)
        assert walked == walk_naively(other, target, columns, members, bound)


def walk_naively(
    session: Session, target: int, columns: Sequence[int], members: Variables, bound: int | None
) -> Variables:
    for x in columns:
        others = members - {x}
        if bound is not None and len(others) > bound:
            return members
        members = others | {x} if session.is_dependent(target, x, others) else others
    return members


def check_witnesses(one: Session, other: Session, target: int, rng: np.random.Generator) -> None:
    others = [x for x in range(one.n_variables) if x != target]
    blanket = draw(others, 4, rng)
    outside = frozenset(others) - blanket
    settled = [None, EMPTY, draw(sorted(blanket), 4, rng)]
    most = int(rng.integers(0, 3))
    branches = []
    for group in subsets(outside, 2):
        n_allies, examined = int(rng.integers(3)), settled[int(rng.integers(3))]
        candidates = outside
        if examined is not None:  # nothing of it is a witness
            candidates = frozenset(
                x
                for x in outside - group
                for sets in [[group | allies for allies in subsets(examined, n_allies)]]
                if not any(is_witness(other, target, x, each, blanket, most) for each in sets)
            )
        branches.append(Branch(group, candidates, n_allies, examined))
    branches.append(Branch(EMPTY, blanket, 2))
    found = one.separators.witnesses(target, branches, blanket, most)
    assert found == other.separators.witnesses(target, branches, blanket, most)
    for session in (one, other):
        first = session.separators.witnesses(target, branches, blanket, most, one_is_enough=True)
        assert min(first, default=None) == min(found, default=None)
        assert first.items() <= found.items()


@known_tests
@thorough
@given(
    table=tables(LOW_KIND, n_columns=(3, 7)),
    seed=st.integers(0, 1 << 30),
    sweeps=st.integers(0, 2),
)
def test_the_same_answers(test: str, df: str, table: DiscreteTable, seed: int, sweeps: int) -> None:
    one, other = compiled(table, test, df, 0.2), by_batches(table, test, df, 0.2)
    pool = frozenset(range(1, table.n_columns))
    for size in range(1, sweeps + 1):  # what a sweep has decided is looked up in it
        one.sweep(0, pool, size)
    check_questions(one, other, np.random.default_rng(seed))


@known_tests
@pytest.mark.parametrize("n_rows", [7, 400, 3000])
def test_every_way_of_counting(test: str, df: str, n_rows: int) -> None:
    """With few and many levels, thick tables and thin ones."""
    table = make_table(THICK_AND_THIN, n_rows, seed=n_rows)
    one, other = compiled(table, test, df, 0.05), by_batches(table, test, df, 0.05)
    check_questions(one, other, np.random.default_rng(n_rows))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("formula_tests._ROWS_PER_CALL", 1),
        ("formula_memory._PLACES_AT_FIRST", 8),
        ("formula_memory.REMEMBERED_BYTES", 1),
        ("lot_buffers._STACK_CELLS", 0),
        ("lot_buffers._ITEMS_AT_FIRST", 1),
        ("lot_buffers._COLUMNS_AT_FIRST", 1),
    ],
)
def test_no_answer_depends_on_room(monkeypatch: pytest.MonkeyPatch, name: str, value: int) -> None:
    """However often a loop stops, and however little is remembered."""
    monkeypatch.setattr(f"komb.sessions.{name}", value)
    table = make_table(THICK_AND_THIN, 300, seed=5)
    one, other = (
        compiled(table, "g-sci", "observed", 0.05),
        by_batches(table, "g-sci", "observed", 0.05),
    )
    check_questions(one, other, np.random.default_rng(1))


def test_a_set_that_is_asked_about_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a larger one, on a table too large to keep the rows of both."""
    monkeypatch.setattr("komb.sessions.lot_buffers._STACK_CELLS", 0)
    table = make_table([40, 40, 3, 5, 5], 3000, seed=1)
    one, other = compiled(table, "g", "observed", 0.5), by_batches(table, "g", "observed", 0.5)
    questions = [({2}, frozenset({1})), ({4}, frozenset({1, 3})), ({3}, frozenset({1}))]
    assert one.strengths(0, questions) == other.strengths(0, questions)
    assert one.strengths(0, [({4}, frozenset({1}))]) == other.strengths(0, [({4}, frozenset({1}))])


def test_walks_stop_and_go_on() -> None:
    """And say so; there may be more groups than there is room to remember."""
    table = make_table([2, 3, 2, 3, 2, 3, 2, 2], 300, seed=8)
    pauses = []
    for rows, bytes_ in ((1, 1 << 20), (1 << 28, 1 << 20), (1 << 28, 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("komb.sessions.formula_tests._ROWS_PER_CALL", rows)
            patch.setattr("komb.sessions.formula_walk._MOST_BYTES", bytes_)
            session = compiled(table, "g", "observed", 0.3)
            walk = session.walk_groups(0, frozenset(range(1, 8)), 2, 1)
        if walk is None:
            assert bytes_ == 1
            continue
        paused: list[int] = []
        walk.first_witness(EMPTY, lambda paused=paused: paused.append(1))  # type: ignore[misc]
        pauses.append(len(paused))
    assert pauses[0] > 0
    assert pauses[1:] == [0]


def test_a_walk_with_more_members_than_may_be_given() -> None:
    table = make_table([2] * 40, 200, seed=3)
    one, other = compiled(table, "g", "observed", 0.5), by_batches(table, "g", "observed", 0.5)
    columns, many = range(1, 40), frozenset(range(1, 31))
    for members, most in ((many, 2), (many, None), (EMPTY, None), (EMPTY, 11), (EMPTY, 0)):
        walked = one.walk(0, columns, members, most)
        assert walked == other.walk(0, columns, members, most)
        assert walked == walk_naively(other, 0, columns, members, most)
    assert one.walk(0, columns, many, 2) == many


def test_every_test_counts_once() -> None:
    table = make_table([2] * 6, 200, seed=2)
    session = compiled(table, "g", "observed", 0.05)
    pool = frozenset(range(1, 6))
    questions = [(pool, given) for given in subsets(pool, 2)]
    session.ask(0, questions)
    n_tests = sum(len(asked - given) for asked, given in questions)
    assert session.counts.tests == n_tests
    session.strengths(0, questions)
    session.separators.find(0, pool, pool, 2)
    assert session.counts.tests == n_tests
    swept = compiled(table, "g", "observed", 0.05)
    swept.sweep(0, pool, 1)
    swept.sweep(0, pool, 2)
    swept.ask(0, questions)
    swept.separators.find(0, pool, pool, 2)
    swept.strengths(0, questions)
    assert swept.counts.tests == n_tests


def test_tables_with_missing_values_are_counted_test_by_test() -> None:
    table = make_table([2, 3, 2], 50, seed=1)
    codes = table.codes.copy()
    codes[1, 0] = 3
    holes = DiscreteTable(table.names, codes, table.levels, has_missing=True)
    assert not isinstance(DataSession(holes, "g").source, FormulaSource)
