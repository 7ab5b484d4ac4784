"""Find the layers of the installed torch that have no parameters, what each of them applies, and
the operations that select entries.

`python -m tests.operators` writes them into `operators.json`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

# The first of these that a layer accepts creates it.
ARGUMENTS: list[tuple[Any, ...]] = [
    *[(), (2,), (1, 4), (4, 4), (4, 4, 1), (4, 4, 4), ((4, 4), 2), (1, (2, 2)), (4, 4, [2])],
    (nn.TransformerEncoderLayer(2, 1, 2), 1),
    (nn.TransformerDecoderLayer(2, 1, 2), 1),
]


def layers() -> Iterator[tuple[str, type[nn.Module]]]:
    """Yield torch's layers, losses and containers by their names; not the bases of others."""
    for name, kind in sorted(vars(nn).items()):
        if isinstance(kind, type) and issubclass(kind, nn.Module) and not name.endswith("Base"):
            if kind is not nn.Module and kind.__module__.startswith(nn.modules.__name__):
                yield name, kind


def created(kind: type[nn.Module]) -> nn.Module:
    """Return a layer of a kind."""
    for given in ARGUMENTS:
        try:
            return kind(*given)
        except (TypeError, ValueError, AssertionError):
            continue
    raise ValueError(f"no arguments are known for {kind.__name__}")


def applied(kind: type[nn.Module]) -> str:
    """Return the operation that a layer's forward calls first; its own name if it calls none."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind.forward)))
    calls = (n.func for n in ast.walk(tree) if isinstance(n, ast.Call))
    called = (f.attr for f in calls if isinstance(f, ast.Attribute))
    spaces = (nn.functional, torch, torch.Tensor)
    return next((n for n in called if any(hasattr(s, n) for s in spaces)), kind.__name__.lower())


def weightless() -> dict[str, Any]:
    """Return the operations of the layers that have no parameters, whatever they are given, those
    of the losses, and the containers."""
    found: dict[str, Any] = {"layers": {}, "losses": {}, "containers": []}
    for name, kind in layers():
        if kind.__module__ == nn.modules.container.__name__:
            found["containers"].append(name)
        # A layer that may have parameters also has them where an option leaves them out: as None.
        elif not any(part._parameters for part in created(kind).modules()):
            is_loss = kind.__module__ == nn.modules.loss.__name__
            found["losses" if is_loss else "layers"][name] = applied(kind)
    return found


def selects(call: Callable[[torch.Tensor, torch.Tensor], Any]) -> bool:
    """Return True if all entries of an operation's result are entries of its inputs, also of those
    below 0."""
    a, b = torch.rand(2, 4, 4, dtype=torch.float64) - 0.5
    try:
        made = call(a, b)
    except (RuntimeError, ValueError):  # not defined below 0
        return False
    first = made[0] if isinstance(made, tuple | list) else made
    return torch.isin(first, torch.stack([a, b])).all().item() is True
