"""Notes the instances of a class that has no `__init__` of its own yet, as a decorator or a base
may write it: by the class's `__new__`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class Allotting:
    """A class's `__new__`. Who asks for the class's signature gets what they would get without."""

    def __init__(self, new: Any, note: Callable[[Any, FrameType, tuple[Any, ...]], None]) -> None:
        self.new, self.note = new, note

    def __get__(self, instance: Any, owner: type) -> Allotment:
        return Allotment(self, owner)


class Allotment:
    """The `__new__` of one class, its own or a base's."""

    __slots__ = ("_allotting", "_owner")

    def __init__(self, allotting: Allotting, owner: type) -> None:
        self._allotting, self._owner = allotting, owner

    def __call__(self, kind: type, *args: Any, **kwargs: Any) -> Any:
        new = self._allotting.new
        instance = new(kind) if new is object.__new__ else new(kind, *args, **kwargs)
        if isinstance(instance, kind):
            self._allotting.note(instance, sys._getframe(1), (*args, *kwargs.values()))
        return instance

    @property
    def __signature__(self) -> inspect.Signature:
        if self._allotting.new is not object.__new__:
            return inspect.signature(self._allotting.new)
        begin: Any = self._owner.__init__  # type: ignore[misc]
        if begin is not object.__init__:
            return inspect.signature(begin)
        kind = inspect.Parameter("kind", inspect.Parameter.POSITIONAL_ONLY)
        return inspect.Signature([kind])
