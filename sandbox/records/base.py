"""Define the base of all records: bounded text, counts and numbers."""

from __future__ import annotations

from math import isfinite
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Text = Annotated[str, Field(max_length=500)]
Count = Annotated[int, Field(ge=0, le=2**53)]
NOT_FINITE = 1e300
"""Stands for infinity and for what is not a number, which JSON cannot hold: two of them are equal,
and far from everything else."""


def _finite(value: object) -> object:
    return value if not isinstance(value, float) or isfinite(value) else NOT_FINITE


Number = Annotated[float, BeforeValidator(_finite)]


class Late(BaseModel):
    """A value whose validator is built at first use, so that static analysis never builds it."""

    model_config = ConfigDict(defer_build=True)


class Record(Late):
    model_config = ConfigDict(extra="ignore", frozen=True)
