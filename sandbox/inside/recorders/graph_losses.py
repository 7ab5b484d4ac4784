"""A log of where tensors lost their graph, by line; for the slower second run."""

from __future__ import annotations

import re
import sys
import weakref
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.nn import Parameter
from torch.overrides import TorchFunctionMode

from ..core import frames
from ..core.frames import Json
from ..core.graph import Node, roots_of, walk
from ..core.internal_errors import notify_safely
from ..core.parameters import ParameterRegistry
from .call_arguments import (
    MANY,
    call_name,
    is_graded,
    line_matches,
    line_of,
    numbers_within,
    tensors_in,
    values_in,
    without_round,
)
from .graph_ends import CUT_TERM, REACHED, GraphEnd, is_sampling, similarity, way_to_end
from .leaf_ends import KEPT, EndsByLeaf, FrozenParameters, trim

_torch: Any = torch
LOOKS, NODES = 4, 2000  # calls of one line whose graphs are looked through, and so far
_SHAPED = re.compile(
    r"(?:zeros|ones|empty|rand|randn|randint|full)_like|new_(?:zeros|ones|empty|full)"
)
_ENTERED = "add|sub|mul|mm|linear|conv|stack"  # by what has no graph, of what has one
_COMPUTES = r"\b(?:math|np|numpy)\.\w+\("  # calls of `math` or NumPy


