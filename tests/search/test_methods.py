"""What holds for every search of the registry: roles, bounds, progress and what does not matter."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import komb
from komb.api.progress import Progress as NamedProgress
from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.models.boolean_functions import boolean_network, boolean_table
from komb.data.table import DiscreteTable
from komb.engine.engine import Engine
from komb.engine.oracle import DistributionEngine, DSeparationEngine
from komb.errors import Interrupted
from komb.search.task import Progress, Task
from tests import naive
from tests.citests.kinds import EVERY_TEST
from tests.engine.answers import Dice
from tests.engine.engines import on_table, recorder
from tests.engine.random_answers import FunctionEngine
from tests.engine.tables import make_table
from tests.search.running import CLASSICS, METHODS, OneByOne, Witnesses, everyone, search

every_method = pytest.mark.parametrize("name", METHODS)
every_classic = pytest.mark.parametrize("name", CLASSICS)
every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)

AND = boolean_table("and", 2000, n_parents=2, n_irrelevant=3)  # X1, X2, Y, E1, E2, E3


def run(name: str, engine: Engine, task: Task) -> Witnesses:
    """Run any search with the options it has by default."""
    return dict(komb.algorithms()[name].search(engine, task).witnesses)


# ----------------------------------------------------------------------------------------- registry


@every_method
def test_it_introduces_itself(name: str) -> None:
    info = komb.algorithms()[name]
    assert info.name == name
    assert name in naive.SEARCHES  # its twin
    assert str(info.year) in info.citation
    assert info.assumes in {"faithfulness", "composition", "k-order faithfulness"}
    for sentence in (info.summary, info.guarantee, info.weakness):
        assert sentence.endswith(".")
        assert "\n" not in sentence
    parameters = inspect.signature(info.search).parameters
    options = {option.name for option in info.options}
    taken = set(options)
    taken |= {"alpha"} if info.choose_alpha is not None else set()
    assert set(parameters) == {"engine", "task", *taken}
    assert all(option.help.endswith(".") for option in info.options)
    assert set(info.defaults) == options


# -------------------------------------------------------------------------------------------- roles


@every_method
def test_what_is_left_out_is_never_looked_at(name: str) -> None:
    """Neither as a member nor as a condition nor as a target on the way."""
    table = DiscreteNetwork.random(9, degree=3, concentration=0.3, seed=4).sample(800, 4)
    allowed = frozenset({0, 2, 3, 5, 6, 7})
    asked = recorder(table)
    found = run(name, asked, Task(4, allowed))
    assert found.keys() <= allowed
    assert len(found) > 1
    for y, x, z in asked.asked:
        assert z | {x, y} <= allowed | {4}
        assert x != y
        assert not {x, y} & z


@every_method
def test_members_by_request_stay_and_say_why(name: str) -> None:
    included = komb.markov_blanket(AND, "Y", method=name, include=["E2"], alpha=0.001)
    assert included.members == ("X1", "X2", "E2")
    assert included["E2"].witness is None
    assert included["X1"].witness is not None
    relevant = komb.markov_blanket(AND, "Y", method=name, include=["X2"], alpha=0.001)
    assert relevant.members == ("X1", "X2")
    assert relevant["X2"].witness is not None  # it would have been found


@every_method
def test_a_start_is_no_more_than_a_start(name: str) -> None:
    expected = komb.markov_blanket(AND, "Y", method=name, alpha=0.001)
    assert expected.members == ("X1", "X2")
    for start in (["E1"], ["X1"], ["X1", "X2"], ["E1", "E2", "E3", "X2"]):
        blanket = komb.markov_blanket(AND, "Y", method=name, alpha=0.001, start=start)
        assert blanket.members == expected.members
        assert blanket.parameters["start"] == tuple(sorted(start, key=AND.names.index))


@every_method
def test_excluded_columns_are_not_found(name: str) -> None:
    blanket = komb.markov_blanket(AND, "Y", method=name, alpha=0.001, exclude=["X1", "E3"])
    assert blanket.members == ("X2",)
    assert blanket.n_columns == 4


@every_method
@every_test
def test_every_test_will_do(name: str, test: str, df: str) -> None:
    options: dict[str, Any] = {"df": df} if komb.tests()[test].options else {}
    blanket = komb.markov_blanket(AND, "Y", method=name, test=test, alpha=0.001, **options)
    assert blanket.members == ("X1", "X2")
    assert {member.test for member in blanket.evidence} <= {test, "g", "sci", "x2"}


@every_method
def test_no_candidates(name: str) -> None:
    engine = on_table(make_table([2, "copy"], 50, seed=0))
    assert run(name, engine, Task(0, frozenset())) == {}
    assert engine.work.tests == 0


@every_method
def test_one_candidate(name: str) -> None:
    engine = on_table(make_table([2, "copy", 2], 50, seed=0))
    assert run(name, engine, Task(0, frozenset({1}))) == {1: frozenset()}
    assert run(name, engine, Task(0, frozenset({2}))) == {}


# ------------------------------------------------------------------------------------------ sources


@every_method
def test_a_function_that_answers_one_by_one_is_enough(name: str) -> None:
    """Yes and no, and nothing quicker: the same as from an oracle that knows more."""
    network = DiscreteNetwork.random(8, degree=2.5, seed=1)
    xor = DistributionEngine(boolean_network("parity", n_parents=2, n_irrelevant=1).joint())
    n_found = 0
    for oracle in (DSeparationEngine(network.graph), xor):
        least = FunctionEngine(oracle.n_variables, OneByOne(oracle).strength)
        for target in range(oracle.n_variables):
            task = everyone(oracle, target)
            found = run(name, least, task)
            assert found == run(name, oracle, task)
            n_found += len(found)
    assert n_found


# ------------------------------------------------------------------------------------------- bounds

#: By how much a condition may be larger than the bound, which is one on separators: a spouse is
#: tested given its separator and the child. ``None``: conditions on the whole set so far.
BEYOND_THE_BOUND = {"gs": 0, "iamb": 0, "lrh": None, "stmb": None}


def largest_condition(name: str, bound: int, dice: Dice, start: frozenset[int]) -> int:
    search(name, dice, Task(0, frozenset(range(1, dice.n_variables)), start), bound)
    return dice.largest


@pytest.mark.parametrize("name", [n for n in CLASSICS if BEYOND_THE_BOUND.get(n, 1) is not None])
def test_the_bound_holds(name: str) -> None:
    beyond = BEYOND_THE_BOUND.get(name, 1)
    assert beyond is not None
    for bound in range(5):
        sizes = []
        for seed in range(40):
            start = frozenset({1} if seed % 2 else ())
            dice = Dice(9, seed, (0.02, 0.2, 0.5)[seed % 3])
            sizes.append(largest_condition(name, bound, dice, start))
        assert max(sizes) == bound + beyond  # reached, and never more


@pytest.mark.parametrize("name", [n for n in CLASSICS if BEYOND_THE_BOUND.get(n, 1) is None])
def test_some_condition_on_all_they_have(name: str) -> None:
    sizes = [largest_condition(name, 0, Dice(9, seed, 0.02), frozenset()) for seed in range(20)]
    assert max(sizes) == 7  # all but target and member
    said = " ".join((komb.algorithms()[name].weakness).split())
    assert "conditions on the whole set so far" in said or "given the whole blanket" in said


def test_the_bound_on_growth_counts_the_start() -> None:
    """Shrinking still conditions on all that was there to begin with."""
    start = frozenset(range(1, 7))
    for name in ("gs", "iamb"):
        for seed in range(20):
            dice = Dice(10, seed, 0.3)
            found = search(name, dice, Task(0, frozenset(range(1, 10)), start), 2)
            assert found.keys() <= start
            assert dice.largest == 5


# ----------------------------------------------------------------------------------------- progress


@every_method
def test_progress_is_reported(name: str) -> None:
    table = DiscreteNetwork.random(9, degree=3, concentration=0.3, seed=4).sample(800, 4)
    engine = on_table(table)
    reports: list[Progress] = []
    include = frozenset({1})
    candidates = frozenset(range(9)) - {4}
    task = Task(4, candidates, include=include, observer=reports.append)
    found = run(name, engine, task)
    assert reports
    assert all(report.phase for report in reports)
    assert all(include <= set(report.blanket) <= candidates for report in reports)
    assert all(report.blanket == tuple(sorted(report.blanket)) for report in reports)
    tests = [report.tests for report in reports]
    assert tests == sorted(tests)
    assert tests[-1] <= engine.work.tests
    assert set(found) & set(reports[-1].blanket) > include  # it speaks of what is found


@every_method
def test_an_interrupt_leaves_what_was_grown(name: str) -> None:
    seen: list[NamedProgress] = []

    def stop(progress: NamedProgress) -> None:
        seen.append(progress)
        if len(progress.blanket) > 1:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="blanket of 'Y' had grown to: ") as caught:
        komb.markov_blanket(AND, "Y", method=name, alpha=0.001, progress=stop)
    assert caught.value.finished == seen[-1].blanket
    assert {"X1", "X2"} <= set(seen[-1].blanket)
    blanket = komb.markov_blanket(AND, "Y", method=name, alpha=0.001)
    assert blanket.members == ("X1", "X2")


# --------------------------------------------------------------------------------- what is counted


@pytest.mark.parametrize("name", ["komb", *CLASSICS])  # sweeps for groups remember no tests
def test_every_test_is_counted_once(name: str) -> None:
    table = DiscreteNetwork.random(9, degree=3, concentration=0.3, seed=4).sample(300, 4)
    asked = recorder(table)
    run(name, asked, everyone(asked, 4))
    assert asked.work.tests == len(set(asked.asked))


# -------------------------------------------------------------------------------------- invariance


@pytest.fixture(params=range(4), scope="module")
def sample(request: pytest.FixtureRequest) -> DiscreteTable:
    seed: int = request.param
    if seed % 2:
        return DiscreteNetwork.random(7, degree=3, concentration=0.5, seed=seed).sample(300, seed)
    return make_table([2, 3, "parity", 2, "copy", 4, "parity"], 150, seed)


def search_all(
    table: DiscreteTable, name: str, test: str = "g-sci", df: str = "observed"
) -> list[Witnesses]:
    engine = on_table(table, test, df=df)
    return [run(name, engine, everyone(engine, target)) for target in (2, 5)]


@every_method
@every_test
@pytest.mark.parametrize("sample", [0, 1], indirect=True)
def test_order_of_rows_does_not_matter(
    name: str, test: str, df: str, sample: DiscreteTable
) -> None:
    shuffled = sample.take(np.random.default_rng(0).permutation(sample.n_rows))
    assert search_all(shuffled, name, test, df) == search_all(sample, name, test, df)


@every_method
@every_test
@pytest.mark.parametrize("sample", [2, 3], indirect=True)
def test_names_of_levels_do_not_matter(
    name: str, test: str, df: str, sample: DiscreteTable
) -> None:
    rng = np.random.default_rng(1)
    codes = [
        rng.permutation(int(levels))[column]
        for column, levels in zip(sample.codes, sample.cardinalities, strict=True)
    ]
    relabelled = DiscreteTable.from_codes(np.stack(codes).T)
    assert search_all(relabelled, name, test, df) == search_all(sample, name, test, df)


@every_method
def test_names_of_columns_do_not_matter(name: str, sample: DiscreteTable) -> None:
    """Of copies, which the sample may have, a method may take the one whose name comes first."""
    keeps_order = komb.algorithms()[name].is_order_free
    new_names = [f"z{position if keeps_order else 9 - position}" for position in range(7)]
    renamed = DiscreteTable.from_codes(sample.codes.T, new_names)
    for target in (2, 5):
        before = komb.markov_blanket(sample, sample.names[target], method=name)
        after = komb.markov_blanket(renamed, new_names[target], method=name)
        translate = dict(zip(sample.names, new_names, strict=True))
        assert after.members == tuple(translate[member] for member in before.members)
        for member in before:
            old, new = before[member], after[translate[member]]
            assert new.witness == (
                None if old.witness is None else tuple(translate[w] for w in old.witness)
            )
            assert (new.statistic, new.df, new.p_value) == (old.statistic, old.df, old.p_value)


@pytest.mark.parametrize("seed", [9, 17])
@every_classic
def test_order_of_columns_does_not_matter_where_evidence_is_clear(name: str, seed: int) -> None:
    """Two networks and rows enough for every classic search to be right about all columns.

    On fewer rows the order may matter: sets are tried, and members dropped, in table order.
    """
    network = DiscreteNetwork.random(8, cardinality=2, seed=seed)
    table = network.sample(20_000, 1)
    for shuffle in range(2):
        order = np.random.default_rng(shuffle).permutation(8)
        names = [table.names[position] for position in order]
        permuted = DiscreteTable.from_codes(table.codes[order].T, names)
        for target in network.names:
            found = komb.markov_blanket(permuted, target, method=name, alpha=1e-4)
            assert set(found) == set(network.blanket(target)), target
