"""GPUs: what a script puts on `cuda` or `mps` stays on the CPU. A leaf that requires grad is copied
there all the same: what moving it gives is no leaf, here as well."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

import torch
import torch.jit._builtins

from ..core.frames import USER, owner
from .finding import Report

FACTORIES = (
    *("arange", "as_tensor", "empty", "empty_like", "eye", "full", "full_like", "linspace"),
    *("logspace", "ones", "ones_like", "rand", "rand_like", "randint", "randint_like"),
    *("randn", "randn_like", "randperm", "tensor", "zeros", "zeros_like"),
)
_DEVICES = (str, torch.device)
_NUMBERED = ("to", "set_default_device")  # what takes a GPU's number (`model.to(rank)`) first
_THERE = "_gradmend_on_gpu"  # an attribute of what has been moved already, or was made there
_PLACES = frozenset({"device", "map_location"})
METHODS = ("to", "new_empty", "new_full", "new_ones", "new_tensor", "new_zeros")


class Properties:
    """Those of a GPU that scripts print."""

    name, total_memory, major, minor, multi_processor_count = "cpu", 2**33, 8, 0, 1


class Moment(AbstractContextManager[Any]):
    """An event or a stream: everything has happened already."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def record(self, *args: Any, **kwargs: Any) -> None:
        pass

    synchronize = wait = wait_stream = wait_event = record

    def elapsed_time(self, other: Any) -> float:
        return 0.0

    def query(self) -> bool:
        return True

    def __exit__(self, *error: object) -> None:
        pass


QUERIES: dict[str, Any] = {
    "get_device_properties": Properties,
    "get_device_capability": (8, 0),
    "current_stream": Moment(),
    "stream": Moment(),
    "device": Moment(),
    "synchronize": None,
    "set_device": None,
    "reset_peak_memory_stats": None,
    "memory_allocated": 0,
    "max_memory_allocated": 0,
    "memory_reserved": 0,
    "max_memory_reserved": 0,
    "get_device_name": "cpu",
    "current_device": 0,
}


def install(report: Report) -> None:
    """Patch the places where torch takes a device, unless the machine has that device."""
    if torch.cuda.is_available():
        return
    patched: Any = torch
    mapped = _mapping(report)
    for place, names in (
        (patched, (*FACTORIES, "set_default_device", "load")),
        (patched.Tensor, METHODS),
        (patched.nn.Module, ("to",)),
    ):
        for name in names:
            plain = getattr(place, name)
            stays = _on_cpu(plain, mapped)
            setattr(place, name, stays)
            _let_script(stays, plain)

    def stay(self: Any, *args: Any, **kwargs: Any) -> Any:
        report("cuda", "tensors and modules stay on the CPU")
        return _moved(self) if isinstance(self, torch.Tensor) else self

    patched.Tensor.cuda = patched.nn.Module.cuda = stay
    patched.Tensor.pin_memory = lambda self, device=None: self
    for name, answer in QUERIES.items():
        setattr(patched.cuda, name, _answering(answer, report))
    patched.cuda.Event = patched.cuda.Stream = Moment
    patched.cuda.device_count = _one_for_scripts(torch.cuda.device_count)
    _version(report)


def _let_script(stays: Any, plain: Any) -> None:
    """Have TorchScript compile `stays` to the operation that `plain` is."""
    known: Any = torch.jit._builtins
    operation = known._find_builtin(plain)
    if operation is not None:
        known._register_builtin(stays, operation)


def _one_for_scripts(count: Callable[[], int]) -> Callable[[], int]:
    """Return a count of GPUs: one for the script, which may start as many processes; libraries
    get the true answer."""

    def device_count() -> int:
        return 1 if owner(sys._getframe(1).f_code) == USER else count()

    return device_count


def _version(report: Report) -> None:
    """Give scripts a version of CUDA; torch itself knows that there is none."""
    module: Any = torch.version
    del module.cuda

    def look_up(name: str) -> Any:
        if name != "cuda":
            raise AttributeError(name)
        if owner(sys._getframe(1).f_code) != USER:
            return None
        report("cuda", "queries of the device give fixed answers")
        return "12.1"

    module.__getattr__ = look_up


def _mapping(report: Report) -> Callable[[Any], Any]:
    """Return a function that maps a device of an absent kind to the CPU, and no other."""

    def mapped(value: Any) -> Any:
        if type(value) is int:  # the number of a GPU
            report("cuda", "tensors and modules stay on the CPU")
            return torch.device("cpu")
        if isinstance(value, _DEVICES):
            kind = value.partition(":")[0] if isinstance(value, str) else value.type
            if kind in ("cuda", "mps"):
                report(kind, "tensors and modules stay on the CPU")
                return torch.device("cpu")
        return value

    return mapped


def _on_cpu(original: Any, mapped: Callable[[Any], Any]) -> Any:
    kinds = (*_DEVICES, int) if original.__name__ in _NUMBERED else _DEVICES

    @wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        for given in (*args, *kwargs.values()) if kwargs else args:
            if isinstance(given, kinds) and mapped(given) is not given:
                break
        else:  # most calls
            if type(kwargs.get("device")) is not int:
                return original(*args, **kwargs)
        for key in _PLACES & kwargs.keys():
            kwargs[key] = mapped(kwargs[key])
        made = original(*(mapped(a) if isinstance(a, kinds) else a for a in args), **kwargs)
        if isinstance(made, torch.Tensor):
            return _moved(made) if args and made is args[0] else _there(made)
        return made

    return wrapper


def _moved(tensor: Any) -> Any:
    """Return the tensor if it is there already, else a copy.

    The copy of a leaf that learns has a graph that leads to it.
    """
    learns = tensor.is_leaf and tensor.requires_grad and torch.is_grad_enabled()
    return _there(tensor.clone() if learns and not hasattr(tensor, _THERE) else tensor)


def _there(tensor: Any) -> Any:
    setattr(tensor, _THERE, True)
    return tensor


def _answering(answer: Any, report: Report) -> Callable[..., Any]:
    def query(*args: Any, **kwargs: Any) -> Any:
        report("cuda", "queries of the device give fixed answers")
        return answer

    return query
