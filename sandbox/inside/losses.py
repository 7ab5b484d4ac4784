"""A log of where tensors lost their graph, by line; for the slower second run."""

from __future__ import annotations

import linecache
import re
import sys
import weakref
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from . import frames
from .frames import Json

_torch: Any = torch
KEPT = 50_000
DEPTH, MANY = 4, 256  # of lists in each other, and tensors in them
LOOKS, NODES = 4, 2000  # calls of one line whose graphs are looked through, and so far
_FACTORIES = ("tensor", "as_tensor", "asarray", "from_numpy", "FloatTensor")


@dataclass(frozen=True)
class Ended:
    """Where a graph ended, and by what: `how` is a call's name, `data`, or `no_grad`."""

    at: Json | None
    how: str
    op: str
    stack: tuple[Json, ...] = ()  # outermost first, where recording was off: somewhere on the way
    leaves: frozenset[int] = frozenset()  # ids of those that fed the graph, as far as was looked


class LossLog(TorchFunctionMode):
    """Follows values that came from a graph and have none, through every call of torch.

    Numbers and arrays that left torch (`.item()`, `.numpy()`) are followed by value, so that a
    tensor made of them again still tells where its graph ended.
    """

    def __init__(self) -> None:
        super().__init__()
        self._tensors: OrderedDict[int, tuple[weakref.ref[torch.Tensor], Ended]] = OrderedDict()
        self._values: OrderedDict[object, Ended] = OrderedDict()
        self._looked: Counter[tuple[str, str]] = Counter()
        self._passed_on: dict[int, Ended] = {}
        self._reckoned: dict[int, Ended] = {}

    def install(self) -> None:
        """Also hear `torch.from_numpy`, which passes by the modes of torch."""
        from_numpy = torch.from_numpy

        def heard(array: Any) -> torch.Tensor:
            made = from_numpy(array)
            self._follow(from_numpy, (array,), made)
            return made

        _torch.from_numpy = heard

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        self._follow(func, (*args, *kwargs.values()), result)
        return result

    def of(self, tensor: torch.Tensor) -> Ended | None:
        """Where the tensor's graph ended, if that was seen."""
        known = self._tensors.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None

    def of_leaf(self, leaf: torch.Tensor) -> Ended | None:
        """Where the first graph ended that the leaf had fed and of which something went on into
        another graph; else where a function of plain numbers has taken it for one."""
        return self._passed_on.get(id(leaf)) or self._reckoned.get(id(leaf))

    def of_value(self, value: object) -> Ended | None:
        """Where the graph behind a number or an array ended."""
        known = (self._values[key] for key in _values(value) if key in self._values)
        return next(known, None)

    def _follow(self, func: Any, arguments: tuple[Any, ...], result: Any) -> None:
        outputs = list(_tensors(result))
        if any(tensor.requires_grad for tensor in outputs):
            if not torch.is_grad_enabled():
                self._put_into_leaf(call_name(func), arguments, outputs)
            elif any(tensor.grad_fn is not None for tensor in outputs):
                self._pass_on(arguments)
            return
        if call_name(func) == "data" and len(arguments) > 1:  # what it is set to
            self._pass_on(arguments[1:])
        name = call_name(func)
        if not outputs and name not in ("item", "tolist", "numpy", "__array__", "__float__"):
            return
        ended = self._ended(name, arguments)
        if ended is None:
            return
        for tensor in outputs:
            self._tensors[id(tensor)] = (weakref.ref(tensor), ended)
        if not outputs:
            for value in _values(result):
                self._values[value] = ended
        for log in (self._tensors, self._values):
            while len(log) > KEPT:
                log.popitem(last=False)

    def _ended(self, name: str, arguments: tuple[Any, ...]) -> Ended | None:
        """Where the graph of a graph-less result ended: here, or before its inputs were made."""
        inputs = list(_tensors(arguments))
        if any(tensor.requires_grad for tensor in inputs):
            frame = frames.user_frame(sys._getframe(1))
            plain = name in ("data", "detach", "detach_", "item", "numpy", "tolist", *_FACTORIES)
            how = name if plain or torch.is_grad_enabled() else "no_grad"
            stack = tuple(frames.stack(frame)) if how == "no_grad" else ()
            at = frames.place(frame) if frame is not None else None
            ended = Ended(at, how, name, stack, self._leaves(f"{at}", name, inputs))
            if name in ("__float__", "__array__") and frame is not None and _reckons(frame):
                self._reckoned.update(dict.fromkeys(ended.leaves, ended))
            return ended
        return next(self._known(inputs, arguments), None)

    def _known(self, inputs: Sequence[torch.Tensor], arguments: tuple[Any, ...]) -> Iterator[Ended]:
        """Where the graphs behind arguments ended: of tensors first, then of numbers."""
        yield from (ended for tensor in inputs if (ended := self.of(tensor)) is not None)
        for argument in arguments:
            yield from (self._values[v] for v in _values(argument) if v in self._values)

    def _pass_on(self, arguments: tuple[Any, ...]) -> None:
        """Values without a graph go into one."""
        plain = [tensor for tensor in _tensors(arguments) if not tensor.requires_grad]
        for ended in self._known(plain, arguments):
            for leaf in ended.leaves:
                self._passed_on.setdefault(leaf, ended)

    def _put_into_leaf(
        self, name: str, arguments: tuple[Any, ...], outputs: Sequence[torch.Tensor]
    ) -> None:
        """A leaf is given other numbers, without the graph that made them."""
        written = {id(tensor) for tensor in outputs}
        given = [tensor for tensor in _tensors(arguments) if id(tensor) not in written]
        ended = self._ended(name, tuple(given)) if name.endswith("_") and given else None
        if ended is not None:
            for leaf in ended.leaves:
                self._passed_on.setdefault(leaf, ended)

    def _leaves(self, at: str, name: str, inputs: Sequence[torch.Tensor]) -> frozenset[int]:
        """The leaves that feed these; those of graphs are looked for in the first calls of a line
        only."""
        self._looked[at, name] += 1
        first = self._looked[at, name] <= LOOKS
        found = {id(tensor) for tensor in inputs if tensor.requires_grad and tensor.is_leaf}
        pending, met = [t.grad_fn for t in inputs if t.grad_fn is not None and first], set[Any]()
        while pending and len(met) < NODES:
            node = pending.pop()
            if node in met:
                continue
            met.add(node)
            if (leaf := getattr(node, "variable", None)) is not None:
                found.add(id(leaf))
            pending += [following for following, _ in node.next_functions if following is not None]
        return frozenset(found)


def _reckons(frame: FrameType) -> bool:
    """Whether the line calls a function of `math` or NumPy."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return re.search(r"\b(?:math|np|numpy)\.\w+\(", line) is not None


def call_name(func: Any) -> str:
    """The name by which a script calls it; a property's own name (`data`)."""
    name = getattr(func, "__name__", "") or ""
    if name in ("__get__", "__set__"):
        return str(getattr(getattr(func, "__self__", None), "__name__", name))
    return str(name)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in a value, in lists of lists too; the first of very many."""
    return islice(_all_tensors(value, DEPTH), MANY)


def _all_tensors(value: Any, depth: int) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple) and depth:
        for item in value[:64]:
            yield from _all_tensors(item, depth - 1)


def _values(value: Any, depth: int = 2) -> Iterator[object]:
    """What identifies a value outside torch: floats by value, arrays by their memory."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, list | tuple) and depth:
        for item in value[:64]:
            yield from _values(item, depth - 1)
    elif hasattr(value, "__array_interface__"):
        yield ("array", value.__array_interface__["data"][0])
