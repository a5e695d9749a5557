"""How kOMB makes thousands of tests at a time, and none twice.

The groups outside the blanket form a tree: the empty group is the root, and below a group are those
that have one more variable, later in the table than its own. Algorithm 2 walks through this tree,
and at each group through the candidates; the first with a witness wins, and the walk begins anew.
The :class:`BatchedWalk` makes the same walk in batches, because tests are counted in batches, and
leaves out what an earlier walk has settled: a candidate that is independent given a witness, or
that part of the blanket separates, stays so while the blanket grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from komb.sessions.questions import EMPTY, Branch, Dependence, Position, Variables
from komb.sessions.session import Session

# Examined together: the root, where a success is likely, then enough for large batches. Many at
# once where what comes after a success is not tested anyway.
_BRANCHES_AT_FIRST, _BRANCHES_AT_ONCE, _BRANCHES_AT_MOST = 1, 64, 4096


class BatchedWalk:
    """Walks that ask for several branches of the tree at once."""

    def __init__(
        self,
        session: Session,
        target: int,
        candidates: Variables,
        order: int,
        max_separator: int,
    ) -> None:
        self._session = session
        self._target = target
        self._candidates = candidates  # what groups and witnesses are made of
        self._max_separator = max_separator
        self._settled = SettledGroups(order)

    def first_witness(self, blanket: Variables, on_pause: Callable[[], None]) -> Dependence | None:
        """Return the first candidate that has a witness, and that witness; None without one."""
        self._settled.begin(self._candidates - blanket, blanket)
        for branches in self._batches():
            found = self._session.separators.witnesses(
                self._target, branches, blanket, self._max_separator, one_is_enough=True
            )
            first = min(found, default=None)
            self._settled.note(branches, first)
            if first is not None:
                return first.candidate, found[first]
            on_pause()
        return None

    def _batches(self) -> Iterator[list[Branch]]:
        """Yield the branches that may hold a witness, in the order of the tree.

        At first a few at a time, for a success is often near.
        """
        branches = self._settled.remaining()
        least = _BRANCHES_AT_ONCE if self._session.stops_at_success else 0
        count = _BRANCHES_AT_FIRST
        while some := list(islice(branches, count)):
            yield some
            count = min(max(2 * count, least), _BRANCHES_AT_MOST)


class SettledGroups:
    """What a growing blanket has settled for good.

    Every group that was examined has an entry: for each blanket, the candidates for which that
    blanket is settled. Groups of full size, the leaves of the tree, have one only if something is
    open there (there are too many of the others); up to ``_last_leaf``, in the order of the tree,
    leaves without an entry are settled, for they take no allies and nothing new can happen to them.
    """

    def __init__(self, order: int) -> None:
        self._order = order
        self._outside = self._blanket = EMPTY
        self._inner: dict[Variables, dict[Variables | None, Variables]] = {}
        self._open_leaves: dict[Variables, Variables] = {}  # -> candidates
        self._last_leaf: tuple[int, ...] = ()

    def begin(self, outside: Variables, blanket: Variables) -> None:
        """Begin a walk outside of a blanket that may have grown."""
        self._outside, self._blanket = outside, blanket

    def remaining(self) -> Iterator[Branch]:
        """Yield what could hold a witness, in the order of the tree."""
        outside, blanket = self._outside, self._blanket
        for group in self._groups(sorted(outside), self._order):
            n_allies = self._order - len(group)
            if n_allies == 0:
                is_open = group in self._open_leaves
                yield Branch(group, self._open_leaves[group] & outside if is_open else outside, 0)
                continue
            entry = self._inner.get(group, {None: outside})
            branches = [
                Branch(group, some & outside, n_allies, settled) for settled, some in entry.items()
            ]
            open_ones = [b for b in branches if b.candidates and b.settled != blanket]
            yield from sorted(open_ones, key=lambda branch: min(branch.candidates))

    def _groups(self, outside: list[int], order: int) -> Iterator[Variables]:
        """Yield the groups that are not settled, in the order of the tree."""
        open_leaves: dict[tuple[int, ...], list[int]] = {}
        for *prefix, last in sorted(map(sorted, filter(None, self._open_leaves))):
            open_leaves.setdefault(tuple(prefix), []).append(last)

        def below(prefix: tuple[int, ...], start: int) -> Iterator[Variables]:
            is_leaf = len(prefix) == order - 1
            followers = outside[start:]
            if is_leaf and prefix < self._last_leaf[:-1]:  # do not pass by thousands one by one
                still_outside = set(followers)
                followers = [v for v in open_leaves.get(prefix, []) if v in still_outside]
            for position, variable in enumerate(followers, start + 1):
                group = (*prefix, variable)
                if not is_leaf:
                    yield frozenset(group)
                    yield from below(group, position)
                elif group > self._last_leaf or variable in open_leaves.get(prefix, []):
                    yield frozenset(group)

        yield EMPTY
        if order:
            yield from below((), 0)

    def note(self, branches: Sequence[Branch], first: Position | None) -> None:
        """Note that branches were examined with the present blanket, up to a success."""
        outside, blanket = self._outside, self._blanket
        for number, branch in enumerate(branches):
            done, left = branch.candidates, EMPTY
            if first is not None and number == first.branch:
                done = branch.before(first.candidate).candidates
                left = branch.candidates - done
            group = branch.group
            if len(group) == self._order:
                self._last_leaf = max(self._last_leaf, tuple(sorted(group)))
                self._open_leaves.pop(group, None)
                if left:
                    self._open_leaves[group] = left
            else:
                entry = self._inner.setdefault(group, {None: outside})
                entry[branch.settled] = (entry[branch.settled] - done) & outside
                entry[blanket] = entry.get(blanket, EMPTY) | done
            if left:
                return
