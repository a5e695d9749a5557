"""Every registered test with every rule for its degrees of freedom that makes a difference."""

from __future__ import annotations

import pytest

from komb.citests import tests as registered
from komb.citests.contract import DF_RULES

HAS_NO_FREEDOM = {"perm", "sci"}

HAS_OWN_FREEDOM = {"auto"}

#: Shuffles in plain Python: ``test_perm.py`` compares on fewer tables.
HAS_SLOW_TWIN = {"perm"}

EVERY_TEST = [
    pytest.param(name, df, id=f"{name}-{df}")
    for name in registered()
    if name not in HAS_SLOW_TWIN
    for df in (DF_RULES[:1] if name in HAS_NO_FREEDOM | HAS_OWN_FREEDOM else DF_RULES)
]
