"""Define the base of all records: numbers, and what all records do."""

from __future__ import annotations

from math import isfinite
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

NOT_FINITE = 1e300
"""Denotes infinity and what is not a number, which JSON cannot hold: two of them are equal,
and far from everything else."""


def _finite(value: object) -> object:
    return value if not isinstance(value, float) or isfinite(value) else NOT_FINITE


Number = Annotated[float, BeforeValidator(_finite)]


class LazyModel(BaseModel):
    """A value whose validator is built at first use, so that static analysis never builds it."""

    model_config = ConfigDict(defer_build=True)


class Record(LazyModel):
    model_config = ConfigDict(extra="ignore", frozen=True)
