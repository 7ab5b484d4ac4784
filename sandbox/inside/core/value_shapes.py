"""What a value is made of, as a bounded tree of types; nothing of the script's is called."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import torch

from .frames import Json, is_user_class

DEPTH, PARTS = 4, 16

Part = tuple[str, Any, Any]  # how it is reached (`item`, `attribute`, …), its key, itself

_WORDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("number", (int, float, complex)),
    ("text", (str, bytes)),
    ("function", (FunctionType, MethodType, type, ModuleType)),
    ("module", (torch.nn.Module,)),
    ("tuple", (tuple,)),
    ("list", (list,)),
    ("dict", (dict,)),
    ("deque", (deque,)),
)


def is_record(kind: type) -> bool:
    """Return True for a named tuple's class."""
    fields = inspect.getattr_static(kind, "_fields", None)
    return issubclass(kind, tuple) and type(fields) is tuple


def kind_of(value: Any) -> str:
    """Return the word for the kind of a value, by its class alone."""
    kind = type(value)
    if value is None:
        return "none"
    if issubclass(kind, torch.Tensor):
        return "tensor"
    if issubclass(kind, type) and is_user_class(value):
        return "object"
    for name, wanted in _WORDS:
        if issubclass(kind, wanted):
            return "namedtuple" if name == "tuple" and is_record(kind) else name
    if type(_static(kind, "__dataclass_fields__")) is dict:
        return "dataclass"
    return "object" if is_user_class(kind) else "foreign"


def parts(value: Any, kind: str) -> Iterator[Part]:
    """Yield what the value holds one step down, at most its first and last items."""
    match kind:
        case "namedtuple":
            names = _static(type(value), "_fields")
            items = zip(names, tuple.__iter__(value), strict=False)
            yield from (("attribute", key, item) for key, item in items)
        case "tuple" | "list" | "deque":
            base: Any = {"tuple": tuple, "list": list, "deque": deque}[kind]
            size = base.__len__(value)
            for number in dict.fromkeys((*range(min(size, PARTS)), *range(max(0, size - 2), size))):
                yield "item", number, base.__getitem__(value, number)
        case "dict":
            yield from (("item", key, item) for key, item in list(dict.items(value))[:64])
        case "dataclass" | "object" | "module":
            yield from (("attribute", key, item) for key, item in attributes(value))
            if kind == "module":
                yield from _of_module(value)
            yield from _shared(value if isinstance(value, type) else type(value))


def _of_module(value: Any) -> Iterator[Part]:
    own = _dictionary(value)
    for table in ("_modules", "_buffers"):
        for key, item in list(own.get(table, {}).items()):
            yield "module", key, item


def _shared(kind: type) -> Iterator[Part]:
    """Yield what all objects of a user's class share: tensors and structures in its body."""
    for own in kind.__mro__:
        if is_user_class(own):
            for key, item in list(vars(own).items())[:64]:
                if isinstance(item, torch.Tensor | list | dict | deque) and _is_own(key):
                    yield f"class {own.__name__}", key, item


def attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object keeps in its dictionary and in slots; no property is asked."""
    own = _dictionary(value)
    yield from ((key, own[key]) for key in list(own)[:64] if type(key) is str and _is_own(key))
    for kind in type(value).__mro__:
        for key, slot in list(vars(kind).items()):
            if type(slot) is MemberDescriptorType and _is_own(key):
                try:
                    yield key, slot.__get__(value)
                except AttributeError:
                    continue


_HIDDEN = {"_modules", "_buffers", "_parameters", "_non_persistent_buffers_set"}


def _is_own(key: str) -> bool:
    return not key.startswith("__") and key not in _HIDDEN and not key.endswith("_hooks")


def _dictionary(value: Any) -> dict[str, Any]:
    """Return the object's dictionary, by the slot that Python itself gave its class."""
    for kind in type(value).__mro__:
        slot = vars(kind).get("__dict__")
        if slot is not None:
            held = slot.__get__(value) if type(slot) is GetSetDescriptorType else None
            return held if type(held) is dict else {}
    return {}


def _static(kind: type, name: str) -> Any:
    return inspect.getattr_static(kind, name, None)


class Trees:
    """Trees of types; all of a run together are bounded."""

    def __init__(self, budget: int = 3000) -> None:
        self._left = budget

    def of(self, value: Any, depth: int = DEPTH) -> Json:
        """Return the tree of one value."""
        self._left -= 1
        kind = kind_of(value)
        record: Json = {"kind": kind, "name": type(value).__name__}
        if kind == "tensor":
            leaf = bool(value.requires_grad) and value.grad_fn is None
            return record | {"graph": value.grad_fn is not None, "leaf": leaf}
        if kind == "dataclass":
            record["frozen"] = bool(
                getattr(_static(type(value), "__dataclass_params__"), "frozen", 0)
            )
        if kind in ("tuple", "list", "deque", "dict"):
            record["size"] = len(value) if type(value) in (tuple, list, deque, dict) else 0
        if kind == "deque" and _static(deque, "maxlen").__get__(value) is not None:
            record["maxlen"] = True
        if depth and kind not in ("none", "number", "text", "function", "foreign", "module"):
            record["parts"] = self._below(value, kind, depth)
        return record

    def _below(self, value: Any, kind: str, depth: int) -> list[Json]:
        found: list[Json] = []
        for _, key, item in parts(value, kind):
            if self._left <= 0 or len(found) == PARTS + 2:
                break
            spelled = type(key) in (int, bool) or (type(key) is str and len(key) <= 60)
            found.append({"key": repr(key) if spelled else "", "kind": self.of(item, depth - 1)})
        return found
