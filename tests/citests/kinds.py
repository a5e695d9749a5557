"""Every registered test with every rule for its degrees of freedom that makes a difference."""

from __future__ import annotations

import pytest

from komb.citests import tests as registered
from komb.citests.contract import DF_RULES

HAS_NO_FREEDOM = {"perm", "sci"}

#: Shuffles in plain Python: ``test_perm.py`` compares on fewer tables.
HAS_SLOW_TWIN = {"perm"}

EVERY_TEST = [
    pytest.param(name, df, id=f"{name}-{df}")
    for name, info in registered().items()
    if name not in HAS_SLOW_TWIN
    for df in (DF_RULES if info.implementation.has_df_rule else DF_RULES[:1])
]
