"""Find the parts of an expression that are read without their graph: `x.detach()`, `x.shape`."""

from __future__ import annotations

import ast

from analyzers.source.callees import operation
from analyzers.source.flow import is_dotted, is_plainly_number, names_read
from analyzers.source.ops import FACTORIES, NO_GRAPH
from analyzers.source.project import spelled
from analyzers.source.targets import target_names

FACTS = frozenset({"device", "dim", "dtype", "ndim", "numel", "shape", "size"})
VALUES = frozenset({"data", "detach", "detach_", "item", "numpy", "tolist"})
WITHOUT_GRAPH = FACTS | VALUES  # attributes and methods of a tensor that hand on no graph

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_HANDING_ON = {"as_tensor", "Variable", "sparse_coo_tensor"}
_MADE_WITHOUT = (FACTORIES | NO_GRAPH | WITHOUT_GRAPH) - _HANDING_ON


def is_made_without(value: ast.expr) -> bool:
    """Return True if an expression has no graph by its form: a number, a new tensor, a value read
    without its graph (`w.data.clone()`), or a container of these.
    """
    match value:
        case ast.Attribute() | ast.Call() if not names_attached(value):
            return True
        case ast.Call():
            return operation(value) in _MADE_WITHOUT
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(is_made_without(part) for part in parts)
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
            return is_made_without(element)
    return is_plainly_number(value)


def names_attached(value: ast.AST) -> set[str]:
    """Return the names in an expression that may pass their graph to it. What a comprehension
    iterates over counts if the elements keep their graphs.
    """
    if isinstance(value, ast.Name):
        return names_read(value)
    if isinstance(value, ast.Attribute):
        owner = names_attached(value.value) if value.attr not in WITHOUT_GRAPH else set()
        return owner | {spelled(value)} if owner and is_dotted(value) else owner
    if isinstance(value, ast.Call) and operation(value) in WITHOUT_GRAPH:
        return set()  # neither the receiver nor an argument passes on its graph
    if not isinstance(value, _COMPREHENSIONS):
        return {name for child in ast.iter_child_nodes(value) for name in names_attached(child)}
    element = value.value if isinstance(value, ast.DictComp) else value.elt
    found = names_attached(element)
    for generator in reversed(value.generators):
        targets = set(target_names(generator.target))
        if found & targets:
            found |= names_attached(generator.iter)
        found -= targets
    return found
