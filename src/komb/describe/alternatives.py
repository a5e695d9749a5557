"""Other blankets with the same information (TIE*; Statnikov, Lytkin, Lemeire & Aliferis 2013).

Columns of a blanket are taken away and the rest of the table is searched again. What is found is
another blanket if the two leave nothing for each other to tell; then columns of that one are taken
away as well. Columns that cannot be spared are not taken away together with others.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from komb.data.checks import check_count
from komb.data.names import Name
from komb.engine.questions import EMPTY, Variables
from komb.search._remarks import tells_the_same

if TYPE_CHECKING:
    from komb.api.run import Run
    from komb.results.blanket import Blanket

MOST_SEARCHES = 50


def find_alternatives(run: Run, blanket: Blanket, most: int) -> tuple[tuple[Name, ...], ...]:
    """Return blankets with the same information, the one that is there first."""
    check_count("most", most, 1)
    tests, run, target = run.open_engine(), run.ordered(), run.data.index(blanket.target)
    engine, order = run.open_engine(), {x: place for place, x in enumerate(run.order)}
    found, needed, done = [run.positions(blanket)], list[Variables](), set[Variables]()
    waiting = deque([(EMPTY, found[0])])
    while waiting:
        before, members = waiting.popleft()
        for x in sorted(members.difference(run.include), key=lambda x: order.get(x, x)):
            gone = before | {x}
            if gone in done or any(each <= gone for each in needed):
                continue
            if len(found) == most or len(done) == MOST_SEARCHES:
                break
            done.add(gone)
            rest = replace(run, left_out=(*run.left_out, *gone))
            other = frozenset(rest.search_for(target, engine=engine).found.witnesses)
            first, both = found[0], found[0] & other
            if other not in found:
                if not tells_the_same(tests, target, first - both, other - both, both):
                    needed.append(gone)
                    continue
                found.append(other)
            waiting.append((gone, other))
    return tuple(run.named(each) for each in found)
