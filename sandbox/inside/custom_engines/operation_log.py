"""What a hand-written engine has computed up to its first backward call, so that each operation can
be called again."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType
from typing import Any

from ..core import frames
from ..core.value_parts import attributes
from .instances import Instances

MOST = 8192  # instances: larger graphs are not looked at
BYTES = 32 * 2**20  # of numbers in them
OUTWARD = 3  # frames: an operation, and what it leaves the making of the instance to


@dataclass(slots=True)
class OperationCall:
    """A call of a function of the script's, with its arguments by name."""

    function: FunctionType
    arguments: dict[str, Any]

    @property
    def code(self) -> CodeType:
        """Return what the function runs."""
        return self.function.__code__

    def again(self, given: Mapping[str, Any]) -> Any:
        """Return what the function returns for other arguments."""
        code = self.code
        names = code.co_varnames
        count, only = code.co_argcount, code.co_kwonlyargcount
        positional = [given[name] for name in names[:count]]
        keywords = {name: given[name] for name in names[count : count + only]}
        end = count + only
        if code.co_flags & inspect.CO_VARARGS:
            positional += given[names[end]]
            end += 1
        if code.co_flags & inspect.CO_VARKEYWORDS:
            keywords |= given[names[end]]
        return self.function(*positional, **keywords)


@dataclass(slots=True)
class ComputedNode:
    """An instance in the graph of the first backward call: what it was made from, and its numbers,
    by attribute, as that call began (`before`) and as it ended (`after`).

    `calls`: those under way as it was made, innermost first; none for a leaf.
    """

    instance: Any
    parents: list[Any]
    calls: Sequence[OperationCall]
    before: dict[str, Any]
    after: dict[str, Any] = field(default_factory=dict)


class OperationLog:
    """Notes the calls that make instances, until the first backward call has ended."""

    def __init__(self, instances: Instances) -> None:
        self._instances = instances
        self._functions: dict[int, FunctionType | None] = {}
        self.ended = False
        self.nodes: list[ComputedNode] = []
        self.root: Any = None
        self.walker: Any = None

    def note(self, instance: Any, maker: FrameType) -> None:
        """Note an instance that a function is making of those it was given."""
        made = self._instances.of(instance)
        if made is not None and not self.ended:
            made.calls = tuple(self._calls(maker))

    def _calls(self, maker: FrameType | None) -> Iterator[OperationCall]:
        for _ in range(OUTWARD):
            if maker is None or maker.f_code.co_name == "<module>":
                return
            given = _given(maker)
            if not self._instances.any_in(given.values()):
                return
            if (function := self._function(maker, given)) is not None:
                yield OperationCall(function, given)
            maker = frames.user_frame(maker.f_back)

    def _function(self, frame: FrameType, given: Mapping[str, Any]) -> FunctionType | None:
        code = frame.f_code
        if id(code) not in self._functions:
            found = (f for f in _reachable(frame, given) if f.__code__ is code)
            self._functions[id(code)] = next(found, None)
        return self._functions[id(code)]

    def begin(self, root: Any, nodes: Sequence[Any]) -> None:
        """Note the graph as a backward call begins, unless it is too large."""
        if self.ended:
            return
        self.nodes, self.root = [], root
        if len(nodes) > MOST:
            return
        found = [self._node(node) for node in sorted(nodes, key=self._instances.number)]
        if sum(_bytes(value) for node in found for value in node.before.values()) <= BYTES:
            self.nodes = found

    def _node(self, instance: Any) -> ComputedNode:
        parents = list(self._instances.parents(instance))
        made = self._instances.of(instance)
        calls = made.calls if made is not None and parents else ()
        return ComputedNode(instance, parents, calls, numbers_of(instance))

    def end(self, walker: Any) -> None:
        """Note what the call, the first, has left."""
        if not self.ended and self.nodes:
            self.ended = True
            self.walker = walker
            for node in self.nodes:
                node.after = numbers_of(node.instance)
            self._instances.forget_calls()


def numbers_of(instance: Any) -> dict[str, Any]:
    """Return the numbers and arrays of numbers that an instance holds, arrays copied."""
    return {name: _kept(value) for name, value in attributes(instance) if is_number(value)}


def _bytes(value: Any) -> int:
    return int(getattr(value, "nbytes", 0))


def _kept(value: Any) -> Any:
    return value.copy() if hasattr(value, "__array_interface__") else value


def is_number(value: Any) -> bool:
    """Return True for a real number, or an array of them."""
    if hasattr(value, "__array_interface__"):
        return getattr(getattr(value, "dtype", None), "kind", "") in "fiu"
    return isinstance(value, int | float) and not isinstance(value, bool)


def _given(frame: FrameType) -> dict[str, Any]:
    """Return the arguments of a call, as its function holds them now."""
    code, held = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS)
    count += bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return {name: held[name] for name in code.co_varnames[:count] if name in held}


def _reachable(frame: FrameType, given: Mapping[str, Any]) -> Iterator[FunctionType]:
    """Yield the functions that a frame may be a call of: its first argument's methods, and those
    of its module and of the classes there."""
    first = next(iter(given.values()), None)
    owners = [*(first.__mro__ if isinstance(first, type) else type(first).__mro__)]
    owners += [value for value in list(frame.f_globals.values()) if isinstance(value, type)]
    held: Iterable[Any] = [
        *(value for owner in owners for value in list(vars(owner).values())),
        *list(frame.f_globals.values()),
    ]
    for value in held:
        value = getattr(value, "__func__", value)
        value = getattr(value, "__wrapped__", value)
        if isinstance(value, FunctionType):
            yield value
