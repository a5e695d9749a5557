"""Every registered test with every rule for its degrees of freedom that makes a difference."""

from __future__ import annotations

import pytest

from komb.citests import tests as registered
from komb.citests.contract import DF_RULES, RuleTest

HAS_NO_FREEDOM = {"perm", "sci"}

#: Shuffles in plain Python: ``test_perm.py`` compares on fewer tables.
HAS_SLOW_TWIN = {"perm"}


def df_rules_of(name: str) -> tuple[str, ...]:
    """Return the rules for degrees of freedom that make a difference to a test."""
    has_rule = registered()[name].implementation.has_df_rule
    return DF_RULES if has_rule else DF_RULES[:1]


#: Those that the compiled judge decides, by name.
RULE_TESTS = tuple(
    name for name, info in registered().items() if issubclass(info.implementation, RuleTest)
)

EVERY_TEST = [
    pytest.param(name, df, id=f"{name}-{df}")
    for name in registered()
    if name not in HAS_SLOW_TWIN
    for df in df_rules_of(name)
]
