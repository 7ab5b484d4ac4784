"""The models in sight: those that a text makes or names, and what invented values owe to them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import nn

from . import roles
from .entries import walked_names
from .models import Criterion, Function, Model, blend
from .telling import spelling

if TYPE_CHECKING:
    from .world import World


class Sight:
    """The models and the parameters that one world and its text hold."""

    def __init__(self, world: World, tree: ast.Module) -> None:
        self._world = world
        self._walked = set(walked_names(tree))
        self._common: torch.Tensor | None = None
        self._asked: set[str] = set()  # the paths of this pass
        self._settling = False
        self.blind = False  # whether an optimizer found nothing that it could be over

    def settle(self) -> None:
        """Make the models that the text names, before losses of them."""
        if self._settling:
            return
        self._settling = True
        for path in list(self._world.uses.of):
            if not set("[(") & set(path) and self._world.role(path) == "module":
                if path.count(".") == (1 if ".self." in f".{path}" or path[:5] == "self." else 0):
                    self._world.load(path, None)
        self._settling = False

    def models(self) -> Iterator[tuple[str, nn.Module]]:
        """All models, by name."""
        main = vars(sys.modules["__main__"])
        for name, value in (*self._world.values.items(), *main.items()):
            if isinstance(value, Function):
                value = value._model
            if isinstance(value, nn.Module) and not isinstance(value, Criterion):
                yield name, value

    def owner(self, path: str) -> nn.Module | None:
        """The model that a function which was made up is a method of."""
        found = self._world.values.get(spelling(path.rpartition(".")[0]))
        return found if isinstance(found, Model) and not isinstance(found, Criterion) else None

    def parameters(self, name: str = "") -> list[nn.Parameter]:
        """Those of the models whose names go with the name of an optimizer; else all."""
        models = dict(self.models())
        chosen = {n: m for n, m in models.items() if name and roles.goes_with(name, n)} or models
        found = {id(p): p for m in chosen.values() for p in m.parameters()}
        if len(chosen) == len(models):
            found |= {id(p): p for p in self._leaves()}
        if not found:
            self.blind = True
            found = {0: self._world.values.setdefault("model", Model("model")).weight}
        return list(found.values())

    def _leaves(self) -> Iterator[nn.Parameter]:
        """Leaves that learn and that the text itself has given names; what it walks is a loss."""
        for name, value in list(vars(sys.modules["__main__"]).items()):
            for one in value if isinstance(value, list | tuple) else (value,):
                if isinstance(one, torch.Tensor) and one.is_leaf and one.requires_grad:
                    if name not in self._walked:
                        yield one  # type: ignore[misc]

    def anchor(self) -> torch.Tensor:
        """A number that depends on the models in sight."""
        return blend(self.parameters())

    def source(self, path: str = "") -> torch.Tensor:
        """What a value with a graph is made of: of one and the same number, if values share a part
        of it. A pass ends when the value of a path is made again."""
        if not self._world.plan.shared:
            return self.anchor()
        if path in self._asked:
            self.begin_pass()
        self._asked |= {path} - {""}
        if self._common is None:
            self._common = self.anchor()
        return self._common

    def begin_pass(self) -> None:
        """What values of this pass share, those of the next do not."""
        self._common = None
        self._asked.clear()
