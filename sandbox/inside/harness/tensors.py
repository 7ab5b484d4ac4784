"""Invented tensors without history: their shapes, and what they remember."""

from __future__ import annotations

import ast

import torch

from .context import Harness
from .uses import ValueUse

SHAPE = [4, 8]  # of a tensor of which nothing more is known
LONGER = 8  # times as much


class Tensors:
    """Makes the tensors of one harness."""

    def __init__(self, harness: Harness, tree: ast.Module) -> None:
        self._harness = harness
        models = (p for p, use in harness.uses.of.items() if "double" in use.methods)
        precise = any(harness.role(path) == "module" for path in models) or _has_precise_leaves(
            tree
        )
        self._dtype = torch.float64 if precise else torch.float32

    def fresh(self, path: str) -> torch.Tensor:
        """Return a tensor without history, in the planned shape."""
        plan = self._harness.plan
        shape = plan.shapes.get(path)
        if shape is None:
            shape = self.shape_of(path)
            if plan.longer and self._harness.use(path).indexed and len(shape) > 1:
                shape = [shape[0] * LONGER, *shape[1:]]
        if path in plan.whole:
            size = int(torch.Size(shape).numel())
            return marked(torch.arange(size).remainder(plan.whole[path]).view(shape), path)
        return marked(torch.rand(shape, dtype=self._dtype) * 0.8 + 0.1, path)

    def shape_of(self, path: str) -> list[int]:
        """Return the shape of a path's tensor, as far as it is decided."""
        return self._harness.plan.shapes.get(path) or _shape(self._harness.use(path))


def _has_precise_leaves(tree: ast.Module) -> bool:
    """Return True if the script makes leaves in double precision."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    given = ({word.arg: ast.unparse(word.value) for word in call.keywords} for call in calls)
    return any(
        words.get("requires_grad") == "True"
        and words.get("dtype", "").endswith((".double", ".float64"))
        for words in given
    )


def marked(tensor: torch.Tensor, path: str) -> torch.Tensor:
    """Return the same tensor, marked with what it was made for."""
    tensor._made_for = path  # type: ignore[attr-defined]
    return tensor


def _shape(use: ValueUse) -> list[int]:
    """Return what use shows of a tensor's shape: a matrix is square, and an index has
    dimensions."""
    if use.multiplied:
        return [SHAPE[-1]] * 2
    return [*SHAPE[:1] * max(use.axes - 1, 1), *SHAPE[1:]] if use.axes < 5 else SHAPE
