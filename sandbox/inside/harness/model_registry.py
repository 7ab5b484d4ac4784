"""The models in sight: those that a text makes or names, and what invented values owe to them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

import torch
from torch import nn

from . import roles
from .assumptions import spelling
from .context import Harness
from .entries import backward_names
from .models import Criterion, Function, Model, blend


class ModelRegistry:
    """The models and the parameters that one harness and its text hold."""

    def __init__(self, harness: Harness, tree: ast.Module) -> None:
        self._harness = harness
        self._backward_names = set(backward_names(tree))
        self._common: torch.Tensor | None = None
        self._asked: set[str] = set()  # the paths of this pass
        self._settling = False
        self.blind = False  # whether an optimizer found nothing that it could be over

    def settle(self) -> None:
        """Make the models that the text names, before losses of them."""
        if self._settling:
            return
        self._settling = True
        for path in list(self._harness.uses.of):
            if not set("[(") & set(path) and self._harness.role(path) == "module":
                if path.count(".") == (1 if ".self." in f".{path}" or path[:5] == "self." else 0):
                    self._harness.load(path, None)
        self._settle_rivals()
        self._settling = False

    def models(self) -> Iterator[tuple[str, nn.Module]]:
        """Yield all models that have weights, by name."""
        main = vars(sys.modules["__main__"])
        for name, value in (*self._harness.values.items(), *main.items()):
            if isinstance(value, Function):
                value = value._model
            if isinstance(value, nn.Module) and next(value.parameters(), None) is not None:
                yield name, value

    def owner(self, path: str) -> nn.Module | None:
        """Return the model that a synthesized function is a method of, or None."""
        found = self._harness.values.get(spelling(path.rpartition(".")[0]))
        return found if isinstance(found, Model) and not isinstance(found, Criterion) else None

    def held_by(self, optimizer: str) -> list[nn.Parameter]:
        """Return what an optimizer trains: models whose names match its own; else all, and no
        functions that may have weights next to models."""
        models = dict(self.models())
        called = {n for n, value in self._harness.values.items() if isinstance(value, Function)}
        models = {n: m for n, m in models.items() if n not in called} or models
        matching = {n: m for n, m in models.items() if roles.goes_with(optimizer, n)}
        return self._parameters_of(matching or models, whole=not matching)

    def parameters(self) -> list[nn.Parameter]:
        """Return all that learns."""
        return self._parameters_of(dict(self.models()), whole=True)

    def _parameters_of(self, models: dict[str, nn.Module], *, whole: bool) -> list[nn.Parameter]:
        """Return the parameters of models; with `whole`, the script's leaves, too. If there are
        none, make a model."""
        found = {id(p): p for m in models.values() for p in m.parameters()}
        if whole:
            found |= {id(p): p for p in self._leaves()}
        if not found:
            self.blind = True
            found = {0: self._harness.values.setdefault("model", Model("model")).weight}
        return list(found.values())

    def _settle_rivals(self) -> None:
        """Make a model for each of several optimizers, if the text names no model at all."""
        paths = [p for p in self._harness.uses.of if self._harness.role(p) == "optimizer"]
        rivals = {roles.of_optimizer(path) for path in paths}
        if len(rivals) > 1 and all(rivals) and not dict(self.models()):
            for name in sorted(rivals):
                self._harness.values[f"model_{name}"] = Model(f"model_{name}")

    def _leaves(self) -> Iterator[nn.Parameter]:
        """Yield leaves that learn and that the script itself has named; its backward roots are
        losses."""
        for name, value in list(vars(sys.modules["__main__"]).items()):
            for one in value if isinstance(value, list | tuple) else (value,):
                if isinstance(one, torch.Tensor) and one.is_leaf and one.requires_grad:
                    if name not in self._backward_names:
                        yield one  # type: ignore[misc]

    def anchor(self) -> torch.Tensor:
        """Return a number that depends on the models in sight."""
        return blend(self.parameters())

    def source(self, path: str = "") -> torch.Tensor:
        """Return what a value with a graph derives from: one number for all, if they share a part.

        An iteration ends when the value of a path is made again.
        """
        if not self._harness.plan.shared:
            return self.anchor()
        if path in self._asked:
            self.begin_pass()
        self._asked |= {path} - {""}
        if self._common is None:
            self._common = self.anchor()
        return self._common

    def begin_pass(self) -> None:
        """Begin an iteration: its values share nothing with later ones."""
        self._common = None
        self._asked.clear()
