"""Bound what a field may hold, for validators of untrusted data; nothing is checked without one."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le, MaxLen

Text = Annotated[str, MaxLen(500)]
Count = Annotated[int, Ge(0), Le(2**53)]
