"""What the syntax of a function or a loop says, whatever the values."""

from __future__ import annotations

import ast
from functools import cached_property


class Facts:
    """Facts about one function definition or loop."""

    def __init__(self, node: ast.AST) -> None:
        self.node = node

    @cached_property
    def yields(self) -> bool:
        """Whether the function's own body yields."""
        todo: list[ast.AST] = list(getattr(self.node, "body", []))
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Yield | ast.YieldFrom):
                return True
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                todo.extend(ast.iter_child_nodes(node))
        return False

    @cached_property
    def bound_names(self) -> frozenset[str]:
        """Plain names that are bound anywhere inside, inner functions included."""
        return frozenset(
            inner.id
            for inner in ast.walk(self.node)
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
        )
