"""Finds the names that hold a tensor, from the user's frames and modules downward."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import FrameType, ModuleType
from typing import Any

import torch

from .frames import (
    activation,
    function_name,
    is_user_class,
    is_user_module,
    local_values,
    user_frames,
)
from .value_names import Name
from .value_parts import PASSED, Cached, Passed, keeps, parts

Found = list[tuple[Name, Any]]

BEYOND: list[Mapping[str, Any]] = []  # names that scripts read although no module holds them


@dataclass
class ReferrerSearch:
    """A bounded search of the values that names denote.

    `wanted` says which tensors count. `deep` also looks into objects of library classes, functions
    that libraries or objects hold, and caches: for the one look after an error. `leaves` also looks
    at the parameters of modules, which never carry a graph. `kinds` are what is looked for.
    """

    wanted: Callable[[Any], bool]
    budget: int = 400
    depth: int = 3
    deep: bool = False
    leaves: bool = False
    kinds: tuple[type, ...] = (torch.Tensor,)
    _seen: dict[int, int] = field(default_factory=dict)  # how deep each was looked through
    _passed: Passed = field(init=False)

    def __post_init__(self) -> None:
        self._passed = PASSED[self.deep]

    def around(self, frame: FrameType | None) -> Found:
        """Return every wanted tensor that the user's frames and their modules name, innermost
        first."""
        found: Found = []
        modules: dict[int, tuple[Mapping[str, Any], int]] = {}
        for user in user_frames(frame):
            number = activation(user).number
            if user.f_code.co_name == "<module>":
                modules[id(user.f_globals)] = (user.f_globals, number)
            else:
                modules.setdefault(id(user.f_globals), (user.f_globals, 0))
                self._locals(user, number, found)
        main = vars(sys.modules["__main__"])
        modules.setdefault(id(main), (main, 0))
        for names in BEYOND:
            modules.setdefault(id(names), (names, 0))
        for names, number in modules.values():
            self._globals(names, number, found)
        return found

    def inside(self, name: Name, value: Any) -> Found:
        """Return every wanted tensor that the value is or holds."""
        found: Found = []
        if not self._passed[type(value)]:
            self._look(name, value, self.depth, found)
        return found

    def _locals(self, frame: FrameType, number: int, found: Found) -> None:
        scope = function_name(frame.f_code)
        free = frame.f_code.co_freevars
        for name, value in local_values(frame):
            if not self._passed[type(value)] or keeps(value):
                kind = "closure" if name in free else "local"
                self._look(Name(scope, name, kind, number), value, self.depth, found)

    def _globals(self, names: Mapping[str, Any], number: int, found: Found) -> None:
        passed = self._passed
        for name, value in list(names.items()):
            if passed[type(value)] and not keeps(value):
                if self.deep and isinstance(value, ModuleType) and is_user_module(value):
                    self._module(value, found)
                elif self.deep and isinstance(value, type) and is_user_class(value):
                    self._class(Name("<module>", name, "global", number), value, found)
            elif isinstance(name, str) and not name.startswith("__"):
                self._look(Name("<module>", name, "global", number), value, self.depth, found)

    def _module(self, module: ModuleType, found: Found) -> None:
        """Search the names of a module of the user's that another one has imported."""
        if id(module) not in self._seen:
            self._seen[id(module)] = self.depth
            self._globals(vars(module), 0, found)

    def _class(self, name: Name, kind: type, found: Found) -> None:
        """Search what all objects of a user's class share: lists, tensors and caches in its
        body."""
        shared = (*self.kinds, list, dict, deque, Cached)
        for key, held in list(vars(kind).items()):
            if isinstance(held, shared) and not key.startswith("__"):
                own = name.attribute(key, kind.__name__)
                if isinstance(held, Cached):  # a method's, so called by its class's code
                    own = replace(own, scope=kind.__qualname__, path=f"self.{key}")
                self._look(own, held, self.depth, found)

    def _look(self, name: Name, value: Any, depth: int, found: Found) -> None:
        if isinstance(value, self.kinds) and self.wanted(value):
            found.append((name, value))
        elif self._counts(value) and self.budget > 0 and depth > self._seen.get(id(value), 0):
            self._seen[id(value)] = depth
            kind = type(value).__name__
            for extend, key, held in parts(value, self.deep, self.leaves):
                self.budget -= 1
                if not self._passed[type(held)] and self._counts(held):
                    below = depth if isinstance(held, torch.nn.Module) else depth - 1
                    self._look(extend(name, key, kind), held, below, found)

    def _counts(self, value: Any) -> bool:
        """Return True if there is anything to find here: most tensors are not wanted."""
        sought = isinstance(value, self.kinds) and isinstance(value, torch.Tensor)
        return not sought or self.wanted(value)
