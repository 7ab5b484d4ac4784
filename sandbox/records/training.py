"""Record each backward call and each step of a run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from provenance import BackwardCall, CodeLine, Count, Text
from sandbox.records.base import Number, Record

Print = Annotated[list[Number], Field(max_length=4)]
"""Of a tensor: its norm and three fixed pseudo-random projections, or these alone."""


class Parameter(Record):
    """A parameter. `id` is the order of first appearance; `optimizer` the order in which optimizers
    were created. `unmoved` is its position among all that optimizers hold, if a run at fixed
    parameters leaves it as it begins because a graph led to it before. `read`: the script read its
    gradient; recorded only if a script without optimizers runs at fixed parameters. `numbers`:
    numbers of values that were given to NumPy in a reference and depend on it. `first`: norm and
    projections of its initial value, in runs that read gradients. `excused`: it needs no gradient,
    because nothing that comes of it is used, or the script moves it itself.
    """

    id: Count
    name: Text = ""
    shape: list[int] = Field([], max_length=16)
    optimizer: int | None = None
    requires_grad: bool = True
    unmoved: Count | None = None
    read: bool = False
    numbers: list[Count] = Field([], max_length=16)
    first: Print = Field([])
    excused: bool = False


class ParameterFacts(Record):
    """New facts about parameters; an entry replaces an earlier one of the same id."""

    t: Literal["parameters"]
    params: list[Parameter] = Field([], max_length=4096)


class Stale(Record):
    """A parameter whose consumer node was made before a step changed it and was reached by a
    backward call after it. `by_hand`: the script did, by a write that autograd does not count.
    """

    param: Count
    by_hand: bool = False


class Backward(Record):
    """A backward call. `nodes`: autograd nodes reached. `reach`: how many earlier calls lie between
    now and the making of the oldest node reached (0: made since the last call); it rises with a
    growing graph. `received`: ids of parameters that got a gradient. In runs that read gradients,
    `loss` is the number whose gradient the call computes, `terms` how many terms with a graph it is
    the sum of, `new_terms` how many of those no backward call had reached before. `repeated`: an
    earlier backward call used its roots, or since the last step all that they are sums or multiples
    of. `has_graph`: it returned gradients that can be differentiated. `through`: the calls, by `n`,
    whose returned gradients it differentiates.
    """

    t: Literal["backward"]
    call: BackwardCall
    outcome: Literal["ok", "raised"] = "ok"
    nodes: Count = 0
    reach: Count = 0
    received: list[Count] = Field([], max_length=4096)
    stale: list[Stale] = Field([], max_length=16)
    loss: Number | None = None
    terms: Count = 0
    new_terms: Count = 0
    repeated: bool = False
    has_graph: bool = False
    through: list[Count] = Field([], max_length=64)
    kept: Count | None = Field(None, description="nodes that live tensors keep, as it begins")


class Gradient(Record):
    """A fingerprint of one gradient: its norm and three fixed pseudo-random projections. `fed`: the
    calls that it came from, by `n`. In runs that record the training's state: `values` of the
    parameter as the step begins, by how much the projections `change`, and which of the step's
    `settings` are its own."""

    param: Count
    norm: Number = 0.0
    projections: list[Number] = Field([], max_length=4)
    none: bool = False
    fed: list[Count] = Field([], max_length=64)
    values: Print = Field([])
    change: Print = Field([])
    group: Count = 0


class NonFinite(Record):
    """The first backward call whose loss is `value`: NaN, inf or -inf. `before`: the last finite
    losses of its line, oldest first. `params`: parameters that were not finite as it began."""

    t: Literal["non_finite"]
    call: BackwardCall
    value: Text = ""
    before: list[Number] = Field([], max_length=16)
    params: list[Text] = Field([], max_length=64)


class UntrainedTensor(Record):
    """A buffer, or a parameter that no optimizer has, of a module of this class."""

    name: Text
    shape: list[int] = Field([], max_length=16)
    parameter: bool = False
    values: Print = Field([])


class ParameterValue(Record):
    """The value of a parameter."""

    param: Count
    values: Print = Field([])


class Final(Record):
    """The state at the end of the run, recorded with the training's state."""

    t: Literal["final"]
    values: list[ParameterValue] = Field([], max_length=4096)
    others: list[UntrainedTensor] = Field([], max_length=512)
    random: Text = ""
    optimizer_steps: list[Count] = Field([], max_length=4096, description="steps of each optimizer")


class Precision(Record):
    """The precisions other than torch's own that a script asked for, of a run in double."""

    t: Literal["precision"]
    asked: list[Text] = Field([], max_length=16)


class Unused(Record):
    """Parameters whose gradient of a call was cleared before any step took it."""

    call: Count
    params: list[Count] = Field([], max_length=4096)


class Step(Record):
    """One `optimizer.step()`; `optimizer=-1, at=None` is the end of the run, and `optimizer=-1`
    with a place is a backward call of a script that has no optimizer (yet). `fed` are the calls, by
    `n`, whose gradients its parameters hold; `unused` is what was cleared since the record before
    this one.
    """

    t: Literal["step"]
    n: Count
    optimizer: int = -1
    at: CodeLine | None = None
    after: Count = Field(0, description="backward calls completed")
    gradients: list[Gradient] = Field([], max_length=4096)
    changed: Count = Field(
        0,
        description="how many of its parameters the step changed; where they are held fixed, how "
        "many leaves a script without optimizers has tried to since the last record",
    )
    fed: list[Count] = Field([], max_length=64)
    unused: list[Unused] = Field([], max_length=64)
    closure_accumulated: bool = Field(
        False, description="a call of its closure added to the gradients of the call before"
    )
    count: Count = Field(0, description="which step of its optimizer, or by hand, it is")
    kind: Text = Field("", description="the optimizer's class, where the state is recorded")
    settings: list[dict[Text, list[Number] | Text]] = Field([], max_length=64)
    others: list[UntrainedTensor] = Field([], max_length=512)
    random: Text = Field("", description="a digest of the generators of random numbers")
