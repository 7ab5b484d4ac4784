"""einops: its three operations, by its own patterns."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import torch
from torch import nn

from .nothing import NothingModule

PROVIDES = ("einops",)
SAYS = "not installed here: rearrange, reduce and repeat are done by a likeness"

Groups = list[list[str]]


def _groups(side: str, rank: int | None = None) -> Groups:
    """`b (h w) 1` as `[[b], [h, w], []]`; with a rank, `…` becomes the names it stands for."""
    groups: Groups = []
    inner: list[str] | None = None
    for word in side.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            inner = []
            groups.append(inner)
        elif word == ")":
            inner = None
        elif inner is not None:
            inner += [word] if word != "1" else []
        else:
            groups.append([word] if word != "1" else [])
    return groups if rank is None else _spread(groups, rank)


def _spread(groups: Groups, rank: int) -> Groups:
    if ["..."] not in groups:
        return groups
    at = groups.index(["..."])
    between = rank - len(groups) + 1
    return groups[:at] + [[f"...{n}"] for n in range(between)] + groups[at + 1 :]


def _sizes(groups: Groups, shape: torch.Size, known: dict[str, int]) -> dict[str, int]:
    """The size of every name on the left."""
    sizes = dict(known)
    if len(groups) != len(shape):
        raise ValueError(f"the pattern has {len(groups)} axes, the tensor {len(shape)}")
    for group, size in zip(groups, shape, strict=True):
        open_ = [name for name in group if name not in sizes]
        rest = math.prod(sizes[name] for name in group if name in sizes)
        for name in open_[:1]:
            sizes[name] = size // rest
    return sizes


def _applied(tensor: Any, pattern: str, known: dict[str, int], reduction: Any = None) -> Any:
    if isinstance(tensor, list | tuple):
        tensor = torch.stack(list(tensor))
    left, _, right = pattern.partition("->")
    given = _groups(left, tensor.ndim)
    spread = [name for group in given for name in group if name.startswith("...")]
    wanted = _wanted(_groups(right), spread)
    sizes = _sizes(given, tensor.shape, known)
    names = [name for group in given for name in group]
    tensor = tensor.reshape([sizes[name] for name in names])
    kept = [name for group in wanted for name in group]
    gone = [n for n, name in enumerate(names) if name not in kept]
    if gone and reduction is not None:
        tensor = _reduced(tensor, gone, reduction)
        names = [name for name in names if name in kept]
    for name in kept:
        if name not in names:
            tensor = tensor.unsqueeze(-1).expand(*tensor.shape, sizes[name])
            names.append(name)
    tensor = tensor.permute([names.index(name) for name in kept])
    return tensor.reshape([math.prod(sizes[name] for name in group) for group in wanted])


def _wanted(groups: Groups, spread: list[str]) -> Groups:
    """The right side, with the names that `…` stands for."""
    found: Groups = []
    for group in groups:
        if group == ["..."]:
            found += [[name] for name in spread]
        else:
            found.append([n for name in group for n in (spread if name == "..." else [name])])
    return found


def _reduced(tensor: Any, axes: list[int], how: Any) -> Any:
    if callable(how):
        return how(tensor, tuple(axes))
    match how:
        case "max":
            return tensor.amax(axes)
        case "min":
            return tensor.amin(axes)
        case "prod":
            for axis in sorted(axes, reverse=True):
                tensor = tensor.prod(axis)
            return tensor
    return tensor.sum(axes) if how == "sum" else tensor.mean(axes)


def rearrange(tensor: Any, pattern: str, **sizes: int) -> Any:
    """Reorder, split and join axes."""
    return _applied(tensor, pattern, sizes)


def repeat(tensor: Any, pattern: str, **sizes: int) -> Any:
    """As `rearrange`, with new axes along which values are repeated."""
    return _applied(tensor, pattern, sizes)


def reduce(tensor: Any, pattern: str, reduction: Any, **sizes: int) -> Any:
    """As `rearrange`; axes that are missing on the right are reduced."""
    return _applied(tensor, pattern, sizes, reduction)


def einsum(*given: Any) -> Any:
    """As `torch.einsum`, with names of any length, and the pattern last."""
    *tensors, pattern = given
    names = dict.fromkeys(pattern.replace(",", " ").replace("->", " ").split())
    short = {name: chr(97 + n) for n, name in enumerate(n for n in names if n != "...")}
    words = pattern.replace(",", " , ").replace("->", " -> ").split()
    return torch.einsum("".join(short.get(word, word) for word in words), *tensors)


def pack(tensors: Any, pattern: str) -> Any:
    """Join along the axis that `*` stands for, if it is the last."""
    return torch.cat(list(tensors), -1), [t.shape[-1:] for t in tensors]


class Rearrange(nn.Module):
    """`rearrange` as a layer."""

    def __init__(self, pattern: str, **sizes: int) -> None:
        super().__init__()
        self.pattern, self.sizes = pattern, sizes

    def forward(self, tensor: Any) -> Any:
        return rearrange(tensor, self.pattern, **self.sizes)


class Reduce(nn.Module):
    """`reduce` as a layer."""

    def __init__(self, pattern: str, reduction: str, **sizes: int) -> None:
        super().__init__()
        self.pattern, self.reduction, self.sizes = pattern, reduction, sizes

    def forward(self, tensor: Any) -> Any:
        return reduce(tensor, self.pattern, self.reduction, **self.sizes)


def module(name: str) -> ModuleType:
    """`einops`, `einops.layers.torch`."""
    functions = {"rearrange": rearrange, "repeat": repeat, "reduce": reduce, "einsum": einsum}
    return NothingModule(name, **functions, pack=pack, Rearrange=Rearrange, Reduce=Reduce)
