"""An engine answers the five questions of a search.

A search never sees data. It asks an engine, always about many variables at once:

1. :meth:`Engine.evidence`: how strongly does each candidate depend on the target given a set?
2. :meth:`Engine.first_witness`: which candidate is the first that depends on the target given some
   witness, such that no small set out of a pool separates the two?
3. :meth:`Engine.weakest`: how weak does a dependence become given any small set out of a pool, and
   which set is the first that separates the two?
4. :meth:`Engine.strong`: which of a great many dependences have at least so many bits?
5. :meth:`Engine.outcomes`: what exactly does a test say? For people, not for searches.

Everything else is a few lines on these. Answers are a function of the counts: the same for any
order of rows, any number of workers, and whatever was asked before. An engine remembers what it was
asked, so a search asks again rather than keep a memory of its own. It is not safe to share between
threads.

Evidence is in bits: a p-value of 2^-b counts as b, and so does a code that is b bits shorter. An
oracle is sure of everything, its evidence is infinite.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from komb.engine.questions import (
    EMPTY,
    Allowance,
    Dependence,
    OnProgress,
    Outcome,
    Question,
    StrongDependence,
    Variables,
    WorkCounts,
)


class Query(NamedTuple):
    """Candidates, and the witnesses that may show that they depend on the target.

    A witness is the group together with up to ``n_allies`` elements of the pool, fewer first.
    Candidates that are in the group are ignored, and none is an ally of its own.
    """

    candidates: Sequence[int]
    group: Variables
    n_allies: int = 0


class Witness(NamedTuple):
    """The first candidate of some queries that has a witness."""

    query: int  # its number
    candidate: int
    witness: Variables


class AllSets(NamedTuple):
    """Every candidate given every set of ``size`` elements of a pool, for :meth:`Engine.strong`."""

    candidates: Variables  # in the pool
    pool: Variables
    size: int
    min_rows_per_cell: float = 0.0  # sparser tables are left out
    core: Variables = EMPTY  # given in every test, beside the set; no element of the pool


class Power(NamedTuple):
    """The effect that a test must be able to detect for its "independent" to count.

    A dependence does not keep its size where rows are spread over strata of a few rows each, so on
    a sparse table no test is said to have power. On one with very many rows per cell the formula
    for the power can be trusted, and a larger share will do.
    """

    share: float  # of the dependence that the witness shows
    dense_share: float  # the same on a table with very many rows per cell
    dense_rows_per_cell: float  # from which on a table is one of those
    left_share: float | None = None  # with numbers: of what conditions leave of the dependence


class Engine(ABC):
    """Answers about the variables of a table or a model.

    Attributes
    ----------
    n_variables : int
    notes : dict
        What a search learnt, for the next one that asks the same engine.
    allowance : Allowance
        Where it is spent, no more subsets are looked at: what they would separate is not separated.
    """

    least_share = 1.0  # of the level of a test, for the kind of dependence it favours least

    def __init__(self, n_variables: int) -> None:
        self.n_variables = n_variables
        self.notes: dict[str, Any] = {}
        self.allowance = Allowance()

    # What it knows of itself: the defaults describe an oracle

    @property
    def n_rows(self) -> int | None:
        """Rows that the answers come from; None if they come from an oracle."""
        return None

    @property
    def n_levels(self) -> Sequence[int]:
        """Levels of each variable; empty where there are none."""
        return ()

    @property
    def n_strata(self) -> int:
        """Strata of the covariates, which every test is made in."""
        return 1

    @property
    def alpha(self) -> float | None:
        """Level of the tests; None if answers come from an oracle."""
        return None

    @property
    def test_cost(self) -> float:
        """Work of one test, in units of a test on counts."""
        return 1.0

    def cost_of(self, target: int, bits: Mapping[int, float], given: Variables) -> int:
        """Work of having found bits of candidates, in nanoseconds or so; 0 where that is little."""
        return 0

    @property
    @abstractmethod
    def work(self) -> WorkCounts:
        """Tests made so far, each counted once, and tables counted for them."""

    # The five questions

    @abstractmethod
    def evidence(
        self,
        target: int,
        questions: Sequence[Question],
        *,
        wants_bits: bool = True,
        is_conservative: bool = False,
    ) -> list[dict[int, float]]:
        """For each question, the candidates that depend on the target, with their bits.

        In table order; candidates that are in the given set are ignored, independent ones left out.
        Without ``wants_bits`` any positive number stands for a dependence. Conservative evidence
        has no more bits than all statistics of a test agree on, for dependences that have to be
        significant among very many tests.
        """

    @abstractmethod
    def first_witness(
        self, target: int, queries: Sequence[Query], pool: Variables, max_separator: int
    ) -> Witness | None:
        """Return the first candidate, query by query, that has a witness nothing separates.

        That is: the candidate depends on the target given the witness, and given the witness and
        any up to ``max_separator`` other elements of the pool (paper, Algorithm 3: find_cond and
        no_seps). None if there is no such candidate.
        """

    @abstractmethod
    def weakest(
        self,
        target: int,
        bits: Mapping[int, float],
        pool: Variables | Mapping[int, Variables],
        max_size: int,
        *,
        min_size: int = 0,
        core: Variables = EMPTY,
        wants_bits: bool = True,
        is_in_turn: bool = False,
    ) -> tuple[dict[int, float], dict[int, Variables]]:
        """Weakest evidence of each candidate given the core and subsets of its pool.

        ``bits`` are what is known of each candidate: the result has the least of them and of what
        is found. Subsets have ``min_size`` to ``max_size`` elements, the small ones come first, and
        never the candidate. Candidates that some set separates are in the second mapping, with the
        first such set, core included. With ``is_in_turn`` candidates are examined one after the
        other, in the order of ``bits``, up to the first that nothing separates; those after it are
        in neither mapping.
        """

    @abstractmethod
    def strong(
        self,
        target: int,
        asked: Sequence[Question] | AllSets,
        least_bits: float,
        *,
        is_conservative: bool = False,
        on_progress: OnProgress | None = None,
    ) -> list[StrongDependence]:
        """All dependences of at least so many bits, the strongest first.

        For great many questions that hardly ever have such an answer: what is weaker is not
        remembered. Dependences of 0 bits are all there are.
        """

    @abstractmethod
    def outcomes(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        """Everything that each of some tests has to say."""

    # About power and determination: the defaults suit an oracle

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, power: Power
    ) -> bool:
        """Whether a test has the power to see a share of the dependence that a witness shows."""
        return True

    def determines(self, given: Variables, variable: int, min_rows: float) -> bool:
        """Whether a set is known to determine a variable, from so many rows per combination."""
        return False

    def explained_shares(self, target: int, candidates: Sequence[int]) -> list[float]:
        """Share of the target's variation that each candidate explains; 0 where unknown."""
        return [0.0] * len(candidates)

    # Memory

    def trim(self, most_bytes: int | None = None) -> None:  # noqa: B027
        """Forget variables that were targets long ago until what is remembered fits.

        For callers that run many searches. What is forgotten is computed again when it is asked
        for, so no answer changes.
        """

    # Short forms

    def dependents(self, target: int, candidates: AbstractSet[int], given: Variables) -> list[int]:
        """Candidates that depend on the target given a set, in table order."""
        return list(self.evidence(target, [(candidates, given)], wants_bits=False)[0])

    def is_dependent(self, target: int, candidate: int, given: Variables) -> bool:
        """Whether one candidate depends on the target given a set."""
        return bool(self.dependents(target, {candidate}, given))

    def separators(
        self,
        target: int,
        candidates: Iterable[int],
        pool: Variables,
        max_size: int,
        *,
        min_size: int = 0,
        core: Variables = EMPTY,
        is_in_turn: bool = False,
    ) -> dict[int, Variables]:
        """For each candidate that some set separates, the first such set, core included."""
        return self.weakest(
            target, dict.fromkeys(candidates, math.inf), pool, max_size,
            min_size=min_size, core=core, wants_bits=False, is_in_turn=is_in_turn,
        )[1]  # fmt: skip

    def first_separator(
        self,
        target: int,
        candidate: int,
        pool: Variables,
        max_size: int,
        *,
        core: Variables = EMPTY,
    ) -> Variables | None:
        """Return the first set that separates a candidate from the target, core included."""
        return self.separators(target, [candidate], pool, max_size, core=core).get(candidate)

    def outcome(self, target: int, candidate: int, given: Variables) -> Outcome:
        """Everything one test has to say."""
        return self.outcomes(target, [(candidate, given)])[0]
