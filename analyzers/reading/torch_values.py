"""Define the values that torch's own objects have in a symbolic run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from analyzers.reading.graph import NameBinding, TapeNode
from analyzers.reading.values import (
    NONE,
    AbstractTensor,
    AbstractValue,
)
from provenance import CodeLine


class Layer(AbstractValue):
    """An `nn` layer: its kind, its parameters as one leaf, and its children."""

    __slots__ = ("attrs", "children", "kind", "leaf", "options")

    def __init__(
        self, kind: str, leaf: AbstractTensor | None, children: list[AbstractValue]
    ) -> None:
        self.kind = kind
        self.leaf = leaf
        self.children = children
        self.options: dict[str, AbstractValue] = {}
        self.attrs: dict[str, AbstractValue] = {}


@dataclass(slots=True)
class StreamValue(AbstractValue):
    """Something to iterate over; `exact`: it yields what the script's would, and ends."""

    make: Callable[[], Iterator[AbstractValue]]
    exact: bool = False


@dataclass(slots=True)
class ParametersValue(AbstractValue):
    """The parameters of something, looked up when they are needed; `named`: with their names."""

    source: AbstractValue
    named: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """A version of `leaf.grad` as a line read it.

    It says which of the tensors that it has been, and how many backward calls had added to those.
    """

    leaf: TapeNode
    tensor: int
    written: int
    at: CodeLine


@dataclass(slots=True)
class GradientValue(AbstractValue):
    """`p.grad` of a leaf, or something computed from gradients alone.

    `taken`: the tensors that it is, or was computed from after `computed` backward calls.
    """

    leaf: TapeNode
    taken: tuple[Taken, ...] = ()
    computed: int | None = None
    names: list[NameBinding] = field(default_factory=list)  # type: ignore[misc]
    keeps_names: ClassVar[bool] = True


class OptimizerValue(AbstractValue):
    """An optimizer over parameters; `kind` is its class.

    `last_step`: how many backward calls and clearings came before the last of its `steps`.
    """

    __slots__ = ("attrs", "kind", "last_step", "params", "steps")

    def __init__(self, params: AbstractValue, kind: str) -> None:
        self.params = params
        self.kind = kind
        self.attrs: dict[str, AbstractValue] = {}
        self.last_step: tuple[int, int] | None = None
        self.steps = 0


@dataclass(slots=True)
class Context(AbstractValue):
    """A context manager or decorator that turns recording on or off (None: does neither)."""

    grad: bool | None
    value: AbstractValue = NONE
