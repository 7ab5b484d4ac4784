"""What torch has dropped since 0.1: given back under its old name where a script uses it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

import torch

from .finding import Report
from .null_object import NullModule

PROVIDES = ("torch._six", "torch.utils.ffi", "torch.legacy")
NEEDS = "torch._six"
KIND = "api"
SAYS = "A module of an older torch: its names were imported from where they are today."
# old function → what does the same today
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "symeig": lambda a, eigenvectors=False, upper=True: torch.linalg.eigh(a),
    "eig": lambda a, eigenvectors=False: _eig(a),
    "lstsq": lambda b, a: (torch.linalg.lstsq(a, b).solution, None),
    "gels": lambda b, a: (torch.linalg.lstsq(a, b).solution, None),
    "solve": lambda b, a: (torch.linalg.solve(a, b), None),
    "gesv": lambda b, a: (torch.linalg.solve(a, b), None),
    "potrf": lambda a, upper=True: torch.linalg.cholesky(a, upper=upper),
    "matrix_rank": lambda a, tol=None, symmetric=False: torch.linalg.matrix_rank(a, tol=tol),
    "rfft": lambda x, dims, normalized=False, onesided=True: _rfft(x, dims, onesided),
    "irfft": lambda x, dims, *rest, **named: _irfft(x, dims, named.get("signal_sizes")),
    "ifft": lambda x, dims, normalized=False: _complex(x, torch.fft.ifftn, dims),
}
_TYPES = ("Float", "Double", "Half", "Long", "Int", "Short", "Byte", "Char", "Bool")


def _eig(a: torch.Tensor) -> Any:
    values, vectors = torch.linalg.eig(a)
    return torch.view_as_real(values), vectors.real


def _axes(dims: int) -> list[int]:
    return list(range(-dims, 0))


def _rfft(x: torch.Tensor, dims: int, onesided: bool) -> Any:
    change: Any = torch.fft.rfftn if onesided else torch.fft.fftn
    return torch.view_as_real(change(x, dim=_axes(dims)))


def _irfft(x: torch.Tensor, dims: int, sizes: Any) -> Any:
    return torch.fft.irfftn(torch.view_as_complex(x.contiguous()), s=sizes, dim=_axes(dims))


def _complex(x: torch.Tensor, change: Any, dims: int) -> Any:
    return torch.view_as_real(change(torch.view_as_complex(x.contiguous()), dim=_axes(dims)))


def install(report: Report) -> None:
    """Put the older behaviour where today's is only a refusal."""

    def tell(name: str, text: str) -> None:
        report(name, f"`{name}` is of an older torch: {text}.", "api")

    patched: Any = torch
    for name, function in _FUNCTIONS.items():
        setattr(patched, name, _reporting(f"torch.{name}", function, tell))
    for kind in _TYPES:
        setattr(patched.cuda, f"{kind}Tensor", getattr(torch, f"{kind}Tensor"))
    _iterators(tell)
    _schedulers(tell)
    _gradients(tell)
    _masks(tell)
    _loading(tell)
    _functions(tell)


Tell = Callable[[str, str], None]


def _reporting(name: str, function: Callable[..., Any], tell: Tell) -> Callable[..., Any]:
    def older(*args: Any, **kwargs: Any) -> Any:
        tell(name, "what replaced it was used")
        return function(*args, **kwargs)

    return older


def _iterators(tell: Tell) -> None:
    """Support `iter(loader).next()`."""
    from torch.utils.data import dataloader

    kind: Any = dataloader._BaseDataLoaderIter
    if not hasattr(kind, "next"):
        kind.next = _reporting("loader.next()", lambda self: next(self), tell)


def _schedulers(tell: Tell) -> None:
    """Accept `verbose=`, which printed what a schedule does."""
    schedulers: Any = torch.optim.lr_scheduler
    for name, kind in list(vars(schedulers).items()):
        if not isinstance(kind, type) or not issubclass(kind, schedulers.LRScheduler):
            continue
        begin = vars(kind).get("__init__")
        if begin is not None and "verbose" not in inspect.signature(begin).parameters:
            setattr(kind, "__init__", _without_verbose(begin, name, tell))  # noqa: B010


