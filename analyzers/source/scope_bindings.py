"""Define what binds a name in a scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

Def = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
PARAMETER = "(parameter)"  # the path of a parameter's binding
# Usual names of packages: incomplete code comes without its imports.
USUAL = {
    "torch": "torch",
    "th": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "functional": "torch.nn.functional",
    "init": "torch.nn.init",
    "optim": "torch.optim",
    "np": "numpy",
    "math": "math",
}


@dataclass(frozen=True)
class ScopeBinding:
    """What a name is bound to in a scope: an import, a definition, a value, or an item of one.

    `item`: the positions from which the value is unpacked, outermost first; -1 for any item.
    `annotation`: the class of a name that is declared and not assigned, as a dataclass's field is.
    """

    path: str = ""
    definition: Def | None = None
    value: ast.expr | None = None
    item: tuple[int, ...] = ()
    annotation: ast.expr | None = None


def importable(path: str) -> Iterator[str]:
    """Yield the names by which an import may denote a file: `pkg.nets` and `nets`."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    for start in range(len(parts)):
        yield ".".join(parts[start:])
