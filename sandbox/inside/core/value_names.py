"""The names of values, spelled as the script spells them."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from .frames import Json


@dataclass(slots=True)
class Name:
    """A path to a value: where it starts, what it goes through."""

    scope: str
    path: str
    kind: str
    frame: int = 0
    containers: tuple[str, ...] = ()
    owner: str = ""

    def attribute(self, name: object, owner: str = "") -> Name:
        """Return the name of an attribute of the value; `owner` is the class that has it."""
        return Name(self.scope, f"{self.path}.{name}", "attribute", self.frame, (), owner)

    def item(self, key: object, container: str) -> Name:
        """Return the name of a container's entry under a key; a tensor key has no spelling."""
        shown = "…" if isinstance(key, torch.Tensor) else repr(key)
        return self._within(f"{self.path}[{shown}]", container)

    def result(self) -> Name:
        """Return the name of what a function with a cache has returned: the function's own."""
        return self._within(self.path, "lru_cache")

    def _within(self, path: str, container: str) -> Name:
        kind = "item" if self.kind in ("local", "global") else self.kind
        inside = (*self.containers, container)
        return Name(self.scope, path, kind, self.frame, inside, self.owner)

    def record(self, when: str) -> Json:
        """Return the name as a record; `when` it held the value: `freed` or `now`."""
        container = "Tensor"
        if self.containers:
            container = "[".join(self.containers) + "]" * (len(self.containers) - 1)
        return {
            "scope": self.scope,
            "path": self.path,
            "kind": self.kind,
            "container": container,
            "when": when,
            "frame": self.frame,
            "owner": self.owner,
        }
