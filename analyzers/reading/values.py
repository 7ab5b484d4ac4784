"""The values of the abstract interpreter: what a name may denote, and the graph of it."""

from __future__ import annotations

import ast
import itertools
from collections import abc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from analyzers.reading.graph import Lost, NameBinding, Storage, TapeNode
from provenance import CodeLine

if TYPE_CHECKING:
    from analyzers.reading.frames import InterpreterFrame


Shape = tuple[int | None, ...]  # sizes that are not known are None
_keys = itertools.count(1)


class AbstractValue:
    """Anything; by itself, something without a graph of which nothing else is known."""

    __slots__ = ()
    node: ClassVar[TapeNode | None] = None
    lost: ClassVar[Lost | None] = None
    names: ClassVar[list[NameBinding] | None] = None


class Const(AbstractValue):
    """A Python value known exactly: number, string, bytes, None, True, False."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


NONE = Const(None)


class AbstractTensor(AbstractValue):
    """A tensor: with a graph (`node`), or certainly without one (`lost` says since where)."""

    __slots__ = (
        "grad_cut",
        "keeps_grad",
        "lost",
        "node",
        "scalar",
        "shape",
        "siblings",
        "storage",
        "view",
        "whole",
    )

    def __init__(
        self,
        node: TapeNode | None = None,
        storage: Storage | None = None,
        scalar: bool | None = None,
        lost: Lost | None = None,
    ) -> None:
        self.node = node  # type: ignore[misc]
        self.storage = storage or Storage()
        self.scalar = scalar
        self.shape: Shape | None = None
        self.lost = lost  # type: ignore[misc]
        self.view = False
        self.siblings = False
        self.whole: AbstractTensor | None = (
            None  # what it is an item of, if that may be a collection
        )
        self.grad_cut: Lost | None = None
        self.keeps_grad = False


class Unknown(AbstractValue):
    """Something not seen: it may be anything, and may carry a graph.

    `data`: certainly without one (a batch). `origin`: how the script spells it, for telling
    models from functions. `built`: an object that a constructor made of nothing that carries a
    graph, so no tensor. `lost`: the graph that it was computed from ended there. `key` identifies
    it in assumptions about conditions. `whole`: what a loop took it from.
    """

    __slots__ = ("attrs", "built", "data", "key", "lost", "node", "origin", "whole")

    def __init__(
        self,
        origin: str = "",
        node: TapeNode | None = None,
        data: bool = False,
        lost: Lost | None = None,
    ) -> None:
        self.origin = origin
        self.node = node  # type: ignore[misc]
        self.data = data
        self.lost = lost  # type: ignore[misc]
        self.attrs: dict[str, AbstractValue] = {}
        self.key: object = next(_keys)
        self.built = False
        self.whole: Unknown | None = None


class Sequence(AbstractValue):
    """A list, tuple, set, deque or generator; `open`: it may hold more than what is listed."""

    __slots__ = ("items", "kind", "maxlen", "names", "open")

    def __init__(self, items: list[AbstractValue], kind: str = "list", open_: bool = False) -> None:
        self.items = items
        self.kind = kind
        self.open = open_
        self.maxlen: int | None = None
        self.names: list[NameBinding] = []  # type: ignore[misc]


OTHERS = "**"  # among arguments by name: one whose name is not known


class Mapping(AbstractValue):
    """A dict. Values under keys that are not known exactly are in `rest`; `factory` makes those
    that are missing."""

    __slots__ = ("factory", "items", "names", "rest")

    def __init__(self, items: abc.Mapping[Any, AbstractValue] | None = None) -> None:
        self.items: dict[object, AbstractValue] = dict(items or {})
        self.rest: list[AbstractValue] = []
        self.factory: AbstractValue | None = None
        self.names: list[NameBinding] = []  # type: ignore[misc]

    @classmethod
    def of(cls, attrs: dict[str, AbstractValue]) -> Mapping:
        """Return the `__dict__` of an object: changes to it change the object."""
        found = cls()
        found.items = attrs  # type: ignore[assignment]
        return found


class Class(AbstractValue):
    """A class of the script; `bases` are classes, library names or unknowns."""

    __slots__ = ("_inherited", "attrs", "bases", "definition", "engine", "fields", "frame")

    def __init__(
        self, definition: ast.ClassDef, bases: list[AbstractValue], frame: InterpreterFrame
    ) -> None:
        self.definition = definition
        self.bases = bases
        self.frame = frame
        self.attrs: dict[str, AbstractValue] = {}
        self.fields: list[str] | None = None
        self.engine = ""  # the method that runs backward over a graph of its instances
        self._inherited: list[Class] | None = None

    @property
    def name(self) -> str:
        return self.definition.name

    def lineage(self) -> list[Class]:
        """Return the class and its bases within the script, in lookup order (depth first)."""
        return [self, *self._bases_of_script()]

    def _bases_of_script(self) -> list[Class]:
        if self._inherited is None:
            found: list[Class] = []
            self._inherited = found
            todo = list(self.bases)
            while todo and len(found) < 31:
                current = todo.pop(0)
                if isinstance(current, Class) and current is not self and current not in found:
                    found.append(current)
                    todo = [*current.bases, *todo]
        return self._inherited

    def lookup(self, name: str) -> AbstractValue | None:
        found = self.attrs.get(name)
        for owner in self._bases_of_script() if found is None else ():
            if name in owner.attrs:
                return owner.attrs[name]
        return found

    def library_bases(self) -> list[str]:
        """Return the dotted names of bases from outside the script."""
        return [
            base.path if isinstance(base, Library) else getattr(base, "origin", "")
            for owner in self.lineage()
            for base in owner.bases
            if not isinstance(base, Class)
        ]


class Instance(AbstractValue):
    """An object of a class of the script; `node` only for hand-written engines."""

    __slots__ = ("attrs", "cls", "logs", "node")

    def __init__(self, cls: Class) -> None:
        self.cls = cls
        self.attrs: dict[str, AbstractValue] = {}
        self.logs: dict[str, list[int]] = {}
        self.node: TapeNode | None = None  # type: ignore[misc]


class FunctionValue(AbstractValue):
    """A function of the script with the frame it closes over; `getter`: the property that a
    setter belongs to."""

    __slots__ = ("cached", "defaults", "definition", "frame", "getter", "no_grad", "owner", "tags")

    def __init__(
        self,
        definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        frame: InterpreterFrame,
    ) -> None:
        self.definition = definition
        self.frame = frame
        self.defaults: dict[str, AbstractValue] = {}
        self.owner: Class | None = None
        self.tags: frozenset[str] = frozenset()
        self.no_grad = False
        self.cached: dict[object, AbstractValue] | None = None
        self.getter: FunctionValue | None = None

    @property
    def name(self) -> str:
        return getattr(self.definition, "name", "<lambda>")

    @property
    def qualified(self) -> str:
        """Return the qualified name, as tracebacks show it."""
        outer = self.frame.function
        if self.owner is not None:
            return f"{self.owner.name}.{self.name}"
        return f"{outer}.<locals>.{self.name}" if outer not in ("", "<module>") else self.name


@dataclass(slots=True)
class Bound(AbstractValue):
    """A script function with its first argument already given."""

    function: FunctionValue
    receiver: AbstractValue


@dataclass(slots=True)
class Super(AbstractValue):
    """The result of `super()`: lookups start after `owner`."""

    receiver: Instance
    owner: Class


@dataclass(slots=True)
class MethodValue(AbstractValue):
    """A method of a built-in or library value, by name."""

    receiver: AbstractValue
    name: str


@dataclass(slots=True)
class Library(AbstractValue):
    """Something imported, by its dotted name: `torch.nn.functional.relu`, `builtins.len`."""

    path: str


@dataclass(slots=True)
class Native(AbstractValue):
    """A function of the interpreter's own."""

    call: Callable[[list[AbstractValue], dict[str, AbstractValue]], AbstractValue]


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


# Values that note which names took them on, even where they carry no graph.
KEEPS_NAMES = (AbstractTensor, Sequence, Mapping, Instance, GradientValue)
