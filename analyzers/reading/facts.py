"""What the syntax of a loop says, whatever the values."""

from __future__ import annotations

import ast
from functools import cached_property

from analyzers.source.trees import walk


class LoopFacts:
    """Facts about one loop."""

    def __init__(self, node: ast.AST) -> None:
        self.node = node

    @cached_property
    def _spelled(self) -> list[ast.Name]:
        return [inner for inner in walk(self.node) if isinstance(inner, ast.Name)]

    @cached_property
    def freezes(self) -> bool:
        """Return True if the loop sets which tensors require a gradient."""
        return any(
            isinstance(inner, ast.Attribute) and inner.attr in ("requires_grad", "requires_grad_")
            for inner in walk(self.node)
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the plain names that occur anywhere inside."""
        return frozenset(name.id for name in self._spelled)

    @cached_property
    def bound_names(self) -> frozenset[str]:
        """Return the plain names that are bound anywhere inside, inner functions included."""
        return frozenset(name.id for name in self._spelled if isinstance(name.ctx, ast.Store))
