"""The records that a traced run emits, one JSON object a line, as seen from outside.

They come from a hostile process: every field is bounded and validated here, and nothing in them
is trusted beyond what it says about the script itself. Lines are 1-based; files are relative to
the job's directory; library files keep their module path (`torch/nn/modules/rnn.py`).
"""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

VERSION = 1

Text = Annotated[str, Field(max_length=500)]
Count = Annotated[int, Field(ge=0, le=2**53)]

NOT_FINITE = 1e300
"""Stands for infinity and for what is not a number, which JSON cannot hold: two of them are equal,
and far from everything else."""


def _finite(value: object) -> object:
    return value if not isinstance(value, float) or isfinite(value) else NOT_FINITE


Number = Annotated[float, BeforeValidator(_finite)]


class Late(BaseModel):
    """A value whose validator is built at first use: what only reads scripts never builds it."""

    model_config = ConfigDict(defer_build=True)


class Record(Late):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Place(Record):
    """A line of the user's code; `frame` tells activations of one function apart."""

    file: Text
    line: Count
    function: Text = ""
    frame: Count = 0


class Visit(Record):
    """One call of `backward` or `autograd.grad`.

    `n` counts all such calls of the run from 1; `iteration` counts those from this very line.
    `stack` holds the user's frames, outermost first; its last entry is `at`.
    `library` names frames of libraries between the user's line and the engine (`optimizer.step`
    calling a closure, a trainer), innermost last.
    """

    n: Count
    at: Place
    stack: list[Place] = Field([], max_length=40)
    library: list[Text] = Field([], max_length=12)
    iteration: Count = 1
    kind: Literal["backward", "grad"] = "backward"
    retain: bool = False
    create_graph: bool = False
    root: list[Text] = Field([], max_length=8, description="names that held this backward's tensor")
    later: Count = Field(0, description="calls from the same line between this one and the error")


class NodeAt(Record):
    """An autograd node. `made_after` counts the backward calls completed when it was made."""

    op: Text
    at: Place | None = None
    library: Text | None = Field(None, description="the library frame that made it, if any")
    made_after: Count = 0
    number: int = Field(-1, ge=-(2**63), le=2**64, description="in the order of making, a thread")


class Holder(Record):
    """A name that held a tensor: `path` as the script spells it (`hidden[0]`, `self.h`).

    `when`: at the freeing call, or at the failing one. `container` is the type of the outermost
    thing that the name stands for (`Tensor`, `tuple`, `list`, `dict`, `deque`, class name), with
    what it holds where the path goes deeper (`list[tuple]`). `owner` is the class of the object
    whose attribute it is, which calls it `self.…`.
    """

    scope: Text
    path: Text
    kind: Literal["local", "global", "attribute", "item", "closure", "unknown"] = "local"
    container: Text = "Tensor"
    when: Literal["freed", "now"] = "now"
    frame: Count = 0
    owner: Text = ""


class Join(Record):
    """An edge by which the failing graph enters a graph that was already walked.

    `new` is the node that consumed the carried tensor (None: the tensor walked is itself old),
    `old` the node that had produced it, `raising` the first node below that was freed.
    """

    new: NodeAt | None = None
    old: NodeAt
    raising: NodeAt | None = None
    freed: Count = Field(0, description="`n` of the visit that freed it")
    holders: list[Holder] = Field([], max_length=32)
    output: Count = Field(0, description="which output of `old` was kept")
    shape: list[int] = Field([], max_length=16)
    freed_nodes: Count = 0


class Started(Record):
    t: Literal["start"]
    v: Literal[1]
    torch: Text = ""
    python: Text = ""
    entry: Text = ""
    stamps: Text = Field("", description="how nodes get their line: anomaly, lines, none")


class Parameter(Record):
    """`id` is the order of first appearance; `optimizer` that in which optimizers were made."""

    id: Count
    name: Text = ""
    shape: list[int] = Field([], max_length=16)
    optimizer: int | None = None
    requires_grad: bool = True


class Parameters(Record):
    """What is new about parameters; an entry replaces an earlier one of the same id."""

    t: Literal["parameters"]
    params: list[Parameter] = Field([], max_length=4096)


class Stale(Record):
    """A parameter whose consumer node, made before `changed_by` (a step), was walked after it."""

    param: Count
    made_at: Place | None = None
    changed_by: Count = 0


