"""Record the path of a carried value."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from provenance import Binding
from sandbox.records.base import Record

SHAPE_DEPTH = 6  # the tracer records no more levels: what lies deeper is forged


def _without_forged_levels(binding: Binding) -> Binding:
    return replace(binding, kind=binding.kind.cut_below(SHAPE_DEPTH))


class Path(Record):
    """The bindings of a carried value from its definition to its second use, in order."""

    t: Literal["path"]
    bindings: Annotated[
        tuple[Annotated[Binding, AfterValidator(_without_forged_levels)], ...],
        Field(max_length=128),
    ] = ()