def _without_verbose(begin: Any, name: str, tell: Tell) -> Any:
    @wraps(begin)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if kwargs.pop("verbose", None) is not None:
            tell(f"{name}(verbose=)", "it was left out")
        begin(self, *args, **kwargs)

    return init


def _gradients(tell: Tell) -> None:
    """Accept gradients for outputs of another shape with as many elements."""
    autograd: Any = torch.autograd
    make = autograd._make_grads

    @wraps(make)
    def make_grads(outputs: Any, grads: Any, *rest: Any, **named: Any) -> Any:
        for grad in grads:
            if grad is not None:
                grads = [_fitting(o, g, tell) for o, g in zip(outputs, grads, strict=False)]
                break
        return make(outputs, grads, *rest, **named)

    autograd._make_grads = make_grads


def _fitting(output: Any, gradient: Any, tell: Tell) -> Any:
    if not isinstance(gradient, torch.Tensor) or not isinstance(output, torch.Tensor):
        return gradient
    if gradient.shape == output.shape or gradient.numel() != output.numel():
        return gradient
    tell("grad_outputs", "a gradient of another shape was given that of its output")
    return gradient.reshape(output.shape)


def _masks(tell: Tell) -> None:
    """Accept bytes as truth values, and a mask inverted by `1 - mask`."""
    tensor: Any = torch.Tensor
    for name in ("masked_fill", "masked_fill_", "masked_scatter", "masked_select"):
        setattr(tensor, name, _with_truth(getattr(tensor, name), name, tell))
    subtract = tensor.__rsub__

    @wraps(subtract)
    def turned(self: Any, other: Any) -> Any:
        if self.dtype is torch.bool and other is not True and other == 1:
            tell("1 - mask", "it was read as `~mask`")
            return ~self
        return subtract(self, other)

    tensor.__rsub__ = turned


def _with_truth(function: Any, name: str, tell: Tell) -> Any:
    @wraps(function)
    def masked(self: Any, mask: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(mask, torch.Tensor) and mask.dtype is torch.uint8:
            tell(f"{name}(bytes)", "it was read as `mask.bool()`")
            mask = mask.bool()
        return function(self, mask, *args, **kwargs)

    return masked


def _loading(tell: Tell) -> None:
    """Load whole objects from files: whatever a file does, it does within the walls."""
    patched: Any = torch
    load = patched.load

    @wraps(load)
    def loading(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("weights_only") is None:
            kwargs["weights_only"] = False
        return load(*args, **kwargs)

    patched.load = loading


def _functions(tell: Tell) -> None:
    """Support functions of torch 0.1 whose `forward` is an instance method."""
    kind: Any = torch.autograd.Function

    def called(self: Any, *inputs: Any) -> Any:
        cls = type(self)
        if isinstance(inspect.getattr_static(cls, "forward"), staticmethod):
            return cls.apply(*inputs)
        tell("Function()", f"the methods of `{cls.__name__}` were treated as static")
        return _static(self).apply(*inputs)

    kind.__call__ = called


class _Instance:
    """What the methods of such a function take for `self`: its attributes, and the context's."""

    def __init__(self, function: Any, context: Any) -> None:
        self.__dict__ = vars(function)
        self.__dict__.update(_kind=type(function), _context=context)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._kind, name, None)
        if inspect.isfunction(found) and not found.__module__.startswith("torch."):
            return found.__get__(self)
        return getattr(self._context, name)


def _static(function: Any) -> Any:
    """Return the same function in today's form."""

    def forward(context: Any, *inputs: Any) -> Any:
        with torch.no_grad():
            return type(function).forward(_Instance(function, context), *inputs)

    def backward(context: Any, *gradients: Any) -> Any:
        return type(function).backward(_Instance(function, context), *gradients)

    name = type(function).__name__
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(name, (torch.autograd.Function,), methods)


def module(name: str) -> ModuleType:
    """Return `torch._six`, …"""
    import collections.abc
    import math

    return NullModule(
        name,
        string_classes=(str, bytes),
        int_classes=int,
        container_abcs=collections.abc,
        inf=math.inf,
        nan=math.nan,
        PY3=True,
    )
