"""The modules that a module lists: its children, and with them all that those hold."""

from __future__ import annotations

from analyzers.reading.torch_values import Layer
from analyzers.reading.values import AbstractValue, Const, Instance, Mapping, Sequence

LISTED = frozenset({"modules", "children", "named_modules", "named_children"})
MOST = 40
Named = list[tuple[str, AbstractValue]]


def modules_in(value: AbstractValue, method: str) -> Sequence | None:
    """Return what `value.modules()` or its like yields; None if no child is known."""
    found = _children(value, "")
    if not found:
        return None
    if method.endswith("modules"):
        found = [("", value), *found]
        for path, module in found:  # which grows meanwhile
            seen = {id(other) for _, other in found}
            found += [part for part in _children(module, path) if id(part[1]) not in seen]
    items = [module for _, module in found]
    if method.startswith("named"):
        items = [Sequence([Const(path), module], "tuple") for path, module in found]
    return Sequence(items[:MOST], "generator")


def _children(module: AbstractValue, path: str) -> Named:
    """Yield the modules that a module holds itself, in attributes and in lists of modules there."""
    held: Named = []
    if isinstance(module, Instance | Layer):
        held = list(module.attrs.items())
    if isinstance(module, Layer):
        held += [(str(n), child) for n, child in enumerate(module.children)]
    found = [(name, part) for name, value in held for name, part in _parts(name, value)]
    before = f"{path}." if path else ""
    return [(before + name, part) for name, part in found if _is_module(part)]


def _parts(name: str, value: AbstractValue) -> Named:
    """Yield the items of a list or a dict of modules; else the value itself."""
    if isinstance(value, Sequence):
        return [(f"{name}.{n}", item) for n, item in enumerate(value.items)]
    if isinstance(value, Mapping):
        return [(f"{name}.{key}", item) for key, item in value.items.items()]
    return [(name, value)]


def _is_module(value: AbstractValue) -> bool:
    if not isinstance(value, Instance):
        return isinstance(value, Layer)
    bases = value.cls.library_bases()
    return any("nn" in base.split(".") or base.endswith("Module") for base in bases)
