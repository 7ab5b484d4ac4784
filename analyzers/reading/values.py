"""The values of the abstract interpreter: what a name may denote, and the graph of it."""

from __future__ import annotations

import ast
import itertools
from collections import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from analyzers.reading.graph import Lost, NameBinding, Storage, TapeNode

if TYPE_CHECKING:
    from analyzers.reading.frames import InterpreterFrame


Shape = tuple[int | None, ...]  # sizes that are not known are None
_keys = itertools.count(1)


class AbstractValue:
    """Anything; by itself, something without a graph of which nothing else is known.

    `keeps_names`: it notes which names took it on, even where it carries no graph.
    """

    __slots__ = ()
    keeps_names: ClassVar[bool] = False
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

    keeps_names = True
    shape: Shape | None = None
    view = False
    siblings = False
    whole: AbstractTensor | None = None  # what it is an item of, if that may be a collection
    grad_cut: Lost | None = None
    keeps_grad = False

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
        self.lost = lost  # type: ignore[misc]


class Unknown(AbstractValue):
    """Something not seen: it may be anything, and may carry a graph.

    `data`: certainly without one (a batch). `origin`: how the script spells it, to distinguish
    models from functions. `built`: an object that a constructor made of nothing that carries a
    graph, so no tensor. `lost`: the graph that it was computed from ended there. `key` identifies
    it in assumptions about conditions. `whole`: what a loop took it from. `given`: the tensors that
    its constructor got, of which a data set or loader hands out parts.
    """

    __slots__ = ("attrs", "built", "data", "given", "key", "lost", "node", "origin", "whole")

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
        self.given: list[AbstractTensor] = []


class Sequence(AbstractValue):
    """A list, tuple, set, deque or generator; `open`: it may hold more than what is listed."""

    __slots__ = ("items", "kind", "maxlen", "names", "open")
    keeps_names = True

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
    keeps_names = True

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

    @property
    def keeps_names(self) -> bool:  # type: ignore[override]
        return self.cls.fields is not None


class FunctionValue(AbstractValue):
    """A function of the script with the frame it closes over; `getter`: the property that a
    setter belongs to."""

    __slots__ = (
        "cached",
        "defaults",
        "definition",
        "frame",
        "getter",
        "name",
        "no_grad",
        "owner",
        "tags",
    )

    def __init__(
        self,
        definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        frame: InterpreterFrame,
    ) -> None:
        self.definition = definition
        self.name: str = getattr(definition, "name", "<lambda>")
        self.frame = frame
        self.defaults: dict[str, AbstractValue] = {}
        self.owner: Class | None = None
        self.tags: frozenset[str] = frozenset()
        self.no_grad = False
        self.cached: dict[object, AbstractValue] | None = None
        self.getter: FunctionValue | None = None

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
