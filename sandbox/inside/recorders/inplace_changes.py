"""A log of what changes tensors in place, by line; for the slower second run."""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

import torch

from ..core import frames
from ..core.clock import CLOCK
from ..core.dispatch_mode import DispatchMode
from ..core.frames import Json
from ..core.graph import storage_of
from ..core.holders import ReferrerSearch
from ..core.parameters import version_of

KEPT = 64  # changes remembered of one piece of memory


class ChangeLog(DispatchMode):
    """Sees every operation below autograd, and notes those that write into their arguments."""

    def __init__(self) -> None:
        super().__init__()
        self._changes: dict[int, deque[tuple[Json, list[Json]]]] = defaultdict(
            lambda: deque(maxlen=KEPT)
        )

        self._shapes: dict[int, list[int]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func._schema.is_mutable:
            for tensor in written(func._schema, args, kwargs):
                self._note(func, tensor)
        result = func(*args, **kwargs)
        if all(returned.alias_info is None for returned in func._schema.returns):
            self._begin(result)
        return result

    def _begin(self, made: Any) -> None:
        """Drop what was noted of freed memory whose address new tensors have."""
        for value in made if isinstance(made, list | tuple) else [made]:
            if isinstance(value, torch.Tensor) and self._changes:
                storage = storage_of(value)
                if storage is not None and self._changes.pop(storage, None) is not None:
                    self._shapes.pop(storage, None)

    def _note(self, func: Any, tensor: torch.Tensor) -> None:
        frame = frames.user_frame(sys._getframe(1))
        storage = storage_of(tensor)
        if frame is None or storage is None:
            return
        search = ReferrerSearch(
            lambda t: storage_of(t) == storage, budget=200, depth=2, leaves=True
        )
        names = [name.record("now") for name, _ in search.around(frame)][:8]
        change = {
            "at": frames.place(frame),
            "op": str(func._schema.name).rpartition("::")[2],
            "library": frames.maker(sys._getframe(1)),
            "version": version_of(tensor) + 1,  # counted when the operation is done
            "after": CLOCK.calls,
        }
        self._shapes[storage] = [*tensor.shape]
        self._changes[storage].append((change, names))

    def of(self, storage: int, since: int) -> tuple[list[Json], list[Json]]:
        """Return the changes that raised this memory's version since, and names that it had at
        them."""
        log = [entry for entry in self._changes.get(storage, ()) if entry[0]["version"] > since]
        changes: list[Json] = []
        names: list[Json] = []
        for change, held in log:
            seen = [(c["at"]["file"], c["at"]["line"], c["op"]) for c in changes]
            if (change["at"]["file"], change["at"]["line"], change["op"]) not in seen:
                changes.append(change)
                names += [name for name in held if name not in names]
        return changes[:16], names[:16]

    def last_like(self, shape: list[int], version: int) -> int | None:
        """Return the latest memory of a tensor of this shape that has this version, or None."""
        for storage, log in reversed(self._changes.items()):
            if log[-1][0]["version"] == version and self._shapes[storage] == shape:
                return storage
        return None


def written(schema: Any, args: Any, kwargs: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors that the operation writes into, by its schema."""
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[position] if position < len(args) else kwargs.get(argument.name)
            for tensor in value if isinstance(value, list | tuple) else [value]:
                if isinstance(tensor, torch.Tensor) and not tensor.is_meta:
                    yield tensor
