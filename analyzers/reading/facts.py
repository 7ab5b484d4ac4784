"""What the syntax of a loop says, whatever the values."""

from __future__ import annotations

import ast
from functools import cached_property

from analyzers.source.trees import nodes_of, statements, walk


class LoopFacts:
    """Facts about one loop."""

    def __init__(self, node: ast.stmt) -> None:
        self.node = node

    @cached_property
    def freezes(self) -> bool:
        """Return True if the loop sets which tensors require a gradient."""
        return any(
            inner.attr in ("requires_grad", "requires_grad_")
            for inner in nodes_of(self.node, ast.Attribute)
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the plain names that occur anywhere inside."""
        return frozenset(inner.id for inner in nodes_of(self.node, ast.Name))

    @cached_property
    def bound_names(self) -> frozenset[str]:
        """Return the plain names that statements inside assign, those of inner functions too."""
        targets = [target for inner in statements(self.node) for target in _targets(inner)]
        return frozenset(
            name.id
            for target in targets
            for name in ([target] if isinstance(target, ast.Name) else walk(target))
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        )


def _targets(statement: ast.AST) -> list[ast.expr]:
    match statement:
        case ast.Assign(targets=targets):
            return targets
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return [target]
        case ast.For(target=target) | ast.AsyncFor(target=target):
            return [target]
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return [item.optional_vars for item in items if item.optional_vars is not None]
    return []
