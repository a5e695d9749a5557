"""What columns may be called."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

Name: TypeAlias = Hashable