class Backward(Record):
    """`nodes`: autograd nodes reached. `reach`: how many earlier visits lie between now and the
    making of the oldest node reached (0: made since the last visit); a growing graph grows it.
    `received`: ids of parameters that got a gradient. In runs that read gradients, `loss` is the
    number whose gradient the call computes, and `again` says that an earlier backward walked its
    roots, or since the last step what they are multiples of."""

    t: Literal["backward"]
    visit: Visit
    outcome: Literal["ok", "raised"] = "ok"
    nodes: Count = 0
    reach: Count = 0
    received: list[Count] = Field([], max_length=4096)
    stale: list[Stale] = Field([], max_length=16)
    loss: Number | None = None
    again: bool = False
    kept: Count | None = Field(None, description="nodes that live tensors keep, as it begins")


class Gradient(Record):
    """A fingerprint of one gradient: its norm and three fixed pseudo-random projections."""

    param: Count
    norm: Number = 0.0
    projections: list[Number] = Field([], max_length=4)
    none: bool = False


class Step(Record):
    """One `optimizer.step()`; `optimizer=-1, at=None` is the end of the run, and
    `optimizer=-1` with a place a backward of a script that has no optimizer (yet). `fed` are the
    calls, by `n`, whose gradients its parameters hold."""

    t: Literal["step"]
    n: Count
    optimizer: int = -1
    at: Place | None = None
    after: Count = Field(0, description="backward visits completed")
    gradients: list[Gradient] = Field([], max_length=4096)
    changed: Count = Field(
        0,
        description="how many of its parameters the step changed; where they are held fixed, how "
        "many leaves a script without optimizers has tried to since the last record",
    )
    fed: list[Count] = Field([], max_length=64)
    piled: bool = Field(
        False, description="a call of its closure added to the gradients of the call before"
    )


class Reuse(Record):
    """A second walk over freed nodes. `same_root`: the tensor walked had itself been walked.

    `remade`: the failing graph also holds new nodes made at the lines of the reused ones.
    `engine`: `custom` for a hand-written autograd class; then `op` is that class's name.
    """

    t: Literal["reuse"]
    message: Text = ""
    freed: Visit
    reached: Visit
    same_root: bool = False
    remade: bool = False
    new_nodes: Count = 0
    joins: list[Join] = Field([], max_length=16)
    engine: Literal["torch", "custom"] = "torch"
    engine_class: Text = ""


class Kind(Record):
    """What a value is made of. `kind` is the builtin or torch class it is one of (by subclass too),
    `name` its own class; `graph`: a tensor that an operation made; `leaf`: one that learns.
    """

    kind: Literal[
        "tensor",
        "tuple",
        "list",
        "dict",
        "deque",
        "namedtuple",
        "dataclass",
        "object",
        "module",
        "number",
        "text",
        "none",
        "function",
        "foreign",
    ]
    name: Text = ""
    graph: bool = False
    leaf: bool = False
    frozen: bool = False
    maxlen: bool = False
    size: Count = 0
    parts: list[Part] = Field([], max_length=18)


class Part(Record):
    """A part of a value: its key as Python writes it (`'h'`, `0`; empty where it is neither a
    short text nor a number), and what it is."""

    key: Annotated[str, Field(max_length=80)] = ""
    kind: Kind


class Hop(Record):
    """A name that came to hold what was carried. `at`: the line of its frame that had just run
    (`bound`, `outlived`), the function's own (`argument`), or the return (`returned`).

    `name` spells the outermost plain structure (`self.state`, or nothing for a returned value),
    `kind` says what that is; `paths` lead on to the tensors, each that of a join in `carries`.
    `outlived`: seen right behind the freeing call. `none_before`: it was None at first.
    """

    at: Place
    how: Literal["bound", "argument", "returned", "outlived"]
    name: Text = ""
    paths: list[Text] = Field([], max_length=16)
    carries: list[Count] = Field([], max_length=16)
    after: Count = 0
    none_before: bool = False
    kind: Kind


class Path(Record):
    """How a carried value went from its making to where it was used again."""

    t: Literal["path"]
    hops: list[Hop] = Field([], max_length=128)


class Changed(Record):
    """A line that changed a tensor in place, and the op that did it."""

    at: Place | None = None
    op: Text = ""
    library: Text | None = None
    version: Count = 0
    after: Count = 0


class Inplace(Record):
    """A saved tensor that was changed before the backward that needs it.

    `node` saved it; `holders` name the stale tensor; `changes` are the lines that changed it
    (filled by the slower run). `kind` follows PyTorch's three errors: a stale saved tensor, a
    leaf that requires grad, a view whose base or siblings forbid it.
    """

    t: Literal["inplace"]
    message: Text = ""
    kind: Literal["saved", "leaf", "view"] = "saved"
    reached: Visit | None = None
    at: Place | None = None
    node: NodeAt | None = None
    holders: list[Holder] = Field([], max_length=32)
    parameter: Text | None = None
    is_parameter: bool = False
    shape: list[int] = Field([], max_length=16)
    saved_version: Count = 0
    found_version: Count = 0
    changes: list[Changed] = Field([], max_length=16)


