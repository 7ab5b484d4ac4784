"""Whether a call could be that of a tensor's method, by what torch says of its arguments."""

from __future__ import annotations

import ast
from functools import cache
from inspect import signature, unwrap
from types import FunctionType

import torch


def fits(call: ast.Call) -> bool:
    """Return True if some overload of the tensor method of that name accepts the arguments.

    `log.add(loss=loss)` is no sum. Unknown names may be one.
    """
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    forms = _forms(name)
    if not forms or any(isinstance(argument, ast.Starred) for argument in call.args):
        return True
    words = {keyword.arg for keyword in call.keywords if keyword.arg}
    return any(words <= names and len(call.args) <= most for names, most in forms)


@cache
def _forms(name: str) -> tuple[tuple[frozenset[str], float], ...]:
    """Return, for each overload, the names of its arguments, and how many may be unnamed."""
    packet = getattr(torch.ops.aten, name, None) if name.isidentifier() else None
    written = unwrap(getattr(torch.Tensor, name, fits))
    found: list[tuple[frozenset[str], float]] = []
    if packet is not None and isinstance(written, FunctionType) and written is not fits:
        own = [*signature(written).parameters][1:]
        found.append((frozenset(own), len(own)))
    for overload in packet.overloads() if packet is not None else ():
        arguments = getattr(packet, overload)._schema.arguments[1:]
        plain = [one for one in arguments if not one.kwarg_only]
        sizes = any(str(one.type).startswith("List") for one in plain[:1])
        most = float("inf") if sizes else len(plain)
        found.append((frozenset(one.name for one in arguments), most))
    return tuple(found)
