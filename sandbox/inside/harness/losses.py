"""Losses that the script calls backward on and does not compute: all at once, in each iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

import torch

from ..core import frames
from .context import EngineValues, Harness


class Losses:
    """The losses of one harness. A pass ends when a line asks for a loss that it has asked for
    before."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self._made: dict[str, Any] = {}
        self._asked: set[tuple[str, int]] = set()
        self.invented = False

    def of(self, path: str, frame: FrameType | None) -> Any:
        """Return the loss of a path, for the line that the frame is at."""
        site = (path, frame.f_lasti if frame is not None else 0)
        if site in self._asked:
            self.begin_pass()
        self._asked.add(site)
        if path not in self._made:
            self._harness.known_models.settle()
            self._made |= self._all(path, frame)
        self.invented = True
        return self._made[path]

    def begin_pass(self) -> None:
        """Begin an iteration: what is asked for from now on is made again."""
        self._asked.clear()
        self._made.clear()

    def _all(self, wanted: str, frame: FrameType | None) -> dict[str, Any]:
        """Return every undefined loss that the script calls backward on, and the wanted one."""
        harness = self._harness
        paths = dict.fromkeys([*(p for p in harness.uses.of if harness.role(p) == "loss"), wanted])
        make = (
            _by_torch(harness, frame)
            if harness.engine is None
            else _by_engine(harness.engine, frame)
        )
        made = {}
        for path in paths:
            made[path] = make()
            harness.assumption_log.note(path, "loss", made[path])
        return made


def _by_torch(harness: Harness, frame: FrameType | None) -> Callable[[], Any]:
    """Return a function that makes losses of the models in sight and of the frame's results."""
    seen = list(_unseen(frame, _results))
    known_models = harness.known_models
    known_models.begin_pass()
    return lambda: torch.tanh(known_models.source() * 2).pow(2) + sum(t.pow(2).mean() for t in seen)


def _by_engine(engine: EngineValues, frame: FrameType | None) -> Callable[[], Any]:
    """Return a function that makes a hand-written engine's values from those of the frame."""
    given = list(_unseen(frame, engine.values_in))
    return lambda: engine.made(torch.tensor(0.5), given, "forward")


def _unseen(frame: FrameType | None, values_in: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """Yield values that the frame's names hold and that no iteration before has seen."""
    user = frames.user_frame(frame)
    for _, held in frames.local_values(user) if user is not None else ():
        for value in values_in(held):
            if not hasattr(value, "_seen_in_a_pass"):
                value._seen_in_a_pass = True
                yield value


def _results(held: Any) -> tuple[Any, ...]:
    has_graph = isinstance(held, torch.Tensor) and held.grad_fn is not None
    return (held,) if has_graph else ()