class Missing(Record):
    """A backward or gradient that found no graph. `ended_at`: where the graph was lost, if seen;
    `ended_stack`: the calls around it, outermost first, where recording was off.

    `how`: item, data, detach, tensor, numpy, no_grad, argmax, leaf, unknown, ...
    """

    t: Literal["missing"]
    message: Text = ""
    at: Place | None = None
    stack: list[Place] = Field([], max_length=40)
    holders: list[Holder] = Field([], max_length=32)
    ended_at: Place | None = None
    ended_stack: list[Place] = Field([], max_length=40)
    how: Text = "unknown"
    op: Text = ""
    shape: list[int] = Field([], max_length=16)


class Silent(Record):
    """Something wrong that raised nothing.

    `kind`: growing-graph, reaching-back, overwritten-gradient, uncleared-gradients,
    unfed-parameters. `figures` is what was measured (nodes per backward, gradient norms, ...).
    """

    t: Literal["silent"]
    kind: Text
    at: Place | None = None
    holders: list[Holder] = Field([], max_length=32)
    params: list[Text] = Field([], max_length=64)
    figures: list[Number] = Field([], max_length=64)
    visit: Visit | None = None
    detail: Text = ""


class StandIn(Record):
    """A substitute that the run used (`cuda`, `wandb`, `torchvision.datasets.MNIST`)."""

    t: Literal["stand_in"]
    name: Text
    detail: Text = ""


class Needs(Record):
    """Something the script wants that has no stand-in: a file, a package, an argument."""

    t: Literal["needs"]
    kind: Literal["file", "package", "argument", "input", "network", "device"]
    name: Text
    detail: Text = ""


class Assumed(Record):
    """Something that was not sent and was put in its place, so that the script could run.

    `name` as the script spells it (`netD`, `--lr`, `data/train.csv`); `text` is a whole sentence
    for the user.
    """

    t: Literal["assumed"]
    kind: Literal["import", "package", "file", "argument", "name", "api"]
    name: Text
    text: Text = ""


Size = Annotated[int, Field(ge=0, le=1 << 20)]
Shape = Annotated[list[Size], Field(max_length=8)]


class Plan(Record):
    """The decisions that made the world of a completed run, by value path (`netD`, `loader[]`).

    See `sandbox.inside.worlds.plan`: later runs of the same text follow it.
    """

    kinds: dict[Text, Text] = Field({}, max_length=256)
    shapes: dict[Text, Shape] = Field({}, max_length=256)
    whole: dict[Text, Size] = Field({}, max_length=256)
    data: Literal["plain", "leaf", "graph"] = "plain"
    shared: bool = False
    weights: bool = False
    moves: bool = True
    repeats: bool = False
    longer: bool = False
    skip: list[Text] = Field([], max_length=64)
    engine: Annotated[str, Field(max_length=4000)] = ""
    carried: bool = False


class Planned(Plan):
    """`shows`: the world raised the wanted error; or, where none was wanted, one that does not
    hang on what was made up."""

    t: Literal["world"]
    shows: bool = False


class FailedAt(Place):
    """A frame of a traceback, the user's or a library's; `code` is the line's text."""

    code: Text = ""


class Failed(Record):
    """The exception that ended the script. `frames` are outermost first."""

    t: Literal["raised"]
    type: Text
    message: Annotated[str, Field(max_length=4000)] = ""
    frames: list[FailedAt] = Field([], max_length=64)


class Ended(Record):
    t: Literal["end"]
    reason: Literal["finished", "stopped", "raised"]
    backwards: Count = 0
    steps: Count = 0
    peak_memory_mib: float = 0.0
    truncated: list[Text] = Field([], max_length=16)
    tampered: list[Text] = Field([], max_length=16)
    records: Count | None = Field(None, description="how many were written, this one included")


class Trace(Late):
    """All records of one run, validated. Counted rather than complete where a bound was met."""

    started: Started | None = None
    parameters: list[Parameter] = []
    backwards: list[Backward] = []
    steps: list[Step] = []
    reuse: Reuse | None = None
    path: Path | None = None
    inplace: Inplace | None = None
    missing: Missing | None = None
    failed: Failed | None = None
    silent: list[Silent] = []
    stand_ins: list[StandIn] = []
    needs: list[Needs] = []
    assumed: list[Assumed] = []
    plan: Planned | None = None
    ended: Ended | None = None
    rejected: int = Field(0, description="lines that were not valid records")
    truncated: bool = False
