"""Finds what holds a tensor that no name leads to, by asking the garbage collector.

That is slow, and for the one look after an error: for results that a method's cache keeps, for
what a generator in the head of a loop keeps, for objects that only a library knows.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from types import FrameType, FunctionType, GeneratorType
from typing import Any

import torch

from .frames import is_user_class
from .graph import Node
from .holders import ReferrerSearch
from .value_names import Name
from .value_parts import Cached

HEIGHT, WIDTH = 6, 2000  # how far up, and over how many objects, holders are looked for
ENOUGH = 4


def carriers(node: Node, output: int) -> list[Name]:
    """Return where the tensors of the node's output are kept; nearest first."""
    held = [t for t in gc.get_objects() if _is_tensor(t) and _is_output(t, node, output)]
    found: list[Name] = []
    for tensor in held[:ENOUGH]:
        for owner in _owners(tensor):
            search = ReferrerSearch(_same(tensor), budget=2000, depth=5, deep=True)
            found += [name for name, _ in search.inside(_called(owner), owner)]
    return found[:ENOUGH]


def _is_tensor(value: Any) -> bool:
    return issubclass(type(value), torch.Tensor)  # `isinstance` may ask the object


def _is_output(tensor: torch.Tensor, node: Node, output: int) -> bool:
    try:
        return tensor.grad_fn is node and tensor.output_nr == output
    except RuntimeError:  # a view that was changed against the rules
        return False


def _same(tensor: torch.Tensor) -> Callable[[Any], bool]:
    return lambda value: value is tensor


def _owners(tensor: torch.Tensor) -> list[Any]:
    """Return the nearest named objects that hold the tensor, through containers and cells."""
    owners: list[Any] = []
    seen = {id(tensor), id(owners)}
    level: list[Any] = [tensor]
    seen.add(id(level))
    for _ in range(HEIGHT):
        above: list[Any] = []
        seen |= {id(above)}
        for holder in gc.get_referrers(*level):
            if id(holder) in seen or isinstance(holder, FrameType) or len(seen) > WIDTH:
                continue
            seen.add(id(holder))
            (owners if _has_a_name(holder) else above).append(holder)
        if owners or not above:
            return owners[:ENOUGH]
        level = above
        seen.add(id(level))
    return owners


def _has_a_name(holder: Any) -> bool:
    """Return True if a name of it can be shown to a reader of the script."""
    kind = type(holder)
    return kind in (GeneratorType, FunctionType, Cached, functools.partial) or (
        not issubclass(kind, type) and is_user_class(kind)
    )


def _called(owner: Any) -> Name:
    """Return its name: that of its function, or `self` as in the methods of its class."""
    if isinstance(owner, functools.partial):
        return Name("<module>", f"partial({_title(owner.func)})", "unknown")
    if isinstance(owner, GeneratorType | FunctionType | Cached):
        return Name("<module>", _title(owner), "unknown")
    return Name(type(owner).__qualname__, "self", "local")


def _title(value: Any) -> str:
    return str(getattr(value, "__qualname__", type(value).__qualname__))