class LossLog(TorchFunctionMode):
    """Follows values that came from a graph and have none, through every call of torch.

    Numbers and arrays that left torch (`.item()`, `.numpy()`) are followed by value, so that a
    tensor made of them still shows where its graph ended.
    """

    def __init__(self, parameters: ParameterRegistry, notes: list[str]) -> None:
        super().__init__()
        self._notes = notes
        self._parameters = parameters
        self._frozen = FrozenParameters(parameters)
        self._tensors: OrderedDict[int, tuple[weakref.ref[torch.Tensor], GraphEnd]] = OrderedDict()
        self._values: OrderedDict[object, GraphEnd] = OrderedDict()
        self._bare: OrderedDict[int, weakref.ref[torch.Tensor]] = OrderedDict()  # `leaf.data`
        self._looked: Counter[object] = Counter()
        self._second_order = set[tuple[str, int] | None]()  # functions whose derivatives get graphs
        self._makes_graph = False  # whether the present call was asked for one
        self._passed_on = EndsByLeaf()
        self._computed = EndsByLeaf()
        self._put = EndsByLeaf()
        self._left = EndsByLeaf()

    def install(self) -> None:
        """Also wrap `torch.from_numpy` and `Parameter`, which bypass the modes of torch."""
        from_numpy, new = torch.from_numpy, Parameter.__new__

        def heard(array: Any) -> torch.Tensor:
            made = from_numpy(array)
            self._follow(from_numpy, (array,), made)
            return made

        def wrapped(cls: type[Parameter], data: Any = None, *options: Any, **named: Any) -> Any:
            notify_safely(self._put_into_parameter, data, notes=self._notes)
            return new(cls, data, *options, **named)

        _torch.from_numpy = heard
        _torch.nn.Parameter.__new__ = staticmethod(wrapped)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        notify_safely(self._frozen.called, call_name(func), args, kwargs, notes=self._notes)
        self._makes_graph = any(one is True for one in (kwargs.get("create_graph"), *args[4:5]))
        if self._makes_graph:
            notify_safely(self._note_second_order, notes=self._notes)
        result = func(*args, **kwargs)
        notify_safely(self._follow, func, (*args, *kwargs.values()), result, notes=self._notes)
        return result

    def of(self, tensor: torch.Tensor) -> GraphEnd | None:
        """Return where the tensor's graph ended, if that was seen."""
        known = self._tensors.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None

    def of_leaf(self, leaf: torch.Tensor) -> GraphEnd | None:
        """Return where a graph ended that the leaf had fed.

        It is the first of which something went on into another graph; else where a function of
        plain numbers took the leaf for one, or a leaf was given numbers derived from it.
        """
        return self._passed_on.of(leaf) or self._computed.of(leaf) or self._put.of(leaf)

    def left_torch(self, leaf: torch.Tensor) -> GraphEnd | None:
        """Return where the first graph ended that the leaf had fed and whose numbers left torch."""
        return self._left.of(leaf)

    def of_value(self, value: object) -> GraphEnd | None:
        """Return where the graph of a number or an array ended."""
        known = (self._values[key] for key in values_in(value) if key in self._values)
        return next(known, None)

    def _follow(self, func: Any, arguments: tuple[Any, ...], result: Any) -> None:
        name = call_name(func)
        outputs = tensors_in(result)
        if name == "__setitem__" and not arguments[0].requires_grad:
            outputs = [arguments[0]]
        if any(tensor.requires_grad for tensor in outputs):
            if not torch.is_grad_enabled() or any(map(self._is_bare_leaf, outputs)):
                self._put_into_leaf(name, arguments, outputs)
            elif any(tensor.grad_fn is not None for tensor in outputs):
                self._pass_on(name, [*self._without_graph(name, arguments, outputs)], outputs)
                self._note_indices(name, arguments, outputs)
            else:
                given = {id(tensor) for tensor in tensors_in(arguments)}
                new = [tensor for tensor in outputs if id(tensor) not in given]
                self._note(new, self._ended(name, arguments) if new else None)
            return
        if name == "data" and len(arguments) > 1:  # what it is set to
            for known in self._known(tensors_in(arguments[1:]), ()):
                self._put.note(known)
        if _SHAPED.fullmatch(name):  # no value of theirs goes on
            return
        if not outputs and name not in ("item", "tolist", "numpy", "__array__", "__float__"):
            return
        if name in ("data", "detach") and outputs:
            self._note_bare(arguments[0], outputs[0])
        if (ended := self._ended(name, arguments)) is None:
            return
        self._note(outputs, ended)
        if not outputs:
            self._left.note(ended)
            for value in (*values_in(result), line_of(ended.at)):
                self._values[value] = ended
            trim(self._values)

    def _note(self, outputs: Sequence[torch.Tensor], ended: GraphEnd | None) -> None:
        """Record where the graph ended that these would have had."""
        if ended is not None:
            for tensor in outputs:
                end = ended if is_graded(tensor) else ended.of_numbers()
                self._tensors[id(tensor)] = weakref.ref(tensor), end
        trim(self._tensors)

    def _ended(self, name: str, arguments: tuple[Any, ...]) -> GraphEnd | None:
        """Return where the graph of a graph-less result ended: here, or before its inputs were
        made."""
        inputs = tensors_in(arguments)
        learning = [tensor for tensor in inputs if tensor.requires_grad]
        if learning:
            frame = frames.user_frame(sys._getframe(1))
            how = way_to_end(name, learning)
            stack = tuple(frames.stack(frame)) if how == "no_grad" else ()
            at = frames.place(frame) if frame is not None else None
            nodes: list[Node | None] = [t.grad_fn for t in learning]
            reached = all(node is not None and REACHED in node.metadata for node in nodes)
            state = name == "detach" and line_matches(frame, r"\bstate_dict\(")
            sampled = how == "no_grad" and is_sampling(sys._getframe(1))
            if name == "grad" and self._makes_graph:
                how = "constant"  # a derivative that does not depend on anything
            derived = how == "grad" and self._is_of_inputs(arguments[1:2])
            mixed = derived and _function_here() in self._second_order
            leaves, kind = self._leaves(at, name, inputs), (state, derived, mixed, False, sampled)
            ended = GraphEnd(at, how, name, stack, leaves, reached, *kind)
            ended = ended.with_leaves(self._known(inputs, ()))
            if (
                name in ("__float__", "__array__")
                and frame is not None
                and line_matches(frame, _COMPUTES)
            ):
                self._computed.note(ended)
            return ended
        frozen = self._frozen.among(inputs) if torch.is_grad_enabled() else None
        known = sorted(self._known(inputs, without_round(arguments)), key=similarity)
        known = known or [*self._known((), arguments)]
        if name == "detach" and known and known[0].how == "grad":
            known[0] = replace(known[0], how=name)  # which says that it is meant
        return frozen or (known[0].with_leaves(known[1:]) if known else None)

    def _note_second_order(self) -> None:
        """Record that a derivative is about to get a graph of its own."""
        if len(self._second_order) < MANY:
            self._second_order.add(_function_here())

    def _is_of_inputs(self, by: tuple[Any, ...]) -> bool:
        """Return True for a derivative by leaves that no training moves."""
        leaves = tensors_in(by)
        plain = all(one.is_leaf and not isinstance(one, Parameter) for one in leaves)
        known = (self._parameters.find(leaf) for leaf in leaves)
        return bool(leaves) and plain and all(one is None or one.optimizer is None for one in known)

    def _known(
        self, inputs: Sequence[torch.Tensor], arguments: tuple[Any, ...]
    ) -> Iterator[GraphEnd]:
        """Yield where the graphs of arguments ended: of tensors first, then of numbers."""
        yield from (ended for tensor in inputs if (ended := self.of(tensor)) is not None)
        for argument in arguments:
            yield from (self._values[v] for v in values_in(argument) if v in self._values)

    def _without_graph(
        self, name: str, arguments: tuple[Any, ...], outputs: Sequence[torch.Tensor]
    ) -> Iterator[GraphEnd]:
        """Yield where the graphs ended of arguments that had none; indices need no gradient.

        What a call has written to has one since (`total += loss`).
        """
        written = {id(tensor) for tensor in outputs}
        given = [tensor for tensor in tensors_in(arguments) if is_graded(tensor)]
        plain = [t for t in given if not t.requires_grad or id(t) in written]
        summed = self._values and outputs[0].dim() == 0 and re.search("add|sub", name)
        within = numbers_within(arguments) if summed else ()
        return self._known(plain, without_round((*arguments, *within)))

    def _pass_on(
        self, name: str, ends: Sequence[GraphEnd], outputs: Sequence[torch.Tensor]
    ) -> None:
        """Record values without a graph that enter one. Attach to a sum the terms without a graph;
        for derivatives, to any sum or product."""
        for tensor in outputs if ends else ():
            self._tensors.pop(id(tensor), None)  # it has a graph from here on
        for ended in ends:
            self._passed_on.note(ended)
        node: Node | None = outputs[0].grad_fn
        if ends and node is not None and re.search(_ENTERED, name):
            summed = outputs[0].dim() == 0 and re.search("add|sub", name)
            if ends[0].derived or ends[0].sampled or summed or name == "stack":
                node.metadata[CUT_TERM] = ends[0]

    def _note_indices(
        self, name: str, arguments: tuple[Any, ...], outputs: Sequence[torch.Tensor]
    ) -> None:
        """Record that indices (of `max`, `topk`) have no graph although the values have one."""
        indices = [tensor for tensor in outputs if not tensor.requires_grad]
        ended = self._ended(name, arguments) if indices else None
        if ended is not None:
            how = "argmax" if name in ("max", "min") else name
            for tensor in indices:
                self._tensors[id(tensor)] = (weakref.ref(tensor), replace(ended, how=how))

    def _put_into_leaf(
        self, name: str, arguments: tuple[Any, ...], outputs: Sequence[torch.Tensor]
    ) -> None:
        """Record that a leaf is given other numbers, without the graph that computed them."""
        written = {id(tensor) for tensor in outputs}
        given = [tensor for tensor in tensors_in(arguments) if id(tensor) not in written]
        ended = self._ended(name, tuple(given)) if name.endswith("_") and given else None
        if ended is not None:
            self._put.note(ended)

    def _put_into_parameter(self, data: Any) -> None:
        """Record that a parameter is made of what has a graph, which does not lead to it."""
        if isinstance(data, torch.Tensor) and data.grad_fn is not None:
            if (ended := self._ended("Parameter", (data,))) is not None:
                self._put.note(ended)

    def _note_bare(self, owner: Any, bare: torch.Tensor) -> None:
        """Record the memory of what learns, or holds weights, by itself."""
        learns = isinstance(owner, torch.Tensor) and owner.requires_grad
        if (learns or isinstance(owner, Parameter)) and owner.is_leaf:
            self._bare[id(bare)] = weakref.ref(bare)
            trim(self._bare)

    def _is_bare_leaf(self, tensor: torch.Tensor) -> bool:
        """Return True if it is a leaf's own memory: a graph that is written to it is lost."""
        known = self._bare.get(id(tensor))
        return known is not None and known() is tensor

    def _leaves(
        self, at: Json | None, name: str, inputs: Sequence[torch.Tensor]
    ) -> tuple[weakref.ref[torch.Tensor], ...]:
        """Return the leaves that feed these; graphs are searched in the first calls of a line
        only."""
        line = (at["file"], at["line"], name) if at is not None else name
        if line in self._looked or len(self._looked) < KEPT:
            self._looked[line] += 1
        bases = [t if t._base is None else t._base for t in inputs if t.requires_grad]
        found = {id(base): base for base in bases if base.is_leaf}  # a view's own, if unrecorded
        if 0 < self._looked[line] <= LOOKS:
            below = walk(roots_of((*inputs, *bases)), NODES)
            found |= {id(leaf.variable): leaf.variable for _, leaf in below.leaves}
        return tuple(map(weakref.ref, found.values()))


def _function_here() -> tuple[str, int] | None:
    """Return which function of the script's runs."""
    frame = frames.user_frame(sys._getframe(1))
    return (frame.f_code.co_filename, frame.f_code.co_firstlineno) if frame is not None else None
