"""Runs the backward of a hand-written engine from one operation alone: what that gives its inputs
does not depend on the order in which the backward visits the nodes of a graph."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from types import FunctionType
from typing import Any

from ..core.frames import is_user_class
from ..core.value_parts import attributes
from .graph_slopes import GraphSlopes, is_nonzero, number_at
from .operation_log import ComputedNode
from .operation_uses import ComparedInput, OperationUse, OperationUses

_CONTAINERS = (list, tuple, set, frozenset, dict)


class SingleOperation:
    """Calls operations of a log on inputs without a past, and the script's `backward` on their
    results. Gradients lie in the attribute `gradient`; the script sets that of the result itself
    if it did so for the `root`."""

    def __init__(
        self, uses: OperationUses, root: ComputedNode, gradient: str, backward: Callable[..., Any]
    ) -> None:
        self._uses = uses
        self._slopes: GraphSlopes = uses.slopes
        self._gradient = gradient
        self._backward = backward
        self._seeded = is_nonzero(root.before.get(gradient, 0.0))

    def gives_right_gradient(self, use: OperationUse, one: ComparedInput) -> bool:
        """Return True if the operation gives an input the numerical gradient; False if it does not,
        or cannot be run alone."""
        try:
            inputs = {id(parent): self._leaf(parent) for parent in use.node.parents}
            made = self._slopes.result(use.node, inputs)
            if self._seeded:
                setattr(made, self._gradient, getattr(made, self._slopes.value) * 0 + 1.0)
            self._backward(made)
            seed = getattr(made, self._gradient)
            given = getattr(inputs[id(one.node.instance)], self._gradient)
            seeded = replace(use.node, after={self._gradient: seed})
            twins = {key: self._slopes.twin(self._uses.known[key]) for key in inputs}
            wanted = self._uses.shares(seeded, one, twins)
            held = [number_at(given, entry) for entry in one.entries]
        except Exception:  # the script's own functions may raise anything
            return False
        pairs = zip(wanted, held, strict=True)
        return is_nonzero(seed) and all(self._slopes.agree(*pair) for pair in pairs)

    def _leaf(self, instance: Any) -> Any:
        """Return a copy of an instance that was made from none, without a gradient."""
        leaf = object.__new__(type(instance))
        for name, held in attributes(instance):
            if isinstance(held, FunctionType):
                held = _nothing
            elif _leads_to(self._uses.known, held):
                held = type(held)() if isinstance(held, _CONTAINERS) else None
            object.__setattr__(leaf, name, held)
        node = self._uses.known[id(instance)]
        for name in (self._slopes.value, self._gradient):
            object.__setattr__(leaf, name, _copied(node.before.get(name)))
        return leaf


def _leads_to(known: Container[int], held: Any, depth: int = 2) -> bool:
    """Return True if a value is, or holds, an instance that is known by its id."""
    if id(held) in known or not depth:
        return id(held) in known
    if isinstance(held, _CONTAINERS):
        parts = held.values() if isinstance(held, dict) else held
    elif is_user_class(type(held)):
        parts = [part for _, part in attributes(held)]
    else:
        return False
    return any(_leads_to(known, part, depth - 1) for part in parts)


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _copied(value: Any) -> Any:
    return value.copy() if hasattr(value, "__array_interface__") else value
